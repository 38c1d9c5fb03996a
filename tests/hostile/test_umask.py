# SPDX-License-Identifier: Apache-2.0
"""Under any umask: nobody else changes what kadenz wrote, and what the umask hides is hidden."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("kadenz")
CAPTURE = "$timescale 10 ns $end $var wire 1 ! D0 $end $enddefinitions $end\n#0 0!\n" + "".join(
    f"#{n * 1000} 1!\n#{n * 1000 + 100 + n % 7} 0!\n" for n in range(1, 400)
)
CALLS = (
    "init lab",
    "import capture.vcd --begin D0:rise --end D0:fall --bench itc/queue "
    "--target freertos/stm32f4@board -o lab/imported",
    "report lab/imported -o lab/page.html",
    "export lab/imported -o lab/values.csv",
    "archive add lab/imported --archive lab/archive",
    "site lab/archive -o lab/site",
    "farm keys lab/keys worker",
    "footprint posix/linux@host",
)


def modes(folder: Path) -> dict[Path, int]:
    paths = [folder, *folder.rglob("*")]
    return {path: stat.S_IMODE(path.lstat().st_mode) for path in paths if not path.is_symlink()}


@pytest.mark.counted  # it compiles an image
@pytest.mark.parametrize(("umask", "hidden"), [(0o000, 0o002), (0o022, 0o022), (0o077, 0o077)])
def test_what_kadenz_writes_follows_the_umask_and_is_nobody_elses(
    umask: int, hidden: int, tmp_path: Path
) -> None:
    (tmp_path / "capture.vcd").write_text(CAPTURE)
    for call in CALLS:
        folder = tmp_path / "lab" if call.startswith("footprint") else tmp_path
        command = [str(PROGRAM), *call.split()]
        done = subprocess.run(
            command, cwd=folder, umask=umask, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{call}\n{done.stdout}\n{done.stderr}"
    permissions = modes(tmp_path / "lab")
    assert len(permissions) > 100
    open_ones = {path: oct(mode) for path, mode in permissions.items() if mode & hidden}
    assert {path: mode for path, mode in open_ones.items() if "CMakeFiles" not in path.parts} == {}
    keys = {path: mode for path, mode in permissions.items() if "keys" in path.parts}
    assert {mode & 0o077 for path, mode in keys.items() if path.suffix == ".key"} == {0}
