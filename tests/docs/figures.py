# SPDX-License-Identifier: Apache-2.0
"""Tables of counted figures on pages, and the commands that print their figures again.

A comment before a table says where its figures are from:

    <!-- figures: kadenz run micro/preemption irq/to-handler irq/to-task --quick \\
        --target freertos/stm32f4@emulated --target rtic/stm32f4@emulated
    micro/preemption
    irq/to-handler, irq/to-task
    -->

A line of it stands for a row of the table, and has a selector for each figure of a cell. A selector
names a benchmark, and if they are needed parameters or conditions (size_bytes=60), a lane, and a
field of `kadenz show --json`; a % behind the field makes it a percentage. Without one it is the
figure of an iteration or an operation, if the record has one, and otherwise the median. A column is
a target of the command, in its order; a line `columns: A | B` gives each its words: a target, a
field, the end of a benchmark's name (-sampled); - is a column of words or of figures made by hand.
Where no command is named it is the one of the block before. A command other than `kadenz run`
and `kadenz worst` prints the table itself.

    <!-- figures: not compared, REASON -->

is for what no command of a counted target prints. `python -m tests.docs.figures PAGE...` writes the
measured figures into pages.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.docs.pages import BLOCK, ROOT

PAGES = (
    "README.md",
    "docs/tutorial.md",
    *(
        str(file.relative_to(ROOT))
        for folder in ("how-to", "explanation", "kernels")
        for file in sorted((ROOT / "docs" / folder).glob("*.md"))
    ),
)
# A comment (if there is one), then the lines of a table.
_TABLE = re.compile(
    r"(?:<!-- figures:(?P<comment>(?:(?!-->).)*)-->\n)?(?P<table>(?:^\|[^\n]*\n)+)",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"(?<![\w.`])[+−-]?\d[\d,]*(?:\.\d+)?(?![\w`])")
_BETWEEN = re.compile(r"(, | to | / )")
_ONLY_NUMBERS = re.compile(r"[\d\s.,%/–+−-]*\d[\d\s.,%/–+−-]*")
_TREES = {"cmsis-rtos2": "RTX", "threadx": "threadx", "itron": "asp3_core"}
_NOT_COMPARED = "not compared, "
_MEASURES = ("kadenz run ", "kadenz worst ")

Run = Mapping[str, Any]  # of `runs` in `kadenz show --json`


class Stale(AssertionError):
    """A page that does not print what its command prints."""


class NoTree(Exception):
    """A kernel of a guest, or the source of one that is in no registry, is not at hand."""


@dataclass(frozen=True)
class Table:
    """A table of a page, with the comment about its figures."""

    page: str
    line: int
    text: str  # its lines
    comment: str | None
    block: str  # the code block before it

    @property
    def rows(self) -> list[list[str]]:
        """The cells of each row below the head."""
        return [line.split("|")[1:-1] for line in self.text.splitlines()[2:]]

    @property
    def figures(self) -> int:
        """How many cells beside the first are numbers only."""
        return sum(
            bool(_ONLY_NUMBERS.fullmatch(cell.strip())) for row in self.rows for cell in row[1:]
        )

    @property
    def compared(self) -> bool:
        """Whether a command prints its figures."""
        return self.comment is not None and not self.comment.strip().startswith(_NOT_COMPARED)

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def tables(page: str) -> Iterator[Table]:
    """Every table of a page."""
    text = (ROOT / page).read_text()
    for match in _TABLE.finditer(text):
        begin = match.start("table")
        blocks = [block["text"] for block in BLOCK.finditer(text, 0, begin)]
        yield Table(
            page=page,
            line=text.count("\n", 0, begin) + 1,
            text=match["table"],
            comment=match["comment"],
            block=blocks[-1] if blocks else "",
        )


# ---- the comment ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class Source:
    """The commands of a table, and the words of its columns and rows."""

    commands: list[str]
    columns: list[str]
    rows: list[str]

    @property
    def prints(self) -> bool:
        """Whether the commands print the rows themselves."""
        return not any(command.startswith(_MEASURES) for command in self.commands)


def source(table: Table) -> Source:
    """What the comment of a table says. Stale if it does not say enough."""
    lines = (table.comment or "").replace("\\\n", " ").strip().splitlines()
    commands = [line.strip() for line in lines if line.startswith(("kadenz ", "python "))]
    columns = [line.partition(": ")[2] for line in lines if line.startswith("columns: ")]
    rows = [line for line in lines if not line.startswith(("kadenz ", "python ", "columns: "))]
    if not commands:
        before = table.block.replace("\\\n", " ").splitlines()
        commands = [line for line in before if line.startswith((*_MEASURES, "python "))]
    commands = [" ".join(command.split()) for command in commands]
    if not commands:
        raise Stale(f"{table}: no command, neither in the comment nor in a block before the table")
    heads = columns[0].split(" | ") if columns else re.findall(r"--target (\S+)", commands[0])
    declared = Source(commands, heads, rows)
    if not declared.prints and len(rows) != len(table.rows):
        raise Stale(f"{table}: {len(table.rows)} rows, the comment has {len(rows)}")
    return declared


# ---- what the commands print ---------------------------------------------------------------------
def shell(command: str, folder: Path) -> str:
    """The output of a command in `folder`. Stale if it fails, NoTree without its kernel."""
    trees = os.environ.get("KADENZ_TEST_TREES", "")
    for kernel, name in re.findall(r"--kernel-source (\S+)=(\S+)", command):
        tree = Path(trees, _TREES.get(kernel, kernel))
        if not trees or not tree.is_dir():
            raise NoTree(
                f"no tree of {kernel}: KADENZ_TEST_TREES names no folder with {tree.name}/"
            )
        if not (folder / name).exists():
            (folder / name).symlink_to(tree)
    environment = os.environ | {"PATH": f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}"}
    here = ROOT if command.startswith("python ") else folder
    if command.startswith(_MEASURES):
        command += " --timeout 600"  # on a busy machine a long batch is silent for longer
    answer = subprocess.run(
        ["bash", "-c", command],
        cwd=here,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode and "kadenz setup --guests" in answer.stderr:
        raise NoTree(f"a kernel of {command} is not in the cache (make guest-kernels)")
    if answer.returncode:
        raise Stale(f"{command}\n  exit {answer.returncode}: {answer.stderr[-1500:]}")
    return answer.stdout


def runs(commands: Sequence[str], folder: Path) -> list[Run]:
    """The runs that the commands write, as `kadenz show --json` prints them."""
    for command in commands:
        shell(command, folder)
    shown = sorted(str(file.parent) for file in folder.glob("runs/**/run.json"))
    answer: list[Run] = json.loads(shell(f"kadenz show --json {' '.join(shown)}", folder))["runs"]
    return answer


# ---- a figure ------------------------------------------------------------------------------------
def figure(shown: Sequence[Run], selector: Sequence[str]) -> float:
    """The figure that a selector means. Stale if no record has it, or several do."""
    target = next((word for word in selector if "@" in word), "")
    family = next((word for word in selector if "/" in word and "@" not in word), "")
    bench = family + next((word for word in selector if word.startswith("-")), "")
    wanted = dict(word.split("=", 1) for word in selector if "=" in word)
    rest = [word for word in selector if not set(word) & set("/@=") and not word.startswith("-")]
    values: set[float | None] = set()
    for run in shown:
        if target in ("", run["target"]):
            rows = [row for row in run["records"] if row["bench"] == bench]
            of_run = {"instrument": run["instrument"]} | run["conditions"]
            rows = [row for row in rows if _has(of_run | row["params"], wanted)]
            values |= {_value(list(lanes), rest) for _, lanes in groupby(rows, _record)}
            values |= {_of_path(run, rest[0])} if not bench else set()
    value = next(iter(values), None)
    if len(values) > 1 or value is None:
        what = "no such figure" if values else "no record"
        many = f"{len(values)} figures: name a parameter, a lane or a target"
        raise Stale(f"{' '.join(selector)}: {many if len(values) > 1 else what}")
    return value


def _record(row: Mapping[str, Any]) -> Any:
    return row["record"]


def _has(values: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    return all(str(values.get(name)) == value for name, value in wanted.items())


def _value(lanes: Sequence[Mapping[str, Any]], selector: Sequence[str]) -> float | None:
    """The figure of a record, of which each row is a lane."""
    names = {row["lane"] for row in lanes}
    lane = next((row for row in lanes if row["lane"] in selector), lanes[0])
    usual = next((name for name in ("per_iteration", "per_operation") if name in lane), "median")
    return _of_path(lane, next((word for word in selector if word not in names), usual))


def _of_path(row: Mapping[str, Any], path: str) -> float | None:
    """The number at "breakdown.kept", in percent behind a %; None if there is none."""
    value: Any = row
    for name in path.removesuffix("%").split("."):
        value = value.get(name) if value is not None else None
    return None if value is None else float(value) * (100 if path.endswith("%") else 1)


def written(value: float, like: str) -> str:
    """A figure as the page writes `like`: its decimals, its thousands, its sign."""
    decimals = len(like.partition(".")[2])
    text = f"{value:{'+' if like.startswith('+') else ''},.{decimals}f}"
    return text.replace(",", "") if re.match(r"\D?\d{4}", like) else text


# ---- a table -------------------------------------------------------------------------------------
def measured(table: Table, folder: Path) -> str:
    """The lines of the table with the figures that its commands print now."""
    of = source(table)
    if of.prints:
        return _printed(table, "".join(shell(command, folder) for command in of.commands))
    shown = runs(of.commands, folder)
    head, ruler, *lines = table.text.splitlines()
    rows = [
        _row(table, line, of, selection, shown)
        for line, selection in zip(lines, of.rows, strict=True)
    ]
    return "".join(f"{line}\n" for line in (head, ruler, *rows))


def _row(table: Table, line: str, of: Source, selection: str, shown: Sequence[Run]) -> str:
    """A line of the table with its figures measured."""
    first, *cells = line.split("|")[1:-1]
    if len(cells) != len(of.columns):
        raise Stale(f"{table}: {len(cells)} columns of figures, {len(of.columns)} are named")
    selectors = [selector.split() for selector in selection.split(", ")]
    both = zip(cells, of.columns, strict=True)
    return "|".join(["", first, *(_cell(table, *place, selectors, shown) for place in both), ""])


def _cell(
    table: Table, cell: str, column: str, selectors: list[list[str]], shown: Sequence[Run]
) -> str:
    """A cell with its figures measured; one without figures ("n/a") as it is."""
    of_column = column.split()
    if not _NUMBER.search(cell) or of_column == ["-"]:
        return cell
    parts = _BETWEEN.split(cell) if len(selectors) > 1 else [cell]  # figures, and what separates
    if len(parts[::2]) > len(selectors):
        raise Stale(f"{table}: `{cell.strip()}` has more figures than the comment's row")
    for place, selector in zip(range(0, len(parts), 2), selectors, strict=False):
        text, number = parts[place], _NUMBER.search(parts[place])
        if number is not None:
            value = written(figure(shown, [*of_column, *selector]), number.group())
            parts[place] = text[: number.start()] + value + text[number.end() :]
    return "".join(parts)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _printed(table: Table, output: str) -> str:
    """The table with the cells that a command prints: of the same heads, in its own order."""
    head, ruler, *rows = table.text.splitlines()
    heads = _cells(head)
    for printed in _TABLE.finditer(f"{output}\n"):
        names, _, *lines = map(_cells, printed["table"].splitlines())
        if names[0] == heads[0] and set(heads) <= set(names):
            by_name = {cells[0]: dict(zip(names, cells, strict=False)) for cells in lines}
            missing = [row for row in map(_cells, rows) if row[0] not in by_name]
            if missing:
                raise Stale(f"{table}: the command prints no row `{missing[0][0]}`")
            now = [by_name[_cells(row)[0]] for row in rows]
            again = ["| " + " | ".join(row[name] for name in heads) + " |" for row in now]
            return "".join(f"{line}\n" for line in (head, ruler, *again))
    raise Stale(f"{table}: the command prints no table with its heads")


def rewrite(page: str) -> None:
    """Writes the measured figures of all tables of a page into it."""
    for table in tables(page):
        if table.compared:
            with tempfile.TemporaryDirectory() as folder:
                now = measured(table, Path(folder))
            file = ROOT / page
            file.write_text(file.read_text().replace(table.text, now))
            print(f"{table}: {'as it is' if now == table.text else 'written again'}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(name)
