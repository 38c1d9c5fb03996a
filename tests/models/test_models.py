# SPDX-License-Identifier: Apache-2.0
"""Timing models: cycles that the manual gives, the same as those of the Verilog."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner, Result
from elftools.elf.elffile import ELFFile

from kadenz import tools
from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config.board import TimingModel
from kadenz.config.manifest import MISSES
from kadenz.config.target_name import parse_target
from kadenz.errors import ConfigError, UsageError
from kadenz.images.image import build_image
from kadenz.lab.condition import Setup
from kadenz.lab.execution import make_target
from kadenz.lab.plan import Point, plan_text
from kadenz.store import Run
from kadenz.targets import rtl_core, scope_plugin, timing_model
from kadenz.targets.scope import RecordSpans, read_trace, split_records
from tests.models import random_code
from tests.scope.emulator import ARM, RISCV, Machine, command

pytestmark = pytest.mark.counted
HERE = Path(__file__).parent

# Counted by hand in the comments of programs/known-cycles.riscv.S.
IBEX = [2, 12, 22, 22, 32, 42, 372, 22, 32, 12, 401, 12, 12, 32, 12, 22, 132, 52, 144]

# And of programs/known-cycles.vexriscv.S, with full caches.
VEXRISCV = [1, 11, 41, 41, 31, 41, 73, 71, 21, 53, 31, 21, 41, 11, 34, 31, 85, 7, 30]
EXECUTIONS = 3  # of each span; the caches are empty before the first

# And of programs/known-cycles.fe310.S: the least and the most, with the code in the cache; and the
# lines that the first execution fetches.
FE310_LINE = (168, 2304)
FE310 = [
    *[(1, 1, 0), (11, 11, 1), (31, 31, 2), (41, 41, 2), (61, 61, 2), (12, 12, 0), (41, 41, 2)],
    *[(4, 35, 0), (11, 41, 1), (58, 514, 0), (4, 13, 2)],
]
HIFIVE1 = Machine(
    "fe310",
    "riscv64-unknown-elf-gcc",
    (),
    "qemu-system-riscv32",
    ("-M", "sifive_e,revb=on", "-semihosting-config", "enable=on,target=native"),
)

# And of programs/known-cycles.arm.S: the least and the most.
CORTEX_M4 = [
    *[(1, 1), (11, 11), (3, 3), (12, 12), (5, 5), (11, 11), (3, 3), (6, 6), (11, 11), (7, 7)],
    *[(3, 13), (5, 9), (301, 499), (3, 4), (3, 4), (3, 4), (4, 5), (3, 4), (7, 8)],
    *[(26, 29), (34, 37), (5, 5), (5, 5), (5, 5), (4, 4), (2, 2), (2, 6), (3, 6), (3, 4), (4, 4)],
    *[(3, 3), (2, 2), (4, 7), (4, 5)],
]

# And of programs/known-cycles.arm-state.S: exceptions while floats are not saved; then three spans
# with five wait states, in an empty accelerator, in a full one, and after 70 other lines.
LAZY_FLOATS = [(30, 33), (64, 68), (30, 33), (72, 76)]
ACCELERATOR = {
    (0, 1): [(8, 15), (2, 4), (8, 14), (3, 5), (2, 4), (3, 4), (3, 15), (2, 4), (3, 4)],
    (0, 0): [(8, 15), (2, 4), (8, 14), (3, 5), (2, 4), (3, 4), (3, 5), (2, 4), (3, 4)],
    (1, 1): [(8, 15), (2, 4), (8, 14), (3, 5), (2, 2), (3, 4), (8, 15), (2, 4), (3, 4)],
}
NO_ACCELERATOR = [(8, 15), (7, 12), (8, 14)] * 3


def kadenz(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


def assemble(machine: Machine, flags: list[str], folder: Path, source: Path | None = None) -> Path:
    elf = folder / "known-cycles.elf"
    source = source or HERE / "programs" / f"known-cycles.{machine.suffix}.S"
    compiler = str(tools.require(machine.compiler))
    subprocess.run([compiler, "-nostdlib", *flags, str(source), "-o", str(elf)], check=True)
    return elf


def modelled(
    machine: Machine, model: str, elf: Path, folder: Path, *parameters: str
) -> tuple[RecordSpans, str]:
    """Record 7 of a program under a model, and what the plugin said."""
    library = timing_model.plugin(model, machine.emulator)
    trace = folder / f"{model}.trace"
    arguments = scope_plugin.arguments(library, elf, trace, parameters)
    answer = subprocess.run(
        command(machine, elf, arguments), capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return split_records(read_trace(trace))[7], answer.stderr


IBEX_FLAGS = (
    *("-march=rv32im_zicsr_zifencei", "-mabi=ilp32", "-Wl,-N", "-Wl,--no-warn-rwx-segments"),
    *("-Wl,-Ttext=0x80000000", "-Wl,-Tbss=0x80040000"),
)


def on_ibex(elf: Path, folder: Path) -> RecordSpans:
    """Record 7 of a program on the Verilog."""
    core, trace = rtl_core.build("ibex"), folder / "rtl.trace"
    options = ["--elf", str(elf), "--trace", str(trace), "--cycle-limit", "1000000"]
    options += ["--watch", hex(scope_plugin.marker_address(elf))]
    for memory in ("rom:0x80000000:0x40000:0", "ram:0x80040000:0x40000:0"):
        options += ["--memory", memory]
    subprocess.run([str(core.program), *options], check=True, timeout=60)
    return split_records(read_trace(trace))[7]


@pytest.fixture(scope="module")
def ibex_elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return assemble(RISCV, [*IBEX_FLAGS], tmp_path_factory.mktemp("elf"))


def test_ibex_costs_what_its_manual_says(ibex_elf: Path, tmp_path: Path) -> None:
    record, _ = modelled(RISCV, "ibex", ibex_elf, tmp_path)
    assert record.spans.tolist() == IBEX
    assert record.interval is None


def test_traps_that_are_entered_are_left(ibex_elf: Path, tmp_path: Path) -> None:
    _, said = modelled(RISCV, "ibex", ibex_elf, tmp_path)
    assert "15 traps entered, 15 left" in said  # ten calls, five interrupts


def test_the_verilog_agrees_with_the_count_by_hand(ibex_elf: Path, tmp_path: Path) -> None:
    assert on_ibex(ibex_elf, tmp_path).spans.tolist() == IBEX


def test_random_code_takes_the_cycles_of_the_verilog(tmp_path: Path) -> None:
    """Thirty spans of random code in one boot, half of them compressed."""
    seed = 20240914
    codes = [random_code.span(random) for random in (Random(seed + i) for i in range(30))]
    source = tmp_path / "random.S"
    source.write_text(random_code.program(codes))
    elf = assemble(RISCV, [*IBEX_FLAGS], tmp_path, source)
    ours, _ = modelled(RISCV, "ibex", elf, tmp_path)
    theirs = on_ibex(elf, tmp_path)
    assert ours.spans.size == len(codes)
    for code, model, exact in zip(codes, ours.spans, theirs.spans, strict=True):
        assert model == exact, f"the model says {model}, Ibex takes {exact}:\n    {code}"


def vexriscv_elf(memory: int, device: dict[str, int], folder: Path) -> Path:
    flags = ["-march=rv32imac_zicsr_zifencei", "-mabi=ilp32", "-Wl,-N"]
    flags += ["-Wl,--no-warn-rwx-segments", f"-Wl,-Ttext={memory:#x}"]
    flags += [f"-Wl,-Tbss={memory + 0x40000:#x}"]
    flags += [f"-D{name}={address:#x}" for name, address in device.items()]
    folder.mkdir()
    return assemble(replace(RISCV, suffix="vexriscv"), flags, folder)


def test_vexriscv_costs_what_its_verilog_takes(tmp_path: Path) -> None:
    """The same code for both maps; with full caches both agree with the count by hand."""
    devices = {"MSIP": 0x02000000, "FINISHER": 0x00100000}
    elf = vexriscv_elf(0x80000000, devices, tmp_path / "virt")
    record, said = modelled(RISCV, "vexriscv", elf, tmp_path)
    assert "12 traps entered, 12 left" in said
    devices = {"MSIP": 0xF0010000, "FINISHER": 0xF0020000}
    elf, trace = vexriscv_elf(0x40000000, devices, tmp_path / "own"), tmp_path / "rtl.trace"
    options = ["--elf", str(elf), "--trace", str(trace), "--cycle-limit", "1000000"]
    options += ["--watch", hex(scope_plugin.marker_address(elf))]
    options += ["--uart", "0xf0000000", "--clint", "0xf0010000", "--finisher", "0xf0020000"]
    for memory in ("rom:0x40000000:0x40000:0", "ram:0x40040000:0x40000:0"):
        options += ["--memory", memory]
    subprocess.run([str(rtl_core.build("vexriscv-imac").program), *options], check=True, timeout=60)
    verilog = split_records(read_trace(trace))[7]
    exact = verilog.spans.reshape(-1, EXECUTIONS)
    ours = record.spans.reshape(-1, EXECUTIONS)
    for warm in range(1, EXECUTIONS):
        assert ours[:, warm].tolist() == exact[:, warm].tolist() == VEXRISCV
    for kind in MISSES:
        theirs = verilog.misses[kind].reshape(-1, EXECUTIONS)
        assert theirs[:, 0].sum() > 0
        # The first time the model leaves out a line here and there that the core fetches ahead.
        least = 0 if kind == "dcache-misses" else 1
        off = theirs - record.misses[kind].reshape(-1, EXECUTIONS)
        assert np.count_nonzero(off[:, 1:]) == 0 and set(off[:, 0].tolist()) <= {0, least}
    assert (ours[:, 0] > ours[:, 1]).sum() >= 10  # it fetches lines, and fills others
    assert np.max(np.abs(ours[:, 0] / exact[:, 0] - 1.0)) <= 0.2


def test_the_image_for_qemu_is_the_cores_own_code() -> None:
    """Linked for another map: only the upper halves of addresses of devices differ."""
    text = []
    for tier in ("emulated", "rtl"):
        file = build_image(parse_target(f"freertos/vexriscv@{tier}"), "scope").elf.path
        with file.open("rb") as stream:
            text.append(ELFFile(stream).get_section_by_name(".text").data())
    ours, theirs = (np.frombuffer(code, dtype="<u2") for code in text)
    assert ours.size == theirs.size
    differ = np.flatnonzero(ours != theirs)
    assert 0 < differ.size < 40
    lui = 0x37
    first = [ours[i] if ours[i] & 0x7F == lui else ours[i - 1] for i in differ]
    assert all(half & 0x7F == lui for half in first)


def test_fe310_costs_what_sifive_says(tmp_path: Path) -> None:
    flags = ["-march=rv32im_zicsr", "-mabi=ilp32", "-Wl,-N", "-Wl,--no-warn-rwx-segments"]
    flags += ["-Wl,-Ttext=0x20010000", "-Wl,-Tbss=0x80000000"]
    elf = assemble(HIFIVE1, flags, tmp_path)
    model = timing_model.model("hifive1-revb", TimingModel(name="fe310"))
    record, _ = modelled(HIFIVE1, "fe310", elf, tmp_path, *model.arguments)
    assert record.interval is not None
    low, high = (ends.reshape(-1, 2) for ends in record.interval)
    for i, (least, most, lines) in enumerate(FE310):
        assert low[i, 0] == least + lines * FE310_LINE[0]
        assert high[i, 0] == most + (lines + (i == len(FE310) - 1)) * FE310_LINE[1]
    warm = [(least, most) for least, most, _ in FE310[:-1]]
    assert list(zip(low[:-1, 1].tolist(), high[:-1, 1].tolist(), strict=True)) == warm
    # Three lines for two ways: each may be there, or come again.
    least, most, _ = FE310[-1]
    assert (low[-1, 1], high[-1, 1]) == (least, most + 3 * FE310_LINE[1])


@pytest.fixture(scope="module")
def arm_elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    flags = [*ARM.flags, "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
    return assemble(ARM, flags, tmp_path_factory.mktemp("elf"))


def test_cortex_m4_costs_what_arm_says(arm_elf: Path, tmp_path: Path) -> None:
    given = TimingModel(name="cortex-m4", parameters={"flash_wait": 0})
    model = timing_model.model("stm32f4", given)
    record, said = modelled(ARM, "cortex-m4", arm_elf, tmp_path, *model.arguments)
    assert record.interval is not None
    low, high = (ends.tolist() for ends in record.interval)
    assert list(zip(low, high, strict=True)) == CORTEX_M4
    assert record.spans.tolist() == [sum(pair) // 2 for pair in CORTEX_M4]
    assert "3 traps entered, 3 left" in said  # two calls, and one behind the other


def test_wait_states_of_the_flash_widen_the_interval(arm_elf: Path, tmp_path: Path) -> None:
    intervals = []
    for wait in (0, (0, 5), 5):
        given = TimingModel(name="cortex-m4", parameters={"flash_wait": wait})
        model = timing_model.model("stm32f4", given)
        record, _ = modelled(ARM, "cortex-m4", arm_elf, tmp_path, *model.arguments)
        assert record.interval is not None
        intervals.append(record.interval)
    none, between, five = intervals
    assert np.array_equal(between[0], none[0]) and np.array_equal(between[1], five[1])
    assert np.all(five[0] >= none[0]) and np.any(five[0] > none[0])
    jumps = 11  # the span with two of them, in lines that were prefetched
    assert five[1][jumps] - none[1][jumps] <= 2 * 5


@pytest.fixture(scope="module")
def state_elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    flags = [*ARM.flags, "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
    return assemble(replace(ARM, suffix="arm-state"), flags, tmp_path_factory.mktemp("elf"))


def ends_of(
    elf: Path, folder: Path, given: dict[str, int | tuple[int, int]]
) -> tuple[list[tuple[int, int]], str]:
    """The spans' least and most under the Cortex-M4's model, and what the plugin said."""
    model = timing_model.model("stm32f4", TimingModel(name="cortex-m4", parameters=given))
    record, said = modelled(ARM, "cortex-m4", elf, folder, *model.arguments)
    assert record.interval is not None
    low, high = (ends.tolist() for ends in record.interval)
    return list(zip(low, high, strict=True)), said


def test_floats_are_saved_when_a_handler_uses_them(state_elf: Path, tmp_path: Path) -> None:
    ends, said = ends_of(state_elf, tmp_path, {"flash_wait": 0})
    assert ends[: len(LAZY_FLOATS)] == LAZY_FLOATS
    assert "5 traps entered, 5 left" in said


# The store of the end alone; ten loads; ten stores; four loads of an LDM. A load waits for its own
# transfers of ten cycles, and for what the core has not overtaken of a store before it.
EXTERNAL = {
    32: {0: (10, 11), 3: (120, 122), 5: (110, 121), 7: (51, 56)},
    16: {0: (20, 21), 3: (230, 232), 5: (220, 231), 7: (101, 106)},
}


@pytest.mark.parametrize("bits", [*EXTERNAL])
def test_data_outside_the_chip_waits_for_each_transfer(
    bits: int, arm_elf: Path, tmp_path: Path
) -> None:
    ends, _ = ends_of(
        arm_elf, tmp_path, {"flash_wait": 0, "external_wait": 10, "external_bits": bits}
    )
    assert {span: ends[span] for span in EXTERNAL[bits]} == EXTERNAL[bits]


@pytest.mark.parametrize("kept", [*ACCELERATOR])
def test_the_accelerator_keeps_the_lines_that_the_manual_says(
    kept: tuple[int, int], state_elf: Path, tmp_path: Path
) -> None:
    ends, _ = ends_of(state_elf, tmp_path, {"flash_wait": 5, "prefetch_kept": kept})
    assert ends[len(LAZY_FLOATS) :] == ACCELERATOR[kept]


def test_without_the_accelerator_every_line_waits(state_elf: Path, tmp_path: Path) -> None:
    ends, _ = ends_of(state_elf, tmp_path, {"flash_wait": 5, "accelerator": 0})
    assert ends[len(LAZY_FLOATS) :] == NO_ACCELERATOR


def test_a_missing_parameter_is_named(arm_elf: Path, tmp_path: Path) -> None:
    library = timing_model.plugin("cortex-m4", ARM.emulator)
    for options, message in (([], "needs refill=CYCLES"), (["refill=3:1"], "unknown argument")):
        arguments = scope_plugin.arguments(library, arm_elf, tmp_path / "trace", options)
        answer = subprocess.run(
            command(ARM, arm_elf, arguments), capture_output=True, text=True, check=False
        )
        assert answer.returncode != 0 and message in answer.stderr


@pytest.mark.parametrize("board", ["stm32f4", "ibex", "vexriscv", "hifive1-revb"])
def test_a_kernel_leaves_every_trap_that_it_enters(board: str) -> None:
    """Ticks come anywhere: behind a return from a function, in a handler, as the image ends."""
    name = parse_target(f"freertos/{board}@emulated")
    target = make_target(name, "model", build_image(name, "scope"), Setup())
    points = [Point(10, "micro/semaphore-shuffle", 1, params={"iterations": 30_000})]
    target.open(plan_text([*points, Point(11, "irq/to-task", 50)]))
    while target.read(1.0) is not None:
        pass
    said = re.search(r"(\d+) traps entered, (\d+) left", target.close())
    assert said is not None
    entered, left = int(said[1]), int(said[2])
    assert entered - left in (0, 1) and left > 1000


BENCHES = (
    *("micro/task-switch-sampled", "micro/message-latency-sampled", "itc/semaphore-binary"),
    *("itc/message-buffer", "irq/to-handler", "irq/to-task"),
)


def _run(output: Path, *options: str) -> Run:
    answer = kadenz("run", *BENCHES, "--set", "samples=12", "--output", str(output), *options)
    assert answer.exception is None and answer.return_value == 0, answer.output
    (run,) = find_runs([output])
    return run


@pytest.fixture(scope="module")
def ibex_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    options = ("--target", "freertos/ibex@emulated", "--instrument", "model")
    return _run(tmp_path_factory.mktemp("model"), *options)


_TICK = 100  # cycles, at least, that a tick adds to a span


@pytest.mark.parametrize(
    ("board", "median", "most"), [("ibex", 0.01, 0.03), ("vexriscv", 0.05, 0.1)]
)
def test_every_span_is_near_the_verilog(
    board: str, median: float, most: float, ibex_run: Run, tmp_path: Path
) -> None:
    options = ("--target", f"freertos/{board}@emulated", "--instrument", "model")
    model = ibex_run if board == "ibex" else _run(tmp_path / "model", *options)
    exact = _run(tmp_path / "rtl", "--target", f"freertos/{board}@rtl", "--instrument", "scope")
    records = {record.bench: record for record in exact.manifest.records}
    errors = {}
    for record in model.manifest.records:
        if record.bench in BENCHES:
            ours = model.samples(record, 0).astype(float)
            theirs = exact.samples(records[record.bench], 0).astype(float)
            assert ours.size == theirs.size == 12
            # The timers of QEMU and of the simulation differ: a tick may meet a span of one alone.
            # It is late there then, and longer than the other: spans of two kinds may lie on both
            # sides of a median.
            late = [span >= np.median(span) + _TICK for span in (ours, theirs)]
            met = (late[0] != late[1]) & (np.abs(ours - theirs) >= _TICK)
            assert met.sum() <= 1
            errors[record.bench] = np.abs(ours / theirs - 1.0)[~met]
    assert errors.keys() == set(BENCHES)
    assert np.median(np.concatenate(list(errors.values()))) < median
    assert max(each.max() for each in errors.values()) <= most


def test_a_run_says_which_model_gave_its_cycles(ibex_run: Run) -> None:
    clock = ibex_run.manifest.clock
    assert (clock.clock_class, clock.unit, clock.hz) == ("cycle-model", "cycle", 100_000_000)
    assert clock.model is not None and clock.model.name == "ibex"
    assert ibex_run.manifest.target.instrument == "model"
    assert ibex_run.manifest.emulator is not None
    assert "kadenz-model-ibex" in ibex_run.manifest.emulator.arguments


def test_a_target_without_a_model_is_refused_with_what_it_offers() -> None:
    answer = kadenz("run", "itc/queue", "--target", "freertos/ibex@rtl", "--instrument", "model")
    assert isinstance(answer.exception, UsageError)
    assert answer.exception.remedy == "It offers counter, scope"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (TimingModel(name="ibexx"), "no model `ibexx`"),
        (TimingModel(name="ibex", parameters={"wait": 1}), "has no parameter `wait`"),
    ],
)
def test_a_wrong_model_in_board_toml_is_named(given: TimingModel, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        timing_model.model("ibex", given)
