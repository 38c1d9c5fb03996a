# SPDX-License-Identifier: Apache-2.0
"""The commands on a page of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "docs/tutorial.md",
    *sorted(str(file.relative_to(ROOT)) for file in (ROOT / "docs" / "how-to").glob("*.md")),
)
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"\s+# .*$")
_SHELL = {"", "sh", "console"}
_FIRST = {
    "cd",
    "kadenz",
    "sudo",
    "cp",
    "mkdir",
    "sed",
    "make",
    "python",
    ".",
    "git",
    "rm",
    "arm-none-eabi-gcc",
    "for",
    "gcc",
    "numbers",  # the program of docs/how-to/count-a-program.md
    "riscv64-unknown-elf-gcc",
}


def commands(page: str) -> Iterator[str]:
    """Each complete command of the page, in order, without its prompt.

    A block with prompts is a dialogue: lines without a prompt are output. A command continues after
    a backslash at the end of a line, and until its quotes are closed.
    """
    for block in BLOCK.finditer((ROOT / page).read_text()):
        if block["language"] not in _SHELL:
            continue
        dialogue = re.search(r"^\$ ", block["text"], re.MULTILINE) is not None
        lines = iter(block["text"].splitlines())
        for line in lines:
            if dialogue and not line.startswith("$ "):
                continue
            command = _COMMENT.sub("", line.removeprefix("$ "))
            while command.endswith("\\") or command.count("'") % 2:
                command += "\n" + next(lines)
            if _first(command) in _FIRST:
                yield command


def _first(command: str) -> str:
    parts = command.split()
    return Path(parts[0]).name or parts[0] if parts else ""
