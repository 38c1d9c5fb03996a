# SPDX-License-Identifier: Apache-2.0
"""The set-up installs missing packages, nothing twice, and reports failures."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
LIST = SCRIPTS / "debian-packages.txt"


def bash(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run lines of a script after scripts/lib.sh."""
    return subprocess.run(
        ["bash", "-c", f". {SCRIPTS}/lib.sh\n{script}"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent", **environment},
    )


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """Substitutes for Debian's programs; the file `installed` lists the installed packages."""
    programs = {
        "dpkg-query": 'grep -qx "$3" "$STATE/installed" && echo -n installed',
        "apt-cache": 'grep -qx "$2" "$STATE/known" && echo "  Candidate: 1.0" '
        '|| echo "  Candidate: (none)"',
        "apt-get": 'echo "$*" >> "$STATE/calls"; [ "$1" = update ] || [ ! -e "$STATE/broken" ]',
        "id": "echo 0",
        "dpkg": 'cat "$STATE/architecture"',
    }
    for name, script in programs.items():
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
    for name in ("installed", "known", "calls"):
        (tmp_path / name).touch()
    (tmp_path / "architecture").write_text("amd64\n")
    return tmp_path


def install(system: Path, packages: str, *options: str) -> subprocess.CompletedProcess[str]:
    (system / "list").write_text(packages)
    return subprocess.run(
        ["bash", str(SCRIPTS / "setup-debian.sh"), *options, str(system / "list")],
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": f"{system}:/usr/bin:/bin",
            "HOME": str(system),
            "STATE": str(system),
        },
    )


def calls(system: Path) -> list[str]:
    return (system / "calls").read_text().splitlines()


def test_nothing_is_done_if_everything_is_installed(system: Path) -> None:
    (system / "installed").write_text("gcc\nnew-name\n")
    answer = install(system, "gcc # why\nold-name | new-name # renamed\n\n# a comment\n")
    assert answer.returncode == 0, answer.stderr
    assert calls(system) == []
    assert answer.stderr == ""


def test_only_missing_packages_are_installed(system: Path) -> None:
    (system / "installed").write_text("gcc\n")
    (system / "known").write_text("gcc\ncmake\nninja-build\n")
    answer = install(system, "gcc # a\ncmake # b\nninja-build # c\n")
    assert answer.returncode == 0, answer.stderr
    update, install_call = calls(system)
    assert update.startswith("update")
    assert install_call.endswith("--no-install-recommends cmake ninja-build")


def test_a_plan_names_the_packages_and_installs_nothing(system: Path) -> None:
    (system / "installed").write_text("gcc\n")
    answer = install(system, "gcc # a\nold-name | new-name # b\ncmake # c\n", "--plan")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "install with apt-get, as root: old-name or new-name, cmake\n"
    assert calls(system) == []


def test_the_first_known_name_is_installed(system: Path) -> None:
    (system / "known").write_text("new-name\n")
    assert install(system, "old-name | new-name # renamed\n").returncode == 0
    assert calls(system)[-1].endswith(" new-name")


@pytest.mark.parametrize(
    ("architecture", "installed"), [("amd64", "libc6-dev-arm64-cross"), ("arm64", None)]
)
def test_an_alternative_counts_on_its_own_architecture_only(
    system: Path, architecture: str, installed: str | None
) -> None:
    (system / "architecture").write_text(f"{architecture}\n")
    (system / "installed").write_text("libc6-dev\n")
    (system / "known").write_text("libc6-dev\nlibc6-dev-arm64-cross\n")
    line = "libc6-dev-arm64-cross [!arm64] | libc6-dev [arm64] # C library for arm64\n"
    answer = install(system, line)
    assert answer.returncode == 0, answer.stderr
    assert [call.split()[-1] for call in calls(system)[1:]] == ([installed] if installed else [])


def test_an_unknown_package_is_named_with_a_remedy(system: Path) -> None:
    answer = install(system, "old-name | older-name # gone\n")
    assert answer.returncode == 1
    assert "no package of this system is called old-name|older-name" in answer.stderr
    assert "scripts/debian-packages.txt" in answer.stderr


def test_a_failed_installation_stops_the_setup(system: Path) -> None:
    (system / "known").write_text("gcc\n")
    (system / "broken").touch()
    answer = install(system, "gcc # a\n")
    assert answer.returncode == 1
    assert "apt-get could not install: gcc" in answer.stderr


