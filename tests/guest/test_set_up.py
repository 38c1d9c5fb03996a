# SPDX-License-Identifier: Apache-2.0
"""`make guest-kernels` does nothing if all kernels are cached, and reports errors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "guest-kernels.sh"


def start(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the script with its own cache and no network: programs that fetch fail."""
    for name in ("apt-get", "apt-cache"):
        program = cache / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\necho no network >&2\nexit 1\n")
        program.chmod(0o755)
    return subprocess.run(
        ["bash", str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{cache / 'bin'}:/usr/bin:/bin", "HOME": "/nonexistent"}
        | {"XDG_CACHE_HOME": str(cache), "KADENZ_DEBIAN_MIRROR": "http://mirror.invalid"},
    )


def hash_of(*files: str) -> str:
    """As scripts/lib.sh: inputs_hash."""
    script = f". {ROOT}/scripts/lib.sh; cd {ROOT}; inputs_hash {' '.join(files)}"
    answer = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def modules() -> list[str]:
    lines = (ROOT / "kernels/linux/guest/modules").read_text().splitlines()
    return [line.split()[0] for line in lines if not line.startswith("#")]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A cache with every kernel."""
    folder = "kernels/linux/disturbance"
    module = hash_of(f"{folder}/disturbance.c", f"{folder}/Kbuild")
    config = hash_of("boards/riscv64/linux.config")
    for isa, versions in (("x86_64", 2), ("aarch64", 2), ("riscv64", 1)):
        for version in ("6.12", "6.1")[:versions]:
            for flavour in ("rt", "plain"):
                kernel = tmp_path / "kadenz" / "guests" / isa / f"{version}-{flavour}"
                kernel.mkdir(parents=True)
                (kernel / "kernel").touch()
                (kernel / "modules").mkdir()
                for name in modules():
                    (kernel / "modules" / f"{name}.ko").touch()
                origin = f"{module} {config}\n" if isa == "riscv64" else f"{module}\n"
                (kernel / "made-from").write_text(origin)
    return tmp_path


def test_nothing_is_fetched_if_all_kernels_are_cached(whole: Path) -> None:
    answer = start(whole)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_a_changed_disturbance_a_lost_kernel_or_a_lost_module_is_fetched_again(whole: Path) -> None:
    guests = whole / "kadenz" / "guests"
    (guests / "aarch64" / "6.1-rt" / "kernel").unlink()
    answer = start(whole)
    assert answer.returncode == 1 and "no network" in answer.stderr
    assert start(whole, "x86_64").returncode == 0
    (guests / "x86_64" / "6.12-plain" / "made-from").write_text("of an older source\n")
    assert start(whole, "x86_64").returncode == 1
    assert start(whole, "x86_64/6.12-plain").returncode == 1
    assert start(whole, "x86_64/6.12-rt").returncode == 0
    (guests / "x86_64" / "6.12-rt" / "modules" / "veth.ko").unlink()
    assert start(whole, "x86_64/6.12-rt").returncode == 1


def test_an_unknown_isa_is_refused(tmp_path: Path) -> None:
    answer = start(tmp_path, "sparc")
    assert answer.returncode == 1
    assert "no guest is called sparc" in answer.stderr and "riscv64" in answer.stderr


def test_an_unknown_kernel_is_refused(whole: Path) -> None:
    for name in ("x86_64/5.10-rt", "riscv64/6.1-rt", "x86_64/"):
        answer = start(whole, name)
        assert answer.returncode == 1
        assert f"no kernel is called {name}" in answer.stderr
