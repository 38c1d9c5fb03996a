# SPDX-License-Identifier: Apache-2.0
"""A run folder of which every text that a reader accepts is somebody's attempt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from kadenz.config.manifest import Manifest, Warning  # noqa: A004
from kadenz.errors import KadenzError
from kadenz.store import read_run
from tests.synthetic import LINUX, STM32F4, Point, instructions, manifest, nanoseconds, write_run

TRICKS = (
    "\x1b[8m\x1b]0;t\x07\x9b2J\u202e\u2066\u200b\ufeff\x7f\x85\u2028\r\b[/] [red] [link=x] :bomb: "
    "</td></title></script><script>alert(1)</script><img src=x onerror=y> | `` ![x](https://y) "
    "[x][y] https://y.z www.y.z &lt;b&gt; \\ \n# heading\n- list\n```\n<!-- "
)
NAME = "\x1b[8m\x9b\u202e[red]|`<b>"  # of files
STARTS = ("=cmd()", "# h ", "[x]: u ")


def write_hostile_runs(parent: Path) -> list[Path]:
    """Two runs of one board, and one of this Linux, each with its own attempts."""
    rng = np.random.default_rng(1)
    samples = instructions(900, 200, rng, every=20)
    points = [
        Point("itc/queue", {"all": samples}, {"size_bytes": size}, failed_checks=int(size == 60))
        for size in (4, 8, 16, 32, 60)
    ]
    points.append(Point(f"=x/y{NAME}", {f"@l{NAME}": samples}, {f"+p{NAME}": f"-1+{NAME}"}))
    points.append(Point("itc/pipe", {"all": samples[:0]}, status="n/a", reason="no pipes"))
    lanes = {f"core{core}": nanoseconds(21e3, 500, rng) for core in range(2)}
    cyclic = Point("cyclic/wakeup-latency", lanes, {"period_us": 1000}, missed=3)
    warned = [Warning(code="x", message="x", remedy="x")]
    runs = [
        write_run(parent, manifest(STM32F4, id="a", warnings=warned), points),
        write_run(parent, manifest(STM32F4, id="b"), points),
        write_run(parent, manifest(LINUX, id="c", warnings=warned), [cyclic]),
    ]
    return [made_hostile(run, start) for run, start in zip(runs, STARTS, strict=False)]


def made_hostile(run: Path, start: str) -> Path:
    """The run with `start` and every trick in each text, its folder included."""
    file = run / "run.json"
    drawn = "".join(filter(str.isprintable, NAME))  # an id has no other characters
    content = _filled(file) | {"id": f"{start.strip('/')}{run.name}{drawn}"}
    for place in sorted({place for place, _ in texts(content)}):
        tricks = NAME if place == ("target", "name") else TRICKS  # a folder in an archive
        changed = _replaced(content, place, lambda text, end=tricks: f"{start}{text}{end}")
        content = changed if _is_read(file, changed) else content
    assert _is_read(file, content)
    return run.rename(run.with_name(content["id"]))


def _is_read(file: Path, content: dict[str, Any]) -> bool:
    file.write_text(json.dumps(content))
    try:
        run = read_run(file.parent)
        for record in run.manifest.records:
            for lane in record.lanes:
                run.samples(record, lane)
    except KadenzError:
        return False
    return True


def texts(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each text with its place; entries of a list have one place, and keys have their own."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for entry in value:
            yield from texts(entry, (*place, "[]"))
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from texts(entry, (*place, key))


def _replaced(value: Any, place: tuple[str, ...], change: Any) -> Any:
    if not place:
        return change(value) if isinstance(value, str) else value
    head, rest = place[0], place[1:]
    if isinstance(value, list) and head == "[]":
        return [_replaced(entry, rest, change) for entry in value]
    if isinstance(value, dict) and head in value:
        return value | {head: _replaced(value[head], rest, change)}
    return value


def _filled(file: Path) -> dict[str, Any]:
    """A run.json with one of each thing that it lacks: a load, an event, a tuning, ..."""
    content: dict[str, Any] = json.loads(file.read_text())
    for field in msgspec.structs.fields(Manifest):
        if not content.get(field.name):
            more = content | {field.name: _example(msgspec.inspect.type_info(field.type))}
            if field.name == "events":
                more["events"][0]["kind"] = "event {}"
            content = more if _is_read(file, more) else content
    return content


def _example(of: Any) -> Any:
    """A value of a type of msgspec's: its first choice, one entry, every field."""
    kind = type(of).__name__
    if kind == "StructType":
        return {field.encode_name: _example(field.type) for field in of.fields}
    if kind == "ListType":
        return [_example(of.item_type)]
    if kind == "DictType":
        return {_example(of.key_type): _example(of.value_type)}
    if kind == "UnionType":
        return _example(next(member for member in of.types if type(member).__name__ != "NoneType"))
    if kind == "Metadata":
        return _example(of.type)
    simple = {"StrType": "x", "IntType": 1, "FloatType": 1.0, "BoolType": True}
    return of.values[0] if kind == "LiteralType" else simple.get(kind)
