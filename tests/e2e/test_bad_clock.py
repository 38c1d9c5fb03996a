# SPDX-License-Identifier: Apache-2.0
"""A clock that cannot be trusted ends the run with the reason: what kioxia2019 found."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import LINUX, kadenz, runs_in

pytestmark = pytest.mark.linux

# Stands before the C library's clock, in the measured program only.
CLOCK = """
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static __thread unsigned long reads;
    static int program; /* 1 kadenz's, 2 another */
    char name[256] = {0};
    int failed = (int)syscall(SYS_clock_gettime, clock, now);

    if (program == 0) {
        (void)!readlink("/proc/self/exe", name, sizeof name - 1);
        program = strstr(name, "python") == NULL ? 1 : 2;
    }
    if (program == 1 && failed == 0) {
        WRONG
    }
    return failed;
}
"""
STEPS = "now->tv_nsec -= now->tv_nsec % 1000;"
BACK = "if (++reads % 100 == 0 && now->tv_nsec >= 100000) now->tv_nsec -= 100000;"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (STEPS, "the clock steps by 1000: every sample would be 0 or 1000"),
        (BACK, "the clock ran backwards: no time taken by it can be trusted"),
    ],
    ids=["steps by 1000", "runs backwards"],
)
def test_a_clock_that_cannot_be_trusted_ends_the_run(
    wrong: str, reason: str, built: None, tmp_path: Path
) -> None:
    source, library = tmp_path / "clock.c", tmp_path / "clock.so"
    source.write_text(CLOCK.replace("WRONG", wrong))
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    command = ["run", "perf/wake", "perf/sleep", "--quick", "--target", LINUX]
    answer = kadenz(*command, "--output", tmp_path, env={"LD_PRELOAD": str(library)})
    assert answer.returncode == 1, answer.stderr
    assert reason in answer.stderr
    run = runs_in(tmp_path)[LINUX]
    assert run.manifest.partial
    records = {record.bench: record for record in run.manifest.records}
    assert (records["perf/wake"].status, records["perf/wake"].reason) == ("failed", reason)
    assert records["perf/wake"].lanes[0].taken == 0
