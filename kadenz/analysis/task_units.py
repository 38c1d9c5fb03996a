# SPDX-License-Identifier: Apache-2.0
"""Quantities of a task-set file in ticks of a run's clock, as exact fractions."""

from __future__ import annotations

from fractions import Fraction

from kadenz.analysis.units import Unit, unit_of
from kadenz.config.manifest import Manifest
from kadenz.config.quantity import Quantity, parse_quantity
from kadenz.config.task_set import KERNEL_TICKS, is_zero
from kadenz.errors import UsageError
from kadenz.stats.exact import exact

# A period may be this far off a whole number of kernel ticks: a rounding of its text.
ROUNDING = 1e-6


class TaskUnits:
    """Converts for one target, whose kernel ticks every `tick` ticks of its clock."""

    def __init__(self, manifest: Manifest, tick: Fraction) -> None:
        self.tick = tick
        self.tick_hz = manifest.target.tick_hz
        self.unit: Unit = unit_of("ticks", manifest.clock)

    def kernel_ticks(self, text: str, where: str) -> int:
        """A period: whole ticks of the kernel, which alone releases tasks. UsageError if none."""
        quantity = parse_quantity(text, where)
        count = self._in_kernel_ticks(quantity)
        if count is None:
            raise self._no_time(quantity, where)
        whole = max(1, round(count))
        if abs(count - whole) > ROUNDING * whole:
            raise UsageError(
                f"{where}: {quantity} are {float(count):.6g} ticks of this kernel "
                f"({self.tick_hz} Hz), which releases tasks at whole ones",
                remedy=f'The nearest is "{whole} kernel ticks"',
            )
        return whole

    def span(self, text: str, where: str) -> Fraction:
        """A deadline: a time by the kernel's ticks, or what `work` takes."""
        quantity = parse_quantity(text, where)
        count = self._in_kernel_ticks(quantity)
        return count * self.tick if count is not None else self.work(text, where)

    def work(self, text: str, where: str) -> Fraction:
        """An execution time or an overhead; UsageError for a time if the clock counts none."""
        if is_zero(text):
            return Fraction(0)
        quantity = parse_quantity(text, where)
        if quantity.unit in KERNEL_TICKS:
            return exact(quantity.number) * self.tick
        amount = self.unit.amount(quantity)
        if amount is None:
            raise self._no_time(quantity, where)
        return exact(amount / self.unit.scale)

    def _in_kernel_ticks(self, quantity: Quantity) -> Fraction | None:
        if quantity.unit in KERNEL_TICKS:
            return exact(quantity.number)
        return exact(quantity.microseconds * self.tick_hz / 1e6) if quantity.is_time else None

    def _no_time(self, quantity: Quantity, where: str) -> UsageError:
        return UsageError(
            f"{where}: {self.unit.cannot_carry(quantity)}",
            remedy=f"Write it in {self.unit.label} or in kernel ticks: a tick of this kernel is "
            f"{float(self.tick) * self.unit.scale:,.6g} {self.unit.label}",
        )
