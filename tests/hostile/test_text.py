# SPDX-License-Identifier: Apache-2.0
"""Text of others stays text in every output of every command."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from markdown_it import MarkdownIt

from kadenz.cli import cli
from tests.forked import kadenz
from tests.hostile.hostile_runs import TRICKS, write_hostile_runs
from tests.synthetic import LINUX, linux_points, manifest, write_run

# They install, execute or wait, and read nothing that others wrote; or change this machine.
NOT_CALLED = {"setup", "doctor", "farm scheduler", "farm worker", "tune apply", "tune restore"}
# Options without which a command has nothing to say, and values of arguments that are no run.
NEEDED = {"gate": ["--against", "{b}", "--max-worse", "5%"], "run": ["--dry-run"]}
ARGUMENTS = {
    "SQL": ["SELECT * FROM records, runs WHERE records.run = runs.run"],
    "FILE": ["{word}.csv"],
    "[FOLDER...]": ["{folder}"],
    "A": ["{a}"],
    "[B]": ["{b}"],
    "[ARCHIVE]": ["archive"],
    "[TARGET|BENCHMARK]...": [],
}
SUFFIXES = {"--junit": [".xml"], "--summary": [".md"], "--markdown": [".md"]}
EXPORTED = [".csv", ".json"]
UNUSED = {"--mend", "--baseline", "--candidate"}  # change the runs; name more of them
DRAWN = set(range(0x600, 0x606)) | {0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}


def commands(
    of: click.Command = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    if isinstance(of, click.Group):
        context = click.Context(of)
        for name in of.list_commands(context):
            subcommand = of.get_command(context, name)
            assert subcommand is not None
            yield from commands(subcommand, (*path, name))
    else:
        yield " ".join(path), of


def calls(name: str, command: click.Command, values: dict[str, str]) -> Iterator[list[str]]:
    """The command with its arguments; one that reads runs also with each flag, choice and file."""
    arguments = [*name.split(), *NEEDED.get(name, [])]
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            runs = ["{a}", "{b}", "{c}"][: None if parameter.nargs == -1 else 1]
            usual = runs if "RUN" in (parameter.metavar or "") else ["{word}"]
            arguments += ARGUMENTS.get(parameter.metavar or "", usual)
    reads = "{word}" not in arguments
    for number, more in enumerate([[], *variants(name, command)] if reads else [[]]):
        yield [
            word.format(**values, out=f"out/{name.replace(' ', '-')}-{number}")
            for word in [*arguments, *more]
        ]


def variants(name: str, command: click.Command) -> Iterator[list[str]]:
    for option in command.params:
        word = option.opts[-1]
        if not isinstance(option, click.Option) or word in UNUSED:
            continue
        if option.is_flag:
            yield [word]
        elif isinstance(option.type, click.Choice):
            yield from ([word, str(choice)] for choice in option.type.choices)
        elif isinstance(option.type, click.Path):
            suffixes = EXPORTED if name == "export" else SUFFIXES.get(word, [".html"])
            for suffix in suffixes if option.type.file_okay else [""]:
                yield [word, f"{{out}}{suffix}"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with hostile runs, an archive of them, and files with hostile names."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "runs").mkdir()
    write_hostile_runs(folder / "runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        label = TRICKS.replace("\n", " ")
        added = kadenz("archive", "add", *sorted(folder.glob("runs/*")), f"--label={label}")
    assert added.returncode == 0, added.stderr
    return folder


COMMANDS = {name: command for name, command in commands() if name not in NOT_CALLED}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_prints_what_moves_hides_or_turns(
    name: str, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab)
    monkeypatch.setenv("KADENZ_STORE", str(lab / "store"))
    c, a, b = sorted(map(str, lab.glob("runs/*")), key=lambda run: "[x]" not in run)
    values = {"a": a, "b": b, "c": c, "folder": "runs", "word": f"x{TRICKS}"}
    for call in calls(name, COMMANDS[name], values):
        result = kadenz(*call)
        assert "Traceback" not in result.stderr, result.stderr
        for text in (result.stdout, result.stderr):
            assert hidden(text) == "", call
    for file in lab.glob(f"out/{name.replace(' ', '-')}-*"):
        for path in [file, *file.rglob("*")]:
            if path.is_file() and path.suffix in READERS:
                READERS[path.suffix](path.read_bytes().decode())


def hidden(text: str) -> str:
    """The characters of a text that are not drawn, by their Unicode categories."""
    kept = text.replace("\r\n", "").replace("\n", "").replace("\t", "")
    return "".join(
        character
        for character in sorted(set(kept))
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        and ord(character) not in DRAWN
    )


def read_xml(text: str) -> None:
    assert hidden(text) == ""
    tree = ET.fromstring(text)
    assert not [element for element in tree.iter() if element.tag.endswith(("script", "img"))]


class Page(HTMLParser):
    """Counts the elements of a page that nobody but a text of others would make."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.strange: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        handlers = [name for name, _ in attrs if name.startswith("on") and tag != "script"]
        self.strange += [tag] * (tag in ("img", "a") and ("src", "x") in attrs) + handlers

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script" and "alert(1)" in data and "</title>" in data:
            self.strange.append("script")

    def handle_comment(self, data: str) -> None:
        self.strange.append(f"comment {data[:20]}")


