# SPDX-License-Identifier: Apache-2.0
"""QEMU's monitor, by which the registers of a hanging target are read."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from kadenz import tools
from kadenz.targets import qemu_monitor
from tests.waiting import PATIENCE_S, wait_for


@pytest.mark.counted
def test_it_answers_each_command_and_ends_qemu(tmp_path: Path) -> None:
    file = tmp_path / "monitor"
    qemu = [str(tools.require("qemu-system-arm")), "-machine", "olimex-stm32-h405"]
    qemu += ["-nographic", "-monitor", "none", "-serial", "null", "-S"]
    with subprocess.Popen([*qemu, *qemu_monitor.options(file)]) as process:
        wait_for(file.exists)
        with qemu_monitor.connected(file, PATIENCE_S) as monitor:
            assert monitor.ask("info status") == "VM status: paused (prelaunch)\n"
            assert "R15=" in monitor.ask("info registers")
            assert monitor.ask("stop") == ""
            with pytest.raises(OSError):
                monitor.ask("quit")
        assert process.wait(PATIENCE_S) == 0


def test_a_monitor_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError), qemu_monitor.connected(tmp_path / "monitor", 0.1):
        pass
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "monitor"))
        silent.listen()
        with pytest.raises(TimeoutError), qemu_monitor.connected(tmp_path / "monitor", 0.1):
            pass
