# SPDX-License-Identifier: Apache-2.0
"""What `kadenz list` prints, in 80 columns: an overview, one part of it, or one benchmark."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.console import console, say, styled
from kadenz.cli.tables import write_rows

if TYPE_CHECKING:
    from rich.console import Console

    from kadenz.report.families import Family

Answer = dict[str, Any]

PARTS = ("benchmarks", "targets", "campaigns", "loads")
_ENDS = (("from", "begins"), ("to", "ends"), ("source", "source"))


def write_list(answer: Answer, name: str | None) -> None:
    """Prints the overview, the part `name`, or the benchmarks that are left."""
    screen = console()
    if name is None:
        _overview(screen, answer)
    elif name == "targets":
        _targets(screen, answer)
    elif name == "campaigns":
        _campaigns(screen, answer)
    elif name == "loads":
        _loads(screen, answer)
    elif [bench["name"] for bench in answer["benchmarks"]] == [name]:
        _details(screen, answer["benchmarks"][0], answer["targets"])
    else:
        _benchmarks(screen, answer, name)
    if name is None or name in PARTS:
        _lab(answer)


def _overview(screen: Console, answer: Answer) -> None:
    """Families with their counts, campaigns, targets that are built, and names of loads."""
    benchmarks, targets = answer["benchmarks"], answer["targets"]
    _heading(screen, _count(benchmarks, "benchmark"), "those of a family: kadenz list FAMILY")
    families = _families(benchmarks)
    write_rows(
        screen, [(family.name, str(len(members)), _title(family)) for family, members in families]
    )
    screen.print()
    _campaigns(screen, answer, whole=False)
    screen.print()
    shown = [target for target in targets if _is_ready(target) or target["from"] == "lab"]
    more = f"built, or of the lab; all {len(targets)}: kadenz list targets"
    _heading(screen, _count(shown, "target"), more)
    write_rows(
        screen,
        [(target["name"], _remarks(target) + target["title"]) for target in shown],
        whole=False,
    )
    if not any(target["image"] == "built" for target in targets):
        screen.print("  No image is built yet: kadenz run builds those that it measures")
    screen.print()
    _heading(screen, _count(answer["loads"], "load"), "kadenz list loads")
    screen.print("  " + ", ".join(load["name"] for load in answer["loads"]))


def _benchmarks(screen: Console, answer: Answer, name: str) -> None:
    """By family: the name with the letters of its targets, and the end points below it.

    The family called `name` begins with what its benchmarks share.
    """
    from rich.padding import Padding

    asked = any(bench["available"] for bench in answer["benchmarks"])
    marks = _marks(answer["targets"]) if asked else {}
    if not asked:
        screen.print(
            "No image is built yet: kadenz list --build --target NAME asks a target for its own"
        )
    for family, members in _families(answer["benchmarks"]):
        _heading(screen, family.name, _title(family))
        if family.name == name and name in answer["families"]:
            screen.print(Padding(answer["families"][name], (0, 0, 1, 2)))
        width = max(len(bench["name"]) for bench in members)
        for bench in members:
            runs_on = "".join(
                mark if bench["available"].get(target) == "yes" else "·"
                for target, mark in marks.items()
            )
            screen.print(f"  {bench['name']:{width}}  {runs_on}".rstrip())
            ends = styled("[dim]{} … {}[/]", bench["begins"], bench["ends"])
            screen.print(Padding(ends, (0, 0, 0, 6)))
    if marks:
        _heading(screen, "Targets", "by letter")
        write_rows(screen, [(mark, target) for target, mark in marks.items()])


def _targets(screen: Console, answer: Answer) -> None:
    targets, marks = answer["targets"], _marks(answer["targets"])
    _heading(screen, _count(targets, "target"), "with a letter if the image is built")
    rows = [
        (marks.get(target["name"], " "), target["name"], _remarks(target) + target["title"])
        for target in targets
    ]
    write_rows(screen, rows)


def _campaigns(screen: Console, answer: Answer, *, whole: bool = True) -> None:
    _heading(screen, _count(answer["campaigns"], "campaign"), "kadenz run NAME")
    rows = [
        (campaign["name"], _origin(campaign) + campaign["title"])
        for campaign in answer["campaigns"]
    ]
    write_rows(screen, rows, whole=whole)


def _loads(screen: Console, answer: Answer) -> None:
    _heading(screen, "Loads", "of this Linux: kadenz run --load NAME; combine with +")
    missing = [f" ({load['missing']})" if load["missing"] else "" for load in answer["loads"]]
    named = zip(answer["loads"], missing, strict=True)
    write_rows(screen, [(load["name"], load["title"] + lacks) for load, lacks in named])


def _details(screen: Console, bench: Answer, targets: list[Answer]) -> None:
    """One benchmark in full: end points, source, parameters, and where it runs."""
    screen.print(styled("[bold]{}[/]", bench["name"]))
    write_rows(screen, [(word, bench[key]) for word, key in _ENDS])
    write_rows(screen, [("--set", *_parameter(parameter)) for parameter in bench["params"]])
    built = [target["name"] for target in targets if target["image"] == "built"]
    said = {name: bench["available"].get(name, "not in its image") for name in built}
    write_rows(
        screen,
        [("on", name, word if word == "yes" else f"n/a: {word}") for name, word in said.items()],
    )
    if others := len(targets) - len(built):
        screen.print(f"  unknown on {others} targets whose images are not built")


def _parameter(param: Answer) -> tuple[str, str]:
    """("size_bytes=60", "4…600"), or the words that it takes."""
    choices = param["words"]
    initial = choices[param["initial"]] if choices else param["initial"]
    values = ", ".join(choices) if choices else f"{param['low']}…{param['high']}"
    return f"{param['name']}={initial}", values


def _lab(answer: Answer) -> None:
    """Which lab it is, and the problems of its files."""
    if answer["lab"]:
        click.echo(f"\nLab: {answer['lab']}")
    for problem in answer["problems"]:
        say(styled("\n[red]problem: {}[/]", problem["problem"]))
        click.echo(f"try:     {problem['remedy']}")


def _families(benchmarks: list[Answer]) -> list[tuple[Family, list[Answer]]]:
    """Families with their benchmarks, in the order of reports."""
    from kadenz.report.families import family_of

    def place(bench: Answer) -> tuple[int, str]:
        family = family_of(bench["name"])
        return family.place, family.name

    groups = [list(members) for _, members in groupby(sorted(benchmarks, key=place), key=place)]
    return [(family_of(members[0]["name"]), members) for members in groups]


def _title(family: Family) -> str:
    """Its title; "" for a family of the user's own, which has none."""
    return "" if family.title == family.name else family.title


def _is_ready(target: Answer) -> bool:
    """Whether its image is built, and the suite was verified on such a machine."""
    return bool(target["image"] == "built" and target["verified"])


def _marks(targets: list[Answer]) -> dict[str, str]:
    """The letters of targets that are ready."""
    ready = [target["name"] for target in targets if _is_ready(target)]
    return {name: chr(ord("a") + number) for number, name in enumerate(ready)}


def _remarks(target: Answer) -> str:
    state = [] if target["image"] == "built" else [target["image"]]
    state += [] if target["verified"] else ["not verified on silicon"]
    state += ["lab"] if target["from"] == "lab" else []
    return f"({'; '.join(state)}) " if state else ""


def _origin(entry: Answer) -> str:
    return "(lab) " if entry["from"] == "lab" else ""


def _count(entries: list[Answer], word: str) -> str:
    return f"{len(entries)} {word}{'s' * (len(entries) != 1)}"


def _heading(screen: Console, word: str, more: str) -> None:
    screen.print(styled("[bold]{}[/]  [dim]{}[/]", word, more))
