# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `kadenz import` for large captures: a VCD, sigrok's session, a CSV.

    python benchmarks/captures.py --changes 100000000

The VCD has pulses of two wires at random distances, two changes for each pulse. The session and
the CSV have a tenth of its changes. Each import is a process of its own; the number of samples is
checked. Exit code 1 if the VCD takes over MOST_MORE_MB more memory than a tenth of it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kadenz.store import read_run

TITLE = "Captures"
RUNS = ("--changes 100000000",)

# One block of the file fits in it. Keeping samples would take 8 bytes for four changes.
MOST_MORE_MB = 6
STEP = 40_000  # changes written at once: few, because memory used here would count for the import
HEADER = """$timescale 10 ns $end
$scope module logic $end $var wire 1 ! D0 $end $var wire 1 " D1 $end $upscope $end
$enddefinitions $end
#0 0! 0"
"""
METADATA = "[device 1]\ncapturefile=logic-1\nsamplerate=100 MHz\nprobe1=D0\nprobe2=D1\nunitsize=1\n"


def pulses(changes: int) -> Iterator[npt.NDArray[np.int64]]:
    """Times of BEGIN's pulse and END's pulse, four in a row, in ticks."""
    random, last = np.random.default_rng(1), 0
    for first in range(0, changes, STEP):
        rows = min(STEP, changes - first) // 4
        times = last + np.cumsum(random.integers(1, 20, size=4 * rows))
        last = int(times[-1])
        yield times.reshape(rows, 4)


def write_vcd(file: Path, changes: int) -> None:
    """Each change with its time."""
    form = '#%d\n1!\n#%d\n0!\n#%d\n1"\n#%d\n0"\n'
    with file.open("w") as stream:
        stream.write(HEADER)
        for rows in pulses(changes):
            stream.write((form * len(rows)) % tuple(rows.ravel().tolist()))


def write_csv(file: Path, changes: int) -> None:
    """A row for each change, as Saleae's Logic writes it."""
    form = "%.9f,1,0\n%.9f,0,0\n%.9f,0,1\n%.9f,0,0\n"
    with file.open("w") as stream:
        stream.write("Time [s],D0,D1\n0.000000000,0,0\n")
        for rows in pulses(changes):
            stream.write((form * len(rows)) % tuple((rows * 1e-8).ravel().tolist()))


def write_session(file: Path, changes: int) -> None:
    """Every sample at 100 MHz."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("metadata", METADATA)
        done = 0
        for piece, rows in enumerate(pulses(changes), start=1):
            levels = np.repeat(
                np.resize(np.array([0, 1, 0, 2], np.uint8), rows.size),
                np.diff(np.concatenate(([done], rows.ravel()))),
            )
            done = int(rows[-1, -1])
            archive.writestr(f"logic-1-{piece}", levels.tobytes())


def imported(file: Path, changes: int) -> tuple[float, float]:
    """Seconds and peak memory in MB of one import."""
    command = [sys.executable, "-c", "from kadenz.cli import main; main()", "import", str(file)]
    command += ["--begin", "D0", "--end", "D1", "--bench", "itc/queue"]
    command += ["--target", "freertos/stm32f4@board", "--output", str(file.parent), "--name", "x"]
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - begin
    run = read_run(next(file.parent.glob("*/run.json")).parent)
    taken = run.record(10).lanes[0].taken
    if process.returncode or taken != changes // 4:
        raise SystemExit(f"{file.name}: {taken} samples, exit code {process.returncode}")
    return took, usage.ru_maxrss / 1024


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=100_000_000, help="of the VCD")
    changes = parser.parse_args().changes // 40 * 40
    forms: tuple[tuple[str, Callable[[Path, int], None], int], ...] = (
        ("vcd", write_vcd, changes // 10),
        ("vcd", write_vcd, changes),
        ("sr", write_session, changes // 10),
        ("csv", write_csv, changes // 10),
    )
    print("| format | changes | file | time | changes a second | peak memory |")
    print("|---|---|---|---|---|---|")
    of_vcd = []
    for suffix, write, count in forms:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"capture.{suffix}"
            write(file, count)
            size = file.stat().st_size / 1e6
            took, memory = imported(file, count)
        print(
            f"| {suffix} | {count:,} | {size:,.0f} MB | {took:.1f} s | {count / took / 1e6:.1f} "
            f"million | {memory:.0f} MB |",
            flush=True,
        )
        of_vcd += [memory] if suffix == "vcd" else []
    more = of_vcd[1] - of_vcd[0]
    print(f"\nanswer: ten times the changes take {more:.1f} MB more; limit {MOST_MORE_MB} MB")
    return int(more > MOST_MORE_MB)


if __name__ == "__main__":
    sys.exit(main())
