# SPDX-License-Identifier: Apache-2.0
"""What a release publishes says one version, and has what its registries ask for."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from kadenz import __version__

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKSPACE = tomllib.loads((ROOT / "fieldbus" / "Cargo.toml").read_text())["workspace"]
SCRIPT = (ROOT / "scripts" / "release.sh").read_text()


def crates() -> dict[str, dict[str, Any]]:
    files = [ROOT / "fieldbus" / member / "Cargo.toml" for member in WORKSPACE["members"]]
    manifests = [tomllib.loads(file.read_text()) for file in files]
    return {crate["package"]["name"]: crate for crate in manifests}


def test_the_version_is_one() -> None:
    """Python's `0.3.0.dev0` is Cargo's `0.3.0-dev`: neither takes the other's spelling."""
    cargo = re.sub(r"\.dev0$", "-dev", __version__)
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert WORKSPACE["package"]["version"] == cargo
    assert {dependency["version"] for dependency in WORKSPACE["dependencies"].values()} == {
        f"={cargo}"
    }
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    sections = re.findall(
        r"^## \[(.+?)\] - (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    newest, date = sections[0]
    assert newest == __version__.removesuffix(".dev0")
    assert (date == "unreleased") == __version__.endswith(".dev0")
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", when) for _, when in sections[1:])


def test_the_notes_begin_with_what_breaks_and_are_short() -> None:
    """`scripts/release.sh` takes the newest section as the notes of the tag."""
    newest = (ROOT / "CHANGELOG.md").read_text().split("\n## [")[1].partition("\n")[2]
    groups = re.findall(r"^### (.+)$", newest, re.MULTILINE)
    assert groups[0] == "What breaks" and len(set(groups)) == len(groups)
    assert len(newest.split()) < 2000
    for line in newest.splitlines():
        assert len(line.split()) < 70, line  # a line that is longer is a page of the docs
        assert not line or line.startswith(("### ", "- ")), line


def test_every_crate_says_whether_it_is_published() -> None:
    """One that is needs only crates that are: a path does not travel."""
    listed = re.search(r"^CRATES=\((.*)\)$", SCRIPT, re.MULTILINE)
    assert listed is not None
    published = {name for name, crate in crates().items() if crate["package"]["publish"]}
    assert published == set(listed[1].split())
    for name in published:
        package = crates()[name]
        assert package["package"]["description"]
        siblings = {need for need in package["dependencies"] if need.startswith("kadenz-")}
        assert siblings <= published


@pytest.mark.parametrize("crate", sorted(crates()))
def test_a_crate_can_be_packaged(crate: str, tmp_path: Path) -> None:
    """Its files alone: nothing is compiled and no registry is asked."""
    answer = subprocess.run(
        ["cargo", "package", "--list", "--allow-dirty", "--offline", "--package", crate],
        cwd=ROOT / "fieldbus",
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert {"Cargo.toml", "Cargo.lock"} <= set(answer.stdout.split())


def test_metadata_names_licences_that_travel_and_the_supported_pythons() -> None:
    project = PROJECT["project"]
    for file in project["license-files"]:
        assert (ROOT / file).is_file()
    supported = [
        classifier for classifier in project["classifiers"] if re.search(r":: 3\.\d+$", classifier)
    ]
    least = project["requires-python"].removeprefix(">=")
    assert supported[0].endswith(least)
    assert "Typing :: Typed" in project["classifiers"]
    (backend,) = PROJECT["build-system"]["requires"]
    assert re.fullmatch(r"setuptools>=[\d.]+,<\d+", backend), "a range: who builds has their own"
