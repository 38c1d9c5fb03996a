# SPDX-License-Identifier: Apache-2.0
"""A guest whose board names a program is ready only where that program can run, and is refused
elsewhere with the same words."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.target_name import known_targets, parse_target
from kadenz.errors import ToolMissing
from kadenz.lab.guests import default_guest, guest_image
from kadenz.targets.checkup import Missing, TargetCheck, check_targets
from kadenz.tools import Need, Tool

SUITE = "linux-rt/x86_64@guest"
RELEASES = {"6.12": "6.12-first", "6.1": "6.1-second"}


def modules(text: str) -> tuple[str, ...]:
    """Of the program that a target's board names; empty for the suite."""
    tier = inventory.board(parse_target(text).board).tier.guest
    return tier.program.modules if tier is not None and tier.program is not None else ()


PROGRAMS = [text for text in known_targets() if text.endswith("@guest") and modules(text)]


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kernels of x86-64 in a cache, each with every module; this machine is an x86-64."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    folder = tmp_path / "kadenz" / "guests" / "x86_64"
    for version, release in RELEASES.items():
        for flavour in ("rt", "plain"):
            kernel = folder / f"{version}-{flavour}"
            (kernel / "modules").mkdir(parents=True)
            for name in ("kernel", "origin", "disturbance.ko"):
                (kernel / name).touch()
            (kernel / "release").write_text(f"{release}\n")
            for module in {module for text in PROGRAMS for module in modules(text)}:
                (kernel / "modules" / f"{module}.ko").touch()
    return folder


def checks() -> dict[str, TargetCheck]:
    """By target, on a machine that has every compiler and emulator."""

    def there(wanted: Need) -> Tool:
        return Tool(wanted, None, "99", "")

    return {check.name: check for check in check_targets(there)}


def refused(text: str) -> Missing:
    """Why the image of a target is not built here."""
    name = parse_target(text)
    with pytest.raises(ToolMissing) as caught:
        guest_image(name, default_guest(name), ())
    return Missing(caught.value.message, caught.value.remedy)


def test_with_the_modules_of_its_program_a_guest_is_ready(kernels: Path) -> None:
    assert {"linux-rt/indy7-x86_64@guest", "linux-rt/terminals-x86_64@guest"} <= {*PROGRAMS}
    checked = checks()
    for text in (*PROGRAMS, SUITE):
        assert checked[text].missing == ()
        assert checked[text].note.startswith("6.12-first, 6.1-second; ")


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_kernel_without_the_module_of_the_program_is_reported_and_refused_alike(
    text: str, kernels: Path
) -> None:
    module = modules(text)[0]
    for file in kernels.glob(f"6.12-*/modules/{module}.ko"):
        file.unlink()
    checked = checks()
    (missing,) = checked[text].missing
    assert missing.problem.endswith(
        f"{module}.ko: this kernel of the cache has no module `{module}`"
    )
    assert "kadenz setup --guests" in missing.remedy
    assert missing == refused(text)
    assert checked[SUITE].missing == ()


@pytest.mark.parametrize("text", PROGRAMS)
def test_another_kernel_without_the_module_is_not_listed(text: str, kernels: Path) -> None:
    for file in kernels.glob(f"6.1-*/modules/{modules(text)[0]}.ko"):
        file.unlink()
    check = checks()[text]
    assert check.missing == () and check.note.startswith("6.12-first; ")


@pytest.mark.parametrize("text", PROGRAMS)
def test_on_a_machine_of_another_kind_the_program_is_reported_and_refused_alike(
    text: str, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    checked = checks()
    (missing,) = checked[text].missing
    assert missing.problem.endswith("built for this machine's aarch64, and the guest is x86_64")
    assert missing.remedy == "Measure it on a machine of x86_64"
    assert missing == refused(text)
    assert checked[SUITE].missing == ()
