# SPDX-License-Identifier: Apache-2.0
"""Every dependency is locked, and listed in docs/dependencies.md with its version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "dependencies.md").read_text()


def on_the_page(name: str, version: str) -> bool:
    """One line names both; a row may hold several packages and their versions."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    return any(pattern.search(line) and version in line for line in PAGE.splitlines())


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
# What the wheel's metadata names by range, and what has to be that version: cores and their
# simulator, which are part of figures, and the tools of this checkout.
RANGES = [
    Requirement(requirement)
    for requirement in (
        *PROJECT["project"]["dependencies"],
        *EXTRAS["parquet"],
        *EXTRAS["archive"],
        *EXTRAS["perfetto"],
    )
]
EXACT = [
    Requirement(requirement)
    for group in (EXTRAS["farm"], EXTRAS["rtl"], *PROJECT["dependency-groups"].values())
    for requirement in group
    if isinstance(requirement, str)
]


def locked(name: str) -> dict[str, str]:
    """The versions in a lock file, by the package's name in the registry."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / name).read_text(), re.MULTILINE))


def python_pins() -> dict[str, str]:
    lock = locked("requirements-dev.lock")
    return {
        requirement.name: lock[canonicalize_name(requirement.name)]
        for requirement in (*RANGES, *EXACT)
    }


def rust_pins() -> dict[str, str]:
    pins = {}
    for file in [
        *ROOT.glob("fieldbus/Cargo.toml"),
        *ROOT.glob("fieldbus/*/Cargo.toml"),
        *ROOT.glob("kernels/*/source/Cargo.toml"),
        *ROOT.glob("kernels/*/Cargo.toml"),
        *ROOT.glob("suite/rust/Cargo.toml"),
    ]:
        manifest = tomllib.loads(file.read_text())
        manifest |= manifest.get("workspace", {})
        for part in (manifest, *manifest.get("target", {}).values()):
            for table in ("dependencies", "dev-dependencies", "build-dependencies"):
                for name, wanted in part.get(table, {}).items():
                    version = rust_version(wanted)
                    if version:
                        assert version.startswith("="), f"{file}: {name} {version} is not pinned"
                        pins[name] = version.removeprefix("=")
    return pins


def rust_version(wanted: Any) -> str:
    """ "" for a crate of this workspace."""
    if isinstance(wanted, str):
        return wanted
    return "" if "path" in wanted else str(wanted.get("version", ""))


def npm_pins() -> dict[str, str]:
    script = (ROOT / "scripts" / "setup-uplot.sh").read_text()
    version = re.search(r"^VERSION=([\d.]+)$", script, re.MULTILINE)
    assert version is not None
    return {"uplot": version[1]}


def test_the_plotting_library_is_pinned_and_explained() -> None:
    assert [name for name, version in npm_pins().items() if not on_the_page(name, version)] == []


def test_every_python_package_is_pinned_and_explained() -> None:
    pins = python_pins()
    assert len(pins) > 10
    assert [name for name, version in pins.items() if not on_the_page(name, version)] == []


def test_the_wheel_names_ranges_that_hold_the_locked_versions() -> None:
    """The lowest version is the locked one, so that each end of a range has been measured with."""
    lock = locked("requirements.lock")
    for requirement in RANGES:
        version = lock[canonicalize_name(requirement.name)]
        signs = {spec.operator: spec.version for spec in requirement.specifier}
        assert signs.get(">=") == version and "==" not in signs, requirement
    assert lock.items() <= locked("requirements-dev.lock").items()


def test_what_has_to_be_one_version_is_pinned_and_the_back_end_takes_ours() -> None:
    lock = locked("requirements-dev.lock")
    assert EXTRAS.keys() == {"parquet", "archive", "farm", "rtl", "perfetto"}
    for requirement in EXACT:
        assert str(requirement.specifier) == f"=={lock[canonicalize_name(requirement.name)]}", (
            requirement
        )
    (backend,) = map(Requirement, PROJECT["build-system"]["requires"])
    assert lock[backend.name] in backend.specifier


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_every_locked_package_has_a_hash(name: str) -> None:
    for entry in re.split(r"\n(?=\S)", re.sub(r"(?m)^#.*\n", "", (ROOT / name).read_text())):
        assert "--hash=sha256:" in entry, entry


def test_every_crate_is_pinned_and_explained() -> None:
    pins = rust_pins()
    assert "freertos-next" in pins
    assert [name for name, version in pins.items() if not on_the_page(name, version)] == []


def test_every_debian_package_is_on_the_page() -> None:
    missing = []
    lists = sorted((ROOT / "scripts").glob("debian-packages*.txt"))
    for line in "\n".join(file.read_text() for file in lists).splitlines():
        names = [name.partition("[")[0].strip() for name in line.partition("#")[0].split("|")]
        if names[0] and not any(on_the_page(name, "") for name in names):
            missing.append(names[0])
    assert missing == []


def test_the_page_lists_no_unused_dependency() -> None:
    """Table rows that name a version must still match the pin."""
    pins = {**rust_pins(), **python_pins(), **npm_pins()}
    both = {*rust_pins().items(), *python_pins().items(), *npm_pins().items()}
    rows = re.findall(r"^\| ([\w., ()-]+?) \| ([\d., ]+) \|", PAGE, re.MULTILINE)
    assert len(rows) > 20
    for names, versions in rows:
        for name in re.sub(r" \(.*?\)", "", names).split(", "):
            assert name in pins, f"{name} is not used"
            assert any(program == name and version in versions for program, version in both), name
