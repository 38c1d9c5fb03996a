# SPDX-License-Identifier: Apache-2.0
"""A remembered pass never hides a change, a failure, or a property test."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import remembered
from tests.benchmarks.test_benches import BENCHES, MAY_MISS, REAL_TIME
from tests.docs.test_commands import as_followed, followed_here

pytest_plugins = ["pytester"]

SLOW = """
import time
import pytest
from hypothesis import given, strategies as st

def test_slow():
    time.sleep(0.02)

def test_quick():
    pass

def test_fails():
    time.sleep(0.02)
    assert False

@pytest.fixture
def broken():
    yield
    raise OSError

def test_whose_end_fails(broken):
    time.sleep(0.02)

@pytest.mark.linux
def test_in_real_time():
    time.sleep(0.02)

@given(st.just(1))
def test_property(one):
    time.sleep(0.02)
"""
CONFTEST = f"""
import pytest
import sys
from pathlib import Path
sys.path.insert(0, {str(remembered.ROOT)!r})  # for processes of -n
from tests.remembered import Kind, Remembered

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):  # however busy the machine is
    report.duration = 0.0 if report.nodeid.endswith("test_quick") else 1.0

def pytest_configure(config):
    inputs = Path("inputs.txt")
    kind = Kind("these", ("them/",), lambda: inputs.read_text(), 0.01)
    config.pluginmanager.register(Remembered([kind], leave_out=True))
"""


@pytest.fixture
def plugin(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> pytest.Pytester:
    """A folder of such tests, of which those that take 10 ms are remembered."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    pytester.makeconftest(CONFTEST)
    # labgrid's plugin cannot start twice in a process.
    pytester.makeini("[pytest]\naddopts = -p no:labgrid\nmarkers = linux: in real time\n")
    (pytester.path / "them").mkdir()
    (pytester.path / "them" / "test_them.py").write_text(SLOW)
    (pytester.path / "inputs.txt").write_text("one")
    return pytester


def test_a_slow_pass_is_remembered_and_nothing_else(plugin: pytest.Pytester) -> None:
    plugin.runpytest().assert_outcomes(passed=5, failed=1, errors=1)
    again = plugin.runpytest()
    again.assert_outcomes(passed=4, failed=1, errors=1, deselected=1)
    again.stdout.fnmatch_lines(["these: 1 not run, they passed with the same inputs (one)*"])


def test_other_inputs_run_all(plugin: pytest.Pytester) -> None:
    plugin.runpytest()
    (plugin.path / "inputs.txt").write_text("two")
    plugin.runpytest().assert_outcomes(passed=5, failed=1, errors=1)


def test_inputs_that_change_during_the_run_keep_nothing(plugin: pytest.Pytester) -> None:
    changing = "\ndef test_that_edits():\n    open('inputs.txt', 'w').write('two')\n"
    with (plugin.path / "them" / "test_them.py").open("a") as file:
        file.write(changing)
    plugin.runpytest()
    for inputs in ("one", "two"):
        (plugin.path / "inputs.txt").write_text(inputs)
        assert "not run" not in plugin.runpytest().stdout.str()


def test_unknown_inputs_remember_nothing(plugin: pytest.Pytester) -> None:
    (plugin.path / "inputs.txt").write_text("")
    plugin.runpytest()
    plugin.runpytest().assert_outcomes(passed=5, failed=1, errors=1)


def test_processes_say_once_what_they_left_out(plugin: pytest.Pytester) -> None:
    """The summary is printed by a process that collects no test."""
    plugin.runpytest()
    again = plugin.runpytest("-n", "2")
    again.stdout.fnmatch_lines(["these: 1 not run, they passed with the same inputs*"])


def test_without_the_option_all_run(plugin: pytest.Pytester) -> None:
    plugin.runpytest()
    conftest = plugin.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("leave_out=True", "leave_out=False"))
    plugin.runpytest().assert_outcomes(passed=5, failed=1, errors=1)


