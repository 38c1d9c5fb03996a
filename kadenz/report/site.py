# SPDX-License-Identifier: Apache-2.0
"""A static site about an archive. It needs no web server: a browser opens its files from disk.

index.html loads site.css, site.js (both in templates/) and nothing of another place: its
Content-Security-Policy says so. data/ has what it shows: lists of series and of runs, and one file
for each of them. Each is a call of `kadenz(...)`, because a page opened from disk may load only
scripts; only names of the lists are loaded.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from kadenz.archive.history import Series, histories
from kadenz.archive.place import Place
from kadenz.archive.query import connect, run_sql
from kadenz.errors import StoreError, ToolMissing, UsageError
from kadenz.owner import left_in, remove_left, unfinished_name
from kadenz.report import zoom
from kadenz.report.svg import style
from kadenz.visible_text import visible

MARK = ".kadenz-site"  # a folder with this file may be replaced
SPARK = 24  # newest runs in the list's lines
# Facts of a run, in the order in which they are shown.
_FACTS = (
    "run, name, label, commit, strftime(created, '%Y-%m-%d %H:%M UTC') AS created, target, "
    "kernel_version, campaign, quick, partial, conditions, host, virtual, kadenz, compiler, "
    "image, instrument"
)
_ROW = "bench, params, lane, status, reason, class, unit, n, median, p99, max, missed"


def write_site(place: Place, folder: Path, progress: Callable[[int, int], None]) -> int:
    """Writes the site; an existing one is replaced when the new one is complete.

    If it cannot be replaced, the old one stays; after a kill the next call puts it back.
    `progress` gets the number of runs written, and of all runs. Returns the number of series.
    UsageError if the folder holds something else; ToolMissing without the plotting library.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise UsageError(
            f"{folder}: neither empty nor a site of kadenz", remedy="Name another folder: --output"
        )
    library = zoom.library()
    if library is None:
        raise ToolMissing("uPlot, which draws the histories, is missing", remedy=zoom.REMEDY)
    final = folder.resolve()
    fresh = final.with_name(unfinished_name())
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        _put_back(final)
        remove_left(final.parent)
        for name in ("data/series", "data/runs"):
            (fresh / name).mkdir(parents=True)
        (fresh / MARK).touch()
        _write_page(fresh, library)
        every = histories(place)
        _write_series(fresh, every)
        _write_runs(place, fresh, progress)
        _swap(fresh, final)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be written: {error.strerror}",
            remedy="Free space, or name another folder",
        ) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return len(every)


def _swap(fresh: Path, final: Path) -> None:
    """Puts the new site into the place of the old one, which others may do at the same time.

    Raises OSError: the old site then stays.
    """
    while not _took(fresh, final):
        old = final.with_name(unfinished_name(_aside(final)))
        with suppress(FileNotFoundError):  # another process has just moved it
            final.rename(old)
        try:
            if _took(fresh, final):
                return
        finally:
            _settle(final, old)


def _took(fresh: Path, final: Path) -> bool:
    """Whether the new site took its place; False if a site is there."""
    try:
        fresh.rename(final)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True


def _put_back(final: Path) -> None:
    """Settles what a process left that was killed between its two renames."""
    for old in left_in(final.parent, _aside(final)):
        _settle(final, old)


def _settle(final: Path, old: Path) -> None:
    """Removes a site that was renamed aside; puts it back if none took its place."""
    if (final / MARK).exists():
        shutil.rmtree(old, ignore_errors=True)
    elif old.exists():
        with suppress(OSError):  # then the next call puts it back
            old.rename(final)


def _aside(final: Path) -> str:
    """The kind of the names under which the site at `final` is moved aside."""
    return f"{zlib.crc32(os.fsencode(final.name)):08x}"


def key_of(series: Series) -> str:
    """The permanent name of a series in links: twelve hexadecimal digits of its identity."""
    identity = [series.target, series.instrument, series.bench, series.lane, series.clock_class]
    identity += [series.unit, series.host, json.dumps(series.params), json.dumps(series.conditions)]
    identity += ["quick"] if series.quick else []
    return hashlib.sha256("\0".join(identity).encode()).hexdigest()[:12]


def _write_page(folder: Path, library: zoom.Library) -> None:
    """The page, its program and its style; no text of a run is in them."""
    colours = f":root{{{style.LIGHT}}}@media (prefers-color-scheme:dark){{:root{{{style.DARK}}}}}"
    _write(folder / "index.html", _template("site.html"))
    _write(folder / "site.css", colours + library.style + _template("site.css"))
    _write(folder / "site.js", _template("site.js"))
    _write(folder / "plot.js", library.script)


def _template(name: str) -> str:
    return (files("kadenz.report") / "templates" / name).read_text(encoding="utf-8")


def _write_series(folder: Path, every: list[Series]) -> None:
    rows = []
    for series in every:
        values = [point.value for point in series.points]
        month, worst = max(series.worst.items())
        head = {
            "key": key_of(series),
            "target": series.target,
            "bench": series.bench,
            "params": ", ".join(f"{name}={value}" for name, value in series.params.items()),
            "lane": series.lane,
            "class": series.clock_class,
            "unit": series.unit,
            "instrument": series.instrument,
            "quick": series.quick,
            "conditions": ", ".join(
                f"{name} {value}" for name, value in series.conditions.items() if value != "none"
            ),
        }
        step = series.steps[-1] if series.steps else None
        rows.append(
            head
            | {
                "latest": values[-1],
                "date": series.points[-1].created[:10],
                "runs": len(values),
                "month": month,
                "worst": worst,
                "step": step.change if step else None,
                "stepped": step.latest.created[:10] if step else "",
                "spark": values[-SPARK:],
            }
        )
        body = head | {
            "host": series.host,
            "note": series.note,
            "months": series.worst,
            "points": [
                [point.created, point.value, point.worst, point.run, point.commit, point.n]
                for point in series.points
            ],
            "steps": [
                {
                    "from": step.earliest.run,
                    "to": step.latest.run,
                    "before": step.before,
                    "after": step.after,
                    "p": step.p,
                    "exact": step.exact,
                    "reasons": step.reasons,
                }
                for step in series.steps
            ],
        }
        _call(folder / "data" / "series" / f"{key_of(series)}.js", f"series/{key_of(series)}", body)
    _call(folder / "data" / "index.js", "index", rows)


def _write_runs(place: Place, folder: Path, progress: Callable[[int, int], None]) -> None:
    con = connect(place, samples=False)
    facts = run_sql(place, con, f"SELECT {_FACTS} FROM runs ORDER BY run")
    columns, runs = facts.columns, facts.fetchall()
    rows = run_sql(place, con, f"SELECT run, {_ROW} FROM records ORDER BY run, record, lane")
    lanes: dict[str, list[tuple[Any, ...]]] = {}
    for run, *row in rows.rows:
        lanes.setdefault(run, []).append(tuple(row))
    _call(folder / "data" / "runs.js", "runs", [*dict.fromkeys(run[0] for run in runs)])
    for number, run in enumerate(runs):
        body = {
            "facts": dict(zip(columns, run, strict=True)),
            "columns": [name.strip() for name in _ROW.split(",")],
            "rows": lanes.get(run[0], []),
        }
        _call(folder / "data" / "runs" / f"{run[0]}.js", f"runs/{run[0]}", body)
        if number % 100 == 99 or number + 1 == len(runs):
            progress(number + 1, len(runs))


def _call(file: Path, name: str, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    _write(file, visible(f"kadenz({json.dumps(name)},{text})\n"))


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
