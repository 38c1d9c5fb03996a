# SPDX-License-Identifier: Apache-2.0
"""Misses of caches on simulated cores: each sample of the scope has its own."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from kadenz.analysis.outliers import context_words
from kadenz.config.manifest import MISSES
from kadenz.config.target_name import parse_target
from kadenz.lab.execution import scope_kinds
from kadenz.store import Run
from kadenz.targets import rtl_core
from kadenz.targets.scope import RecordSpans, read_trace, split_records
from tests.rtl.test_cores import IBEX, VEXRISCV, measured

pytestmark = pytest.mark.counted
BENCHES = ("micro/task-switch-sampled", "perf/activate", "itc/semaphore-counting-to-higher")
WORDS_OF_A_LINE = 8  # of a line

# Two rounds of the same code: eight loads, each of a line, and lines of code from 1 to 9: 64
# instructions of four bytes fill eight, and END begins the ninth.
KNOWN = """
    .option norvc
    li s0, 0x40040000
    li s1, 0x40041000
    li t0, 1
    li t1, 2
    li t2, 0x00010007
    sw t2, 0(s0)
    li s2, 2
    .balign 32
    .rept 7 # BEGIN is the last instruction of its line
    nop
    .endr
round:
    sw t0, 0(s0)
    .rept 8
    lw t3, 0(s1)
    addi s1, s1, 32
    .endr
    .rept 48
    nop
    .endr
    sw t1, 0(s0)
    addi s1, s1, -256
    addi s2, s2, -1
    bnez s2, round
    li t2, 0x00020007
    sw t2, 0(s0)
    li t0, 0xf0020000
    li t1, 0x5555
    sw t1, 0(t0)
1:  j 1b
"""


def known(folder: Path, waits: int) -> RecordSpans:
    """What the core counts in KNOWN."""
    (folder / "known.S").write_text(f".globl _start\n_start:{KNOWN}")
    flags = ["-nostdlib", "-march=rv32imac_zicsr", "-mabi=ilp32", "-Wl,-n,-Ttext=0x40000000"]
    image, trace = folder / "known.elf", folder / "trace"
    compiler = ["riscv64-unknown-elf-gcc", *flags, "-Wl,--build-id=none"]
    subprocess.run([*compiler, str(folder / "known.S"), "-o", str(image)], check=True)
    options = ["--elf", str(image), "--watch", "0x40040000", "--trace", str(trace)]
    options += ["--finisher", "0xf0020000", "--cycle-limit", "100000"]
    for memory in (f"rom:0x40000000:0x40000:{waits}", "ram:0x40040000:0x40000:0"):
        options += ["--memory", memory]
    program = rtl_core.build("vexriscv-imac").program
    subprocess.run([str(program), *options], check=True, timeout=60)
    return split_records(read_trace(trace))[7]


def test_lines_of_known_code_are_counted_one_by_one(tmp_path: Path) -> None:
    record = known(tmp_path, 0)
    assert {kind: values.tolist() for kind, values in record.misses.items()} == {
        "icache-misses": [9, 0],
        "dcache-misses": [8, 0],
    }
    waiting = known(tmp_path, 5)
    assert waiting.misses["icache-misses"].tolist() == [9, 0]
    assert (waiting.spans - record.spans).tolist() == [9 * WORDS_OF_A_LINE * 5, 0]


@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Run]:
    """A short run by the scope, by wait states of the ROM."""
    output = tmp_path_factory.mktemp("scoped")
    arguments = (*BENCHES, "--quick", "--target", VEXRISCV, "--instrument", "scope")
    runs = measured(output, *arguments, "--set", "samples=40", "--wait-states", "rom=0,4")
    return {int(run.manifest.condition_values["rom_wait"]): run for run in runs}


def executions(run: Run, bench: str) -> list[tuple[int, ...]]:
    """Cycles and misses of each sample."""
    (record,) = [each for each in run.manifest.records if each.bench == bench]
    lane = record.series[0]
    companions = record.companions(lane)
    assert set(companions) == set(MISSES)
    assert {companions[kind].unit for kind in MISSES} == {"line"}
    columns = (lane, *(companions[kind] for kind in MISSES))
    return list(zip(*(run.samples(record, each).tolist() for each in columns), strict=True))


@pytest.mark.parametrize("bench", BENCHES)
def test_a_wait_state_costs_a_cycle_for_each_word_of_the_lines(
    bench: str, scoped: dict[int, Run]
) -> None:
    none, some = executions(scoped[0], bench), executions(scoped[4], bench)
    usual = [Counter(each[1:]).most_common(1)[0][0] for each in (none, some)]
    for quick, slow in ((none[0], some[0]), usual):
        assert slow[1:] == quick[1:]
        assert slow[0] - quick[0] == 4 * WORDS_OF_A_LINE * quick[1]


def test_two_runs_count_the_same_bytes(scoped: dict[int, Run], tmp_path: Path) -> None:
    arguments = (*BENCHES, "--quick", "--target", VEXRISCV, "--instrument", "scope", "--fresh")
    (again,) = measured(tmp_path, *arguments, "--set", "samples=40")
    files = [lane.file for record in again.manifest.records for lane in record.lanes if lane.file]
    assert sum("misses" in file for file in files) == 2 * (len(BENCHES) + 1)  # and the clock's
    for file in files:
        assert (again.path / file).read_bytes() == (scoped[0].path / file).read_bytes(), file


def test_the_worst_samples_are_shown_with_their_misses() -> None:
    assert context_words({"icache-misses": 1, "dcache-misses": 3}) == (
        "1 miss of the instruction cache, 3 misses of the data cache"
    )


@pytest.mark.parametrize(
    ("target", "instrument", "kinds"),
    [
        (VEXRISCV, "scope", MISSES),
        (VEXRISCV, "counter", ()),  # nobody outside sees which readings are stamps
        (IBEX, "scope", ()),  # it has no cache
        ("freertos/vexriscv-cluster@rtl", "scope", ()),  # its caches are inside the cluster
        ("freertos/stm32f4@emulated", "scope", ()),
    ],
)
def test_only_who_sees_a_cache_counts_its_misses(
    target: str, instrument: str, kinds: tuple[str, ...]
) -> None:
    assert scope_kinds(parse_target(target), instrument) == kinds
