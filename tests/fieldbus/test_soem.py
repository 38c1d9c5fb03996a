# SPDX-License-Identifier: Apache-2.0
"""SOEM (pysoem) brings the simulated segment up over a veth pair: CoE, clocks, process data."""

from __future__ import annotations

import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import RING, Starter, Veth, stop

pysoem = pytest.importorskip("pysoem", reason="pysoem is not installed: pip install -e .[dev]")
pytestmark = pytest.mark.machine

# SOEM sends most frames of its bring-up once, waits 2 ms and ignores that no answer came: a clock
# is then set up with the time 0. The segment may lose its processor for longer than that.
FRAME_US = 100_000
_patience = pysoem.settings.timeouts
_patience.ret = FRAME_US
_patience.safe = _patience.eeprom = _patience.tx_mailbox = 2 * FRAME_US
# What SOEM's mailboxes raise if even then no answer came.
LATE = (pysoem.WkcError, pysoem.SdoInfoError, pysoem.MailboxError, pysoem.PacketError)

CYCLE_NS = 1_000_000
# Six drives read and write (3 each), one output writes (2), one input reads (1).
WORKING_COUNTER = 6 * 3 + 2 + 1
DRIVES = range(1, 7)
OUTPUT, INPUT = 7, 8


def connect(veth: Veth) -> Any:
    """SOEM on the pair. It gives up after 200 ms without an answer: a busy machine gets three."""
    soem = pysoem.Master()
    soem.open(veth.master)
    devices = next((count for count in (soem.config_init() for _ in range(3)) if count > 0), 0)
    assert devices == 9
    return soem


@pytest.fixture
def master(start_segment: Starter, veth: Veth) -> Iterator[Any]:
    """SOEM with the ring found and in PRE-OP."""
    start_segment()
    soem = connect(veth)
    yield soem
    soem.close()


def cycle(soem: Any) -> int:
    soem.send_processdata()
    return int(soem.receive_processdata(100_000))


def register(device: Any, address: int) -> int:
    """A register of 32 bits."""
    raw = device._fprd(address, 4, timeout_us=FRAME_US)
    return int.from_bytes(raw, "little")


def to_op(soem: Any) -> None:
    soem.config_map()
    soem.config_dc()
    for device in soem.slaves[1:]:
        device.dc_sync(True, CYCLE_NS)
    # SOEM gives each of its frames 100 ms
    assert soem.state_check(pysoem.SAFEOP_STATE, 5_000_000) == pysoem.SAFEOP_STATE
    cycle(soem)
    soem.state = pysoem.OP_STATE
    soem.write_state()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        cycle(soem)
        if soem.state_check(pysoem.OP_STATE, 1000) == pysoem.OP_STATE:
            # SOEM lets SYNC0 begin 100 ms after it was set up; outputs count from then on.
            for _ in range(150):
                cycle(soem)
                time.sleep(0.001)
            return
    soem.read_state()
    states = [(s.name, hex(s.state), hex(s.al_status)) for s in soem.slaves]
    # the device's watchdog ends OP behind a pause
    raise AssertionError(f"not operational: {states}")


def test_soem_finds_every_device_by_its_eeprom(master: Any) -> None:
    assert [s.name for s in master.slaves[:2]] == ["kadenz coupler", "kadenz servo drive"]
    assert {s.man for s in master.slaves} == {0x0BAD}
    assert [s.id for s in master.slaves] == [1, 2, 2, 2, 2, 2, 2, 3, 4]


def test_soem_reaches_op_with_clocks_and_the_full_working_counter(master: Any) -> None:
    to_op(master)
    counters = []
    for _ in range(200):
        counters.append(cycle(master))
        time.sleep(0.001)
    # SOEM's own expectation leaves out outputs below eight bits: compare with the devices instead.
    master.read_state()
    assert set(counters) == {WORKING_COUNTER}
    assert all(s.state == pysoem.OP_STATE and s.al_status == 0 for s in master.slaves)


def delays(soem: Any) -> list[int]:
    soem.config_map()
    assert soem.config_dc()
    return [register(device, 0x0928) for device in soem.slaves]


def test_soem_measures_the_delays_of_the_line(
    start_segment: Starter, veth: Veth, tmp_path: Path
) -> None:
    exact = tmp_path / "exact.toml"
    clocks = "[ring]\nclock_step_ns = 1\nclock_noise_ns = 0"
    exact.write_text(RING.read_text(encoding="utf-8").replace("[ring]", clocks), encoding="utf-8")
    start_segment(ring=exact)
    soem = connect(veth)
    measured = delays(soem)
    soem.close()
    assert all(abs(delay - 600 * k) <= 8 for k, delay in enumerate(measured)), measured


def test_soem_measures_delays_with_the_error_of_real_time_stamps(master: Any) -> None:
    measured = delays(master)
    # Two stamps a hop with 12 ns each, halved: 8 ns a hop, added up along the line; five of them.
    assert all(abs(delay - 600 * k) <= 40 * k**0.5 + 10 for k, delay in enumerate(measured)), (
        measured
    )
    assert any(abs(delay - 600 * k) > 4 for k, delay in enumerate(measured)), measured


