# SPDX-License-Identifier: Apache-2.0
"""A static site about an archive. It needs no web server: a browser opens its files from disk.

index.html has the style and the program (templates/site.js). data/ has what it shows: one file for
the list of series, one for each series and one for each run. Each is a call of `kadenz(...)`,
because a page opened from disk may load only scripts.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from kadenz.archive.history import Series, histories
from kadenz.archive.place import Place
from kadenz.archive.query import connect, run_sql
from kadenz.errors import StoreError, ToolMissing, UsageError
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
_ROW = "bench, params, lane, status, reason, class, unit, n, p50, p99, max, missed"


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
    fresh, old = (final.with_name(f".{final.name}.kadenz-{word}") for word in ("new", "old"))
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        _settle(final, old)
        for name in ("data/series", "data/runs"):
            (fresh / name).mkdir(parents=True)
        (fresh / MARK).touch()
        (fresh / "index.html").write_text(_index(library))
        (fresh / "plot.js").write_text(library.script)
        every = histories(place)
        _write_series(fresh, every)
        _write_runs(place, fresh, progress)
        _swap(fresh, final, old)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be written: {error.strerror}",
            remedy="Free space, or name another folder",
        ) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return len(every)


def _swap(fresh: Path, final: Path, old: Path) -> None:
    """Puts the new site into the place of the old one. Raises OSError: the old one then stays."""
    try:
        if final.exists():
            final.rename(old)
        fresh.rename(final)
    finally:
        _settle(final, old)


def _settle(final: Path, old: Path) -> None:
    """Removes the site that was renamed aside; puts it back if none took its place."""
    if (final / MARK).exists():
        shutil.rmtree(old, ignore_errors=True)
    elif old.exists():
        old.rename(final)


def key_of(series: Series) -> str:
    """The permanent name of a series in links: twelve hexadecimal digits of its identity."""
    own = [series.target, series.instrument, series.bench, series.lane, series.clock_class]
    own += [series.unit, series.host, json.dumps(series.params), json.dumps(series.conditions)]
    own += ["quick"] if series.quick else []
    return hashlib.sha256("\0".join(own).encode()).hexdigest()[:12]


def _index(library: zoom.Library) -> str:
    from jinja2 import Environment, select_autoescape

    folder = files("kadenz.report") / "templates"
    page = Environment(autoescape=select_autoescape()).from_string(
        (folder / "site.html.j2").read_text(encoding="utf-8")
    )
    colours = f":root{{{style.LIGHT}}}@media (prefers-color-scheme:dark){{:root{{{style.DARK}}}}}"
    return page.render(
        style=colours + library.style + (folder / "site.css").read_text(encoding="utf-8"),
        script=(folder / "site.js").read_text(encoding="utf-8"),
    )


def _write_series(folder: Path, every: list[Series]) -> None:
    rows = []
    for one in every:
        values = [point.value for point in one.points]
        month, worst = max(one.worst.items())
        head = {
            "key": key_of(one),
            "target": one.target,
            "bench": one.bench,
            "params": ", ".join(f"{name}={value}" for name, value in one.params.items()),
            "lane": one.lane,
            "class": one.clock_class,
            "unit": one.unit,
            "instrument": one.instrument,
            "quick": one.quick,
            "conditions": ", ".join(
                f"{name} {value}" for name, value in one.conditions.items() if value != "none"
            ),
        }
        step = one.steps[-1] if one.steps else None
        rows.append(
            head
            | {
                "latest": values[-1],
                "date": one.points[-1].created[:10],
                "runs": len(values),
                "month": month,
                "worst": worst,
                "step": step.change if step else None,
                "stepped": step.latest.created[:10] if step else "",
                "spark": values[-SPARK:],
            }
        )
        body = head | {
            "host": one.host,
            "note": one.note,
            "months": one.worst,
            "points": [
                [point.created, point.value, point.worst, point.run, point.commit, point.n]
                for point in one.points
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
                for step in one.steps
            ],
        }
        _call(folder / "data" / "series" / f"{key_of(one)}.js", f"series/{key_of(one)}", body)
    _call(folder / "data" / "index.js", "index", rows)


def _write_runs(place: Place, folder: Path, progress: Callable[[int, int], None]) -> None:
    con = connect(place)
    facts = run_sql(place, con, f"SELECT {_FACTS} FROM runs ORDER BY run")
    columns, runs = facts.columns, facts.fetchall()
    rows = run_sql(place, con, f"SELECT run, {_ROW} FROM records ORDER BY run, record, lane")
    lanes: dict[str, list[tuple[Any, ...]]] = {}
    for run, *row in rows.fetchall():
        lanes.setdefault(run, []).append(tuple(row))
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
    file.write_text(visible(f"kadenz({json.dumps(name)},{text})\n"))
