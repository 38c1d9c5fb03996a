# SPDX-License-Identifier: Apache-2.0
"""A hot-connect group leaves and joins over the control socket while SOEM (pysoem) is in OP."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import wait_for

from .conftest import Starter, Veth, stop
from .test_faults import control
from .test_soem import FRAME_US, cycle, pysoem

pytestmark = pytest.mark.machine

RING = """\
[[device]]
name = "hub"
kind = "coupler"
[[device]]
name = "axis"
kind = "drive"
[[device]]
name = "tool"
kind = "drive"
attached_to = "hub"
port = 2
hot_connect = "present"
device_id = 41
alias = 7
"""
AXIS, TOOL = 1, 2
# Two drives, 3 each.
WHOLE, WITHOUT_TOOL = 6, 3


def explicit_id(device: pysoem.CdefSlave) -> tuple[int, int]:
    """Asks for the ID at AL control: AL status and the ID at 0x0134."""
    state = device._fprd(0x0130, 1, timeout_us=FRAME_US)[0] & 0x0F
    device._fpwr(0x0120, bytes([state | 0x20, 0]), timeout_us=FRAME_US)
    answer = device._fprd(0x0130, 6, timeout_us=FRAME_US)
    device._fpwr(0x0120, bytes([state, 0]), timeout_us=FRAME_US)
    return answer[0] & 0x20, int.from_bytes(answer[4:6], "little")


@contextlib.contextmanager
def process_data(soem: pysoem.Master) -> Iterator[list[int]]:
    """Exchanges process data every 2 ms in a thread; gives the working counters so far."""
    counters, over = [cycle(soem)], threading.Event()

    def cyclic() -> None:
        while not over.is_set():
            counters.append(cycle(soem))
            time.sleep(0.002)

    thread = threading.Thread(target=cyclic)
    thread.start()
    try:
        yield counters
    finally:
        over.set()
        thread.join()
        soem.close()


def lead_back(device: pysoem.CdefSlave) -> None:
    """Brings a device that has come back to OP, as SOEM's examples do."""
    wait_for(lambda: device.recover(500) == 1)
    wait_for(lambda: device.reconfig(500) == pysoem.SAFEOP_STATE)
    device.state = pysoem.OP_STATE
    device.write_state()
    wait_for(lambda: device.state_check(pysoem.OP_STATE, 50_000) == pysoem.OP_STATE)


@pytest.mark.parametrize("faults", [[], ["leave@healthy=200,device=tool,lasting_ms=200"]])
def test_soem_leads_a_group_that_joins_back_to_op_and_the_other_axis_stays_there(
    faults: list[str],
    start_segment: Starter,
    segment_program: Path,
    veth: Veth,
    tmp_path: Path,
) -> None:
    path, log, ring = tmp_path / "control", tmp_path / "log", tmp_path / "ring.toml"
    capture = tmp_path / "frames.pcapng"
    ring.write_text(RING, encoding="utf-8")
    with log.open("w", encoding="utf-8") as errors:
        arguments = ["--control", str(path), "--record", str(capture)]
        of_faults = [text for fault in faults for text in ("--fault", fault)]
        process = start_segment(*arguments, *of_faults, ring=ring, log=errors)
    soem = pysoem.Master()
    soem.open(veth.master)
    assert soem.config_init() == 3
    soem.config_map()
    tool = soem.slaves[TOOL]
    assert int.from_bytes(tool._fprd(0x0012, 2, timeout_us=FRAME_US), "little") == 7
    assert soem.state_check(pysoem.SAFEOP_STATE, 5_000_000) == pysoem.SAFEOP_STATE
    assert explicit_id(tool) == (0x20, 41)
    with process_data(soem) as counters:
        soem.state = pysoem.OP_STATE
        soem.write_state()
        wait_for(lambda: soem.state_check(pysoem.OP_STATE, 50_000) == pysoem.OP_STATE)
        for kind in ("leave", "join") if not faults else ():
            done = control(segment_program, path, "inject", f"{kind}@frame=1,device=tool")
            assert done.returncode == 0, done.stderr
            wait_for(lambda: WITHOUT_TOOL in counters)
        wait_for(lambda: WITHOUT_TOOL in counters)
        wait_for(lambda: "joins at port 2 of hub" in log.read_text("utf-8"))
        lead_back(tool)
        wait_for(lambda: counters[-1] == WHOLE)
        assert explicit_id(tool) == (0x20, 41)
        soem.read_state()
        assert [int(device.state) for device in soem.slaves] == [pysoem.OP_STATE] * 3
        assert int(soem.slaves[AXIS].al_status) == 0
    stop(process)
    lines = log.read_text("utf-8").splitlines()
    said = [line.split(" s: ")[1] for line in lines if ": group " in line]
    assert said == [
        "group tool (1 device) leaves port 2 of hub",
        "group tool (1 device) joins at port 2 of hub",
    ]
    # Injected faults are not in a recording.
    replay = [str(segment_program), "replay", str(capture), "--ring", str(ring), *of_faults]
    same = subprocess.run(replay, capture_output=True, text=True, check=False)
    assert (same.returncode == 0) == bool(faults), same.stderr
