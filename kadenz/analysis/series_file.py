# SPDX-License-Identifier: Apache-2.0
"""Reads a user's time series: .npy, or columns of text."""

from __future__ import annotations

import csv
import math
import re
import struct
import tokenize
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.analysis.series_rows import (
    VERBOSE,
    is_verbose,
    printed_step,
    refuse_histogram,
    refuse_summary,
    refuse_threads,
    without_preamble,
)
from kadenz.errors import UsageError
from kadenz.regular_files import open_regular

Column = npt.NDArray[Any]

_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_BEGINS_A_NUMBER = re.compile(r"[\"']?\s*([+-]?\.?\d|[+-]?(nan|inf)\b)", re.IGNORECASE)
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")
_MOST_VALUES = 100_000_000  # of an array: 27 hours at 1 kHz
# Text takes 400 bytes of memory a line while it is read.
_MOST_BYTES = 64 << 20
_MOST_CELLS = 5_000_000
_MOST_COLUMNS = 1000
_MOST_CYCLES = 2**53  # a float64 has every whole number below
# What NumPy raises for a damaged header.
_NO_NPY = (
    OSError, ValueError, EOFError, TypeError, SyntaxError, KeyError, OverflowError, MemoryError,
    RecursionError, zipfile.BadZipFile, tokenize.TokenError, struct.error,
)  # fmt: skip
# A float64 may round numbers with more digits.
_DIGITS = 15


@dataclass(frozen=True, eq=False)
class _Table:
    """Columns (n,), their names (none if the file has none), and what a cell says and where."""

    columns: list[Column]
    names: list[str]
    cell: Callable[[int, int], str]  # row and column: "line 7: “abc”"
    texts: list[list[str]] = field(default_factory=list)  # by column

    def rows(self, chosen: npt.NDArray[np.intp]) -> _Table:
        """The table with some of its rows."""
        return _Table(
            [column[chosen] for column in self.columns],
            self.names,
            lambda row, place: self.cell(int(chosen[row]), place),
            [[texts[row] for row in chosen] for texts in self.texts],
        )


@dataclass(frozen=True, eq=False)
class Series:
    """Values (n,), the number of each one's cycle if known, and the step of the last digit."""

    values: Column
    cycles: npt.NDArray[np.int64] | None
    printed_step: float = 0.0


def read_series(file: Path, *, column: str = "", cycles: str = "", only: str = "") -> Series:
    """Values (n,) of `file` and, if `cycles` names a column, the cycle number of each.

    .npy: one dimension, or two columns if `cycles` is given ("1" is the second). Else text: one row
    per line, columns separated by semicolon, tab, comma or space; "#" begins a comment. If the
    first line is not a number, it names the columns. `column` and `cycles` are names or numbers
    from 0; `column` defaults to the first one. Decimal commas are accepted if another character
    separates the columns. Two columns of whole numbers with a comma between, without names or
    `column`, are ambiguous and refused. `only`, "COLUMN=VALUE", takes some of the rows; rows of
    several threads, and counts of a histogram, are refused. UsageError gives file, line and cause.
    """
    if not file.exists():
        raise UsageError(f"{file}: no such file", remedy="Name a .npy or a text file")
    if file.is_dir():
        raise UsageError(
            f"{file}: a folder", remedy="Name a file; figures of a run: `kadenz show RUN`"
        )
    table = _npy(file) if file.suffix == ".npy" else _text(file, asked=bool(column or cycles))
    if table.names == VERBOSE and not column:
        column, cycles = VERBOSE[2], cycles or VERBOSE[1]
    if only:
        table = _some_rows(file, table, only)
    values = _pick(file, table, column or "0")
    place = _place(table, column or "0")
    refuse_histogram(file, table.columns)
    refuse_threads(file, table.columns, table.names, place)
    printed = printed_step(table.texts[place]) if table.texts else 0.0
    if not cycles:
        return Series(values, None, printed)
    numbers = _pick(file, table, cycles)
    whole = (numbers == np.round(numbers)) & (np.abs(numbers) < _MOST_CYCLES)
    if not whole.all() or (np.diff(numbers.astype(np.float64)) <= 0).any():
        wrong = np.flatnonzero(~whole[1:] | (numbers[1:] <= numbers[:-1]))
        row = int(wrong[0]) + 1 if wrong.size and whole[0] else 0
        raise UsageError(
            f"{file}: column {cycles} does not contain ascending whole numbers: "
            f"{table.cell(row, _place(table, cycles))}",
            remedy="--cycles names the column with the number of each row's cycle",
        )
    return Series(values, numbers.astype(np.int64), printed)


