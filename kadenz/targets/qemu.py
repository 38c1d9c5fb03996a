# SPDX-License-Identifier: Apache-2.0
"""Tier `emulated`: the image runs in QEMU, its time driven by counted instructions.

The plan is in the board's plan page before reset. The serial line goes to a file that is read while
it grows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from kadenz.config.board import EmulatedTier
from kadenz.elf import Elf
from kadenz.errors import ConfigError
from kadenz.targets.base import plan_page
from kadenz.targets.qemu_process import QemuProcess, counted_instructions
from kadenz.targets.seen import Seen, looks_of, seen

# Lines of `info registers` that only hold floating point: forty lines.
_FLOATS = re.compile(r"^\s*(f\d+/|fcsr|s\d\d=|FPSCR)|^\s*$")
_IMAGE = "image"
# An image ends QEMU by semihosting. Every other call would go to a debugger, and none is attached:
# no file is opened, no program is started.
_ENDS_ITSELF = ("-semihosting-config", "enable=on,target=gdb")


class QemuTarget(QemuProcess):
    """One boot of an image in QEMU."""

    def __init__(self, tier: EmulatedTier, elf: Elf) -> None:
        super().__init__(tier.qemu)
        self._tier = tier
        self._elf = elf

    def open(self, plan: str) -> None:
        """Boots the image with the plan in its page. ConfigError for a board without one."""
        if not self._tier.plan_address:
            raise ConfigError(
                "[tier.emulated] of this board has no `plan_address`: no image of the suite runs "
                "on it",
                remedy="Name the address of `kdz_plan_page` in its board.toml. A firmware without "
                "the suite needs none: `kadenz count`",
            )
        (self._folder / "plan").write_bytes(plan_page(plan, self._tier.plan_bytes))
        self._start()

    def post_mortem(self) -> Seen:
        """The target's position, sampled several times because interrupts continue, and registers.

        The registers are those of the last sample.
        """
        try:
            looks = self._looks()
        except OSError as error:  # the emulator itself may hang
            report = f"QEMU does not answer ({type(error).__name__}); {self._output()}"
            return Seen(report.strip("; "))
        named = [dict(self._symbols(registers)) for registers in looks]
        where = [
            f"{name} is in {symbol}"
            + (f", in {count} of {len(looks)} samples" if count > 1 else "")
            for name in dict.fromkeys(name for names in named for name in names)
            for symbol, count in _counted(names[name] for names in named if name in names)
        ]
        kept = [line for line in looks[-1].splitlines() if not _FLOATS.match(line)]
        report = "\n".join([*where, *kept, self._output()]).strip()
        return seen(report, looks_of(looks), self._elf.symbol_at)

    def _command(self, folder: Path | None) -> list[str]:
        """The command line; without a folder, the part for the manifest."""
        tier = self._tier
        command = [str(self._qemu), "-machine", tier.machine]
        command += [*self._counted(), "-nographic"]
        command += ["-monitor", "none", "-no-reboot"]
        if folder is None:
            return [*command, *tier.arguments]
        command += _with_whole_paths(tier.arguments)[0]
        command += ["-serial", "null"] * tier.serial
        command += self._console(folder)
        command += self._monitor(folder)
        return [*command, "-kernel", str(folder / _IMAGE), *self._placed(folder)]

    def _console(self, folder: Path) -> list[str]:
        """Options that keep what the target prints."""
        return ["-serial", f"file:{folder / 'serial'}"]

    def _placed(self, folder: Path) -> list[str]:
        """Options that put more than the image into memory: the plan."""
        loader = f"file={folder / 'plan'},addr={self._tier.plan_address:#x},force-raw=on"
        return ["-device", f"loader,{loader}"]

    def _counted(self) -> list[str]:
        """Options that make instructions the time."""
        return counted_instructions(self._tier.icount_shift)

    def _confined(self) -> list[str]:
        return [*super()._confined(), *self._semihosting()]

    def _semihosting(self) -> tuple[str, ...]:
        return _ENDS_ITSELF

    def _inputs(self) -> dict[str, Path | None]:
        return {_IMAGE: self._elf.path, "plan": None}

    def _reads(self) -> list[Path]:
        return _with_whole_paths(self._tier.arguments)[1]

    def _symbols(self, registers: str) -> list[tuple[str, str]]:
        """Program counter and return address as functions.

        QEMU writes `pc 2001..` and `x1/ra 2001..` for RISC-V, `R15=0800..` and `R14=..` for Arm.
        """
        names = {"pc": "pc", "R15": "pc", "x1/ra": "ra", "R14": "lr"}
        pattern = r"(?<![\w/])(pc|R15|x1/ra|R14)[ =]+([0-9a-fA-F]{8,16})"
        addresses = [(names[n], int(value, 16)) for n, value in re.findall(pattern, registers)]
        symbols = [(name, self._elf.symbol_at(value)) for name, value in addresses]
        return [(name, symbol) for name, symbol in symbols if symbol]


def _with_whole_paths(arguments: Iterable[str]) -> tuple[list[str], list[Path]]:
    """A board's own arguments for another working folder: files that they name by a path get their
    whole path, in an option `name=value` with its commas doubled. Also these files."""
    files: list[Path] = []

    def whole(match: re.Match[str]) -> str:
        file = Path(match[0]).absolute()
        if not file.exists():
            return match[0]
        files.append(file)
        return str(file).replace(",", ",," if "=" in match.string else ",")

    return [re.sub(r"[^,=:]*/[^,=:]*", whole, word) for word in arguments], files


def _counted(symbols: Iterable[str]) -> list[tuple[str, int]]:
    """Functions by number of samples, each with the offset of its last sample."""
    last: dict[str, str] = {}
    count: Counter[str] = Counter()
    for symbol in symbols:
        function = symbol.split("+")[0]
        last[function] = symbol
        count[function] += 1
    return [(last[function], n) for function, n in count.most_common()]
