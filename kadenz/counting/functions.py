# SPDX-License-Identifier: Apache-2.0
"""Functions and spans of a firmware, by the names, wildcards and addresses of a command line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property

from kadenz.counting.runner_names import CLOSURE, RunnerOutput
from kadenz.counting.source_lines import SourceLines, listed
from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.images.demangled import demangled, without_arguments

MOST = 4096  # functions of one call
_SHOWN = 6  # names or addresses in a message
_PLACE = re.compile(r"(?P<symbol>.+)\+(?P<offset>0[xX][0-9a-fA-F]+|\d+)")
_WILD = re.compile(r"[*?\[]")
# What GCC and Clang append to a piece of a function, or to a copy of it.
_PIECE = re.compile(r"\.(part|cold|constprop|isra|lto_priv|llvm|specialized)\b")


@dataclass(frozen=True)
class Function:
    """A function whose calls are counted. `named`: by its name or its address, not by a wildcard.
    `pieces` are symbols of parts that the compiler moved out of it.

    Or a span, from `address` to the instruction at `end`, which is named by both places.
    """

    name: str
    address: int
    size: int
    named: bool = True
    pieces: tuple[str, ...] = ()
    end: int = 0
    library: str = ""  # path of the one that it is in; "": the image itself

    @property
    def is_span(self) -> bool:
        """Whether it is from one place to another."""
        return self.end != 0

    @property
    def bench(self) -> str:
        """The name of its record."""
        return f"count/{self.name}"


def _is_named(name: str, wanted: str) -> bool:
    """Whether a function's name in its source is `wanted`, perhaps inside a namespace; or, if that
    asks for it, of its closure: "<math::gate::{closure#0} as FnOnce>::call_once"."""
    if wanted.endswith(CLOSURE):
        return re.search(rf"(?:^|<|::){re.escape(wanted)}", name) is not None
    return name == wanted or name.endswith((f"::{wanted}", f" {wanted}"))


class Functions:
    """The functions of an image, to choose from."""

    def __init__(self, elf: Elf) -> None:
        self._elf = elf
        self._all = [Function(name, start, size) for start, size, name in elf.functions]

    def chosen(self, patterns: Sequence[str]) -> list[Function]:
        """The functions that the patterns name, each once, in the order of the patterns. UsageError
        with a remedy for a pattern that names none, or too many."""
        by_address: dict[int, Function] = {}
        for pattern in patterns:
            for function in self._of(pattern):
                known = by_address.get(function.address)
                if known is None or (function.named and not known.named):
                    by_address[function.address] = function
        if len(by_address) > MOST:
            raise UsageError(
                f"--function: {len(by_address):,} functions, at most {MOST:,} are counted",
                remedy="Name fewer, or a narrower pattern",
            )
        return [self._with_pieces(function) for function in by_address.values()]

    def timed(self, output: RunnerOutput, board: str) -> tuple[list[Function], list[str]]:
        """The functions that a runner timed, and its names that stand for none of the image."""
        symbols = [each.name for each in self._declared]
        plain = [without_arguments(name) for name in demangled(symbols, board)]
        functions: dict[int, Function] = {}
        missing = []
        for timed in output.timed:
            matching: list[Function] = []
            for wanted in timed.functions:
                matching = matching or [
                    each
                    for each, name in zip(self._declared, plain, strict=True)
                    if wanted == each.name or _is_named(name, wanted)
                ]
            for each in matching:
                function = replace(self._distinct(each), named=False)
                functions.setdefault(each.address, self._with_pieces(function))
            if not matching:
                missing.append(timed.name)
        if not functions:
            raise UsageError(
                f"--functions-from: no name of {output.format} is a function of {self._elf.path}: "
                f"{listed(missing)}",
                remedy="They may be inlined, or closures: name the functions inside with "
                "--function, or compile them with __attribute__((noinline)), #[inline(never)]",
            )
        return list(functions.values()), missing

    def spans(self, begins: Sequence[str], ends: Sequence[str]) -> list[Function]:
        """A span for each pair of places. UsageError for one without a partner, or of one place."""
        if len(begins) != len(ends):
            raise UsageError(
                f"--from: {len(begins)} places, and --to: {len(ends)}",
                remedy="Each span has both: --from read_sensor --to write_output",
            )
        spans = []
        for begin, end in zip(begins, ends, strict=True):
            first, last = self.address(begin, "--from"), self.address(end, "--to")
            if first == last:
                raise UsageError(
                    f"--to {end}: the span from {begin} ends where it begins",
                    remedy="Count a whole function with --function",
                )
            spans.append(Function(f"{begin}..{end}", first, 0, end=last))
        return spans

    def address(self, text: str, option: str) -> int:
        """The address of an instruction: a symbol, `symbol+0x1c`, a number, or a line of a
        source, `main.c:120`."""
        if text not in self._names and self._lines.is_line(text):
            return self._lines.address(text, option)
        match = _PLACE.fullmatch(text)
        if match is not None:
            inside = self._single(match["symbol"], option)
            offset = int(match["offset"], 0)
            if offset >= inside.size:
                raise UsageError(
                    f"{option} {text}: {match['symbol']} has {inside.size:,} bytes",
                    remedy="Name an instruction inside, as objdump -d prints it",
                )
            return inside.address + offset
        if text.lower().startswith("0x"):
            return self._code_at(text, option)
        return self._single(text, option).address

    @cached_property
    def _declared(self) -> list[Function]:
        """Without labels of assembly and of linker scripts."""
        known = {(symbol.address, symbol.name) for symbol in self._elf.symbols}
        return [each for each in self._all if (each.address, each.name) in known]

    @cached_property
    def _lines(self) -> SourceLines:
        return SourceLines(self._elf)

    @cached_property
    def _names(self) -> Counter[str]:
        return Counter(name for name, _ in {(each.name, each.address) for each in self._all})

    def _of(self, pattern: str) -> list[Function]:
        if not _WILD.search(pattern):
            return [self._single(pattern, "--function")]
        self._check_symbols(pattern, "--function")
        matching = [each for each in self._declared if fnmatchcase(each.name, pattern)]
        if not matching:
            raise self._missing(pattern, "--function")
        return [replace(self._distinct(each), named=False) for each in matching]

    def _single(self, text: str, option: str) -> Function:
        if text.lower().startswith("0x"):
            return self._at(text, option)
        self._check_symbols(text, option)
        places = {each.address: each for each in self._all if each.name == text}
        if not places:
            raise self._missing(text, option)
        if len(places) > 1:
            addresses = [f"{address:#010x}" for address in places]
            raise UsageError(
                f"{option} {text}: {self._elf.path} has {len(places)} functions of this name, at "
                f"{listed(addresses)}",
                remedy=f"Name its address: {option} {addresses[0]}",
            )
        return next(iter(places.values()))

    def _code_at(self, text: str, option: str) -> int:
        """The address `text`, where there is code."""
        try:
            address = int(text, 16) & ~self._elf.mode_bit
        except ValueError:
            raise UsageError(
                f"{option} {text}: not an address", remedy="For example 0x08000200"
            ) from None
        code = [section for section in self._elf.sections if section.kind == "code"]
        if not any(s.address <= address < s.address + s.size for s in code):
            places = [f"{s.address:#x} to {s.address + s.size:#x}" for s in code if s.size]
            raise UsageError(
                f"{option} {text}: {self._elf.path} has no code there",
                remedy=f"Its code: {listed(places)}",
            )
        return address

    def _at(self, text: str, option: str) -> Function:
        address = self._code_at(text, option)
        for function in (*self._declared, *self._all):
            if function.address == address:
                return self._distinct(function)
        inside = self._elf.symbol_at(address)
        if inside:
            name = inside.partition("+")[0]
            raise UsageError(
                f"{option} {text}: not the begin of a function, but {inside}",
                remedy=f"Name the function: {option} {name}",
            )
        return Function(f"{address:#010x}", address, 0)

    def _distinct(self, function: Function) -> Function:
        """With its address in its name where another function has the same one."""
        if self._names[function.name] < 2:
            return function
        return replace(function, name=f"{function.name}@{function.address:#010x}")

    def _with_pieces(self, function: Function) -> Function:
        pieces = tuple(
            dict.fromkeys(
                each.name
                for each in self._declared
                if each.name.startswith(f"{function.name}.") and _PIECE.search(each.name)
            )
        )
        return replace(function, pieces=pieces)

    def _check_symbols(self, text: str, option: str) -> None:
        if not self._all:
            raise UsageError(
                f"{option} {text}: {self._elf.path} has no symbols: it is stripped",
                remedy="Pass the image before it is stripped, or name addresses of its map file: "
                f"{option} 0x08000200",
            )

    def _missing(self, text: str, option: str) -> UsageError:
        names = list(dict.fromkeys(each.name for each in self._declared or self._all))
        pieces = [name for name in names if name.startswith(f"{text}.") and _PIECE.search(name)]
        if pieces:
            return UsageError(
                f"{option} {text}: {self._elf.path} has only pieces of it: {listed(pieces)}",
                remedy=f"The rest is inlined into its callers. Name a piece, {option} "
                f"'{pieces[0]}', or compile it with __attribute__((noinline))",
            )
        near = get_close_matches(text, names, _SHOWN, 0.6)
        near = near or [name for name in names if text.strip("*?").lower() in name.lower()]
        remedy = f"Did you mean {listed(near)}?" if near else "List them with nm."
        return UsageError(
            f"{option} {text}: no such function in {self._elf.path}",
            remedy=f"{remedy} A function that is inlined everywhere has no symbol: compile it with "
            "__attribute__((noinline))",
        )