def _npy(file: Path) -> _Table:
    try:
        open_regular(file).close()
        # Mapped: a size that the file does not have is not reserved, but refused.
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    except _NO_NPY as error:
        raise UsageError(
            f"{file}: not a .npy file: {error or type(error).__name__}",
            remedy="Write it with numpy.save",
        ) from None
    if not isinstance(array, np.ndarray) or array.ndim not in (1, 2):
        raise UsageError(
            f"{file}: {getattr(array, 'ndim', 'several')} dimensions instead of one or two",
            remedy="Save one series: numpy.save(FILE, values)",
        )
    if array.dtype.kind not in "iuf":
        raise UsageError(
            f"{file}: values of type {array.dtype} are not numbers",
            remedy="Save integers or floats",
        )
    if array.size > _MOST_VALUES:
        raise UsageError(
            f"{file}: {array.size:,} values, more than {_MOST_VALUES:,}",
            remedy=f"Save a part of it: numpy.save(FILE, values[:{_MOST_VALUES}])",
        )
    columns = [array] if array.ndim == 1 else list(array.T)
    return _Table(columns, [], lambda row, place: f"value {row} (from 0) is {columns[place][row]}")


def _text(file: Path, *, asked: bool) -> _Table:
    try:
        with file.open("rb") as stream:  # a pipe may be named, too
            data = stream.read(_MOST_BYTES + 1)
        # A byte order mark is not part of the first number.
        whole = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be read: {error.strerror}", remedy="Check its permissions"
        ) from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file}: cannot be read as text: byte {error.start} is not UTF-8",
            remedy="Use UTF-8 text in columns, or an array written with numpy.save, named NAME.npy",
        ) from None
    if len(data) > _MOST_BYTES:
        raise _too_large(file, f"more than {_MOST_BYTES >> 20} MiB")
    if (count := whole.count("\n")) > _MOST_CELLS:
        raise _too_large(file, f"{count:,} lines")
    refuse_summary(file, whole)
    lines = ((n, line.split("#", 1)[0].strip()) for n, line in enumerate(whole.split("\n"), 1))
    rows = without_preamble([(number, line) for number, line in lines if line])
    if not rows:
        raise UsageError(f"{file}: empty", remedy="One value per line is enough")
    # Names may contain a comma or a space: the first line of numbers shows the separator.
    named = len(rows) > 1 and not _BEGINS_A_NUMBER.match(rows[0][1])
    mark = _separator(rows[1 if named else 0][1])
    split = _splitter(mark)
    names = list(VERBOSE) if is_verbose(rows[0][1]) else []
    if not _BEGINS_A_NUMBER.match(rows[0][1]):
        names = [name.strip() for name in split(rows[0][1])]
        rows = rows[1:]
    width = len(names) or (len(split(rows[0][1])) if rows else 0)
    if width > _MOST_COLUMNS or width * len(rows) > _MOST_CELLS:
        raise _too_large(file, f"{width:,} columns of {len(rows):,} values")
    cells = []
    for number, line in rows:
        parts = split(line)
        if len(parts) != width:
            raise UsageError(
                f"{file}, line {number}: {len(parts)} columns, {width} before",
                remedy="Give every line the same columns"
                + ("; write 1.5 if a comma is a decimal mark" if mark == "," else ""),
            )
        cells.append(parts)
    if mark == "," and width == 2 and not names and not asked and _either(cells):
        number, line = rows[0]
        raise UsageError(
            f"{file}, line {number}: “{line}” is one number with a decimal comma, or two columns",
            remedy="Write 1.5 for a decimal comma; for two columns pass --column 0 or 1",
        )
    texts = [[row[place] for row in cells] for place in range(width)]
    return _Table(
        [_numbers(column, comma=mark != ",") for column in texts],
        names,
        lambda row, place: f"line {rows[row][0]}: “{texts[place][row].strip()}”",
        texts,
    )


