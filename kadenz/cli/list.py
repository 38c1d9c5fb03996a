# SPDX-License-Identifier: Apache-2.0
"""kadenz list: the benchmarks, targets and campaigns there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kadenz.errors import KadenzError

if TYPE_CHECKING:
    from kadenz.lab.catalog import Catalog


@click.command("list")
@click.option("--build", is_flag=True, help="Build the images that are missing, and ask them.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def list_(build: bool, as_json: bool) -> None:
    """List benchmarks with what they time, targets with what they lack, and campaigns.

    What a target can measure its image says itself; images that were never built are asked after
    `--build`.
    """
    answer = _everything(build)
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=1))
    else:
        _write_tables(answer)


def _everything(build: bool) -> dict[str, Any]:
    from kadenz.config import house
    from kadenz.config.target_name import known_targets, parse_target

    catalogs: dict[str, Catalog] = {}
    targets = []
    for text in known_targets():
        name = parse_target(text)
        board = house.board(name.board)
        catalog, problem = _catalog(text, build)
        if catalog is not None:
            catalogs[text] = catalog
        targets.append(
            {
                "name": text,
                "title": f"{house.kernel(name.kernel).title} on {board.title}",
                "instruments": list(board.instruments) if name.tier == "emulated" else ["counter"],
                "image": "built" if catalog else problem,
            }
        )
    return {
        "benchmarks": _benchmarks(catalogs),
        "targets": targets,
        "campaigns": [
            {"name": name, "title": house.read_campaign(file).title, "file": str(file)}
            for name, file in house.campaign_files().items()
        ],
    }


def _catalog(text: str, build: bool) -> tuple[Catalog | None, str]:
    """What the counter image of a target can do, or why that is not known."""
    from kadenz.config.target_name import parse_target
    from kadenz.lab import catalog_of, remembered_catalog

    name = parse_target(text)
    if not build or name.tier == "board":
        return remembered_catalog(name), "not built"
    try:
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


def _write_tables(answer: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    shown = [t["name"] for t in answer["targets"] if t["image"] == "built"]
    benchmarks = Table(title="Benchmarks", title_justify="left", box=None, pad_edge=False)
    for column in ("name", "from … to", "parameters", "source", "not on"):
        benchmarks.add_column(column, overflow="fold")
    for bench in answer["benchmarks"]:
        params = [f"{p['name']}={p['initial']} ({p['low']}…{p['high']})" for p in bench["params"]]
        lacking = [
            f"{target}: {bench['available'].get(target, 'not in its image')}"
            for target in shown
            if bench["available"].get(target) != "yes"
        ]
        cells = [
            bench["name"],
            f"{bench['begins']} … {bench['ends']}",
            "\n".join(params),
            bench["source"],
            "\n".join(lacking),
        ]
        benchmarks.add_row(*(escape(cell) for cell in cells))
    targets = Table(title="Targets", title_justify="left", box=None, pad_edge=False)
    for column in ("name", "what it is", "instruments", "image"):
        targets.add_column(column, overflow="fold")
    for target in answer["targets"]:
        instruments = ", ".join(target["instruments"])
        cells = [target["name"], target["title"], instruments, target["image"]]
        targets.add_row(*(escape(cell) for cell in cells))
    campaigns = Table(title="Campaigns", title_justify="left", box=None, pad_edge=False)
    campaigns.add_column("name")
    campaigns.add_column("title")
    for campaign in answer["campaigns"]:
        campaigns.add_row(escape(campaign["name"]), escape(campaign["title"]))
    if answer["benchmarks"]:
        console.print(benchmarks, "")
    else:
        console.print("Benchmarks: no image is built yet; `kadenz list --build` builds and asks\n")
    console.print(targets, "")
    console.print(campaigns)
