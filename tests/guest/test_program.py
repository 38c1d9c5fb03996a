# SPDX-License-Identifier: Apache-2.0
"""A program instead of the suite inside a guest: the EtherCAT master, its tasks and its ring."""

from __future__ import annotations

import platform
import re
import threading
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.analysis import analyse
from kadenz.config import inventory
from kadenz.config.board import GuestProgram
from kadenz.config.campaign import Benchmark
from kadenz.config.target_name import parse_target
from kadenz.errors import TargetFailed, ToolMissing, UsageError
from kadenz.images.guest import plan_archive
from kadenz.lab.boot import Execution, run_plan
from kadenz.lab.guests import BOOT_S, guest_image
from kadenz.lab.measure import stamp_benchmark_notes
from kadenz.report.studies.cereia2011 import is_preempt_rt
from kadenz.store import Run, read_run
from kadenz.targets.guest import require_program
from kadenz.wire.records import Assembler, NoRecords
from tests.guest.conftest import Machine, machine, measured
from tests.synthetic import LINUX, manifest

pytestmark = [pytest.mark.counted, pytest.mark.usefixtures("program_runs_here")]

RT, PLAIN = "linux-rt/indy7-x86_64@guest", "linux/indy7-x86_64@guest"
EDGES = Benchmark(name="ethercat/edge-jitter", samples=300, params={"period_us": 1000})


def run_of(
    text: str,
    output: Path,
    *,
    fresh: bool = False,
    disturbance: str = "",
    benchmark: Benchmark = EDGES,
) -> Run:
    result = measured(text, output, benchmark=benchmark, fresh=fresh, disturbance=disturbance)
    assert result.folder is not None
    return read_run(result.folder)


def edges_of(run: Run) -> NDArray[np.float64]:
    """The times of the edges in virtual ns, (n,)."""
    (record,) = [record for record in run.manifest.records if record.bench == EDGES.name]
    assert (record.status, record.series[0].missed) == ("ok", 0), record.reason
    return np.array(run.samples(record), np.float64)


@pytest.mark.parametrize("target", [RT, PLAIN])
def test_a_master_inside_a_guest_makes_every_edge(target: str, tmp_path: Path) -> None:
    """The terminal's clock is off by 37 ppm, as the ring's file has it: 37 ns in a period."""
    run = run_of(target, tmp_path)
    periods = np.diff(edges_of(run))
    assert periods.size == EDGES.samples - 1
    assert abs(np.median(periods) - 1_000_037) < 100
    assert is_preempt_rt(analyse(run)) == (target == RT)
    settings, clock = run.manifest.target.settings, run.manifest.clock
    assert settings["transport"] == "virtual interface kdz0"
    assert settings["scheduling"] == "SCHED_FIFO"
    assert (clock.clock_class, clock.unit, clock.hz) == ("instruction", "virtual ns", 0)
    assert clock.checked_against and abs(clock.rate_error_ppm or 0) < 2000
    build = run.manifest.build
    assert build is not None and {part.part for part in build.parts} >= {
        "kernel",
        "guest",
        "kadenz-motion",
    }


def test_edges_of_two_boots_are_byte_identical(tmp_path: Path) -> None:
    first = run_of(RT, tmp_path / "a")
    second = run_of(RT, tmp_path / "b", fresh=True)
    assert edges_of(first).tobytes() == edges_of(second).tobytes()


def test_a_thread_that_holds_the_processor_delays_edges_by_as_long(tmp_path: Path) -> None:
    """200 µs in every 1,010 µs meet the master in steps of 10 µs: 101 edges have every one."""
    apart = msgspec.structs.replace(EDGES, params={**EDGES.params, "phase_us": 500})  # of the tick
    times = edges_of(run_of(PLAIN, tmp_path, disturbance="200us/1010us", benchmark=apart))
    late = times - np.arange(times.size) * 1_000_037.0
    late -= np.median(late)
    # The edge that comes first after a hold began may come a whole step after it.
    assert 200_000 - 10_000 - 5_000 < late.max() < 250_000
    # 200 of 1,010, and what the frame still takes. The ring itself delays an edge by up to 5 µs.
    assert 0.15 < np.mean(late > 10_000) < 0.30


@pytest.fixture(scope="module")
def guest() -> Machine:
    return machine(RT)


