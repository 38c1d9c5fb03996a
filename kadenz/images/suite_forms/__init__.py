# SPDX-License-Identifier: Apache-2.0
"""The forms of an exported suite, one module each. A module placed in this folder is found.

A module has `HOW`, how a project takes the folder in, for the README, and `files(suite)`: the files
that this form adds, by their paths.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kadenz.images.suite_sources import Suite


class Form(NamedTuple):
    """A form of the export: how to use it, and its own files by name."""

    how: str
    files: Callable[[Suite], dict[str, str]]


def names() -> list[str]:
    """The forms, as the command line has them: "zephyr-module"."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


def form(name: str) -> Form:
    """The form called `name`."""
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    return Form(module.HOW, module.files)
