# SPDX-License-Identifier: Apache-2.0
"""An installed wheel is the whole tool: it measures and reports far from any checkout."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from kadenz import __version__
from kadenz.report import zoom
from tests.docs.ci import JOB, action, read
from tests.setup.wheel import ROOT, Installed, install

pytestmark = [pytest.mark.counted, pytest.mark.long]
_DATA = ("boards", "campaigns", "published", "schemas", "servers", "tunings")
PARTS = ("LICENSE", "arch", "fieldbus", "instruments", "kernels", "suite", *_DATA)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    if zoom.library() is None:
        pytest.skip("uPlot was not fetched: no wheel can be built (make setup, with a network)")
    return install(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def untouched(installed: Installed) -> dict[str, int]:
    """The installation before its first command."""
    return state(installed.venv)


@pytest.fixture(scope="module")
def lab(installed: Installed, untouched: dict[str, int]) -> Path:
    """A lab of the installed kadenz, whose first campaign was run."""
    folder = installed.venv.parent / "lab"
    installed.run("kadenz", "init", str(folder), cwd=folder.parent)
    installed.run("kadenz", "run", "first", "--quick", cwd=folder)
    return folder


def tracked(*folders: str) -> set[str]:
    answer = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name for name in answer.stdout.splitlines() if (ROOT / name).is_file()}


def state(folder: Path) -> dict[str, int]:
    return {str(f): f.stat().st_mtime_ns for f in folder.rglob("*") if f.name != "__pycache__"}


def test_the_wheel_has_every_part_and_nothing_that_was_built(installed: Installed) -> None:
    names = set(zipfile.ZipFile(installed.wheel).namelist())
    parts = {name.removeprefix("kadenz/parts/") for name in names if "/parts/" in name}
    assert {name for name in parts if not name.startswith("scripts/")} == tracked(*PARTS)
    package = {name for name in names if name.startswith("kadenz/") and "/parts/" not in name}
    static = {name for name in package if name.startswith("kadenz/report/static/")}
    assert {Path(name).name for name in static} == {"LICENSE", "uPlot.iife.min.js", "uPlot.min.css"}
    assert package - static == tracked("kadenz")
    # `kadenz setup` needs every script that another one calls or reads.
    scripts = {name for name in parts if name.startswith("scripts/")}
    for name in scripts:
        text = (ROOT / name).read_text()
        called = set(re.findall(r"\b(?:step |\"\$0\"\)/)([a-z-]+\.sh)", text))
        lists = {f"debian-packages{end}" for end in re.findall(r"\$LIST(-[a-z0-9-]+\.txt)", text)}
        assert {f"scripts/{file}" for file in called | lists} <= scripts, name


def test_the_source_archive_has_the_same_parts(installed: Installed) -> None:
    with tarfile.open(installed.archive) as archive:
        files = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert tracked(*PARTS, "kadenz") | {"setup.py", "pyproject.toml", "LICENSE"} <= files


def test_the_metadata_has_ranges_and_both_licenses(installed: Installed) -> None:
    wheel = zipfile.ZipFile(installed.wheel)
    (name,) = [file for file in wheel.namelist() if file.endswith(".dist-info/METADATA")]
    text = wheel.read(name).decode()
    wanted = re.findall(r"^Requires-Dist: ([^;\n]*)$", text, re.M)  # without those of extras
    assert len(wanted) >= 10 and all(
        ">=" in requirement and "==" not in requirement for requirement in wanted
    )
    assert "License-Expression: Apache-2.0 AND GPL-2.0-or-later" in text


def test_it_lists_measures_and_reports_without_writing_into_the_installation(
    installed: Installed, lab: Path, untouched: dict[str, int]
) -> None:
    targets = json.loads(installed.run("kadenz", "list", "--json", cwd=lab).stdout)["targets"]
    assert {"mine", "freertos/hifive1-revb@emulated", "posix/indy7@host"} <= {
        target["name"] for target in targets
    }
    (run,) = (lab / "runs").iterdir()
    manifest = json.loads((run / "run.json").read_text())
    assert manifest["kadenz_version"] == __version__
    assert {record["status"] for record in manifest["records"]} == {"ok"}
    installed.run("kadenz", "report", "runs", "--output", "page.html", cwd=lab)
    assert "itc/semaphore-binary" in (lab / "page.html").read_text()
    assert state(installed.venv) == untouched


def test_a_benchmark_of_its_lab_has_the_helpers_of_the_suite(
    installed: Installed, tmp_path: Path
) -> None:
    installed.run("kadenz", "init", str(tmp_path), cwd=tmp_path)
    names = installed.run("kadenz", "list", "benchmarks", cwd=tmp_path).stdout
    assert "itc/queue" in names and "No image is built yet" in names
    (tmp_path / "bench").mkdir()
    shutil.copy2(ROOT / "tests/rtos/targets/lab_ping.c", tmp_path / "bench")
    options = ("--target", "mine", "--set", "samples=10")
    installed.run("kadenz", "run", "mine/ping", *options, cwd=tmp_path)
    (run,) = (tmp_path / "runs").iterdir()
    records = json.loads((run / "run.json").read_text())["records"]
    assert [record["status"] for record in records if record["bench"] == "mine/ping"] == ["ok"]


def test_it_builds_in_the_cache_of_its_own_version(installed: Installed, tmp_path: Path) -> None:
    says = (
        "from kadenz.config import inventory as i; from kadenz.report import zoom\n"
        "print(i.root(), i.build_folder(), i.cargo_folder(), zoom.library() is not None)"
    )
    root, build, cargo, zooms = installed.run("python", "-c", says, cwd=tmp_path).stdout.split()
    assert Path(root) == installed.package / "parts"
    assert Path(build) == installed.cache / "kadenz" / "build" / __version__
    assert Path(cargo) == Path(build) / "fieldbus"
    assert zooms == "True"


def test_its_set_up_is_that_of_the_checkout(installed: Installed, tmp_path: Path) -> None:
    """On this machine, which is set up, and on one where Rust and QEMU are missing."""
    answer = installed.run("kadenz", "setup", "--dry-run", cwd=tmp_path)
    assert answer.stdout == "nothing to do: every tool is installed\n"
    (tmp_path / "rustc").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "rustc").chmod(0o755)
    path = f"{tmp_path}:{installed.environment()['PATH']}"
    answer = installed.run(
        "kadenz", "setup", "--dry-run", cwd=tmp_path, PATH=path, XDG_CACHE_HOME=str(tmp_path)
    )
    assert "- install Rust" in answer.stdout
    assert f"into {tmp_path}/kadenz/qemu" in answer.stdout or "QEMU" not in answer.stdout
    assert not (tmp_path / "kadenz").exists()


# ---- the files for CI: their own lines, on a runner that is this machine -------------------------
@dataclass(frozen=True)
class Runner:
    """A CI system. Packages come from this machine; apt-get only notes its calls."""

    folder: Path
    environment: dict[str, str]
    work: Path  # the folder with the user's files: the lab

    def lines(self, text: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Shell lines, as a CI system runs them."""
        environment = {**self.environment, **more}
        added = self.folder / "path"
        if added.is_file():
            environment["PATH"] = f"{added.read_text().strip()}:{environment['PATH']}"
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
            cwd=self.work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def packages(self) -> list[str]:
        """The calls of apt-get."""
        calls = self.folder / "apt-calls"
        return calls.read_text().splitlines() if calls.is_file() else []