def test_without_root_and_sudo_the_command_is_shown(tmp_path: Path) -> None:
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    (tmp_path / "sh").symlink_to("/bin/sh")
    for name in ("dirname", "bash"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    answer = bash(f"PATH={tmp_path}; as_root apt-get install gcc")
    assert answer.returncode == 1
    assert "needs root, and there is no sudo" in answer.stderr
    assert "Run this as root: apt-get install gcc" in answer.stderr


@pytest.mark.parametrize(
    ("have", "need", "enough"),
    [
        ("10.0.2", "10", True),
        ("7.2.18", "10", False),
        ("9.2", "10", False),
        ("10", "10", True),
        ("1.96.0", "1.85", True),
        ("1.8", "1.85", False),
        ("3.11", "3.9", True),
    ],
)
def test_versions_are_compared_as_versions(have: str, need: str, enough: bool) -> None:
    assert (bash(f"at_least {have} {need}").returncode == 0) is enough


def test_scripts_and_lab_use_the_same_cache(tmp_path: Path) -> None:
    from kadenz.user_cache import user_cache

    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    assert bash('echo "$CACHE"', **environment).stdout.strip() == str(user_cache(environment))
    home = {"HOME": str(tmp_path)}
    assert bash('echo "$CACHE"', **home).stdout.strip() == str(user_cache(home))


def test_programs_of_guests_need_kdl_of_each_other_instruction_set(tmp_path: Path) -> None:
    answer = subprocess.run(
        ["bash", str(SCRIPTS / "setup-guest-programs.sh"), "--plan"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert answer.returncode == 0, answer.stderr
    planned = re.findall(r"^compile KDL for (\w+) into ", answer.stdout, re.MULTILINE)
    assert planned == sorted({"aarch64", "riscv64", "x86_64"} - {platform.machine()})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("packages", sorted(SCRIPTS.glob("debian-packages*.txt")))
def test_every_package_has_a_reason(packages: Path) -> None:
    name = r"[a-z0-9.+-]+( \[!?[a-z0-9]+\])?"
    for line in packages.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            assert re.fullmatch(rf"{name}(\s*\|\s*{name})*\s+# \S.*", line), line


def test_help_lists_every_command() -> None:
    answer = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for target in ("setup", "demo", "test", "lint", "format", "clean"):
        assert re.search(rf"^  make {target}\s+\S", answer.stdout, re.MULTILINE)


def test_the_containerfile_calls_a_target_of_make() -> None:
    text = (ROOT / "Containerfile").read_text()
    wanted = re.findall(r"SETUP=([a-z-]+)", text)
    assert "setup-demo" in wanted
    makefile = (ROOT / "Makefile").read_text()
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in wanted)
    assert 'make -C /opt/kadenz "$SETUP"' in text


def test_the_scripts_pass_shellcheck() -> None:
    files = [*sorted(SCRIPTS.glob("*.sh")), ROOT / ".ci" / "run"]
    subprocess.run(["shellcheck", *map(str, files)], cwd=ROOT, check=True)


# ---- uPlot -------------------------------------------------------------------------------------


def set_up_uplot(tmp_path: Path, registry: str) -> subprocess.CompletedProcess[str]:
    """Run setup-uplot.sh against a registry that is a folder."""
    return subprocess.run(
        ["bash", str(SCRIPTS / "setup-uplot.sh")],
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(tmp_path),
            "NPM_CONFIG_REGISTRY": registry,
            "KADENZ_STATIC": str(tmp_path / "static"),
        },
    )


def test_a_package_with_other_contents_is_an_error_and_not_kept(
    tmp_path: Path,
) -> None:
    version = re.search(r"^VERSION=(.*)$", (SCRIPTS / "setup-uplot.sh").read_text(), re.MULTILINE)
    assert version is not None
    package = tmp_path / "registry" / "uplot" / "-" / f"uplot-{version[1]}.tgz"
    package.parent.mkdir(parents=True)
    package.write_bytes(b"something else")
    answer = set_up_uplot(tmp_path, (tmp_path / "registry").as_uri())
    assert answer.returncode == 1
    assert "its SHA-512 differs" in answer.stderr
    assert not (tmp_path / "static").exists()
    assert not list((tmp_path / ".cache").rglob("*.js"))


def test_without_the_registry_the_set_up_continues_with_a_note(tmp_path: Path) -> None:
    answer = set_up_uplot(tmp_path, (tmp_path / "nowhere").as_uri())
    assert answer.returncode == 0
    assert "pictures in reports will not zoom" in answer.stderr
    assert not (tmp_path / "static").exists()
