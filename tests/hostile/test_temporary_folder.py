# SPDX-License-Identifier: Apache-2.0
"""Any name of the folder for temporary files: with commas, which part QEMU's options, and long."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kadenz.targets.qemu import _with_whole_paths
from kadenz.targets.qemu_monitor import connected

NAMES = ["a,b", "a=b", "a b", "x" * 110, f"a,b={'x' * 110}"]


def answer(listening: socket.socket) -> None:
    with listening.accept()[0] as connection:
        connection.sendall(b"QEMU\r\n(qemu) ")
        connection.sendall(connection.recv(100) + b"R15=0\r\n(qemu) ")


@pytest.mark.parametrize("name", NAMES)
def test_the_monitor_answers_in_a_folder_of_any_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(folder, os.O_PATH)
        listening.bind(f"/proc/self/fd/{here}/monitor")
        os.close(here)
        listening.listen()
        thread = threading.Thread(target=answer, args=(listening,))
        thread.start()
        with connected(folder / "monitor", 600) as monitor:
            assert monitor.ask("info registers") == "R15=0\n"
        thread.join()


def test_a_board_may_name_files_below_a_folder_with_a_comma(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a,b"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "rom").touch()
    monkeypatch.chdir(folder)
    options, files = _with_whole_paths(["-device", "loader,file=parts/rom,addr=0", "parts/rom"])
    rom = folder / "parts" / "rom"
    doubled = str(rom).replace(",", ",,")
    assert options == ["-device", f"loader,file={doubled},addr=0", str(rom)]
    assert files == [rom, rom]


@pytest.mark.counted
def test_an_image_runs_in_a_folder_of_any_name(tmp_path: Path) -> None:
    for number, name in enumerate(NAMES):
        folder = tmp_path / name
        folder.mkdir()
        arguments = ["run", "itc/queue", "--target", "freertos/stm32f4@emulated"]
        arguments += [
            "--set",
            f"samples={number + 20}",
            "--output",
            str(tmp_path / f"run-{number}"),
        ]
        done = subprocess.run(
            [Path(sys.executable).with_name("kadenz"), *arguments],
            env={**os.environ, "TMPDIR": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not list(folder.iterdir())
