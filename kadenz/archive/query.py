# SPDX-License-Identifier: Apache-2.0
"""The tables of an archive, for SQL (DuckDB). docs/reference/archive.md lists their columns."""

from __future__ import annotations

from typing import Any

from kadenz.archive.place import RUNS, SAMPLES, Place, need_duckdb
from kadenz.errors import StoreError, UsageError

MEMORY = "1500MB"
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
        min(value) FILTER (reached >= 0.5 * n) AS p50,
        min(value) FILTER (reached >= 0.9 * n) AS p90,
        min(value) FILTER (reached >= 0.99 * n) AS p99,
        min(value) FILTER (reached >= 0.999 * n) AS p999, max(value) AS max
        FROM ranked GROUP BY point)
    SELECT DISTINCT {_POINT}, month, figures.* EXCLUDE (point)
        FROM figures JOIN points USING (point) ORDER BY ALL;
"""
# Samples of a run whose adding was interrupted are not visible.
_SAMPLES = """
CREATE VIEW samples AS
    SELECT s.target, s.bench, s.month, s.run, s.record, s.lane, s.index, s.cold,
        r.params, r.class, r.unit, coalesce(s.ticks, s.real) * r.scale AS value, s.ticks, s.real
    FROM read_parquet('{files}', hive_partitioning = true, hive_types_autocast = false) AS s
    JOIN records AS r ON r.run = s.run AND r.record = s.record AND r.lane = s.lane;
"""
_NO_SAMPLES = """
CREATE VIEW samples AS SELECT target, bench, month, run, record, lane, n AS index, partial AS cold,
    params, class, unit, p50 AS value, n AS ticks, p50 AS real FROM records WHERE false;
"""


def connect(place: Place, *, memory: str = MEMORY) -> Any:
    """A DuckDB connection with the views records, runs, samples, distribution and percentiles.

    Memory is bounded by `memory`; larger intermediate results go to a temporary folder. UsageError
    if the archive is empty, StoreError if an object is damaged.
    """
    duckdb = need_duckdb()
    if not place.objects(f"{RUNS}/*/*.parquet"):
        raise UsageError(f"{place.text}: no run yet", remedy="kadenz archive add RUN")
    con = duckdb.connect(config={"memory_limit": memory, "preserve_insertion_order": False})
    if not place.is_local:
        con.register_filesystem(place.fs)
    runs = _quoted(f"{place.query_root}/{RUNS}/*/*.parquet")
    options = "hive_partitioning = true, hive_types_autocast = false"
    try:
        con.execute(f"CREATE VIEW stored AS SELECT * FROM read_parquet('{runs}', {options})")
        con.execute('CREATE VIEW records AS SELECT * EXCLUDE ("values", counts) FROM stored')
        files = _quoted(f"{place.query_root}/{SAMPLES}/*/*/*/*.parquet")
        some = place.objects(f"{SAMPLES}/*/*/*/*.parquet")
        con.execute(_SAMPLES.format(files=files) if some else _NO_SAMPLES)
        con.execute(_VIEWS)
    except duckdb.Error as error:
        raise damaged(place, error) from None
    return con


def run_sql(place: Place, con: Any, sql: str, values: dict[str, Any] | None = None) -> Any:
    """The result of a query; `values` stand for $NAME in it.

    UsageError if the SQL is wrong, StoreError if an object is damaged.
    """
    duckdb = need_duckdb()
    try:
        return con.sql(sql, params=values)
    except (
        duckdb.IOException,
        duckdb.InvalidInputException,
        duckdb.SerializationException,
    ) as error:
        raise damaged(place, error) from None
    except duckdb.Error as error:
        raise UsageError(
            f"SQL: {str(error).strip()}",
            remedy="Tables: runs, records, samples, distribution, percentiles; "
            "`kadenz archive query 'DESCRIBE records'` lists columns",
        ) from None


def damaged(place: Place, error: Exception) -> StoreError:
    """An object that DuckDB could not read."""
    first = str(error).strip().splitlines()[0]
    return StoreError(
        f"{place.text}: an object cannot be read: {first.replace(place.query_root, place.url(''))}",
        remedy="`kadenz archive check` names every damaged object",
    )


def _quoted(text: str) -> str:
    return text.replace("'", "''")
