# SPDX-License-Identifier: Apache-2.0
"""kadenz conformance, on real targets."""

from __future__ import annotations

import json
import os

import pytest

from tests.forked import kadenz
from tests.guest.conftest import machine

# Of the POSIX port: at least these cases of every family.
PASSED = {
    "ranks order threads",
    "yield passes to an equal",
    "a round-robin thread runs",
    "a deadline thread runs",
    "a fair thread runs",
    "equal waiters: first come, first served",
    "a woken thread preempts",
    "a mutex excludes",
    "a waiter lends its rank to the owner",
    "a process shares what is shared and nothing else",
    "timerfd keeps its period",
    "posix-timer keeps its period",
    "message-queue carries items in their order",
    "semaphore-sysv is kept and wakes",
    "mutex-robust survives its owner",
    "mutex-ceiling excludes and keeps its protocol",
    "callback-timer calls back every period",
    "barrier lets no thread through before the last",
    "read-write-lock lets a writer in alone",
    "the counter counts instructions",
}


@pytest.mark.counted
def test_conformance_lists_every_case_and_passes() -> None:
    answer = kadenz("conformance", "freertos/stm32f4@emulated", env={"COLUMNS": "80"})
    assert answer.returncode == 0, answer.stderr
    assert "  pass  a mutex excludes\n" in answer.stdout
    assert "  n/a   a deadline thread runs\n" in answer.stdout
    assert " 0 failed, " in answer.stdout
    assert max(map(len, answer.stdout.splitlines())) <= 80


@pytest.mark.counted
def test_the_posix_port_conforms_in_a_guest_and_says_so_as_json() -> None:
    machine("linux-rt/x86_64@guest")
    answer = kadenz("conformance", "linux-rt/x86_64@guest", "--json")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (report,) = json.loads(answer.stdout)
    assert (report["error"], report["conforms"], report["failed"]) == ("", True, 0)
    results = {case["case"]: case["result"] for case in report["cases"]}
    assert report["passed"] == list(results.values()).count("pass")
    # A port that lacks everything would pass as well.
    assert {name for name in PASSED if results.get(name) != "pass"} == set()
    assert all(case["reason"] for case in report["cases"] if case["result"] == "n/a")


@pytest.mark.machine
def test_the_posix_port_conforms_on_this_linux() -> None:
    """With the cases of two cores, where this machine has them."""
    answer = kadenz("conformance", "posix/linux@host", "--json")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (report,) = json.loads(answer.stdout)
    assert (report["error"], report["conforms"], report["failed"]) == ("", True, 0)
    results = {case["case"]: case["result"] for case in report["cases"]}
    assert results["two cores at once lose nothing"] == (
        "pass" if len(os.sched_getaffinity(0)) > 1 else "n/a"
    )


def test_an_unknown_target_is_a_usage_error() -> None:
    answer = kadenz("conformance", "freertos/stm32f5@emulated")
    assert answer.returncode == 2
    assert "Did you mean `freertos/stm32f4@emulated`?" in answer.stderr


@pytest.mark.parametrize("target", ["posix/indy7@host", "linux-rt/indy7-x86_64@guest"])
def test_a_program_without_a_kernel_port_is_refused_before_any_build(target: str) -> None:
    answer = kadenz("conformance", target)
    assert answer.returncode == 2, answer.stderr
    assert "kadenz-motion" in answer.stderr and "posix/linux@host" in answer.stderr
