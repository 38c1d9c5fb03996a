# SPDX-License-Identifier: Apache-2.0
"""Cost of the simulated EtherCAT segment: a frame in process, in time and in instructions, compared
with the network stack's own pass of such a frame, and 10 kHz over a veth pair.

Run as root: `python benchmarks/segment.py [--seconds 10]`.
In the second part SOEM (pysoem) brings the ring to OP with clocks and cycles every 100 us; a cycle
with an incomplete working counter counts as lost.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TITLE = "EtherCAT segment"

FIELDBUS = Path(__file__).resolve().parents[1] / "fieldbus"
PACKAGE = FIELDBUS / "kadenz-segment"  # cargo runs its bench there, and the bench looks for files
RING = PACKAGE / "rings" / "eight.toml"
BENCH = ("-j2", "-p", "kadenz-segment", "--bench", "segment")
PERIOD_NS = 100_000
# Six drives read and write (3 each), one output writes (2), one input reads (1).
WORKING_COUNTER = 6 * 3 + 2 + 1


def run(*command: str) -> tuple[str, str]:
    """Standard output and standard error of a command. On failure, exits with both."""
    done = subprocess.run(command, cwd=PACKAGE, check=False, capture_output=True, text=True)
    if done.returncode:
        text = f"{done.stdout}{done.stderr}".rstrip()
        raise SystemExit(f"exit status {done.returncode}: {' '.join(command)}\n{text}")
    return done.stdout, done.stderr


def cargo(*arguments: str) -> str:
    """Standard output of cargo, called in the package. On failure, exits with its messages."""
    return run("cargo", *arguments)[0]


def bench_program() -> str:
    """Path of the compiled bench.

    cargo also builds the crate's command and lists both in order of completion, so the bench is
    selected by its kind.
    """
    built = cargo("bench", "--no-run", "--quiet", "--message-format=json", *BENCH)
    for message in map(json.loads, built.splitlines()):
        if message.get("executable") and message["target"]["kind"] == ["bench"]:
            return str(message["executable"])
    raise SystemExit("cargo built no bench named segment")


def soem_in_op(interface: str, period_ns: int, clocked: range) -> Any:
    """SOEM with the nine devices of the ring in OP; those at positions `clocked` have a SYNC0.

    Exits with the reason if that cannot be reached.
    """
    import pysoem

    # SOEM sends most frames of its bring-up once, waits 2 ms and ignores that no answer came. The
    # segment may lose its processor for longer. The deadline of process data is the caller's.
    patience = pysoem.settings.timeouts
    patience.ret = 100_000
    patience.safe = patience.eeprom = patience.tx_mailbox = 200_000
    soem = pysoem.Master()
    soem.open(interface)
    counts: list[int] = []
    while not counts or counts[-1] != 9:
        if len(counts) == 3:
            raise SystemExit(f"SOEM finds {counts} devices in three attempts; the ring has nine")
        counts.append(soem.config_init())
    try:
        soem.config_map()
    except pysoem.ConfigMapError as error:
        raise SystemExit(f"SOEM cannot map the process data of the ring: {error}") from None
    soem.config_dc()
    for position in clocked:
        soem.slaves[position].dc_sync(True, period_ns)
    soem_to_op(soem)
    return soem


def soem_to_op(soem: Any) -> None:
    """Leads configured devices of SOEM to OP with a cycle each ms.

    A pause of this machine longer than a device's watchdog sends the device back to SAFE-OP with an
    error: the error is acknowledged and OP is requested again. Exits after 20 s without OP.
    """
    import pysoem

    soem.state_check(pysoem.SAFEOP_STATE, 5_000_000)
    soem.state = pysoem.OP_STATE
    soem.write_state()
    # SOEM starts SYNC0 100 ms after it was set up: OP counts when it also holds afterwards.
    held, deadline = 0, time.monotonic() + 20
    while held < 10:
        for _ in range(50):
            soem.send_processdata()
            soem.receive_processdata(100_000)
            time.sleep(0.001)
        soem.read_state()
        fallen = [d for d in soem.slaves if d.state & pysoem.STATE_ERROR]
        for device in fallen:
            device.state = (device.state & 0x0F) | pysoem.STATE_ACK
            device.write_state()
        if fallen:
            soem.state = pysoem.OP_STATE
            soem.write_state()
        held = held + 1 if all(d.state == pysoem.OP_STATE for d in soem.slaves) else 0
        if held == 0 and time.monotonic() > deadline:
            states = ", ".join(f"{d.name} {d.state:#x}/{d.al_status:#x}" for d in soem.slaves)
            raise SystemExit(f"the ring does not reach OP under SOEM: {states}")


def sustain(interface: str, seconds: float) -> tuple[int, int, float, list[int]]:
    """SOEM in OP at 10 kHz: cycles, lost or incomplete ones, duration in s, round trips in ns."""
    soem = soem_in_op(interface, PERIOD_NS, range(1, 9))
    count = int(seconds * 1e9 / PERIOD_NS)
    lost, trips = 0, []
    began = due = time.monotonic_ns()
    for _ in range(count):
        wait = due - time.monotonic_ns()
        if wait > 0:
            time.sleep(wait / 1e9)
        start = time.monotonic_ns()
        soem.send_processdata()
        counter = soem.receive_processdata(100_000)
        trips.append(time.monotonic_ns() - start)
        lost += counter != WORKING_COUNTER
        due += PERIOD_NS
    took = (time.monotonic_ns() - began) / 1e9
    soem.close()
    return count, lost, took, trips


def instructions(program: str, frames: int, master: str) -> int:
    """Instructions of `Segment::pass` for a number of frames of one master, with bring-up.

    The bench has its own clock, so callgrind's slowness does not affect it.
    """
    _, report = run(
        "valgrind",
        "--tool=callgrind",
        "--collect-atstart=no",
        "--callgrind-out-file=/dev/null",
        "--toggle-collect=*Segment::pass*",
        program,
        "--bench",
        "--frames",
        str(frames),
        "--only",
        master,
    )
    counted = re.search(r"Collected : (\d+)", report)
    if counted is None:
        raise SystemExit(f"callgrind printed no count:\n{report}")
    return int(counted[1])


def counted_frames() -> None:
    """Instructions per frame: two runs differ only in their number of frames; warm-ups are
    equal."""
    if shutil.which("valgrind") is None:
        print("Instructions are not counted: valgrind is not installed\n")
        return
    print("| frame | instructions, counted by callgrind |\n|---|---|")
    program = bench_program()
    for master in ("SOEM", "ethercrab"):
        few, many = instructions(program, 500, master), instructions(program, 1500, master)
        print(f"| {master} | {(many - few) / 2000:.0f} |")
    print()


@contextmanager
def veth_pair() -> Iterator[tuple[str, str]]:
    """A virtual cable during the block; yields the names of its ends. Needs root."""
    ends = (f"kzb{os.getpid() % 100000}", f"kzc{os.getpid() % 100000}")
    subprocess.run(
        ["ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1]], check=True
    )
    try:
        for end in ends:
            Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1", encoding="ascii")
            subprocess.run(["ip", "link", "set", end, "up"], check=True)
        time.sleep(0.5)
        yield ends
    finally:
        subprocess.run(["ip", "link", "del", ends[0]], check=True)


def over_veth(program: Path, seconds: float) -> None:
    """Runs 10 kHz over a veth pair, and prints the segment's own report."""
    with veth_pair() as ends:
        segment = subprocess.Popen(
            [str(program), "run", "--interface", ends[1], "--ring", str(RING)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert segment.stdout is not None
        segment.stdout.readline()
        sent, lost, took, trips = sustain(ends[0], seconds)
        segment.send_signal(signal.SIGINT)
        said = segment.stdout.read()
        segment.wait()
    trips.sort()
    processing = re.search(r"mean ([\d.]+) us, longest ([\d.]+) us", said)
    assert processing is not None
    print("| 10 kHz over veth, eight devices in OP under SOEM | |\n|---|---|")
    print(f"| cycles, lost or incomplete | {sent}, {lost} |")
    print(f"| rate reached | {sent / took:.0f} Hz |")
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)):
        trip = trips[int((len(trips) - 1) * share)] / 1000
        print(f"| round trip {name}, Python, SOEM and two socket passes included | {trip:.1f} us |")
    mean, longest = processing.groups()
    print(f"| segment per frame, without system calls: mean, longest | {mean}, {longest} us |")
    print(f"\nanswer: a frame in {mean} µs, {lost} of {sent} lost at 10 kHz")


def main() -> int:
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()
    print(cargo("bench", "--quiet", *BENCH))
    counted_frames()
    cargo("build", "--release", "--quiet", "--workspace", "--bin", "kadenz-segment")
    if os.geteuid() != 0:
        print("The veth part needs root", file=sys.stderr)
        return 1
    with veth_pair() as ends:
        print(cargo("bench", "--quiet", "-p", "kadenz-segment", "--bench", "stack", "--", *ends))
    target = Path(os.environ.get("CARGO_TARGET_DIR", str(FIELDBUS / "target")))
    over_veth(target / "release" / "kadenz-segment", arguments.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