def _too_large(file: Path, size: str) -> UsageError:
    return UsageError(
        f"{file}: {size} of text, which would take gigabytes of memory",
        remedy="Save the values as an array, with numpy.save and the name FILE.npy",
    )


def _some_rows(file: Path, table: _Table, only: str) -> _Table:
    """The rows whose cell in a column has a value: "thread=2"."""
    name, _, value = only.rpartition("=")
    if not name:
        raise UsageError(f"--only {only}: no COLUMN=VALUE", remedy="For example --only thread=2")
    cells = _pick(file, table, name)
    wanted = float(value) if _is_number(value) else math.nan
    rows = np.flatnonzero(cells == wanted)
    if not rows.size:
        known = ", ".join(f"{cell:g}" for cell in np.unique(cells)[:10])
        raise UsageError(f"{file}: no row with {only}", remedy=f"Column {name} has: {known}")
    return table.rows(rows)


def _either(cells: list[list[str]]) -> bool:
    """Whether rows of two cells could also be numbers with a decimal comma."""
    return all(_WHOLE.fullmatch(a) and b.strip().isdigit() for a, b in cells)


def _numbers(texts: list[str], *, comma: bool) -> Column:
    """Numbers (n,): integers if all are, else floats, wider ones if float64 would lose digits.

    Other cells become NaN, which only a requested column must not contain.
    """
    try:
        return np.array(texts, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    plain = [text.strip() for text in texts]
    if comma:
        plain = [
            text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text for text in plain
        ]
    longest = max((sum(mark.isdigit() for mark in text) for text in plain), default=0)
    kind: Any = np.longdouble if longest > _DIGITS else np.float64
    return np.array([kind(text if _is_number(text) else "nan") for text in plain], dtype=kind)


def _separator(line: str) -> str:
    """The column separator of `line`; "" is space. With any other, a comma is decimal."""
    if is_verbose(line):
        return ":"
    for mark in (";", "\t"):
        if mark in line:
            return mark
    if " " in line.strip() and all(_is_number(part, comma=True) for part in line.split()):
        return ""
    return "," if "," in line else ""


def _splitter(mark: str) -> Callable[[str], list[str]]:
    if not mark:
        return str.split
    return lambda text: _split(text, mark)


def _split(text: str, mark: str) -> list[str]:
    """The cells of a line; a cell that is longer than any number is the whole line."""
    try:
        return next(csv.reader([text], delimiter=mark))
    except csv.Error:
        return [text]


def _is_number(text: str, *, comma: bool = False) -> bool:
    if comma and _DECIMAL_COMMA.fullmatch(text):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # Python allows it between digits


def _place(table: _Table, wanted: str) -> int:
    return table.names.index(wanted) if wanted in table.names else int(wanted)


def _pick(file: Path, table: _Table, wanted: str) -> Column:
    """The column `wanted`, all finite numbers."""
    if wanted not in table.names and not (
        wanted.isdecimal() and len(wanted) <= _DIGITS and int(wanted) < len(table.columns)
    ):
        known = ", ".join(table.names) if table.names else f"0 to {len(table.columns) - 1}"
        raise UsageError(f"{file}: no column {wanted}", remedy=f"Columns: {known}")
    place = _place(table, wanted)
    values = table.columns[place]
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise UsageError(
            f"{file}: value {row} (from 0) is not a finite number: {table.cell(row, place)}",
            remedy="Omit missed cycles and give the cycle numbers: --cycles COLUMN; write numbers "
            "as 1234.5, without thousands separators",
        )
    return values
