# SPDX-License-Identifier: Apache-2.0
"""The tables of an archive, for SQL (DuckDB). docs/reference/archive.md lists their columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kadenz.archive.objects import EVERY_RUN, EVERY_SAMPLES
from kadenz.archive.place import Place, need_duckdb
from kadenz.archive.rows import COLUMNS, LISTS, ROWS
from kadenz.archive.statistics import NAMES
from kadenz.archive.tables import lane_table, sample_pieces
from kadenz.errors import StoreError, UsageError

MEMORY = "1500MB"
_SQL = {"string": "VARCHAR", "timestamp[us]": "TIMESTAMP", "bool": "BOOLEAN", "int32": "INTEGER"}
_SQL |= {"int64": "BIGINT", "double": "DOUBLE"}
# Objects of strangers: the run is the one that the object's name says, every column has its type,
# and an object with more rows than a run can have ends the query before they are kept.
_STORED = """
CREATE VIEW stored AS SELECT parse_filename(filename, true, 'forward_slash') AS run, {columns},
    month FROM read_parquet('{files}', {options}, file_row_number = true)
    WHERE CASE WHEN file_row_number < {rows} THEN true
        ELSE error(filename || ': more than {rows} rows') END;
CREATE VIEW records AS SELECT * EXCLUDE ("values", counts) FROM stored;
"""
_CHECK = "`kadenz archive check` names every damaged object"
_PIECE = 10_000  # rows that are fetched at once
_OPTIONS = "hive_partitioning = true, hive_types_autocast = false, filename = true"
# Columns of `records` that describe a run: the table `runs` has one row for each.
_OF_RUN = (
    "run, digest, name, label, commit, created, added, month, target, kernel, kernel_version, "
    "board, tier, instrument, arch, campaign, quick, partial, conditions, configuration, host, "
    "virtual, kadenz, compiler, image"
)
_POINT = "target, bench, params, lane, class, unit"
_VIEWS = f"""
CREATE VIEW runs AS SELECT {_OF_RUN}, count(*) FILTER (status = 'ok') AS lanes, sum(n) AS samples,
    count(*) FILTER (status IN ('failed', 'invalid')) AS failed
    FROM records GROUP BY ALL ORDER BY created;
CREATE VIEW distribution AS SELECT run, created, month, label, commit, {_POINT},
    unnest("values") AS value, unnest(counts) AS count FROM stored WHERE status = 'ok';
-- Exact, by nearest rank, over every warm sample of all runs of a system in a month. Values are
-- merged by the number of their point: six texts in each of 10^8 rows would cost five times more.
CREATE VIEW percentiles AS
    WITH points AS MATERIALIZED (SELECT run, record, lane, month, {_POINT.replace("lane, ", "")},
        dense_rank() OVER (ORDER BY month, {_POINT}) AS point FROM stored WHERE status = 'ok'),
    flat AS (SELECT point, unnest("values") AS value, unnest(counts) AS count
        FROM stored JOIN points USING (run, record, lane)),
    merged AS (SELECT point, value, sum(count)::BIGINT AS count FROM flat GROUP BY ALL),
    ranked AS (SELECT point, value, sum(count) OVER (PARTITION BY point ORDER BY value) AS reached,
        sum(count) OVER (PARTITION BY point) AS n FROM merged),
    figures AS (SELECT point, any_value(n)::BIGINT AS n, min(value) AS min,
        min(value) FILTER (reached >= 0.5 * n) AS median,
        min(value) FILTER (reached >= 0.9 * n) AS p90,
        min(value) FILTER (reached >= 0.99 * n) AS p99,
        min(value) FILTER (reached >= 0.999 * n) AS "p99.9", max(value) AS max
        FROM ranked GROUP BY point)
    SELECT DISTINCT {_POINT}, month, figures.* EXCLUDE (point)
        FROM figures JOIN points USING (point) ORDER BY ALL;
"""
# Samples of a run whose adding was interrupted are not visible.
_SAMPLES = """
CREATE VIEW samples AS
    WITH taken AS (SELECT parse_filename(filename, true, 'forward_slash') AS run, target, bench,
        month, record::INTEGER AS record, lane::VARCHAR AS lane, index::BIGINT AS index,
        cold::BOOLEAN AS cold, ticks::BIGINT AS ticks, "real"::DOUBLE AS "real"
        FROM read_parquet('{files}', {options}))
    SELECT s.target, s.bench, s.month, s.run, s.record, s.lane, s.index, s.cold,
        r.params, r.status, r.class, r.unit, coalesce(s.ticks, s.real) * r.scale AS value,
        s.ticks, s.real
    FROM taken AS s
    JOIN records AS r ON r.run = s.run AND r.record = s.record AND r.lane = s.lane;
"""
_NO_SAMPLES = """
CREATE VIEW samples AS SELECT target, bench, month, run, record, lane, n AS index, partial AS cold,
    params, status, class, unit, median AS value, n AS ticks, median AS real
    FROM records WHERE false;
