# SPDX-License-Identifier: Apache-2.0
"""The unit of a figure and the claims of its clock class.

Instructions are never converted to a time, here or downstream: a `Unit` of class `instruction` has
no factor for that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kadenz.config.manifest import ClockClass, ClockEntry
from kadenz.config.quantity import Quantity
from kadenz.stats.exact import Time

# Only these clocks run in real time.
TIME_CLASSES: tuple[ClockClass, ...] = ("hardware", "hosted")

# In a guest each instruction takes a fixed number of nanoseconds of virtual time.
VIRTUAL_NS = "virtual ns"

CLASS_MEANING: dict[ClockClass, str] = {
    "hardware": "timestamps from silicon: figures are times of that chip",
    "cycle-exact": "cycles of a simulated core at register-transfer level",
    "cycle-model": "cycles of a timing model fed with the instruction trace",
    "instruction": "counted instructions of an emulator: path length, not time",
    "hosted": "a shared or virtual machine: no claim about hardware",
}


@dataclass(frozen=True)
class Unit:
    """`figure = ticks * scale`, shown with `label`; `key` names columns and JSON members."""

    label: str
    key: str
    scale: float
    clock_class: ClockClass
    is_time: bool
    hz: float = field(default=0.0, compare=False)  # of a simulated core's clock; 0: not stated

    @property
    def tick_us(self) -> float | None:
        """A tick in µs of the target's own time, in which its periods are set.

        A guest's time is virtual: a period of 1000 µs is 1,000,000 virtual ns there, not real
        time. None if the target has no time of its own.
        """
        if self.label == VIRTUAL_NS:
            return 1e-3
        return self.scale if self.is_time else None

    @property
    def keeps_time(self) -> bool:
        """Whether its clock runs in the time in which deadlines are given. Not whether its figures
        are times: a following error in degrees belongs to a cycle of a real clock."""
        return self.clock_class in TIME_CLASSES or bool(self.hz)

    @property
    def per_us(self) -> float | None:
        """Figures in a µs of the time in which deadlines are judged.

        None for counted instructions, also those of a guest: a chip needs another time for them.
        """
        if self.is_time:
            return 1.0
        return self.scale * self.hz / 1e6 if self.hz else None

    def figure(self, ticks: Time) -> float:
        """A number of ticks in this unit."""
        return float(ticks * self.scale)

    def amount(self, quantity: Quantity) -> float | None:
        """`quantity` in this unit; None if the clock cannot express it (µs of instructions)."""
        if quantity.is_time and self.per_us is not None:
            return float(quantity.microseconds * self.per_us)
        known = (self.label, self.key, self.label.removesuffix("s"))
        return quantity.number if quantity.unit in known else None

    def cannot_carry(self, quantity: Quantity) -> str:
        """Why `amount` is None, as a clause."""
        return (
            f"figures are in {self.label} there (clock class {self.clock_class}), so {quantity} "
            "cannot be compared with them"
        )


def unit_of(record_unit: str, clock: ClockEntry) -> Unit:
    """The unit in which samples of a record are shown: microseconds, instructions, cycles, ..."""
    kind = clock.clock_class
    if record_unit != "ticks":
        if record_unit == "ns" and kind in TIME_CLASSES:
            return Unit("µs", "us", 1e-3, kind, True)
        if record_unit == "ns" and clock.unit == VIRTUAL_NS:
            record_unit = VIRTUAL_NS  # of a program in a guest, which knows no other time
        return Unit(record_unit, _key(record_unit), 1.0, kind, False)
    if kind in TIME_CLASSES and clock.hz > 0:
        return Unit("µs", "us", 1e6 / clock.seconds_hz, kind, True)
    counted = {"instruction": "instructions", "cycle-exact": "cycles", "cycle-model": "cycles"}
    label = VIRTUAL_NS if clock.unit == VIRTUAL_NS else counted.get(kind, clock.unit or "ticks")
    # Samples stay counts; a counter with a rate other than one per instruction is converted here.
    scale = clock.instructions_per_count if label == "instructions" else None
    hz = clock.hz if kind in ("cycle-exact", "cycle-model") else 0
    return Unit(label, _key(label), scale or 1.0, kind, False, hz)


def _key(text: str) -> str:
    """ "deg/s" as a column name: "deg_per_s"."""
    return text.replace("/", "_per_").replace("%", "percent").replace(" ", "_")
