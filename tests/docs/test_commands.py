# SPDX-License-Identifier: Apache-2.0
"""Every command of README, tutorial and how-to pages works, in the order of the page.

A shell follows the page in its own folder, as a reader does. Only durations are shortened
(`SHORTER`); commands that would set up or remove this machine are checked, not run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kadenz.config.target_name import TargetName
from kadenz.images.image import build_image
from kadenz.user_cache import user_cache
from tests.docs.pages import PAGES, ROOT, commands

# The same commands with less to measure, on the available processors.
SHORTER = (
    (r"--rounds [35]\b", "--rounds 2"),
    (r"kadenz run (?!.*--quick)", "kadenz run --quick "),
    (r"linux-ipc\b", "itc/pipe --target posix/linux@host"),
    (r"run --quick guest\b", "run --quick clock/read-cost --target linux-rt/x86_64@guest"),
    (r"/riscv64@guest", "/x86_64@guest"),  # the kernels that are a download
    (r"cyclic/wakeup-latency itc/pipe --target linux", "clock/read-cost --target linux"),
    (r"mazzi2021 (--target \S+ --image)", r"itc/queue \1"),  # README.md has the campaign
    (r"samples=5000\b", "samples=200"),
    (r"--instrument records\b", "--instrument records --set samples=4"),
    (r"\bcpus=2-3\b", "cpus=1"),
    (r"--kernel-source my-tree\b", "--kernel-source pinned"),
)
# Capture of a logic analyser: two samples of 300 ns.
CAPTURE = """$timescale 1 ns $end
$var wire 1 a D0 $end
$var wire 1 b D1 $end
$enddefinitions $end
#0
0a
0b
#1000
1a
#1300
1b
#2000
0a
0b
#3000
1a
#3300
1b
#4000
0a
"""
# Commands that need another machine or real time, or would damage this one.
ELSEWHERE = (
    "10.0.0.1",  # the scheduler of a farm: tests/farm has one
    "--farm",
    "--resume",  # of what a farm began: tests/farm and tests/cli have it
    *("git clone", "rm -rf", "FreeRTOS-patched", "make clean", "run motion", "--bus inter"),
    *("/dev/serial", "nucleo-f401re@board"),  # a board on the desk
    # Would stay mounted for all tests. tests/posix/test_traced.py has a namespace of its own.
    *("mount -t tracefs", "trace itc/message-queue"),
    "trace trace.dat",  # likewise: tests/posix/test_trace_cmd.py records one
    # Programs of the reader's, and their runs: tests/guest/test_given_program.py has some.
    "count firmware.elf --board stm32f4 --function 'can_*'",  # docs/how-to/count-a-function.md
    "count ./program --function 'parse_*'",  # docs/how-to/count-a-program.md
    "--functions-from output.txt",  # of the reader's runner: tests/count/test_runner_names.py
    # A watch needs tracefs: tests/watching/test_live.py has it in a namespace of its own.
    *("kadenz watch", "show runs/after", "--limit 'watch/controller"),
    # Kernels of the reader's: tests/guest/test_own_kernel.py and test_bisected_kernels.py.
    *(
        "kernel=./",
        "kernel=../",
        "kernel='kernels/",
        'kernel="kernels/',
        "bzImage",
        "kernels/night",
    ),
    *("for side in", "gate runs/branch", "night-$(date", "../runs/$commit"),
    *("--program", "compare runs/before runs/after --statistic p99 --statistic max"),
)
# They load or tune this machine, and docs/how-to/compare-two-systems.md has the same two.
OF_ANOTHER_PAGE = {"README.md": ("--load none --load disk", "--tuning none --tuning latency")}
# Exit codes that are an answer: 3 a regression, 4 inconclusive; 1 for a tuning that this machine
# refuses in part, as virtual machines do.
ANSWERS = {"budget": {4}, "compare": {3, 4}, "gate": {3, 4}, "tune apply": {1}, "tune verify": {1}}

pytestmark = pytest.mark.counted


def reader(folder: Path, page: str) -> dict[str, str]:
    """Prepares `folder` for a reader of the page; returns the environment of the reader's shell."""
    text = (ROOT / page).read_text()
    (folder / ".venv").symlink_to(Path(sys.prefix))
    cycle = np.arange(20_000)
    np.save(folder / "edges.npy", 1_000_000 * cycle + (900 * np.sin(cycle**2.0)).astype(np.int64))
    for name, code in re.findall(r"`(\w+\.c)`[^`]*\n```c\n(.*?)```", text, re.DOTALL):
        (folder / name).write_text(code)
    if "capture.vcd" in text:
        (folder / "capture.vcd").write_text(CAPTURE)
    if "task-set.toml" in text:
        shutil.copy(ROOT / "docs" / "how-to" / "task-set.toml", folder)
    if "build/app.elf" in text:  # an image that the reader's build made
        (folder / "build").mkdir()
        instrument = "scope" if "--instrument scope\n" in text else "counter"
        image = build_image(TargetName("freertos", "stm32f4", "emulated"), instrument)
        shutil.copy2(image.elf.path, folder / "build" / "app.elf")
    path = f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}"
    return {
        **os.environ,
        "PATH": path,
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }


