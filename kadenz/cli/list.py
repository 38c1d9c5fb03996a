# SPDX-License-Identifier: Apache-2.0
"""kadenz list: benchmarks, targets, campaigns and loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.console import say, styled
from kadenz.cli.names import complete_benchmark, complete_target
from kadenz.cli.output import write_json
from kadenz.errors import KadenzError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadenz.config.board import Board
    from kadenz.config.target_name import TargetName
    from kadenz.lab.catalog import Catalog

_PARTS = ("benchmarks", "targets", "campaigns", "loads")


@click.command("list")
@click.argument(
    "name", required=False, metavar="[BENCHMARK|PART]", shell_complete=complete_benchmark
)
@click.option(
    "--target",
    "only",
    multiple=True,
    shell_complete=complete_target,
    help="List this target only. May be repeated. Default: all.",
)
@click.option("--build", is_flag=True, help="Build missing images to list their benchmarks.")
@click.option("--parts", is_flag=True, help="Only print the folder of kadenz's own parts.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def list_(name: str | None, only: tuple[str, ...], build: bool, parts: bool, as_json: bool) -> None:
    """List benchmarks with their end points, targets, campaigns and loads.

    Each image reports its own benchmarks; those of a target are listed once its image is built.
    Before any is built, the suite's are listed. With a BENCHMARK, show its details. With a PART
    (`benchmarks`, `targets`, `campaigns` or `loads`), list this alone. Parts of the lab are marked;
    problems with its files are shown at the end.
    """
    if parts:
        from kadenz.config import inventory

        click.echo(inventory.root())
        return
    answer = _everything(only, build)
    part = name if name in _PARTS else None
    if name is not None and part is None:
        answer["benchmarks"] = [_the_one(name, answer["benchmarks"])]
    if as_json:
        write_json(answer if part is None else {part: answer[part]})
    elif name is not None and part is None:
        _write_benchmark(answer["benchmarks"][0], answer["targets"])
    else:
        _write_overview(answer, _PARTS if part is None else [part])


def _the_one(name: str, benchmarks: list[dict[str, Any]]) -> dict[str, Any]:
    """The benchmark called `name`. Raises UsageError with the nearest names if there is none."""
    import difflib

    for bench in benchmarks:
        if bench["name"] == name:
            return bench
    near = difflib.get_close_matches(name, [*_PARTS, *(one["name"] for one in benchmarks)], n=3)
    remedy = f"Did you mean {', '.join(near)}?" if near else "`kadenz list` shows all names"
    raise UsageError(f"{name}: no such benchmark", remedy=remedy)


def _everything(only: tuple[str, ...], build: bool) -> dict[str, Any]:
    from kadenz.config import inventory
    from kadenz.config.inventory import origin, origin_of_both
    from kadenz.config.lab_file import find_lab
    from kadenz.config.target_name import known_targets, parse_target, problems
    from kadenz.lab.execution import instruments
    from kadenz.load import definitions

    lab = find_lab()
    for text in only:
        parse_target(text)  # raises for one that does not exist

    catalogs: dict[str, Catalog] = {}
    targets = []
    known = known_targets()
    for text in only or known:
        try:
            name = parse_target(text, known)
        except KadenzError:  # among the problems
            continue
        board = inventory.board(name.board)
        catalog, problem = _catalog(text, build)
        if catalog is not None:
            catalogs[text] = catalog
        targets.append(
            {
                "name": text,
                "title": f"{_kernel_title(name)} on {board.title}",
                "instruments": instruments(name),
                "image": "built" if catalog else problem,
                "verified": _verified(name.tier, board),
                "from": "lab" if name.own else origin_of_both(name.kernel, name.board),
            }
        )
    return {
        "benchmarks": _benchmarks(catalogs) if catalogs else _described(),
        "targets": targets,
        "campaigns": [
            {"name": name, "title": campaign.title, "file": str(file), "from": origin(file)}
            for name, campaign in inventory.campaigns().items()
            for file in [inventory.campaign_file(name)]
        ],
        "loads": [
            {"name": name, "title": definitions.title(name), "missing": _missing(name)}
            for name in definitions.names()
        ],
        "lab": str(lab.path) if lab is not None else "",
        "problems": [
            {"problem": error.message, "remedy": error.remedy}
            for error in (*inventory.problems(), *problems())
        ],
    }


def _kernel_title(name: TargetName) -> str:
    """The kernel's title; for an image that another build made, the file's name."""
    from kadenz.config import inventory
    from kadenz.config.target_name import own_image

    given = own_image(name)
    return f"image {given.name}" if given else inventory.kernel(name.kernel).title


def _verified(tier: str, board: Board) -> bool:
    """False for a real board on which the suite has never been verified."""
    return tier != "board" or board.tier.board is None or board.tier.board.verified


def _missing(load: str) -> str:
    """Why a load cannot run here; "" if nothing is missing."""
    from kadenz.load.definitions import check_programs

    try:
        check_programs(load)
    except KadenzError as error:
        return str(error)
    return ""


def _catalog(text: str, build: bool) -> tuple[Catalog | None, str]:
    """The catalog of a target's counter image, or why it is unknown."""
    from kadenz.config import inventory
    from kadenz.config.target_name import parse_target
    from kadenz.lab.catalog import catalog_of, remembered_catalog

    name = parse_target(text)
    source = inventory.kernel(name.kernel).source if name.kernel else None
    if source is not None and source.image is not None:
        return None, "needs --image"
    if source is not None and source.left_to_user:
        return None, f"needs --kernel-source {name.kernel}=DIR"
    try:
        if not build or name.tier == "board":
            return remembered_catalog(name), "not built" if name.kernel else "not asked yet"
        return catalog_of(name), ""
    except KadenzError as error:
        return None, error.message


