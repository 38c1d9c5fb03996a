# SPDX-License-Identifier: Apache-2.0
"""A guest whose board names a program is ready only where that program can be compiled, and is
refused elsewhere with the same words."""

from __future__ import annotations

import platform
from pathlib import Path

import msgspec
import pytest

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.target_name import known_targets, parse_target
from kadenz.errors import ToolMissing
from kadenz.lab.guests import default_guest, guest_image
from kadenz.targets.checkup import Missing, TargetCheck, check_targets
from kadenz.targets.guest import require_program
from kadenz.tools import Need, Tool

SUITE = "linux-rt/x86_64@guest"
RELEASES = {"6.12": "6.12-first", "6.1": "6.1-second"}


def modules(text: str) -> tuple[str, ...]:
    """Of the program that a target's board names; empty for the suite."""
    tier = inventory.board(parse_target(text).board).tier.guest
    return tier.program.modules if tier is not None and tier.program is not None else ()


PROGRAMS = [text for text in known_targets() if text.endswith("@guest") and modules(text)]


def isa(text: str) -> str:
    return inventory.board(parse_target(text).board).arch


# Of a target's kernel, as this cache has them.
VERSIONS = inventory.kernel("linux-rt").guest.versions  # type: ignore[union-attr]


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kernels in a cache, each with every module, and all that programs are compiled with for other
    instruction sets; this machine is an x86-64."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(tools, "require", lambda name: Path(name))
    monkeypatch.setattr(tools, "require_rust_target", lambda target: None)
    cache = tmp_path / "kadenz"
    for kind in {isa(text) for text in PROGRAMS}:
        for version in VERSIONS[kind]:
            for flavour in ("rt", "plain"):
                kernel = cache / "guests" / kind / f"{version}-{flavour}"
                (kernel / "modules").mkdir(parents=True)
                for name in ("kernel", "origin", "disturbance.ko"):
                    (kernel / name).touch()
                (kernel / "release").write_text(f"{RELEASES[version]}\n")
                for module in {module for text in PROGRAMS for module in modules(text)}:
                    (kernel / "modules" / f"{module}.ko").touch()
        (cache / "kdl" / kind).mkdir(parents=True)
        for name in ("liborocos-kdl.a", "orocos-kdl.pc"):
            (cache / "kdl" / kind / name).touch()
    return cache / "guests"


def releases(text: str) -> str:
    return ", ".join(RELEASES[version] for version in VERSIONS[isa(text)])


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
        assert checked[text].note.startswith(f"{releases(text)}; ")


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_kernel_without_the_module_of_the_program_is_reported_and_refused_alike(
    text: str, kernels: Path
) -> None:
    module = modules(text)[0]
    for file in kernels.glob(f"{isa(text)}/6.12-*/modules/{module}.ko"):
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
    for file in kernels.glob(f"{isa(text)}/6.1-*/modules/{modules(text)[0]}.ko"):
        file.unlink()
    check = checks()[text]
    assert check.missing == () and check.note.startswith("6.12-first; ")


OTHERS = [text for text in PROGRAMS if isa(text) != "x86_64"]


@pytest.mark.parametrize("text", OTHERS)
def test_without_kdl_of_its_instruction_set_a_program_is_reported_and_refused_alike(
    text: str, kernels: Path
) -> None:
    (kernels.parent / "kdl" / isa(text) / "liborocos-kdl.a").unlink()
    checked = checks()
    (missing,) = checked[text].missing
    assert missing.problem.startswith(f"KDL for {isa(text)} guests is not in ")
    assert "kadenz setup --guests" in missing.remedy
    assert missing == refused(text)
    assert checked[SUITE].missing == ()


@pytest.mark.parametrize("text", OTHERS)
def test_without_rust_for_its_instruction_set_a_program_is_reported_and_refused_alike(
    text: str, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(kernels.parents[1]))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(tools, "require", lambda name: Path(name))
    monkeypatch.setattr(tools, "_ask", lambda *question: (0, "/nonexistent"))
    (missing,) = checks()[text].missing
    tier = inventory.board(parse_target(text).board).tier.guest
    assert tier is not None and tier.program is not None
    assert missing.problem == f"rustc has no standard library for {tier.program.target}"
    assert "kadenz setup --guests" in missing.remedy
    assert f"rustup target add {tier.program.target}" in missing.remedy
    assert missing == refused(text)


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_program_without_a_target_is_for_machines_of_its_instruction_set(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "ppc64le")
    tier = inventory.board(parse_target(text).board).tier.guest
    assert tier is not None and tier.program is not None
    native = msgspec.structs.replace(tier.program, target="")
    with pytest.raises(ToolMissing) as caught:
        require_program(parse_target(text), native, isa(text))
    assert f"built for this machine's ppc64le, and the guest is {isa(text)}" in caught.value.message
    assert f"on a machine of {isa(text)}" in (caught.value.remedy or "")
