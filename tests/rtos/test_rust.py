# SPDX-License-Identifier: Apache-2.0
"""Embassy, lilos, RTIC: their benchmarks measure, prove and repeat, and the others say why not.

bern, whose threads block, is in test_bern.py.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.config import inventory
from kadenz.config.params import Params
from kadenz.config.target_name import TargetName
from kadenz.errors import BuildFailed
from kadenz.images.image import _cmake, build_image
from kadenz.store import read_run
from kadenz.tools import require
from kadenz.wire.messages import Begin, Bench, Conform, Done, End, Hello
from tests.forked import kadenz
from tests.rtos.images import boot, build

pytestmark = pytest.mark.counted

BOARD = "stm32f4"
KERNELS = tuple(
    kernel
    for kernel in inventory.kernels()
    if inventory.in_rust(kernel) and "threads" in inventory.kernel(kernel).lacks
)
TARGETS = (*((kernel, BOARD) for kernel in KERNELS), ("rtic", "ibex"))
# Benchmarks that are n/a on a target: (their beginning, a part of the sentence).
REFUSED = {
    ("lilos", BOARD): ("micro/preemption", "do not preempt each other"),
    ("rtic", "ibex"): ("micro/task-switch", "nests a trap"),
}
# Benchmarks in Rust.
IN_RUST = """\
irq/to-handler id=1 samples=50
irq/to-task id=2 samples=50
micro/task-switch id=3 samples=3 iterations=1000
micro/task-switch-sampled id=4 samples=200
micro/preemption id=5 samples=3 iterations=1000
micro/preemption-sampled id=6 samples=200
itc/queue id=7 samples=20
itc/queue id=8 samples=20 size_bytes=600 rank_a=7 rank_b=8
itc/queue-round-trip id=9 samples=20 size_bytes=4
itc/queue-one-way id=10 samples=20 rank_a=7 rank_b=7
itc/event-flags-one-way id=11 samples=20
itc/event-flags-round-trip id=12 samples=20 rank_a=7 rank_b=8
cyclic/wakeup-latency id=13 samples=50
"""
CLOCK = """\
clock/resolution id=20 samples=50
clock/read-cost id=21 samples=50
clock/monotonic id=22 samples=50
clock/instructions id=23 samples=5
clock/rate id=24 samples=5 milliseconds=10
"""
NAMES = {line.split()[0] for line in IN_RUST.splitlines()}


def built(kernel: str, board: str) -> Path:
    (isa, *_) = inventory.board(board).instruction_sets or [""]
    return build(board, kernel=kernel, options=(("KDZ_ISA", isa),) if isa else ())


@pytest.mark.parametrize(("kernel", "board"), TARGETS)
def test_every_benchmark_measures_proves_and_repeats(kernel: str, board: str) -> None:
    refused, _ = REFUSED.get((kernel, board), ("none", ""))
    mine = [line for line in IN_RUST.splitlines() if not line.startswith(refused)]
    plan = "\n".join([*mine, CLOCK, "end\n"]).replace("\n\n", "\n")
    said = boot(built(kernel, board), board, plan)
    ends = said.all(End)
    assert [(e.record, e.status, e.reason) for e in ends if e.status != "ok"] == []
    assert said.only(Done).records == len(ends) == len(plan.splitlines()) - 1
    for end in ends:
        samples = [said.samples[end.record, i] for i in range(len(end.lanes))]
        assert [lane.missed for lane in end.lanes] == [0] * len(samples)
        assert [lane.taken for lane in end.lanes] == [series.size for series in samples]
        assert end.proof.failed == 0
        assert end.proof.checked >= end.lanes[0].taken
        assert all((series > 0).all() for series in samples)
    assert boot(built(kernel, board), board, plan).raw == said.raw


@pytest.mark.parametrize(("kernel", "board"), REFUSED)
def test_what_a_framework_cannot_do_is_n_a(kernel: str, board: str) -> None:
    name, reason = REFUSED[kernel, board]
    plan = f"{name} id=1 samples=3\n{name}-sampled id=2 samples=3\nend\n"
    ends = boot(built(kernel, board), board, plan).all(End)
    assert [end.status for end in ends] == ["n/a", "n/a"]
    assert all(reason in end.reason for end in ends)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_others_are_n_a_with_the_sentence_of_kernel_toml(kernel: str) -> None:
    said = boot(build(BOARD, kernel=kernel), BOARD, "list\nconformance\nend\n")
    listed = said.all(Bench)
    assert len({bench.name for bench in listed}) == len(listed)  # a benchmark in Rust replaces C's
    available = {bench.name for bench in listed if bench.available}
    without_kernel = {"memory/copy", "memory/fill"}
    assert available == NAMES | without_kernel | {line.split()[0] for line in CLOCK.splitlines()}
    lacks = inventory.kernel(kernel).lacks
    reasons = {bench.name: bench.reason for bench in listed}
    assert reasons["itc/mutex"] == lacks["mutex"]
    assert reasons["itc/stream-buffer"] == lacks["stream-buffer"]
    assert reasons["micro/message-latency"] == lacks["threads"]
    assert {bench.reason for bench in listed if not bench.available} <= set(lacks.values())
    assert {(c.result, c.reason) for c in said.all(Conform)} == {("n/a", lacks["threads"])}


def usual(bench: Bench) -> Params:
    """The parameters and their defaults, which make a point that both languages measure."""
    return {param.name: param.value(param.initial) for param in bench.params}


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_benchmark_in_rust_says_the_same_as_the_one_in_c(kernel: str) -> None:
    """End points of the same name differ in the words for a wait and a resume at most."""
    other = {"irq/to-task", "micro/task-switch", "micro/task-switch-sampled"}
    of_c = {b.name: b for b in boot(build(BOARD), BOARD, "list\nend\n").all(Bench)}
    for bench in boot(build(BOARD, kernel=kernel), BOARD, "list\nend\n").all(Bench):
        if bench.name in NAMES - other:
            c = of_c[bench.name]
            assert (bench.begins, bench.ends) == (c.begins, c.ends), bench.name
        if bench.name in NAMES:
            c = of_c[bench.name]
            assert (bench.source, bench.self_timed, bench.nature) == (
                c.source,
                c.self_timed,
                c.nature,
            )
            assert usual(bench) == usual(c), bench.name


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_default_rank_of_c_has_the_most_urgent_place(kernel: str) -> None:
    plan = "".join(
        f"cyclic/wakeup-latency id={place} samples=3 {rank}\n"
        for place, rank in enumerate(("", "rank=8", "rank=7"), 1)
    )
    begun = boot(build(BOARD, kernel=kernel), BOARD, f"{plan}end\n").all(Begin)
    usual, upper, lower = (begin.ranks["rank"] for begin in begun)
    assert begun[0].params["rank"] == 10
    assert usual == upper != lower


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_does_not_fit_is_refused_with_a_sentence(kernel: str) -> None:
    said = boot(
        build(BOARD, kernel=kernel),
        BOARD,
        "itc/queue id=1 samples=3 size_bytes=64\n"
        "itc/event-flags-one-way id=2 samples=3 rank_a=8 rank_b=8\n"
        "micro/task-switch id=3 samples=3 iterations=3\n"
        "irq/to-handler id=4 samples=3 rank=6\nend\n",
    )
    outcomes = {end.record: (end.status, end.reason) for end in said.all(End)}
    assert outcomes[1][0] == "n/a"
    assert "a channel's item is a type" in outcomes[1][1]
    assert outcomes[2][0] == outcomes[3][0] == outcomes[4][0] == "failed"
    assert "give the other rank 7" in outcomes[2][1]
    assert "even" in outcomes[3][1]
    assert outcomes[4][1] == "`rank=6`: from 7 to 8"


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_image_says_what_it_is_made_of(kernel: str) -> None:
    image = build_image(TargetName(kernel, BOARD, "emulated"), "counter")
    hello = boot(image.folder, BOARD, "end\n").only(Hello)
    crate = "embassy-executor" if kernel == "embassy" else kernel
    assert hello.kernel_version == pinned(kernel, crate)
    assert hello.settings["rust_compiler"].startswith("rustc 1.")
    assert hello.settings["rust_target"] == "thumbv7em-none-eabihf (cortex-m4)"
    assert image.entry.text_bytes > 10000
    read = (image.folder / "kadenz-sources.txt").read_text()
    for file in ("Cargo.lock", "Cargo.toml", "src/machine.rs"):
        assert f"/kernels/{kernel}/{file}\n" in read
    assert "/suite/rust/src/micro.rs\n" in read
    assert {"port", "suite"} <= {part.part for part in image.entry.parts}


def pinned(kernel: str, crate: str) -> str:
    lines = (inventory.kernel_folder(kernel) / "Cargo.lock").read_text().splitlines()
    return lines[lines.index(f'name = "{crate}"') + 1].split('"')[1]


@pytest.mark.parametrize(("kernel", "board"), TARGETS)
def test_counter_and_scope_agree(kernel: str, board: str, tmp_path: Path) -> None:
    """Under the scope a stamp is a store, under the counter two loads or one read: a constant."""
    refused, _ = REFUSED.get((kernel, board), ("micro/task-switch", ""))
    micro = {"micro/task-switch": "preemption", "micro/preemption": "task-switch"}[refused]
    names = ("irq/to-handler", "irq/to-task", f"micro/{micro}-sampled", "itc/queue")
    counter, scope = (
        measured(f"{kernel}/{board}@emulated", instrument, names, tmp_path / instrument)
        for instrument in ("counter", "scope")
    )
    for name in names:
        offsets = np.unique(counter[name] - scope[name])
        assert offsets.size == 1, f"{name}: offsets {offsets.tolist()}"
        assert abs(int(offsets[0])) <= 8


def measured(
    target: str, instrument: str, names: tuple[str, ...], output: Path
) -> dict[str, NDArray[np.int64]]:
    how = ["--target", target, "--quick", "--output", str(output), "--instrument", instrument]
    answer = kadenz("run", *names, *how)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (folder,) = [path for path in output.iterdir() if (path / "run.json").is_file()]
    run = read_run(folder)
    return {
        record.bench: np.asarray(run.samples(record), dtype=np.int64)
        for record in run.manifest.records
        if record.bench in names
    }


def test_what_does_not_compile_shows_the_compilers_words(tmp_path: Path) -> None:
    crate = tmp_path / "kernels" / "broken"
    shutil.copytree(inventory.kernel_folder("rtic"), crate)
    manifest = crate / "Cargo.toml"
    manifest.write_text(
        manifest.read_text().replace("../../suite/rust", str(inventory.root() / "suite/rust"))
    )
    (crate / "src" / "lib.rs").write_text("#![no_std]\nlet nothing\n")
    answer = subprocess.run(
        [
            str(require("cmake")),
            *("-S", str(inventory.root() / "suite"), "-B", str(tmp_path / "build"), "-G", "Ninja"),
            *("-DKDZ_KERNEL=broken", f"-DKDZ_KERNEL_DIR={crate}", f"-DKDZ_BOARD={BOARD}"),
            f"-DCMAKE_TOOLCHAIN_FILE={inventory.root()}/arch/armv7m/toolchain.cmake",
            f"-DKDZ_RUSTC={require('rustc')}",
            f"-DKDZ_CARGO_TARGET={inventory.root()}/build/rust",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    with pytest.raises(BuildFailed) as caught:
        _cmake(
            tmp_path / "build",
            ["--build", str(tmp_path / "build"), "--target", "kadenz_rtic"],
            TargetName("broken", BOARD, "emulated"),
            "compile",
        )
    assert "src/lib.rs:2:1" in caught.value.detail