def read_html(text: str) -> None:
    assert hidden(text) == ""
    assert Page(text).strange == []
    assert "<script>alert(1)" not in text


def read_markdown(text: str) -> None:
    assert hidden(text) == ""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    every = [part for token in tokens for part in [token, *(token.children or [])]]
    kinds = Counter(token.type for token in every)
    assert not {"link_open", "image", "html_inline", "fence", "code_block"} & set(kinds)
    blocks = [token.content.strip() for token in every if token.type == "html_block"]
    assert set(blocks) <= {"<details><summary>Passed</summary>", "</details>"}
    lines = [line for line in text.splitlines() if re.match("#+ ", line)]
    assert kinds["heading_open"] == len(lines)
    assert not [
        token for token in every if token.tag == "h1" and token.content.startswith("heading")
    ]
    rows = [row for row in text.splitlines() if row.startswith("|")]
    assert kinds["tr_open"] == len([row for row in rows if not re.fullmatch("[| :-]+", row)])


def read_csv(text: str) -> None:
    assert hidden(text) == ""
    for row in csv.reader(text.splitlines(keepends=True)):
        for cell in row:
            assert not re.match(r"\s*[=+\-@]", cell) or re.fullmatch(r"[-+]?[\d.e+-]+", cell)


READERS: dict[str, Any] = {
    ".svg": read_xml,
    ".xml": read_xml,
    ".html": read_html,
    ".md": read_markdown,
    ".csv": read_csv,
    ".json": json.loads,
    ".js": lambda text: None,
}


def test_colours_are_kadenzs_own(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = kadenz("show", *lab.glob("runs/*"))
    assert "\x1b[1m" in result.stdout and "\x1b[8m" not in result.stdout  # bold; concealed
    assert hidden(re.sub(r"\x1b\[[\d;]+m", "", result.stdout)) == ""


def test_json_keeps_the_text(lab: Path) -> None:
    """Escaped by the rules of JSON, which a program undoes."""
    result = kadenz("show", next(lab.glob("runs/*a*")), "--json")
    assert TRICKS in json.loads(result.stdout)["runs"][0]["warnings"][0]["message"]


def test_names_that_are_no_utf8_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = write_run(tmp_path, manifest(LINUX), linux_points(np.random.default_rng(1), 30)[:1])
    run.rename(tmp_path / "x\udcff")
    for call in (["runs", ".", "--json"], ["show", "y\udcff"], ["compare", "x\udcff", "z"]):
        result = kadenz(*call)
        assert "Traceback" not in result.stderr
        assert "\\udcff" in result.stdout or call[0] != "runs"
        assert hidden(result.stdout + result.stderr) == ""
