# SPDX-License-Identifier: Apache-2.0
"""What a bound rests on: a core whose timing model decides, and facts about the kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kadenz.config import inventory
from kadenz.config.kernel import BoundFacts, Kernel
from kadenz.config.target_name import TargetName
from kadenz.config.toml import did_you_mean
from kadenz.errors import UsageError
from kadenz.targets import timing_model
from kadenz.targets.timing_model import Model

_MOST = 1_000_000  # rounds of a loop
_SHOWN = 40  # characters
_EXAMPLE = "kadenz bound critical/semaphore-give --target freertos/ibex@rtl"


@dataclass(frozen=True)
class Premises:
    """A target, its kernel with the facts that it declares, its core's model, and the value of each
    quantity that bounds a loop."""

    target: TargetName
    kernel: Kernel
    facts: BoundFacts
    model: Model
    at_most: Mapping[str, int]

    @classmethod
    def of(cls, target: TargetName, given: Sequence[str]) -> Premises:
        """`given`: \"threads=4\". UsageError for a target without bounds, or a wrong quantity."""
        kernel = inventory.kernels().get(target.kernel)
        emulated = inventory.board(target.board).tier.emulated
        model = None
        if target.tier == "rtl" and emulated is not None and emulated.model is not None:
            model = timing_model.model(target.board, emulated.model)
        if model is None or not model.file.entry:
            raise UsageError(
                f"{target}: no timing model gives bounds for this core: each instruction and the "
                "way to the next one have to decide what they cost",
                remedy=_EXAMPLE,
            )
        if kernel is None or kernel.bound is None:
            raise UsageError(
                f"{target}: nothing is declared about the loops of this kernel",
                remedy=f"Its kernel.toml needs a table [bound], as FreeRTOS has one: {_EXAMPLE}",
            )
        return cls(target, kernel, kernel.bound, model, _quantities(kernel.bound, given))

    @property
    def sentence(self) -> str:
        """The quantities, as a note says them."""
        return ", ".join(f"{name} {value:,}" for name, value in sorted(self.at_most.items()))


def _quantities(facts: BoundFacts, given: Sequence[str]) -> dict[str, int]:
    values = dict(facts.at_most)
    for text in given:
        name, equals, number = text.partition("=")
        if name not in values:
            raise UsageError(
                f"--at-most {text}: no quantity `{name}` bounds a loop",
                remedy=did_you_mean(name, sorted(values)),
            )
        if not equals or not re.fullmatch("[0-9]{1,7}", number) or int(number) > _MOST:
            raise UsageError(
                f"--at-most {text[:_SHOWN]}: expected a number from 0 to {_MOST:,}",
                remedy=f"--at-most {name}=4",
            )
        values[name] = int(number)
    return values