def ended(guest: Machine, **arguments: tuple[str, ...]) -> TargetFailed:
    """How a boot with other arguments of the program fails."""
    assert guest.tier.program is not None
    program = msgspec.structs.replace(guest.tier.program, **arguments)
    initrd = guest.initrd() + plan_archive("list\nend\n")
    execution = Execution(guest.target(initrd, program=program), "guest", "", lambda: BOOT_S)
    outcome = run_plan(execution, Assembler(NoRecords()), threading.Event())
    assert outcome.failure is not None
    return outcome.failure


def test_devices_that_do_not_start_are_named(guest: Machine) -> None:
    failure = ended(guest, ring=("ring", "--interface", "absent"))
    assert "it could not start: the simulated ring" in failure.message
    assert "absent" in failure.detail  # the program's own message, among the last lines
    assert failure.remedy == "Its last messages are above"  # nothing of a board's start-up


def test_a_program_that_a_signal_ended_is_named(guest: Machine) -> None:
    target = guest.target(b"")
    target.console = (
        "kadenz-init: settled after 2 s\nkadenz-init: the suite was ended by signal 6\n"
    )
    assert target.why_it_ended() == "its program was ended: signal 6"


def test_a_program_that_ends_at_once_is_named(guest: Machine) -> None:
    assert "the suite ended with 2" in ended(guest, arguments=("lab", "--unknown")).detail


@pytest.mark.parametrize(
    ("key", "values", "says"),
    [
        ("arguments", ("lab", "a b"), "`a b`"),
        ("ring", ("ring", "a,b"), "`a,b`"),
        ("ring", ('"', "x"), "expected letters"),
        ("arguments", ("",), "``"),
        ("arguments", ("x",) * 17, "17 arguments; a guest takes 16"),
        ("wire", ("kdz0", "kdz$1"), "kdz$1"),
    ],
)
def test_words_that_a_guest_cannot_take_are_refused(
    key: str, values: tuple[str, ...], says: str
) -> None:
    given = {
        "crate": "c",
        "modules": ("m",),
        "wire": ("a", "b"),
        "arguments": ("lab",),
        "ring": ("ring",),
    }
    with pytest.raises(ValueError, match=re.escape(says)):
        GuestProgram(**{**given, key: values})  # type: ignore[arg-type]


def test_benchmarks_of_the_suite_do_not_go_into_a_program(guest: Machine, tmp_path: Path) -> None:
    bench = tmp_path / "own.c"
    bench.write_text("int own;\n")
    with pytest.raises(UsageError, match="not an image of the suite"):
        guest_image(guest.name, guest.guest, (bench,))


def test_a_machine_of_another_instruction_set_is_refused(
    guest: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert guest.tier.program is not None
    program = msgspec.structs.replace(guest.tier.program, target="")
    with pytest.raises(ToolMissing, match="built for this machine's aarch64"):
        require_program(guest.name, program, "x86_64")


def test_times_that_wait_for_a_frame_carry_a_note_and_are_not_judged() -> None:
    """Which phase of the ring a boot has decides them, and not the kernel."""
    records = (inventory.root() / "fieldbus/kadenz-motion/src/record/series.rs").read_text()
    benches = set(re.findall(r'"(motion/[a-z-]+)"', records))
    name = parse_target(RT)
    job = SimpleNamespace(name=name, points=[SimpleNamespace(bench=bench) for bench in benches])
    document = manifest(LINUX)
    stamp_benchmark_notes(job, SimpleNamespace(manifest=document))  # type: ignore[arg-type]
    assert benches - set(document.benchmark_notes) == {
        f"motion/{figure}" for figure in ("clock-difference", "position-error", "velocity-error")
    }
    (warning,) = [entry for entry in document.warnings if entry.code == "benchmark-note"]
    assert "phase of the ring" in warning.message
    assert all(bench in warning.message for bench in document.benchmark_notes)


def test_a_run_without_a_noted_benchmark_carries_no_note() -> None:
    job = SimpleNamespace(name=parse_target(RT), points=[SimpleNamespace(bench=EDGES.name)])
    document = manifest(LINUX)
    stamp_benchmark_notes(job, SimpleNamespace(manifest=document))  # type: ignore[arg-type]
    assert not document.benchmark_notes
    assert "benchmark-note" not in [entry.code for entry in document.warnings]


def test_the_ring_answers_on_the_other_end_of_the_wire() -> None:
    """The arguments of board.toml name the interfaces that the guest makes."""
    for text in (RT, PLAIN):
        tier = inventory.board(parse_target(text).board).tier.guest
        assert tier is not None and tier.program is not None
        assert (tier.program.arguments[-1], tier.program.ring[-1]) == tier.program.wire
