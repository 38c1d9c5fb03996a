# SPDX-License-Identifier: Apache-2.0
"""A test that a runner passes over is no test: every one in the repository is collected."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A test function, or a method of a test class, of pytest.
TEST = re.compile(r"^\s*(?:async )?def test_", re.M)


def tracked(*patterns: str) -> set[str]:
    """Files of the repository, relative to its root; new ones that git does not ignore as well."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line for line in answer.stdout.splitlines() if (ROOT / line).is_file()}


def test_pytest_collects_every_file_of_tests() -> None:
    """Without options it passes over folders called `build` and `dist`, and over other names."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    answer = subprocess.run(
        [*command, "-o", "addopts="],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"},
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    collected = {line.split("::")[0] for line in answer.stdout.splitlines() if "::" in line}
    holding = {file for file in tracked("*.py") if TEST.search((ROOT / file).read_text())}
    assert len(collected) > 50
    assert holding - collected == set()
    assert tracked("tests/**/test_*.py", "tests/test_*.py") - collected == set()


def test_ctest_runs_every_c_file_of_tests() -> None:
    registered = set(
        re.findall(
            r"^kdz_test(?:_as\(\w+ |\()(\w+)",
            (ROOT / "suite" / "tests" / "CMakeLists.txt").read_text(),
            re.M,
        )
    )
    files = {Path(file).stem for file in tracked("suite/tests/test_*.c")}
    assert files and files == registered


def test_cargo_runs_every_file_of_tests() -> None:
    manifest = ROOT / "fieldbus" / "Cargo.toml"
    command = ["cargo", "metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"]
    answer = subprocess.run(
        [*command, "--manifest-path", str(manifest)], capture_output=True, text=True, check=True
    )
    packages = json.loads(answer.stdout)["packages"]
    members = {Path(package["manifest_path"]).parent for package in packages}
    assert members == {(ROOT / file).parent for file in tracked("fieldbus/*/Cargo.toml")}
    compiled = {
        str(Path(target["src_path"]).relative_to(ROOT))
        for package in packages
        for target in package["targets"]
        if "test" in target["kind"]
    }
    files = {f for f in tracked("fieldbus/*/tests/*.rs") if Path(f).parent.name == "tests"}
    programs = set(tracked("fieldbus/*/tests/*/main.rs"))
    assert files and files | programs == compiled
    for program in programs:
        named = set(re.findall(r"(?m)^mod (\w+);", (ROOT / program).read_text()))
        modules = set(tracked(f"{Path(program).parent}/*.rs")) - {program}
        beside = {Path(m).stem for m in modules if Path(m).parent == Path(program).parent}
        assert beside and beside <= named, f"{program}: no `mod` for {beside - named}"
