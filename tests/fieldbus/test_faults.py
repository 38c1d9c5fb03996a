# SPDX-License-Identifier: Apache-2.0
"""Faults by event and over the control socket, with SOEM (pysoem) as the master that meets them."""

from __future__ import annotations

import contextlib
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.waiting import wait_for

from .conftest import RING, Starter, Veth, stop
from .test_soem import WORKING_COUNTER, connect, cycle, pysoem, read, to_op

pytestmark = pytest.mark.machine


def control(program: Path, path: Path, *message: str) -> subprocess.CompletedProcess[str]:
    command = [str(program), "control", str(path), *message]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


def of_faults(log: Path) -> list[str]:
    return [line for line in log.read_text("utf-8").splitlines() if ": fault " in line]


def test_a_fault_is_injected_into_a_segment_that_serves_soem(
    start_segment: Starter, segment_program: Path, veth: Veth, tmp_path: Path
) -> None:
    path, log = tmp_path / "control", tmp_path / "log"
    with log.open("w", encoding="utf-8") as errors:
        start_segment("--control", str(path), log=errors)
    assert path.stat().st_mode & 0o777 == 0o600
    soem = connect(veth)
    drive = soem.slaves[1]
    fault = "abort-request@sdo=0x6066,nth=2,device=j0,abort=0x08000022"
    assert control(segment_program, path, "inject", fault).stdout == "fault 1\n"
    drive.sdo_write(0x6066, 0, struct.pack("<H", 7))
    assert "waits" in control(segment_program, path, "list").stdout
    with pytest.raises(pysoem.SdoError) as refused:
        drive.sdo_write(0x6066, 0, struct.pack("<H", 8))
    assert refused.value.abort_code == 0x08000022
    assert read(drive, 0x6066, 0) == struct.pack("<H", 7)
    listed = control(segment_program, path, "list").stdout
    assert listed.split() == ["1", "over", "begun", "1", fault]
    wrong = control(segment_program, path, "inject", "lose-answer@request=1,device=j9")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert 'no device "j9"' in wrong.stderr
    wait_for(lambda: "repeats the SDO" in log.read_text("utf-8") or len(of_faults(log)) > 2)
    said = "\n".join(of_faults(log))
    assert "fault 1, abort-request at j0: meets the SDO write of 0x6066:00" in said
    assert "the master sends the SDO read of 0x6066:00 to j0" in said
    soem.close()


def test_the_log_names_what_soem_does_after_a_lost_answer(
    start_segment: Starter, veth: Veth, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with log.open("w", encoding="utf-8") as errors:
        start_segment("--fault", "lose-answer@sdo=0x1008,device=j0", log=errors)
    soem = connect(veth)
    drive = soem.slaves[1]
    try:
        read(drive, 0x1008, 0)
    except (pysoem.WkcError, pysoem.MailboxError, pysoem.PacketError, pysoem.SdoError):
        pass
    else:
        pytest.fail("SOEM got an answer that was lost")
    assert read(drive, 0x1008, 0).rstrip(b"\0") == b"kadenz servo drive"
    wait_for(lambda: "repeats the SDO read of 0x1008:00 to j0" in log.read_text("utf-8"))
    soem.close()


def test_a_device_that_falls_when_it_enters_op_is_led_back_by_soem_and_the_log_replays(
    start_segment: Starter, segment_program: Path, veth: Veth, tmp_path: Path
) -> None:
    log, capture = tmp_path / "log", tmp_path / "frames.pcapng"
    fault = ["--fault", "al-error@enters=8,device=j2,state=4,code=0x1b"]
    with log.open("w", encoding="utf-8") as errors:
        process = start_segment("--record", str(capture), *fault, log=errors)
    soem = connect(veth)
    soem.config_map()
    assert soem.state_check(pysoem.SAFEOP_STATE, 5_000_000) == pysoem.SAFEOP_STATE
    cycle(soem)
    soem.state = pysoem.OP_STATE
    soem.write_state()
    fallen, begun = soem.slaves[3], time.monotonic()

    def is_in(state: int) -> bool:
        """Outputs have to come while SOEM looks, or the watchdog ends OP."""
        cycle(soem)
        soem.read_state()
        return int(fallen.state) == state

    wait_for(lambda: is_in(pysoem.SAFEOP_STATE + pysoem.STATE_ERROR))
    assert fallen.al_status == 0x1B
    fallen.state = pysoem.SAFEOP_STATE + pysoem.STATE_ACK
    fallen.write_state()
    wait_for(lambda: is_in(pysoem.SAFEOP_STATE))
    fallen.state = pysoem.OP_STATE
    fallen.write_state()
    wait_for(lambda: is_in(pysoem.OP_STATE))
    # The master is watched for a second.
    wait_for(lambda: (cycle(soem), time.monotonic() > begun + 2)[1])
    soem.close()
    assert "lost by faults" in stop(process)
    said = of_faults(log)
    label = ": fault 1, al-error at j2: "
    assert said[0].endswith(f"{label}begins")
    assert any("acknowledges the error and requests SAFE-OP of j2" in line for line in said), said
    assert any("the master requests OP of j2" in line for line in said), said
    replay = [str(segment_program), "replay", str(capture), "--ring", str(RING), *fault]
    same = subprocess.run(replay, capture_output=True, text=True, check=False)
    assert same.returncode == 0, same.stderr
    assert same.stderr.splitlines() == said, "byte by byte, times included"


def test_clients_that_are_silent_or_flood_the_socket_cost_soem_no_cycle(
    start_segment: Starter, veth: Veth, tmp_path: Path
) -> None:
    path, over = tmp_path / "control", threading.Event()
    process = start_segment("--control", str(path))
    soem = connect(veth)
    to_op(soem)
    messages = (b"list\n", b"inject lose-answer@request=9,device=j0\n", b"\xff" * 5000, b"")
    sent = 0

    def flood() -> None:
        nonlocal sent
        while not over.is_set():
            client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            client.settimeout(5)
            # The segment ends a connection whose message is too long before all of it came.
            with client, contextlib.suppress(OSError):
                client.connect(str(path))
                client.sendall(messages[sent % len(messages)])
                sent += 1

    clients = [threading.Thread(target=flood) for _ in range(3)]
    for client in clients:
        client.start()
    counters = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.connect(str(path))
        for _ in range(500):
            counters.append(cycle(soem))
            time.sleep(0.001)
    over.set()
    for client in clients:
        client.join()
    soem.close()
    assert set(counters) == {WORKING_COUNTER}, counters
    assert sent > len(messages)
    assert " 0 lost by faults" in stop(process)
