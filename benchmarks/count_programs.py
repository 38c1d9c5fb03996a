# SPDX-License-Identifier: Apache-2.0
"""The program of docs/how-to/count-a-program.md, counted by `kadenz count` and by Callgrind.

    python benchmarks/count_programs.py

Needs valgrind, gcc, and the kernel of x86-64 guests. Callgrind counts twice: with the variants of
the C library for this processor, and with those for a processor without extensions, as a guest's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kadenz.store import read_run

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "count-a-program.md"
FUNCTIONS = ("main", "parse_numbers", "print_sorted", "compare")
LIBRARY = "libc.so.6"
OF_LIBRARY = ("qsort", "snprintf", "strtol")
# Of glibc 2.36, manual, "Hardware Capability Tunables".
EXTENSIONS = (
    "AVX AVX2 AVX512F AVX512VL AVX512BW ERMS FSRM BMI1 BMI2 RTM SSSE3 SSE4_1 SSE4_2 LZCNT MOVBE "
    "POPCNT XSAVE XSAVEC AVX_Fast_Unaligned_Load Fast_Unaligned_Copy Fast_Copy_Backward "
    "Fast_Rep_String"
)
PLAIN = "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in EXTENSIONS.split())
ROWS, NUMBERS = 20, 40


def program(folder: Path) -> Path:
    """The page's program, compiled."""
    source = re.search(r"```c\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert source is not None
    (folder / "numbers.c").write_text(source[1])
    file = folder / "numbers"
    command = ["gcc", "-O2", "-Wl,-z,now", str(folder / "numbers.c"), "-o", str(file)]
    subprocess.run(command, check=True)
    return file


def counted(file: Path, numbers: Path) -> dict[str, tuple[int, int]]:
    """Instructions of the program and of the kernel, of all calls, by function."""
    names = [*FUNCTIONS, *(f"{LIBRARY}:{name}" for name in OF_LIBRARY)]
    command = ["kadenz", "count", str(file), "--stdin", str(numbers), "--json"]
    command += ["--output", str(file.parent / "runs")]
    command += [word for name in names for word in ("--function", name)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        sys.exit(answer.stderr)
    run = read_run(Path(json.loads(answer.stdout)["run"]))
    sums = {}
    for record in run.manifest.records:
        lanes = {lane.name: int(run.samples(record, lane).sum()) for lane in record.lanes}
        name = record.bench.rpartition("/")[2].removeprefix(f"{LIBRARY}:")
        sums[name] = (lanes["call"], lanes["call:kernel"])
    return sums


def callgrind(file: Path, numbers: Path, tunables: str) -> dict[str, int]:
    """Inclusive instructions by function."""
    output = file.parent / "callgrind.out"
    output.unlink(missing_ok=True)
    with numbers.open() as standard_input:
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", str(file)],
            stdin=standard_input,
            capture_output=True,
            check=True,
            env=os.environ | {"GLIBC_TUNABLES": tunables},
        )
    answer = subprocess.run(
        ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(output)],
        capture_output=True,
        text=True,
        check=True,
    )
    counts: dict[str, int] = {}
    for line in answer.stdout.splitlines():
        match = re.match(r"\s*([\d,]+) \([ \d.]+%\)\s+\S+:(\w+) \[", line)
        if match:
            counts.setdefault(match[2], int(match[1].replace(",", "")))
    return counts


def main() -> None:
    """Prints the table."""
    if shutil.which("valgrind") is None:
        sys.exit("no valgrind, the peer: apt-get install valgrind")
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        numbers = folder / "numbers.txt"
        rows = [
            ",".join(str((i * 7919 + row * 31) % 1000) for i in range(NUMBERS))
            for row in range(ROWS)
        ]
        numbers.write_text("".join(f"{row}\n" for row in rows))
        file = program(folder)
        ours = counted(file, numbers)
        usual, plain = (callgrind(file, numbers, tunables) for tunables in ("", PLAIN))
    print("| all calls of | kadenz | Callgrind | Callgrind, plain variants | kernel, by kadenz |")
    print("|---|---|---|---|---|")
    most = 0.0
    for name in (*FUNCTIONS, *OF_LIBRARY):
        counts, kernel = ours[name]
        print(f"| `{name}` | {counts:,} | {usual[name]:,} | {plain[name]:,} | {kernel:,} |")
        most = max(most, abs(plain[name] / counts - 1.0))
    print(f"\nanswer: with the plain variants, all functions agree within {most:.4%}")


if __name__ == "__main__":
    main()
