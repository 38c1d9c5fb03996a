# SPDX-License-Identifier: Apache-2.0
"""The page docs/performance.md: what each benchmark measures, and what it printed last.

A program in `benchmarks/` says in the first paragraph of its docstring what it measures and beside
what, and then how. TITLE is its heading, RUNS has the options of each call. What it printed is in
`benchmarks/printed/`, with the day, the commit and the machine; the line `answer: ...` is in the
table at the top. A part without a program, of a command that takes hours or a machine of its own,
is such a file alone, written by hand.
"""

from __future__ import annotations

import ast
import datetime
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "performance.md"
HOW = "write it again: python -m benchmarks.performance --page"
HEAD = """\
<!-- Written by `make benchmark` from benchmarks/; `make benchmark ONLY=NAME` runs one. -->
# Performance of kadenz itself

Costs of kadenz, and its figures on Linux next to its peers'. Each part is what its program printed
last, with day, commit and machine. Times are of class `hosted`: only ratios within one run count.
"""
_ANSWER = re.compile(r"^answer: (.*)\n?", re.M)


@dataclass(frozen=True)
class Program:
    """A program of `benchmarks/`: heading, text, and the options of each call."""

    file: Path
    text: str
    title: str  # "": its tables are on other pages, which its text names
    runs: tuple[str, ...]

    @property
    def name(self) -> str:
        """The file's name without its suffix."""
        return self.file.stem

    @property
    def subject(self) -> str:
        """The first paragraph of its text, and where to read on."""
        subject = self.text.partition("\n\n")[0].replace("\n", " ")
        return f"{subject} [How](../benchmarks/{self.file.name})."


@dataclass(frozen=True)
class Printed:
    """What is known of a part: its heading, the line of its origin, its answer, its tables."""

    title: str
    origin: str
    answer: str
    body: str

    def text(self) -> str:
        """The file."""
        head = (("title", self.title), ("printed", self.origin), ("answer", self.answer))
        return "".join(f"{key}: {value}".rstrip() + "\n" for key, value in head) + f"\n{self.body}"


def programs(folder: Path = FOLDER) -> Iterator[Program]:
    """The programs of `benchmarks/`, by name."""
    for file in sorted(folder.glob("*.py")):
        tree = ast.parse(file.read_text())
        said = {
            target.id: ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name) and target.id in {"TITLE", "RUNS"}
        }
        text = ast.get_docstring(tree) or ""
        yield Program(file, text, said.get("TITLE", ""), said.get("RUNS", ("",)))


def printed(file: Path) -> Printed:
    """A file of `benchmarks/printed/`."""
    head, _, body = file.read_text().partition("\n\n")
    fields = dict(line.partition(":")[::2] for line in head.splitlines())
    title, origin, answer = (fields[key].strip() for key in ("title", "printed", "answer"))
    return Printed(title, origin, answer, body)


def page_text(folder: Path = FOLDER) -> str:
    """The page, from the programs and from what they printed. Parts are in the order of titles."""
    texts = {program.name: program for program in programs(folder)}
    parts = {file.stem: printed(file) for file in (folder / "printed").glob("*.md")}
    ordered = sorted(parts.items(), key=lambda item: item[1].title)
    rows = [f"| [{part.title}](#{_anchor(part.title)}) | {part.answer} |\n" for _, part in ordered]
    page = [HEAD, "".join(("| part | answer |\n|---|---|\n", *rows))]
    for name, part in ordered:
        text = f"{texts[name].subject} " if name in texts else ""
        page.append(f"## {part.title}\n{text}Printed {part.origin}.\n\n{part.body.rstrip()}\n")
    others = [f"- {program.subject}\n" for program in texts.values() if not program.title]
    page.append("## On other pages\n" + "".join(others))
    return "\n".join(page)


def replace(program: Program) -> None:
    """Runs a program, and keeps what it prints. Raises CalledProcessError if it fails."""
    part = _run(program)
    if part.title:
        (program.file.parent / "printed" / f"{program.name}.md").write_text(part.text())


def _run(program: Program) -> Printed:
    origin = _origin()  # of what runs, whatever is committed meanwhile
    bodies = []
    for options in program.runs:
        command = [sys.executable, "-u", str(program.file), *options.split()]
        call = f"`python {program.file.relative_to(program.file.parents[1])} {options}`"
        bodies.append(f"{call.replace(' `', '`')}\n\n{_output(command)}")
    text = "\n\n".join(body.strip() for body in bodies) + "\n"
    answer = _ANSWER.search(text)
    body = _ANSWER.sub("", text).strip() + "\n"
    return Printed(program.title, origin, answer[1] if answer else "", body)


def _output(command: list[str]) -> str:
    """What a command prints, which is shown meanwhile."""
    lines = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return "".join(lines)


def _origin() -> str:
    """Today, the commit and this machine: "on 2026-11-27 at 3f2a, 2 x AMD EPYC, Linux 6.18"."""
    commit = _git("rev-parse", "--short", "HEAD")
    changed = " with changes" if _git("status", "--porcelain", "--untracked-files=no") else ""
    load = f"load average {os.getloadavg()[0]:.1f}"
    system = f"Linux {platform.release()} {platform.machine()}"
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    cpus = f"{len(os.sched_getaffinity(0))} × {_processor()}"
    return f"on {today} at {commit}{changed}: {cpus}, {system}, {load}"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", cpuinfo, re.M)
    virtual = " (virtual machine)" if re.search(r"^flags.*\bhypervisor\b", cpuinfo, re.M) else ""
    return (model[1].strip() if model else platform.machine()) + virtual


def _git(*arguments: str) -> str:
    answer = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return answer.stdout.strip()


def _anchor(title: str) -> str:
    """The name that a heading has in links."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
