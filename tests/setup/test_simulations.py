# SPDX-License-Identifier: Apache-2.0
"""A remembered pass never hides a change, a failure, or a property test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import simulations

pytest_plugins = ["pytester"]

SLOW = """
import time
from hypothesis import given, strategies as st

def test_slow():
    time.sleep(0.02)

def test_quick():
    pass

def test_fails():
    time.sleep(0.02)
    assert False

@given(st.just(1))
def test_property(one):
    time.sleep(0.02)
"""


@pytest.fixture
def plugin(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> pytest.Pytester:
    """A folder of simulations; half a second is shortened to 10 ms."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(simulations, "WORTH_S", 0.01)
    pytester.makeconftest(
        f"import sys\nsys.path.insert(0, {str(simulations.ROOT)!r})\n"  # for processes of -n
        "from tests.simulations import Simulations\n"
        "def pytest_configure(config):\n"
        "    config.pluginmanager.register(Simulations('', afresh=False))\n"
    )
    pytester.makeini("[pytest]\naddopts = -p no:labgrid\n")  # it cannot start twice in a process
    pytester.makepyfile(test_them=SLOW)
    return pytester


def test_a_slow_pass_is_remembered_and_nothing_else(plugin: pytest.Pytester) -> None:
    plugin.runpytest().assert_outcomes(passed=3, failed=1)
    again = plugin.runpytest()
    again.assert_outcomes(passed=2, failed=1, deselected=1)
    again.stdout.fnmatch_lines(["simulations: 1 not run, they passed with the same inputs*"])


def test_processes_say_once_what_they_left_out(plugin: pytest.Pytester) -> None:
    """The summary is printed by a process that collects no test."""
    plugin.runpytest()
    again = plugin.runpytest("-n", "2")
    again.stdout.fnmatch_lines(["simulations: 1 not run, they passed with the same inputs*"])


def test_afresh_runs_all(plugin: pytest.Pytester) -> None:
    plugin.runpytest()
    conftest = plugin.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("afresh=False", "afresh=True"))
    plugin.runpytest().assert_outcomes(passed=3, failed=1)


@pytest.mark.parametrize("file", ["kadenz/stats/tail.py", "tests/stats/series.py"])
def test_a_byte_changes_the_digest(file: str, tmp_path: Path) -> None:
    for name in ("kadenz/stats", "tests/stats"):
        shutil.copytree(simulations.ROOT / name, tmp_path / name)
    shutil.copy(simulations.ROOT / "tests/simulations.py", tmp_path / "tests/simulations.py")
    before = simulations.digest(tmp_path)
    assert before == simulations.digest()
    with (tmp_path / file).open("a") as out:
        out.write("#")
    assert simulations.digest(tmp_path) != before


def test_every_folder_a_simulation_imports_is_in_the_digest() -> None:
    """Otherwise a change there would be hidden."""
    imported = set()
    for file in (simulations.ROOT / "tests/stats").rglob("*.py"):
        for line in file.read_text().splitlines():
            words = line.split()
            if words[:1] in (["from"], ["import"]) and words[1].startswith(("kadenz", "tests")):
                imported.add(words[1])
    assert imported
    assert all(name.startswith(("kadenz.stats", "tests.stats")) for name in imported)