def followed_here(page: str) -> list[str]:
    """The commands of a page that no other test has."""
    elsewhere = (*ELSEWHERE, *OF_ANOTHER_PAGE.get(page, ()))
    return [command for command in commands(page) if not any(word in command for word in elsewhere)]


def as_followed(command: str) -> str:
    """The command with less to measure, and as root if the page says sudo."""
    if command.startswith("make "):
        return command.replace("make ", f"make --dry-run -C {ROOT} ")
    for pattern, shorter in SHORTER:
        command = re.sub(pattern, shorter, command)
    return re.sub(r"^sudo ", "", command)


def followed(folder: Path, page: str) -> list[str]:
    """Runs every command of a page in order; returns the failed ones with their output."""
    environment = reader(folder, page)
    failed = []
    for command in followed_here(page):
        if command.startswith("cd "):  # each command has a shell of its own
            folder = folder / command.removeprefix("cd ").strip()
            continue
        shell = as_followed(command)
        answer = subprocess.run(
            ["bash", "-c", shell],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        answers = next((ANSWERS[name] for name in ANSWERS if f"kadenz {name}" in shell), set())
        if answer.returncode not in {0, *answers} or "Traceback" in answer.stderr:
            failed.append(
                f"{shell}\n  exit {answer.returncode}: {answer.stdout[-800:]}{answer.stderr[-800:]}"
            )
    return failed


def has_guest_kernels() -> bool:
    guests = user_cache() / "guests"
    kinds = ("6.12-rt", "6.12-plain")
    return all((guests / "x86_64" / kind / "kernel").is_file() for kind in kinds)


def changed_pages() -> set[str]:
    """Pages that this change touches: what is not committed, and what no branch of origin has.

    In a clone of a change that has landed: those of its last commit.
    """

    def git(*arguments: str) -> str:
        answer = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return answer.stdout.strip() if answer.returncode == 0 else ""

    base = git("merge-base", "HEAD", "origin/main")
    if base == git("rev-parse", "HEAD"):
        base = git("rev-parse", "--verify", "--quiet", "HEAD~1")
    return set(git("diff", "--name-only", base).splitlines()) if base else set()


CHANGED = changed_pages()


def marks(page: str) -> list[pytest.MarkDecorator]:
    """A page that measures, loads or tunes this machine is decided by it. The others take long:
    a change of a page runs that page."""
    text = "\n".join(map(as_followed, followed_here(page)))
    if re.search(r"@host|--load (?!none)|--tuning|\btune (apply|restore)", text):
        return [pytest.mark.machine]
    return [] if page in CHANGED else [pytest.mark.long]


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=marks(page)) for page in PAGES],
)
def test_every_command_of_a_page_works(page: str, tmp_path: Path) -> None:
    if not list(commands(page)):
        return  # a page without commands; test_pages_have_commands counts the others
    if "guest" in page and not has_guest_kernels():
        pytest.skip("no kernels of guests: make guest-kernels")
    failed = followed(tmp_path, page)
    assert not failed, "\n\n".join(failed)


def test_pages_have_commands() -> None:
    counts = {page: len(list(commands(page))) for page in PAGES}
    assert counts["README.md"] >= 15
    assert counts["docs/tutorial.md"] >= 10
    assert sum(count > 0 for count in counts.values()) >= 9


def test_what_a_page_leaves_to_another_is_on_both() -> None:
    other = [as_followed(command) for command in commands("docs/how-to/compare-two-systems.md")]
    for page, left_out in OF_ANOTHER_PAGE.items():
        for part in left_out:
            assert any(part in command for command in commands(page))
            assert any(part in command for command in other)


def test_a_command_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.docs.test_commands.commands", lambda _: ["kadenz show nowhere"])
    (failure,) = followed(tmp_path, "README.md")
    assert "kadenz show nowhere" in failure and "exit" in failure
