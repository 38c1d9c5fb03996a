# SPDX-License-Identifier: Apache-2.0
"""Places of members by debug information: where a kernel keeps its current thread and its name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz.images.debug_info import DebugInfo, Member
from kadenz.tools import require

SOURCE = """
typedef struct thread { int id; const char *label; char name[12]; } thread_t;
struct core { int nested; thread_t *volatile current; };
struct info { int version; struct { struct { int last; thread_t *curr; } run; } thread; };
struct kernel { long first; struct core cpus[2]; };
struct info info;
volatile struct kernel kernel;
thread_t *running;
"""


DECLARED_BEFORE = """
extern int counter, elsewhere;
int counter = 1, *place = &elsewhere;
"""


@pytest.fixture(scope="module")
def debug(tmp_path_factory: pytest.TempPathFactory) -> DebugInfo:
    folder = tmp_path_factory.mktemp("debug")
    (folder / "kernel.c").write_text(SOURCE)
    command = [str(require("arm-none-eabi-gcc")), "-g", "-c", "kernel.c", "-o", "kernel.o"]
    subprocess.run(command, cwd=folder, check=True)
    return DebugInfo(folder / "kernel.o")


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("running", ("running", 0)),  # as FreeRTOS, ThreadX and ASP3
        ("info.thread.run.curr", ("info", 8)),  # as RTX5
        ("kernel.cpus.current", ("kernel", 8)),  # as Zephyr: of its first core
        ("info.thread.stop", None),
        ("nobody.current", None),
    ],
)
def test_the_place_of_a_member_of_a_variable(
    path: str, place: tuple[str, int] | None, debug: DebugInfo
) -> None:
    assert debug.place(path) == place


def test_a_name_is_an_array_or_a_pointer(debug: DebugInfo) -> None:
    assert debug.member("thread", "name") == Member(8, 12, 0)
    assert debug.member("thread", "label") == Member(4, 0, 4)
    assert debug.member("thread_t", "label") == Member(4, 0, 4)
    assert debug.member("thread", "rank") is None
    assert debug.member("task", "name") is None


def test_the_source_that_defines_a_variable(debug: DebugInfo, tmp_path: Path) -> None:
    source = debug.definition("running")
    assert source is not None and source.name == "kernel.c"
    (tmp_path / "two.c").write_text(DECLARED_BEFORE)
    command = [str(require("arm-none-eabi-gcc")), "-g", "-c", "two.c", "-o", "two.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    two = DebugInfo(tmp_path / "two.o")
    assert two.definition("counter") == tmp_path / "two.c"
    assert two.definition("elsewhere") is None
