# SPDX-License-Identifier: Apache-2.0
"""Where text leaves kadenz: one filter sees all of it (tests/hostile/test_text.py)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What prints past the filter, and the file that may use it.
PAST_THE_FILTER = {
    "rich.console.Console": "kadenz/cli/console.py",
    "rich.progress.Progress": "kadenz/cli/console.py",
    "rich.markup": "",
    "rich.print": "",
    "rich.get_console": "",
    "rich.text.Text.from_markup": "",
    "rich.text.Text.from_ansi": "",
    "click.style": "",
    "click.secho": "",
    "click.progressbar": "",
    "click.echo_via_pager": "",
    "sys.__stdout__": "",
    "sys.__stderr__": "",
    "sys.stdout.buffer": "",
    "sys.stderr.buffer": "",
    "os.write(1": "kadenz/load/supervisor.py",  # to the lab, as JSON
    "os.write(2": "",
}


def uses(source: str) -> Iterator[str]:
    """Dotted names that run, those of imports in full, and writes to a descriptor by number."""
    tree = ast.parse(source)
    typed = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typed:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute | ast.Call):
            yield ast.unparse(node)


def past_the_filter(source: str, file: str) -> list[str]:
    return [
        f"{file}: {name}"
        for name in uses(source)
        for refused, allowed in PAST_THE_FILTER.items()
        if (name == refused or name.startswith((f"{refused}.", f"{refused},"))) and file != allowed
    ]


def test_nothing_prints_past_the_filter() -> None:
    prints = []
    for path in sorted((ROOT / "kadenz").rglob("*.py")):
        prints += past_the_filter(path.read_text(), str(path.relative_to(ROOT)))
    assert prints == []


def test_what_prints_past_the_filter_is_found() -> None:
    for line in (
        "from rich.console import Console",
        "from rich.markup import escape",
        "import sys; sys.stdout.buffer.write(b'x')",
        "import click; click.secho('x', fg='red')",
        "import os; os.write(1, b'x')",
    ):
        assert past_the_filter(line, "kadenz/cli/x.py"), line
    assert not past_the_filter("import os; os.write(11, b'x')", "kadenz/x.py")
    typed = "if TYPE_CHECKING:\n    from rich.console import Console"
    assert not past_the_filter(typed, "kadenz/cli/x.py")


def test_every_writer_of_csv_knows_what_a_spreadsheet_executes() -> None:
    for path in sorted((ROOT / "kadenz").rglob("*.py")):
        text = path.read_text()
        assert "csv.writer(" not in text or "spreadsheet_cell" in text, path
        assert "csv.DictWriter(" not in text, path
