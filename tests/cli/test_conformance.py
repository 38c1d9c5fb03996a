# SPDX-License-Identifier: Apache-2.0
"""kadenz conformance, on real targets."""

from __future__ import annotations

import json

import pytest

from tests.forked import kadenz
from tests.pauses import timing


@pytest.mark.emulated
def test_conformance_lists_every_case_and_passes() -> None:
    answer = kadenz("conformance", "freertos/stm32f4@emulated", env={"COLUMNS": "80"})
    assert answer.returncode == 0, answer.stderr
    assert "  pass  a mutex excludes\n" in answer.stdout
    assert "  n/a   a deadline thread runs\n" in answer.stdout
    assert " 0 failed, " in answer.stdout
    assert max(map(len, answer.stdout.splitlines())) <= 80


@pytest.mark.linux
def test_conformance_as_json() -> None:
    answer = kadenz("conformance", "posix/linux@host", "--json")
    assert answer.returncode in (0, 1), answer.stderr
    (made,) = json.loads(answer.stdout)
    assert made["error"] == ""
    with timing():  # the cases order their threads by sleeping some ms
        assert made["conforms"] is True and made["failed"] == 0 and answer.returncode == 0
    assert made["passed"] == sum(case["result"] == "pass" for case in made["cases"]) > 20
    assert all(case["reason"] for case in made["cases"] if case["result"] == "n/a")


def test_an_unknown_target_is_a_usage_error() -> None:
    answer = kadenz("conformance", "freertos/stm32f5@emulated")
    assert answer.returncode == 2
    assert "Did you mean `freertos/stm32f4@emulated`?" in answer.stderr


def test_a_program_without_a_kernel_port_is_refused_before_any_build() -> None:
    answer = kadenz("conformance", "posix/indy7@host")
    assert answer.returncode == 2, answer.stderr
    assert "kadenz-motion" in answer.stderr and "posix/linux@host" in answer.stderr
