# SPDX-License-Identifier: Apache-2.0
"""A wheel of this checkout, installed where nothing of the checkout is."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from kadenz import tools
from kadenz.user_cache import user_cache

ROOT = Path(__file__).resolve().parents[2]
# Packages of the tests' environment that belong to kadenz or to the installer.
_LEFT_OUT = ("kadenz", "__editable__", "pip", "setuptools", "_distutils")


@dataclass(frozen=True)
class Installed:
    """A wheel in an environment of its own."""

    wheel: Path
    archive: Path  # the source archive that the wheel was built from
    venv: Path
    packages: Path  # the wheel's dependencies, without kadenz
    cache: Path  # $XDG_CACHE_HOME, with the private tools of this machine

    @property
    def package(self) -> Path:
        """The installed package."""
        (folder,) = self.venv.glob("lib/python*/site-packages/kadenz")
        return folder

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing in it leads to the checkout."""
        kept = {name: os.environ[name] for name in ("HOME", "CARGO_HOME") if name in os.environ}
        path = f"{self.venv / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin"
        for name in ("cargo", "ninja"):  # of a user's own installation
            program = tools.look_up(tools.Need(name, "", "")).path
            path += f":{program.parent}" if program else ""
        return {**kept, "PATH": path, "XDG_CACHE_HOME": str(self.cache), "LANG": "C.UTF-8"} | more

    def run(
        self, *command: str, cwd: Path, code: int = 0, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """A command with the expected exit code."""
        answer = subprocess.run(
            command,
            cwd=cwd,
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert answer.returncode == code, f"{command}\n{answer.stdout}\n{answer.stderr}"
        return answer


def install(folder: Path) -> Installed:
    """Builds the wheel and installs it below `folder`, with packages that are here already."""
    subprocess.run(
        [str(ROOT / "scripts" / "wheel.sh"), str(folder / "dist")],
        env={**os.environ, "PYTHON": sys.executable},
        check=True,
        capture_output=True,
        text=True,
    )
    (wheel,) = (folder / "dist").glob("*.whl")
    (archive,) = (folder / "dist").glob("*.tar.gz")
    packages, venv, cache = folder / "packages", folder / "venv", folder / "cache"
    packages.mkdir()
    for entry in Path(next(path for path in sys.path if path.endswith("site-packages"))).iterdir():
        if not entry.name.startswith(_LEFT_OUT) and entry.suffix != ".pth":
            (packages / entry.name).symlink_to(entry)
    (cache / "kadenz").mkdir(parents=True)
    for entry in user_cache().iterdir():
        if entry.name != "build":  # builds of an installed kadenz
            (cache / "kadenz" / entry.name).symlink_to(entry)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python"), "install"]
    subprocess.run([*pip, "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    installed = Installed(wheel, archive, venv, packages, cache)
    (installed.package.parent / "packages.pth").write_text(f"{packages}\n")
    return installed
