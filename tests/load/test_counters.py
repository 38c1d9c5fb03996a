# SPDX-License-Identifier: Apache-2.0
"""The kernel's counters as rates, from files as the kernel writes them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kadenz.load import counters
from kadenz.load.counters import COUNTERS, Place, Reading

HZ = os.sysconf("SC_CLK_TCK")
STAT = """cpu  30 0 30 1000 60 0 0 0 0 0
cpu0 {0} 0 10 500 30 0 0 0 5 0
cpu1 20 0 20 500 30 0 0 0 0 0
intr 1000 5 6 7
softirq 500 1 2
"""
DISKS = """ 254 0 vda 62973 11756 5540626 16605 31062 151276 2000 38233 0 10676 55747 9252 32
   8 0 sda 1 1 1 1 1 1 9000 1 0 1 1
"""
NET = """Inter-|   Receive                        |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls
    lo: 5000000 10 0 0 0 0 0 0 7000000 10 0 0 0 0 0 0
  eth0: 1 1 0 0 0 0 0 0 99 1 0 0 0 0 0 0
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "proc/net").mkdir(parents=True)
    (tmp_path / "proc/stat").write_text(STAT.format(10))
    (tmp_path / "proc/vmstat").write_text("pgpgout 2048\npgmajfault 77\npgfault 12345\n")
    (tmp_path / "proc/diskstats").write_text(DISKS)
    (tmp_path / "proc/net/dev").write_text(NET)
    (tmp_path / "scratch").mkdir()
    for number, moved in enumerate((3_000_000, 4_000_000)):
        count = moved.to_bytes(8, "little") + bytes(100)
        (tmp_path / f"scratch/memory-{number}.count").write_bytes(count)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "device", "value"),
    [
        ("cpu-time", "", 20 / HZ),  # guest time (5) is part of user time
        ("major-faults", "", 77),
        ("disk-written", "vda", 1.024),
        ("disk-written", "", 2.097152),  # unknown disk: bytes written by all disks
        ("loopback", "", 7.0),
        ("interrupts", "", 1500),
        ("memory-moved", "", 7.0),
    ],
)
def test_a_counter_reads_what_the_kernel_counts(
    root: Path, name: str, device: str, value: float
) -> None:
    place = Place([0], root / "scratch", device, root)
    assert COUNTERS[name].read(place) == pytest.approx(value)


def test_a_missing_counter_gives_no_rate(tmp_path: Path) -> None:
    place = Place([0], tmp_path, "vda", tmp_path)
    for counter in COUNTERS.values():
        assert counter.read(place) == 0


def reading(at_s: float, value: float, cpu_s: float = 0.0) -> Reading:
    return Reading(at_s, {"cpu-time": value, "loopback": value}, {"cpu": cpu_s})


def test_a_rate_is_growth_per_second_or_a_percentage_of_time() -> None:
    place = Place([0, 1], Path("/none"), "")
    before, after = reading(10.0, 100.0, 1.0), reading(12.0, 103.0, 2.0)
    assert counters.rate("loopback", place, before, after) == 1.5
    assert counters.rate("cpu-time", place, before, after) == 75.0
    assert counters.cpu_percent("cpu", place, before, after) == 25.0
    assert counters.cpu_percent("other", place, before, after) == 0.0
    # Ticks of 10 ms round up; a reset counter or zero time gives no rate.
    assert counters.rate("cpu-time", place, before, reading(12.0, 104.1)) == 100.0
    assert counters.rate("loopback", place, before, reading(12.0, 1.0)) == 0.0
    assert counters.rate("loopback", place, before, before) == 0.0


def test_processor_time_includes_ended_processes_of_a_session() -> None:
    spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    process = subprocess.Popen(
        ["sh", "-c", f"sh -c '{spin}'; echo done; sleep 60; :"],
        start_new_session=True,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        used = counters.processor_time({"mine": [process.pid], "nobody": [2**30]})
    finally:
        os.killpg(process.pid, 9)
        process.communicate()
    assert used["mine"] > 0.0
    assert used["nobody"] == 0.0


def test_the_disk_below_a_folder_is_found(tmp_path: Path) -> None:
    number = tmp_path.stat().st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    (tmp_path / "proc/self").mkdir(parents=True)
    info = tmp_path / "proc/self/mountinfo"
    disks = tmp_path / "proc/diskstats"
    info.write_text(f"22 1 {name} / / rw - ext4 /dev/x rw\n")
    disks.write_text(f"{os.major(number)} {os.minor(number)} nvme0n1p2 1 2 3 4 5 6 7\n")
    assert counters.device_of(tmp_path, tmp_path) == ("nvme0n1p2", "ext4")
    # btrfs has its own device numbers: the disk is the mounted block device.
    info.write_text(f"22 1 {name} / / rw shared:1 - btrfs /dev/sdq7 rw\n")
    disks.write_text("8 7 sdq7 1 2 3 4 5 6 7\n")
    assert counters.device_of(tmp_path, tmp_path) == ("sdq7", "btrfs")
    info.write_text(f"22 1 {name} / / rw - tmpfs none rw\n")
    assert counters.device_of(tmp_path, tmp_path) == ("", "tmpfs")
