# SPDX-License-Identifier: Apache-2.0
"""Whatever stands in a TOML file: a ConfigError with its place, and the other files are read."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

import pytest

from kadenz.config.board import Board
from kadenz.config.campaign import Campaign
from kadenz.config.debug_server import DebugServer
from kadenz.config.kernel import Kernel
from kadenz.config.lab_file import LabFile
from kadenz.config.toml import parse_toml, read_toml
from kadenz.config.toml_bounds import LEVELS
from kadenz.config.tuning import Tuning
from kadenz.errors import EXIT_USAGE, ConfigError
from kadenz.regular_files import MIB
from tests.forked import kadenz

ROOT = Path(__file__).resolve().parents[2]
CAMPAIGN = """\
name = "{name}"
title = "a campaign"
targets = ["freertos/stm32f4@emulated"]
[[benchmark]]
name = "itc/queue"
samples = 10
"""

# What would take hours, gigabytes or the interpreter's stack, in line 2.
BOMBS = {
    "brackets": "a = " + "[" * 3000,
    "tables in tables": "a = " + "{b = " * 3000,
    "arrays over many lines": "a = [[[[\n" * 1000,
    "digits": "a = " + "1" * 5000,
    "digits with separators": "a = " + "1_" * 2000 + "1",
    "a key of many parts": ".".join("a" * 200_000) + " = 1",
    "a header of many parts": "[" + ".".join("a" * 200_000) + "]",
    "quoted parts": " . ".join(['"a.b"'] * 1000) + " = 1",
    "a sweep": "[[benchmark]]\nname = 'a/b'\nsamples = 1\n[benchmark.params]\n"
    + "".join(f"p{n} = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" for n in range(20)),
}
# What is long, and no bomb as long as every pass over it is linear.
LONG = {
    "blanks of a header in a string": "title = '''\n[" + " " * 300_000 + "x\n'''",
    "parts of a header in a string": "title = '''\n[" + "a." * 300_000 + "]\n'''",
    "quotes that escape": 'title = "' + '\\"' * 300_000,
    "strings that do not end": '"' * 300_000,
    "comments": "#[[[[[\n" * 100_000,
    "an unknown key": "a" * 500_000 + " = 1",
}


def error(text: str, model: type) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_toml(text, model, "x.toml")
    assert caught.value.exit_code == EXIT_USAGE
    assert caught.value.message.startswith("x.toml")
    return caught.value


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_named_with_its_line(kind: str) -> None:
    head = CAMPAIGN.format(name="c") if kind == "a sweep" else "# a bomb\n"
    refusal = error(head + BOMBS[kind], Campaign)
    line = head.count("\n") + 1 + (8 if kind.startswith("arrays over") else 0)
    assert refusal.message.startswith(f"x.toml:{line}: ")


@pytest.mark.parametrize("kind", LONG)
def test_a_long_text_is_read_in_linear_time(kind: str) -> None:
    """Each would take hours if it were quadratic."""
    error(f"{LONG[kind]}\nunknown = 1\n", Campaign)


def test_what_is_not_deeper_than_the_bound_is_read() -> None:
    deep = "a = " + "[" * LEVELS + "]" * LEVELS
    assert "unknown key" in error(deep, Campaign).message
    assert "nested" in error(deep.replace("[", "[[", 1).replace("]", "]]", 1), Campaign).message


@pytest.mark.parametrize("text", ["'[[[['", '"[[[["', "'''[[[['''", '"""[[[["""', "1 # [[[[" * 9])
def test_brackets_in_strings_and_comments_are_no_nesting(text: str) -> None:
    assert "unknown key" in error(f"a = {text.replace('[', '[' * 20)}\n", Campaign).message


NAMES = ['"a.b"', '"a[0]"', '"]"', '"[...]"', '"`"', '""', '"."', '"a b"', "é".join('""')]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("line", ["foo = 1", "board = 1", 'board = "b"', "conditions = {a = 1.5}"])
def test_a_name_of_any_letters_is_no_path(name: str, line: str) -> None:
    error(f"[target.{name}]\n{line}\n", LabFile)


# ---- mutations -----------------------------------------------------------------------------------
FILES: dict[str, type] = {
    "kernels/*/kernel.toml": Kernel,
    "boards/*/board.toml": Board,
    "campaigns/*.toml": Campaign,
    "tunings/*.toml": Tuning,
    "servers/*.toml": DebugServer,
}
VALUES = (
    "inf", "nan", "-1", "0", "1e999", "9" * 999, "9" * 5000, "[]", "{}", "[[]]", "{a.b = 1}",
    "true", "''", "'\\u0000'", '"\\u0000"', "1979-05-27T07:32:00Z", "07:32:00", "['', 1]",
    "0x" + "f" * 99,
)  # fmt: skip


def mutated(text: str, chance: random.Random) -> str:
    """One value, line, byte or header is another."""
    lines = text.splitlines()
    at = chance.randrange(len(lines))
    way = chance.randrange(4)
    if way == 0 and "=" in lines[at]:
        lines[at] = f"{lines[at].partition('=')[0]}= {chance.choice(VALUES)}"
    elif way == 1:
        lines[at] = chance.choice(lines)
    elif way == 2:
        lines[at] = f"[{chance.choice(NAMES)}.{chance.choice(NAMES)}]"
    else:
        text = "\n".join(lines)
        place = chance.randrange(len(text))
        return text[:place] + chance.choice("[]{}=.,'\"\n\0#\\é") + text[place + 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize("pattern", FILES)
def test_a_mutated_file_is_read_or_named(pattern: str) -> None:
    chance = random.Random(pattern)
    texts = [file.read_text() for file in sorted(ROOT.glob(pattern))]
    read = named = 0
    for _ in range(400):
        try:
            parse_toml(mutated(chance.choice(texts), chance), FILES[pattern], "x.toml")
            read += 1
        except ConfigError as wrong:
            assert re.match(r"x\.toml(:\d+)?: ", wrong.message)
            named += 1
    assert read and named


# ---- a lab with one bad file ---------------------------------------------------------------------
@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kadenz.toml").touch()
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "campaigns" / "good.toml").write_text(CAMPAIGN.format(name="good"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KADENZ_LAB", raising=False)
    return tmp_path


def place(kind: str, file: Path) -> None:
    """A bad file of some kind."""
    file.unlink(missing_ok=True)
    if kind == "a pipe":
        os.mkfifo(file)
    elif kind == "a device":
        file.symlink_to("/dev/zero")
    elif kind == "a folder":
        file.mkdir()
    elif kind == "larger than 1 MiB":
        file.write_bytes(b"#" * (MIB + 1))
    else:
        file.write_text(kind)


BAD = {
    "a pipe": "a pipe",
    "a device": "a device",
    "a folder": "a folder",
    "larger than 1 MiB": "larger than 1 MiB",
    BOMBS["brackets"]: "nested",
    BOMBS["digits"]: "digits",
    "a = = 1": "not TOML",
}


@pytest.mark.parametrize("kind", BAD, ids=BAD.values())
@pytest.mark.parametrize(
    "file", ["campaigns/x.toml", "tunings/x.toml", "servers/x.toml", "boards/x/board.toml"]
)
def test_one_bad_file_does_not_hide_the_others(file: str, kind: str, lab: Path) -> None:
    (lab / file).parent.mkdir(parents=True, exist_ok=True)
    place(kind, lab / file)
    listed = kadenz("list", "--json")
    assert listed.returncode == 0, listed.stderr
    listing = json.loads(listed.stdout)
    assert "good" in [campaign["name"] for campaign in listing["campaigns"]]
    (problem,) = listing["problems"]
    assert file in problem["problem"] and BAD[kind] in problem["problem"]


@pytest.mark.parametrize("kind", BAD, ids=BAD.values())
def test_what_is_no_toml_file_is_named(kind: str, tmp_path: Path) -> None:
    place(kind, tmp_path / "x.toml")
    with pytest.raises(ConfigError, match=BAD[kind]):
        read_toml(tmp_path / "x.toml", LabFile)