def _benchmarks(catalogs: dict[str, Catalog]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for target, catalog in catalogs.items():
        for bench in catalog.benches:
            entry = found.setdefault(
                bench.name,
                {
                    "name": bench.name,
                    "begins": bench.begins,
                    "ends": bench.ends,
                    "source": bench.source,
                    "params": [p._asdict() for p in bench.params],
                    "available": {},
                },
            )
            entry["available"][target] = "yes" if bench.available else bench.reason
    return [found[name] for name in sorted(found)]


def _described() -> list[dict[str, Any]]:
    """The benchmarks of the suite and of the lab's sources, before any target was asked."""
    from kadenz.lab.reference import described

    found = {
        name: {
            "name": name,
            "begins": one.begins,
            "ends": one.ends,
            "source": one.source,
            "params": [{"name": key, "initial": value} for key, value in one.params.items()],
            "available": {},
        }
        for name, one in described().items()
    }
    return [found[name] for name in sorted(found)]


def _write_overview(answer: dict[str, Any], parts: Iterable[str]) -> None:
    """Prints one line per benchmark, target, campaign and load, cut to the terminal's width."""
    writers = {
        "benchmarks": _write_benchmarks,
        "targets": _write_targets,
        "campaigns": _write_campaigns,
        "loads": _write_loads,
    }
    for number, part in enumerate(parts):
        if number:
            _line("")
        writers[part](answer)
    if "benchmarks" in parts:
        _line("\n`kadenz list BENCHMARK` shows its end points, parameters and targets.")
    if answer["lab"]:
        _line(f"\nLab: {answer['lab']}")
    for problem in answer["problems"]:
        say(styled("\n[red]problem: {}[/]", problem["problem"]))
        click.echo(f"try:     {problem['remedy']}")


def _marks(targets: list[dict[str, Any]]) -> dict[str, str]:
    """The letters of targets whose images are built."""
    built = [one["name"] for one in targets if one["image"] == "built" and one["verified"]]
    return {name: chr(ord("a") + number) for number, name in enumerate(built)}


def _write_benchmarks(answer: dict[str, Any]) -> None:
    marks = _marks(answer["targets"])
    if any(bench["available"] for bench in answer["benchmarks"]):
        _line("Benchmarks: targets (letters as below), end points of the timed region")
    else:
        _line("Benchmarks: end points of the timed region")
        _line(
            "No image is built yet: `kadenz list --build --target NAME` asks a target for its own"
        )
    width = max((len(bench["name"]) for bench in answer["benchmarks"]), default=0)
    family = ""
    for bench in answer["benchmarks"]:
        if bench["name"].split("/")[0] != family:
            family = bench["name"].split("/")[0]
            _line("")
        runs_on = "".join(
            mark if bench["available"].get(target) == "yes" else "·"
            for target, mark in marks.items()
        )
        runs_on += "  " if marks else ""
        _line(f"  {bench['name']:{width}}  {runs_on}{bench['begins']} … {bench['ends']}")


def _write_targets(answer: dict[str, Any]) -> None:
    targets, marks = answer["targets"], _marks(answer["targets"])
    _line("Targets")
    width = max((len(target["name"]) for target in targets), default=0)
    for target in targets:
        state = [] if target["image"] == "built" else [target["image"]]
        state += [] if target["verified"] else ["not verified on silicon"]
        state += ["lab"] if target["from"] == "lab" else []
        remarks = f"({'; '.join(state)}) " if state else ""
        mark = marks.get(target["name"], " ")
        _line(f"  {mark} {target['name']:{width}}  {remarks}{target['title']}")


def _write_campaigns(answer: dict[str, Any]) -> None:
    _line("Campaigns")
    width = max((len(campaign["name"]) for campaign in answer["campaigns"]), default=0)
    for campaign in answer["campaigns"]:
        remark = "(lab) " if campaign["from"] == "lab" else ""
        _line(f"  {campaign['name']:{width}}  {remark}{campaign['title']}")


def _write_loads(answer: dict[str, Any]) -> None:
    _line("Loads during a benchmark on this Linux (`kadenz run --load NAME`; combine with +)")
    width = max(len(load["name"]) for load in answer["loads"])
    for load in answer["loads"]:
        missing = f" ({load['missing']})" if load["missing"] else ""
        _line(f"  {load['name']:{width}}  {load['title']}{missing}")


def _write_benchmark(bench: dict[str, Any], targets: list[dict[str, Any]]) -> None:
    """Prints one benchmark in full."""
    click.echo(bench["name"])
    click.echo(f"  from    {bench['begins']}")
    click.echo(f"  to      {bench['ends']}")
    click.echo(f"  source  {bench['source']}")
    for param in bench["params"]:
        words = param.get("words")
        initial = words[param["initial"]] if words else param["initial"]
        bounds = f"  ({param['low']}…{param['high']})" if "low" in param else ""
        bounds = f"  ({', '.join(words)})" if words else bounds
        click.echo(f"  --set   {param['name']}={initial}{bounds}")
    for target in targets:
        if target["image"] != "built":
            answer = f"unknown: {target['image']}"
        else:
            answer = bench["available"].get(target["name"], "not in its image")
            answer = "yes" if answer == "yes" else f"n/a: {answer}"
        click.echo(f"  on      {target['name']}  {answer}")


def _line(text: str) -> None:
    """Prints a line, cut to the width of a terminal; a pipe or file gets the whole line."""
    import shutil
    import sys

    width = shutil.get_terminal_size().columns
    if sys.stdout.isatty() and len(text) > width and not text.startswith("\n"):
        text = text[: width - 1] + "…"
    click.echo(text)
