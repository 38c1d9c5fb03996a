#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the prose of the repository against the phrases of `scripts/prose.toml`.

Prose is the text of Markdown pages, TOML files, shell scripts and report templates, the comments
and strings of Python, C and Rust, and the names of their tests with spaces for underscores. A
phrase may run over the end of a line. Exit codes: 0 clean, 1 phrases found, 2 a bad configuration.
Usage: prose.py [FILE ...]; without a file, all files that git tracks.
"""

from __future__ import annotations

import argparse
import fnmatch
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# A comment, a string or a character literal of C or Rust. Lifetimes ('a) match none of these.
_C_TOKEN = re.compile(
    r"""//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|"(?P<text>(?:\\.|[^"\\])*)"|'(?:\\.[^']*|[^'\\\n])'""",
    re.DOTALL,
)
# The second word and on: `main` and `parse` are names, `a_lost_frame_is_named` is a sentence.
_NAME = re.compile(r"\b(?:def|fn) (?P<name>\w+_\w+_\w+)|static void (?P<test>test_\w+)\(void \*\*")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
# The margin of a comment line, which is not part of its sentence.
_MARGIN = re.compile(r"\n[ \t]*(?:///?!?|#+|\*)?[ \t]*")


@dataclass(frozen=True)
class Phrase:
    """A pattern, and what to write instead."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True)
class Finding:
    """Where a phrase stands: file, line from 1, the words, and the advice."""

    file: str
    line: int
    words: str
    instead: str

    def __str__(self) -> str:
        return f'{self.file}:{self.line}: "{self.words}": {self.instead}'


def _blank(match: re.Match[str]) -> str:
    """As many characters and lines as the match, and no words."""
    return re.sub(r"[^\n]", "\0", match.group())


def _markdown(text: str) -> Iterator[tuple[int, str]]:
    yield 0, _CODE.sub(_blank, _FENCE.sub(_blank, text))


def _whole(text: str) -> Iterator[tuple[int, str]]:
    yield 0, text


def _names(text: str) -> Iterator[tuple[int, str]]:
    for match in _NAME.finditer(text):
        group = "name" if match["name"] else "test"
        yield match.start(group), match[group].replace("_", " ")


def _c(text: str) -> Iterator[tuple[int, str]]:
    """Comments joined where one follows the other, and strings likewise."""
    kind, start, end, joined = "", 0, 0, ""
    for match in _C_TOKEN.finditer(text):
        group = match.lastgroup
        if group is None:
            continue
        group = "comment" if group != "text" else group
        if joined and group == kind and not text[end : match.start()].strip():
            joined += text[end : match.end()]
        else:
            yield start, joined
            kind, start, joined = group, match.start(), match.group()
        end = match.end()
    yield start, joined
    yield from _names(text)


def _python(text: str) -> Iterator[tuple[int, str]]:
    """Comments and strings; those that follow each other are one text."""
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    start, end = 0, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin = lines[token.start[0] - 1] + token.start[1]
        if token.type in {tokenize.COMMENT, tokenize.STRING}:
            if text[end:begin].strip():
                yield start, text[start:end]
                start = begin
            elif start == end:
                start = begin
            end = lines[token.end[0] - 1] + token.end[1]
    yield start, text[start:end]
    yield from _names(text)


_PROSE: dict[str, Callable[[str], Iterator[tuple[int, str]]]] = {
    ".md": _markdown,
    ".toml": _whole,
    ".sh": _whole,
    ".html": _whole,
    ".j2": _whole,
    ".py": _python,
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp", ".rs"), _c),
}


def _flat(text: str) -> str:
    """The text on one line, each position kept: margins and quotes become blanks."""
    text = re.sub(r'"\s*\n\s*[rbf]{0,2}"', lambda match: " " * len(match.group()), text)
    return _MARGIN.sub(lambda match: " " * len(match.group()), text)


def findings(file: str, text: str, phrases: list[Phrase]) -> Iterator[Finding]:
    """Each phrase in the prose of `text`; `file` decides what is prose."""
    for offset, prose in _PROSE[Path(file).suffix](text):
        flat = _flat(prose)
        for phrase in phrases:
            for match in phrase.pattern.finditer(flat):
                line = text.count("\n", 0, offset + match.start()) + 1
                words = " ".join(match.group().split())
                yield Finding(file, line, words, phrase.instead)


def load(path: Path) -> tuple[list[Phrase], list[str], list[str]]:
    """Phrases, paths that are not read, and paths that are not yet clean."""
    table = tomllib.loads(path.read_text())
    phrases = [
        # A blank of a pattern is any number of blanks of the text.
        Phrase(
            re.compile(rf"\b(?:{row['words']})\b".replace(" ", r"\s+"), re.IGNORECASE),
            row["instead"],
        )
        for row in table["phrase"]
    ]
    return phrases, table["skip"], table["pending"]


def _tracked() -> list[str]:
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [name for name in names if Path(name).suffix in _PROSE and (ROOT / name).is_file()]


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def main() -> int:
    """Prints the findings; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="instead of all tracked files")
    parser.add_argument("--pending", action="store_true", help="also the files of `pending`")
    options = parser.parse_args()
    try:
        phrases, skip, pending = load(ROOT / "scripts" / "prose.toml")
    except (tomllib.TOMLDecodeError, KeyError, re.error) as error:
        print(f"prose: scripts/prose.toml: {error!r}", file=sys.stderr)
        return 2
    names = options.files or [name for name in _tracked() if not _matches(name, skip)]
    if not options.pending:
        names = [name for name in names if not _matches(name, pending)]
    count = 0
    for name in names:
        for finding in findings(name, (ROOT / name).read_text(), phrases):
            print(finding)
            count += 1
    if count:
        print(f"prose: {count} phrases in need of plain English; the list is scripts/prose.toml")
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
