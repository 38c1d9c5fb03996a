# SPDX-License-Identifier: Apache-2.0
"""A time series from a file of the user's own: .npy, or columns of text."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.errors import UsageError

Column = npt.NDArray[Any]


def read_series(
    file: Path, *, column: str = "", cycles: str = ""
) -> tuple[Column, npt.NDArray[np.int64] | None]:
    """Values (n,) of `file` and, where `cycles` names a column, the cycle number of each.

    .npy: one dimension, or two columns when `cycles` is given ("1" is the second). Else text: a row
    a line, separated by comma, semicolon, tab or space, "#" begins a comment; a first line that is
    no number names the columns. `column` and `cycles` are names or numbers from 0; `column`
    defaults to the first one. UsageError says file, line and what is wrong.
    """
    if not file.exists():
        raise UsageError(f"{file}: no such file", remedy="Name a .npy or a text file")
    if file.is_dir():
        raise UsageError(
            f"{file}: a folder", remedy="Name a file; figures of a run: `kadenz show RUN`"
        )
    table, names = _npy(file) if file.suffix == ".npy" else _text(file)
    values = _pick(file, table, names, column or "0")
    if not cycles:
        return _finite(file, values), None
    numbers = _finite(file, _pick(file, table, names, cycles))
    if (numbers != np.round(numbers)).any() or (np.diff(numbers.astype(np.float64)) <= 0).any():
        raise UsageError(
            f"{file}: column {cycles} holds no ascending whole numbers",
            remedy="--cycles names the column with the number of each row's cycle",
        )
    return _finite(file, values), numbers.astype(np.int64)


def _npy(file: Path) -> tuple[list[Column], list[str]]:
    try:
        array = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(
            f"{file}: not a .npy file: {error}", remedy="Write it with numpy.save"
        ) from None
    if not isinstance(array, np.ndarray) or array.ndim not in (1, 2):
        raise UsageError(
            f"{file}: {getattr(array, 'ndim', 'several')} dimensions, one or two are needed",
            remedy="Save one series: numpy.save(FILE, values)",
        )
    if array.dtype.kind not in "iuf":
        raise UsageError(
            f"{file}: values of type {array.dtype} are not numbers",
            remedy="Save integers or floats",
        )
    return [array] if array.ndim == 1 else list(array.T), []


def _text(file: Path) -> tuple[list[Column], list[str]]:
    try:
        lines = [
            (number, line.split("#", 1)[0].strip())
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        ]
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be read: {error.strerror}", remedy="See its permissions"
        ) from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file}: cannot be read as text: byte {error.start} is no UTF-8",
            remedy="Give columns of text in UTF-8, or an array written with numpy.save, named "
            "NAME.npy",
        ) from None
    rows = [(number, line) for number, line in lines if line]
    if not rows:
        raise UsageError(f"{file}: empty", remedy="One value a line is enough")
    split = _splitter(rows[0][1])
    names: list[str] = []
    if not _is_number(split(rows[0][1])[0]):
        names = [name.strip() for name in split(rows[0][1])]
        rows = rows[1:]
    width = len(names) or (len(split(rows[0][1])) if rows else 0)
    cells = []
    for number, line in rows:
        parts = split(line)
        if len(parts) != width:
            raise UsageError(
                f"{file}, line {number}: {len(parts)} columns, {width} before",
                remedy="Give every line the same columns",
            )
        cells.append(parts)
    columns: list[Column] = []
    for place in range(width):
        own = [row[place] for row in cells]
        try:
            columns.append(np.array(own, dtype=np.int64))
        except (ValueError, OverflowError):
            columns.append(_floats(own))
    return columns, names


def _floats(texts: list[str]) -> Column:
    """Numbers; what is none becomes NaN, which only a column that is asked for may not have."""
    values = np.full(len(texts), np.nan)
    for place, text in enumerate(texts):
        if _is_number(text):
            values[place] = float(text)
    return values


def _splitter(line: str) -> Any:
    for mark in (",", ";", "\t"):
        if mark in line:
            return lambda text, mark=mark: next(csv.reader([text], delimiter=mark))
    return str.split


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _pick(file: Path, table: list[Column], names: list[str], wanted: str) -> Column:
    if wanted in names:
        return table[names.index(wanted)]
    if wanted.isdigit() and int(wanted) < len(table):
        return table[int(wanted)]
    known = ", ".join(names) if names else f"0 to {len(table) - 1}"
    raise UsageError(f"{file}: no column {wanted}", remedy=f"Columns: {known}")


def _finite(file: Path, values: Column) -> Column:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        raise UsageError(
            f"{file}: value {place} (from 0) is no finite number",
            remedy="Leave missed cycles out and give the cycle numbers: --cycles COLUMN",
        )
    return values
