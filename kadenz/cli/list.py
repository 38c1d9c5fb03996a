# SPDX-License-Identifier: Apache-2.0
"""kadenz list: benchmarks, targets, campaigns and loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.listing import PARTS, write_list
from kadenz.cli.names import complete_benchmark, complete_target
from kadenz.cli.output import write_json
from kadenz.errors import KadenzError, UsageError

if TYPE_CHECKING:
    from kadenz.config.board import Board
    from kadenz.config.target_name import TargetName
    from kadenz.lab.catalog import Catalog
    from kadenz.lab.reference import Described
    from kadenz.wire.messages import Bench, BenchParam


@click.command("list")
@click.argument("name", required=False, metavar="[NAME|PART]", shell_complete=complete_benchmark)
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
    """List families of benchmarks, campaigns, and the targets whose images are built.

    With a PART (`benchmarks`, `targets`, `campaigns` or `loads`), list all of it; with the NAME of
    a family, its benchmarks; with that of a benchmark, its details. Each image reports its own
    benchmarks; before any is built, the suite's are listed. Parts of the lab are marked; problems
    with its files are shown at the end.
    """
    if parts:
        from kadenz.config import inventory

        click.echo(inventory.root())
        return
    answer = _everything(only, build)
    part = name if name in PARTS else None
    if name is not None and part is None:
        answer["benchmarks"] = _named(name, answer["benchmarks"])
    if as_json:
        write_json(answer if part is None else {part: answer[part]})
    else:
        write_list(answer, name)


def _named(name: str, benchmarks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The benchmark called `name`, or those of that family. UsageError with the nearest names."""
    import difflib

    names = [bench["name"] for bench in benchmarks]
    families = [bench_name.partition("/")[0] for bench_name in names]
    matches = [
        bench
        for bench, family in zip(benchmarks, families, strict=True)
        if name in (bench["name"], family)
    ]
    if matches:
        return matches
    near = difflib.get_close_matches(name, dict.fromkeys([*PARTS, *families, *names]), n=3)
    remedy = (
        f"Did you mean {', '.join(near)}?" if near else "`kadenz list benchmarks` shows all names"
    )
    raise UsageError(f"{name}: no such benchmark or family", remedy=remedy)


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
                "from": "lab" if name.lab_name else origin_of_both(name.kernel, name.board),
            }
        )
    return {
        "families": _families(),
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
    """The benchmarks that images listed, each with its targets."""
    entries: dict[str, dict[str, Any]] = {}
    for target, catalog in catalogs.items():
        for bench in catalog.benches:
            entry = entries.setdefault(bench.name, _entry(bench))
            entry["available"][target] = "yes" if bench.available else bench.reason
    return [entries[name] for name in sorted(entries)]


def _described() -> list[dict[str, Any]]:
    """The benchmarks of the suite and of the lab's sources, before any target was asked."""
    from kadenz.lab.reference import described

    return [_entry(bench) for _, bench in sorted(described().items())]


def _entry(bench: Bench | Described) -> dict[str, Any]:
    return {
        "name": bench.name,
        "begins": bench.begins,
        "ends": bench.ends,
        "source": bench.source,
        "nature": bench.nature,
        "params": [_parameter(param) for param in bench.params],
        "available": {},
    }


def _parameter(param: BenchParam) -> dict[str, Any]:
    """With the keys of `--json`: the values of a choice are its `words`."""
    return {
        "name": param.name,
        "initial": param.initial,
        "low": param.low,
        "high": param.high,
        "words": param.choices,
    }


def _families() -> dict[str, str]:
    """What the benchmarks of each family share."""
    from kadenz.lab.reference import families

    return {name: family.text for name, family in families().items()}
