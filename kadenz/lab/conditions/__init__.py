# SPDX-License-Identifier: Apache-2.0
"""The kinds of conditions, one module each. A module placed in this folder is found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from kadenz.lab.condition import Choice

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign


@cache
def kinds() -> tuple[type[Choice], ...]:
    """Every kind, in order."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        names = vars(importlib.import_module(f"{__name__}.{module.name}"))
        found += [
            kind
            for kind in names.values()
            if isinstance(kind, type) and issubclass(kind, Choice) and kind is not Choice
        ]
    return tuple(sorted(found, key=lambda kind: kind.order))


def choices(campaign: Campaign, values: Mapping[str, Any] | None = None) -> list[Choice]:
    """What a campaign, and values of options over it, ask for: one choice of each kind."""
    return [kind.asked(values or {}, campaign) for kind in kinds()]
