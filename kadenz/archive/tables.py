# SPDX-License-Identifier: Apache-2.0
"""Parquet objects as tables: read only with the columns and as many rows as kadenz writes.

A few bytes of a Parquet object may stand for 10^9 rows or for a text of gigabytes. Row counts are
therefore read first, texts stay numbers of a dictionary, and samples are read in pieces.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kadenz.archive.place import Place, need_pyarrow
from kadenz.archive.rows import COLUMNS, ROWS, SAMPLES, schema_of_rows
from kadenz.errors import KadenzError

PIECE = 1 << 16  # rows
VALUES = 1 << 27  # of all columns and rows of a run, distributions included: 1 GiB
_TEXTS = ("run", "lane")  # of samples


def lane_table(place: Place, relative: str, columns: list[str] | None = None) -> Any:
    """Columns of the object below runs/ of a run, else all, as an Arrow table.

    StoreError if the object is not one of a run: the types of all columns are checked.
    """
    wanted = schema_of_rows()
    with _naming(place, relative):
        texts = [name for name, kind in COLUMNS.items() if kind == "string"]
        file = _opened(place, relative, texts)
        _same_types(file, dict(zip(wanted.names, wanted.types, strict=True)))
        _bounded(file, ROWS, VALUES)
        return file.read(columns=columns or wanted.names, use_threads=False)


def texts_of(column: Any) -> list[str | None]:
    """The texts of a column of `lane_table`, each in memory once."""
    every = column.combine_chunks()
    texts = [*every.dictionary.to_pylist(), None]
    return [texts[-1 if code is None else code] for code in every.indices.to_pylist()]


def sample_pieces(place: Place, relative: str, count: int | None = None) -> Iterator[Any]:
    """The samples of one benchmark of a run, as Arrow batches of at most PIECE rows.

    StoreError if the object has not `count` rows, has other columns, or cannot be read.
    """
    pa = need_pyarrow()
    with _naming(place, relative):
        file = _opened(place, relative, [*_TEXTS])
        numbers = {"record": pa.int32(), "ticks": pa.int64(), "real": pa.float64()}
        _same_types(file, dict.fromkeys(_TEXTS, pa.string()) | numbers)
        rows = _bounded(file, SAMPLES, SAMPLES * len(file.schema_arrow))
        if count not in (None, rows):
            raise ValueError(f"{rows:,} samples, run.json says {count:,}")
        columns = ["record", "lane", "ticks", "real"]
        yield from file.iter_batches(batch_size=PIECE, columns=columns, use_threads=False)


@contextmanager
def _naming(place: Place, relative: str) -> Iterator[None]:
    """Errors of a block become the StoreError that names this object."""
    try:
        yield
    except KadenzError:
        raise
    except Exception as error:  # Arrow's, and of Python for what Arrow did not check
        first = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        raise place.damaged(relative, first) from None


def _opened(place: Place, relative: str, texts: list[str]) -> Any:
    need_pyarrow()
    import pyarrow.parquet as pq

    content = io.BytesIO(place.sealed(relative))
    there = pq.read_metadata(content).schema.names
    # A dictionary keeps a text once that fills 10^5 rows.
    return pq.ParquetFile(content, read_dictionary=[name for name in texts if name in there])


def _same_types(file: Any, wanted: dict[str, Any]) -> None:
    """ValueError if a column is missing or has another type; a column too many does not matter."""
    types = {field.name: field.type for field in file.schema_arrow}
    for name, kind in wanted.items():
        if name not in types:
            raise ValueError(f"no column {name}")
        plain = types[name].value_type if hasattr(types[name], "index_type") else types[name]
        if plain != kind:
            raise ValueError(f"column {name}: {plain} in the place of {kind}")


def _bounded(file: Any, rows: int, values: int) -> int:
    """The number of rows. ValueError if there are more of them or of values than kadenz writes."""
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    claimed = sum(group.num_rows for group in groups)
    held = sum(group.column(i).num_values for group in groups for i in range(group.num_columns))
    if claimed > rows:
        raise ValueError(f"{claimed:,} rows; a run has at most {rows:,}")
    if held > values:
        raise ValueError(f"{held:,} values; a run has at most {values:,}")
    if claimed != file.metadata.num_rows:
        raise ValueError(f"{claimed:,} rows, its footer says {file.metadata.num_rows:,}")
    return int(claimed)