def test_soem_locks_the_clocks(master: Any) -> None:
    to_op(master)
    for _ in range(500):
        cycle(master)
        time.sleep(0.001)
    seen = []
    for device in master.slaves[1:]:
        apart_ns = register(device, 0x092C) & 0x7FFFFFFF
        assert apart_ns < 100, f"{device.name}: {apart_ns} ns"
        seen.append(apart_ns)
    assert any(seen), "real clocks do not agree to the nanosecond"


def read(device: Any, *where: int, **how: bool) -> bytes:
    return bytes(device.sdo_read(*where, **how))


def test_soem_reads_and_writes_objects(master: Any) -> None:
    drive = master.slaves[1]
    assert read(drive, 0x1000, 0) == struct.pack("<I", 0x00020192)
    assert read(drive, 0x1008, 0).rstrip(b"\0") == b"kadenz servo drive"
    drive.sdo_write(0x6066, 0, struct.pack("<H", 123))
    assert read(drive, 0x6066, 0) == struct.pack("<H", 123)
    # Complete access: sub-index 0 takes two bytes.
    assert read(drive, 0x1C12, 0, ca=True)[:4] == b"\x01\x00\x00\x16"


def test_soem_gets_the_abort_code_of_a_refused_object(master: Any) -> None:
    with pytest.raises(pysoem.SdoError) as refused:
        read(master.slaves[1], 0x5FFF, 0)
    assert refused.value.abort_code == 0x06020000


def test_soem_lists_the_objects_by_sdo_information(master: Any) -> None:
    objects = {entry.index: entry for entry in master.slaves[1].od}
    assert {0x1018, 0x6040, 0x6064, 0x607D} <= set(objects)
    name = objects[0x6040].name
    parts = [entry.name for entry in objects[0x1018].entries]
    assert (name, parts[1]) == (b"controlword", b"vendor")


def test_soem_moves_an_axis(master: Any) -> None:
    to_op(master)
    drive = master.slaves[1]

    def outputs(control: int, position: int) -> None:
        drive.output = struct.pack("<HiihhbB", control, position, 0, 0, 0, 8, 0)

    for control in (0x00, 0x06, 0x07, 0x0F):
        for _ in range(10):
            outputs(control, 0)
            cycle(master)
            time.sleep(0.001)
    # the watchdog of the drive, behind a pause
    assert struct.unpack_from("<H", drive.input)[0] & 0x6F == 0x27
    for position in range(0, 20_000, 50):
        outputs(0x0F, position)
        cycle(master)
        time.sleep(0.001)
    for _ in range(200):
        cycle(master)
        time.sleep(0.001)
    actual = struct.unpack_from("<i", drive.input, 2)[0]
    assert abs(actual - 19_950) < 200


def test_an_edge_travels_from_output_to_input_with_a_stamp(master: Any) -> None:
    to_op(master)
    for level in (1, 0, 1):
        master.slaves[OUTPUT].output = bytes([level])
        for _ in range(20):
            cycle(master)
            time.sleep(0.001)
    levels, count, rising, falling = struct.unpack("<BHQQ", master.slaves[INPUT].input)
    assert (levels & 1, count) == (1, 3)
    # The second rising edge came after the falling one, by the twenty cycles in between.
    assert rising - falling > 15_000_000


def test_a_recorded_session_replays_byte_for_byte(
    start_segment: Starter, segment_program: Path, veth: Veth, tmp_path: Path
) -> None:
    recording = tmp_path / "session.pcapng"
    fault = [
        "--fault",
        "double-frame@cycle=20",
        "--fault",
        "drive-fault@cycle=30,device=j0,code=0x3210",
    ]
    log = tmp_path / "log"
    with log.open("w", encoding="utf-8") as errors:
        process = start_segment("--record", str(recording), *fault, log=errors)
    soem = connect(veth)
    to_op(soem)
    for _ in range(100):
        cycle(soem)
        time.sleep(0.001)
    soem.close()
    said = stop(process)
    assert "lost by faults" in said
    replay = [str(segment_program), "replay", str(recording), "--ring", str(RING)]
    same = subprocess.run([*replay, *fault], capture_output=True, text=True, check=False)
    assert same.returncode == 0, same.stderr
    # Silence behind the last frame is in no recording.
    replayed = same.stderr.splitlines()
    assert replayed == log.read_text("utf-8").splitlines()[: len(replayed)] != []
    assert "all as recorded" in same.stdout
    # Without the faults it must differ, or the comparison compares nothing.
    other = subprocess.run(replay, capture_output=True, text=True, check=False)
    assert other.returncode == 1
    assert "replay differs from the recording: frame" in other.stderr


def test_a_lost_frame_costs_soem_one_cycle(start_segment: Starter, veth: Veth) -> None:
    process = start_segment("--fault", "lose-frame@cycle=250")
    soem = connect(veth)
    to_op(soem)
    counters = []
    for _ in range(200):
        counters.append(cycle(soem))
        time.sleep(0.001)
    soem.close()
    # Reaching OP takes about 155 cycles, so that cycle 250 is one of these 200. On a busy machine
    # SOEM may give up on more frames by itself; the segment says how many it took.
    assert set(counters) == {WORKING_COUNTER, -1}
    assert " 1 lost by faults" in stop(process)