@pytest.mark.parametrize("file", ["kadenz/stats/tail.py", "tests/stats/series.py"])
def test_a_byte_changes_the_digest_of_the_statistics(file: str, tmp_path: Path) -> None:
    for name in remembered.STATISTICS:
        shutil.copytree(remembered.ROOT / name, tmp_path / name)
    before = remembered.statistics_digest(tmp_path)
    assert before == remembered.statistics_digest()
    with (tmp_path / file).open("a") as out:
        out.write("#")
    assert remembered.statistics_digest(tmp_path) != before


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a file at each of these places."""
    monkeypatch.delenv("KADENZ_TEST_TREES", raising=False)
    for name in (*READ, *LEFT):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("1")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


READ = (
    "suite/core/wire.c", "kadenz/lab/measure.py", "boards/stm32f4/board.toml", "requirements.lock",
    "tests/rtos/images.py", "tests/rtl/new.v", "tests/forked.py", remembered.HELPERS[0],
    remembered.PAGES[0],
)  # fmt: skip
LEFT = (
    "README.md", "docs/index.md", "fieldbus/Cargo.toml", "tests/report/test_page.py",
    *(f"{folder}/any.py" for folder in remembered.OF_BENCHES),
)  # fmt: skip


@pytest.mark.parametrize("name", [*READ, *LEFT])
def test_a_byte_of_what_a_test_of_a_core_reads_changes_their_digest(
    checkout: Path, name: str
) -> None:
    before = remembered.cores_digest(checkout)
    assert before and before == remembered.cores_digest(checkout)
    (checkout / name).write_text("2")
    assert (remembered.cores_digest(checkout) != before) == (name in READ)


@pytest.mark.parametrize("name", [f"{folder}/any.py" for folder in remembered.OF_BENCHES])
def test_a_byte_of_a_bench_changes_the_digest_of_benches_alone(checkout: Path, name: str) -> None:
    def digests() -> tuple[str, str]:
        more = remembered.OF_BENCHES
        return remembered.cores_digest(checkout, more=more), remembered.cores_digest(checkout)

    before = digests()
    assert len(set(before)) == 2
    (checkout / name).write_text("2")
    after = digests()
    assert after[0] != before[0] and after[1] == before[1]
    (checkout / READ[0]).write_text("2")
    assert set(digests()).isdisjoint(after)


def test_no_clock_of_this_machine_decides_a_remembered_bench() -> None:
    benches = {f"{bench}.py" for bench in remembered.BENCHES}
    assert benches <= set(BENCHES) and not benches & (REAL_TIME | MAY_MISS)


def test_a_remembered_page_measures_nothing_of_this_machine() -> None:
    real = re.compile(
        r"@host|@board|--server|--place|--load|--tuning|\b(doctor|tune|jitter|farm)\b"
    )
    for page in remembered.FOLLOWED:
        followed = [as_followed(command) for command in followed_here(page)]
        assert followed and not [command for command in followed if real.search(command)], page


def test_other_tools_change_the_digest(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = remembered.cores_digest(checkout)
    monkeypatch.setenv("CFLAGS", "-O3")
    assert remembered.cores_digest(checkout) != before


def test_kernels_outside_the_repository_are_no_known_input(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KADENZ_TEST_TREES", "/somewhere")
    assert remembered.cores_digest(checkout) == ""


def test_a_tree_whose_files_git_does_not_list_has_no_digest(checkout: Path) -> None:
    (checkout / ".gitignore").write_text("*\n")
    assert remembered.cores_digest(checkout) == ""


def lines_of(folders: tuple[str, ...]) -> list[str]:
    files: list[Path] = []
    for folder in folders:
        place = remembered.ROOT / folder.partition("::")[0]
        files += [place] if place.is_file() else place.rglob("*.py")
    assert files
    return [line for file in files for line in file.read_text().splitlines()]


def modules(folders: tuple[str, ...], packages: tuple[str, ...]) -> set[str]:
    found = set()
    for line in lines_of(folders):
        words = line.split()
        if words[:1] in (["from"], ["import"]) and words[1].startswith(packages):
            found.add(words[1])
    return found


def test_every_module_a_simulation_imports_is_in_the_digest() -> None:
    """Otherwise a change there would be hidden."""
    imported = modules(("tests/stats",), ("kadenz", "tests"))
    assert imported
    assert all(name.startswith(("kadenz.stats", "tests.stats")) for name in imported)


def test_every_file_a_test_of_a_core_names_is_in_the_digest() -> None:
    read = set(remembered._read_by_cores(remembered.ROOT))
    for name in modules(remembered.CORES, ("tests",)):
        file = f"{name.replace('.', '/')}"
        assert {f"{file}.py", f"{file}/__init__.py"} & read, name
    named = re.compile(r'/ "(docs|fieldbus|benchmarks|published)"')
    beside = [line for line in lines_of(remembered.CORES) if named.search(line)]
    assert beside
    pages = {Path(page).name for page in remembered.PAGES}
    assert all(any(page in line for page in pages) for line in beside), beside