"""


@dataclass(frozen=True)
class Answer:
    """The result of a query: names of its columns, and rows as they are fetched."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows. StoreError if an object is damaged."""
        return [*self.rows]


def connect(place: Place, *, memory: str = MEMORY, samples: bool = True) -> Any:
    """A DuckDB connection with the views records, runs, samples, distribution and percentiles.

    Memory is bounded by `memory`; larger intermediate results go to a temporary folder. Without
    `samples`, their objects are not looked at. UsageError if the archive is empty, StoreError if an
    object is damaged, or if something else is in its place.
    """
    duckdb = need_duckdb()
    if not _all_objects(place, EVERY_RUN):
        raise UsageError(f"{place.text}: no run yet", remedy="kadenz archive add RUN")
    con = duckdb.connect(config={"memory_limit": memory, "preserve_insertion_order": False})
    if not place.is_local:
        con.register_filesystem(place.fs)
    runs, parts = (
        _quoted(f"{place.query_root}/{pattern}") for pattern in (EVERY_RUN, EVERY_SAMPLES)
    )
    some = samples and _all_objects(place, EVERY_SAMPLES)
    try:
        con.execute(_STORED.format(columns=_columns(), files=runs, options=_OPTIONS, rows=ROWS))
        con.execute(_SAMPLES.format(files=parts, options=_OPTIONS) if some else _NO_SAMPLES)
        con.execute(_VIEWS)
    except duckdb.Error as error:
        raise _at_fault(place, error) or _unreadable(place, error) from None
    return con


def run_sql(place: Place, con: Any, sql: str, values: dict[str, Any] | None = None) -> Answer:
    """The result of a query, without columns if it has none; `values` stand for $NAME in it.

    UsageError if the SQL is wrong, StoreError if an object is damaged.
    """
    with _explained(place):
        relation = con.sql(sql, params=values)
        if relation is None:
            return Answer([], iter(()))
        return Answer(relation.columns, _fetched(place, relation))


def _fetched(place: Place, relation: Any) -> Iterator[tuple[Any, ...]]:
    with _explained(place):
        while rows := relation.fetchmany(_PIECE):
            yield from rows


@contextmanager
def _explained(place: Place) -> Iterator[None]:
    """Errors of DuckDB become UsageError if the SQL is wrong, and StoreError if an object is."""
    duckdb = need_duckdb()
    try:
        yield
    except (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException) as error:
        raise _wrong_sql(error) from None
    except (duckdb.Error, ValueError, OverflowError, RuntimeError, MemoryError) as error:
        of_store = (
            duckdb.IOException,
            duckdb.InvalidInputException,
            duckdb.SerializationException,
        )
        unknown = _unreadable(place, error) if isinstance(error, of_store) else _wrong_sql(error)
        raise _at_fault(place, error) or unknown from None


def _wrong_sql(error: Exception) -> UsageError:
    return UsageError(
        f"SQL: {str(error).strip()}",
        remedy="Tables: runs, records, samples, distribution, percentiles; "
        "`kadenz archive query 'DESCRIBE records'` lists columns",
    )


def _at_fault(place: Place, error: Exception) -> StoreError | None:
    """The object that DuckDB could not read; None if all can be read.

    Few of its errors name one, and some name an intact one beside which another differs, so that
    each is read.
    """
    runs, parts = (place.sorted_out(pattern)[0] for pattern in (EVERY_RUN, EVERY_SAMPLES))
    try:
        for object_name in runs:
            lane_table(place, object_name)
        for object_name in parts:
            for _ in sample_pieces(place, object_name):
                pass
    except StoreError as fault:
        return fault
    named = [object_name for object_name in [*runs, *parts] if object_name in str(error)]
    return _unreadable(place, error, named[0]) if named else None


def _unreadable(place: Place, error: Exception, object_name: str = "") -> StoreError:
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    first = first.replace(f"{place.query_root}/", "")
    where = place.url(object_name) if object_name else f"{place.text}: an object"
    return StoreError(f"{where} cannot be read: {first}", remedy=_CHECK)


def _all_objects(place: Place, pattern: str) -> list[str]:
    """The objects that DuckDB finds by a pattern. StoreError if it finds anything else."""
    objects, foreign = place.sorted_out(pattern)
    for name, what in foreign.items():
        raise StoreError(
            f"{place.url(name)}: {what}",
            remedy="Move it out of the archive; `kadenz archive check` names all of them",
        )
    return objects


def _columns() -> str:
    """The columns of a run's rows with their types, as SQL."""
    types = {name: _SQL[kind] for name, kind in COLUMNS.items() if name != "run"}
    types |= {name: f"{_SQL[kind]}[]" for name, kind in LISTS.items()}
    return ", ".join(
        f'"{name}"::{kind} AS "{NAMES.get(name, name)}"' for name, kind in types.items()
    )


def _quoted(text: str) -> str:
    return text.replace("'", "''")