@pytest.fixture
def runner(installed: Installed, lab: Path, tmp_path: Path) -> Runner:
    for name, script in (
        ("apt-get", f'echo "$*" >> {tmp_path}/apt-calls'),
        ("python3", f'exec {sys.executable} "$@"'),
    ):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    system = installed.environment()["PATH"].partition(":")[2]
    environment = installed.environment(
        PATH=f"{tmp_path / 'bin'}:{system}",
        PIP_NO_INDEX="1",
        PIP_NO_DEPS="1",
        PYTHONPATH=str(installed.packages),
        RUNNER_TEMP=str(tmp_path),
        GITHUB_PATH=str(tmp_path / "path"),
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"),
    )
    return Runner(tmp_path, environment, lab)


def test_the_action_installs_measures_and_gates(installed: Installed, runner: Runner) -> None:
    inputs = {
        "package": str(installed.wheel),
        "measure": "first --quick",
        "baseline": "runs",
        "output": str(runner.folder / "results"),
    }
    for limit, code in (("2000 instructions", 0), ("2 instructions", 3)):
        limits = f"itc/queue max < {limit}\nitc/* median < 2000 instructions\n"
        steps = action({**inputs, "limits": limits})
        assert list(steps) == ["Install", "Measure", "Gate"]
        for name in steps if code == 0 else ["Gate"]:
            lines, environment = steps[name]
            answer = runner.lines(lines, **environment)
            assert answer.returncode == code, answer.stdout + answer.stderr
    assert (runner.folder / "results" / "gate.xml").is_file()
    assert (runner.folder / "results" / "report.html").is_file()
    assert "itc/queue" in (runner.folder / "summary.md").read_text()
    assert runner.packages == []


def test_the_job_of_gitlab_installs_measures_and_gates(
    installed: Installed, runner: Runner
) -> None:
    job = read(JOB)[".kadenz"]
    variables = {name: str(value) for name, value in job["variables"].items()} | {
        "KADENZ_PACKAGE": str(installed.wheel),
        "KADENZ_MEASURE": "first --quick",
        "KADENZ_BASELINE": "runs",
        "KADENZ_LIMITS": "itc/queue max < 2 instructions\nitc/* median < 2000 instructions",
        "KADENZ_OUTPUT": str(runner.folder / "results"),
        "XDG_CACHE_HOME": str(installed.cache),
    }
    answer = runner.lines("\n".join(job["before_script"] + job["script"]), **variables)
    assert answer.returncode == 3, answer.stdout + answer.stderr
    assert "of 90 samples exceed the" in " ".join((answer.stdout + answer.stderr).split())
    assert (runner.folder / "results" / "gate.xml").is_file()
    assert [call.split()[0] for call in runner.packages] == ["update", "install"]
