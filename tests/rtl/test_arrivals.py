# SPDX-License-Identifier: Apache-2.0
"""kadenz worst: an interrupt in every cycle of a service, each in a copy of the simulated core."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.analysis import analyse
from kadenz.analysis.growth import Growth, state_sweeps
from kadenz.analysis.profiles import view
from kadenz.analysis.structures.population import Population
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.config.manifest import ARRIVALS, SECONDS, RecordEntry
from kadenz.config.target_name import parse_target
from kadenz.errors import EXIT_FAILED, UsageError
from kadenz.images.image import Image
from kadenz.lab.execution import default_setup, image_of
from kadenz.report.labels import labelled
from kadenz.store import Run
from kadenz.store.profiles import read_profiles
from kadenz.targets import rtl_core, scope
from kadenz.targets.arrivals import Asked, read_arrivals
from kadenz.targets.base import plan_page
from kadenz.targets.rtl import machine_arguments
from kadenz.targets.scope_plugin import marker_address
from tests.rtl.test_cores import IBEX, VEXRISCV, kadenz
from tests.rtos.images import freertos
from tests.waiting import wait_for

pytestmark = pytest.mark.counted
CLUSTER = "freertos/vexriscv-cluster@rtl"
GIVE = "critical/semaphore-give"
WAITER = ("--set", "waiter=1")
SAMPLES = 4
NOPS = 8  # more of them put a branch out of the reach of its short form
OTHER_HANDLED = 5  # of a trace: HANDLED, in a handler that serves the other device


def worst(output: Path, *arguments: str) -> list[Run]:
    answer = kadenz("worst", *arguments, "--output", str(output))
    assert answer.exception is None and answer.return_value == 0, answer.output
    return find_runs([output])


def record_of(run: Run, bench: str) -> RecordEntry:
    (record,) = [record for record in run.manifest.records if record.bench == bench]
    return record


def population(run: Run, bench: str) -> Population:
    exact = Population.of(run, record_of(run, bench))
    assert exact is not None
    return exact


def curve(run: Run, bench: str) -> dict[str, NDArray[np.uint32]]:
    """The lanes and companions of the arrivals, each (n,), by name."""
    record = record_of(run, bench)
    lanes = {lane.name: lane for lane in record.series}
    chosen = {name: lanes[name] for name in ARRIVALS} | record.companions(lanes[ARRIVALS[0]])
    return {name: run.samples(record, lane) for name, lane in chosen.items()}


def lab_with(folder: Path, bench: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a folder the lab, with a benchmark of tests/rtl/benches."""
    (folder / "bench").mkdir()
    (folder / "kadenz.toml").write_text("")
    shutil.copy(Path(__file__).parent / "benches" / bench, folder / "bench")
    monkeypatch.setenv("KADENZ_LAB", str(folder))


@pytest.fixture(scope="module", params=[IBEX, VEXRISCV])
def give(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("give")
    (run,) = worst(folder, GIVE, *WAITER, "--target", request.param)
    return run


def all_arrivals(run: Run) -> Population:
    """Of the service `GIVE`: none is missing between its stamps, and its samples are kept."""
    record = record_of(run, GIVE)
    undisturbed = run.samples(record, 0)
    values = curve(run, GIVE)
    assert record.status == "ok" and undisturbed.size == SAMPLES
    assert values["phase"].tolist() == list(range(1, int(undisturbed[-1]) + 1))
    assert (values["handler"] < values["task"]).all()
    exact = population(run, GIVE)
    assert (exact.tried, exact.asleep, exact.lost) == (undisturbed[-1], 0, 0)
    assert exact.coverage.startswith("every one of")
    return exact


def test_every_cycle_between_the_stamps_has_its_arrival(give: Run) -> None:
    assert all_arrivals(give).moment == "cycle"


def test_what_is_off_or_locked_is_where_it_is_late(give: Run) -> None:
    """An arrival with interrupts on is served within the pipeline's few cycles."""
    values = curve(give, GIVE)
    masked, late = values["masked"] > 0, values["handler"] - values["handler"].min()
    # The line has to be seen: an arrival just before the core turns them off is late as well.
    assert late[masked].max() > 100 and np.median(late[~masked]) < 60
    assert masked[late > 100].mean() > 0.95
    assert values["locked"].max() == 1  # depth of FreeRTOS's lock
    exact = population(give, GIVE)
    assert exact.handler.function and exact.task.function
    assert exact.task.max > exact.handler.max > exact.handler.median


@dataclass(frozen=True)
class Bench:
    """The bench's command for an image and a plan, without the lab around it."""

    folder: Path
    target: str
    line: str
    asked: Asked | None = None  # of an image that has more than the scope's

    @cached_property
    def image(self) -> Image:
        name = parse_target(self.target)
        return image_of(name, "scope", replace(default_setup(name), arriving=self.asked))

    def run(self, *arguments: str) -> subprocess.Popen[bytes]:
        board, image = inventory.board(parse_target(self.target).board), self.image
        tier = board.tier.rtl
        assert tier is not None
        plan = self.folder / "plan"
        plan.write_bytes(plan_page(f"{self.line}\nend\n", tier.plan_bytes))
        command = [str(rtl_core.build(tier.core).program), *machine_arguments(tier, {})]
        command += ["--cores", str(board.cores)]
        command += ["--elf", str(image.elf.path), "--plan", f"{plan}@{tier.plan_address:#x}"]
        command += ["--watch", hex(marker_address(image.elf.path))]
        command += ["--trace", str(self.folder / "trace"), *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def marks(self, *arguments: str) -> NDArray[np.void]:
        """The marks of a run to its end."""
        process = self.run(*arguments)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        return scope.read_trace(self.folder / "trace").events


@pytest.mark.parametrize("target", [IBEX, VEXRISCV])
def test_copies_agree_with_runs_from_reset_and_leave_no_trace(target: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, target, f"{GIVE} id=10 samples={SAMPLES} arrivals=1 waiter=1")
    undisturbed = bench.marks()
    file = tmp_path / "arrivals"
    tried = bench.marks(*Asked(SAMPLES - 1).arguments(str(file)))
    assert tried.tobytes() == undisturbed.tobytes()
    seen = read_arrivals(file)
    rows = {int(row["phase"]): row for row in seen.rows}
    assert sorted(rows) == list(range(1, seen.cycles + 1)) and not seen.lost
    assert set(seen.rows["handled"]) == set(seen.rows["responded"]) == {1}

    handler, task = seen.rows["handler"], seen.rows["task"]
    chosen = {int(f(values)) + 1 for f in (np.argmin, np.argmax) for values in (handler, task)}
    for phase in chosen | {seen.cycles // 3}:
        events = bench.marks(*Asked(SAMPLES - 1).arguments(str(file)), "--arrival-only", str(phase))
        begin = events["low"][events["value"] == scope.BEGIN][-1]
        (handled,) = events["low"][events["value"] == scope.HANDLED]
        (responded,) = events["low"][events["value"] == scope.RESPONDED]
        request = begin + phase
        assert handled - request == rows[phase]["handler"]
        assert responded - request == rows[phase]["task"]
        assert events["low"][events["value"] == scope.END][-1] - begin == rows[phase]["end"]


@pytest.mark.parametrize("second", [*SECONDS])
def test_all_pairs_are_in_the_largest_of_each_arrival(second: str, tmp_path: Path) -> None:
    """Against runs from reset: all pairs of two arrivals, and the worst pairs of others."""
    bench = Bench(tmp_path, IBEX, f"{GIVE} id=10 samples={SAMPLES} arrivals=1 waiter=1")
    file, step = tmp_path / "arrivals", 96
    asked = Asked(SAMPLES - 1, step=step, second=second)
    undisturbed = bench.marks()
    assert bench.marks(*asked.arguments(str(file))).tobytes() == undisturbed.tobytes()
    rows = {int(row["phase"]): row for row in read_arrivals(file, second).rows}
    assert set(np.diff(sorted(rows))) == {step}

    def latencies(phase: int, second_at: int) -> dict[str, int]:
        """From reset; none if the sample had ended before the interrupt, or the line was high and
        the handler of the request before had begun."""
        events = bench.marks(*asked.following(phase, second_at, "task").arguments(str(file)))
        request = at = events["low"][events["value"] == scope.BEGIN][-1] + phase
        values = {}
        for lane, mark in {"handler": scope.HANDLED, "task": scope.RESPONDED}.items():
            behind = events["low"][(events["value"] == mark) & (events["low"] > at)]
            if behind.size:
                at = behind[0]
                values[lane] = int(at - request)
        return values if len(values) == len(ARRIVALS) else {}

    first, early, *_, last = sorted(rows)
    for phase in (early, last):
        tried = [latencies(phase, at) for at in range(1, phase + 1500, step)]
        for lane in ARRIVALS:
            assert max(each[lane] for each in tried if each) == rows[phase][lane]
    for lane in ARRIVALS:
        _, latest = max((row[lane], phase) for phase, row in rows.items())
        for row in (rows[first], rows[latest]):
            assert latencies(int(row["phase"]), int(row[f"{lane}:second"]))[lane] == row[lane]


def test_of_two_devices_that_wait_the_other_is_served_first(tmp_path: Path) -> None:
    """A handler then waits for a whole one, and no request is lost."""
    bench = Bench(tmp_path, IBEX, f"{GIVE} id=10 samples={SAMPLES} arrivals=1 waiter=1")
    file = tmp_path / "arrivals"
    bench.marks(*Asked(SAMPLES - 1).arguments(str(file)))
    rows = read_arrivals(file).rows
    worst = rows[rows["handler"].argmax()]  # it waits until interrupts are on again
    both = Asked(SAMPLES - 1, second="device")

    def behind(second_at: int) -> tuple[list[int], list[int]]:
        """Handlers' marks behind the request, in cycles from it, and whose they are."""
        phase = int(worst["phase"])
        events = bench.marks(*both.following(phase, second_at, "task").arguments(str(file)))
        request = events["low"][events["value"] == scope.BEGIN][-1] + phase
        marks = events[np.isin(events["value"], (scope.HANDLED, OTHER_HANDLED))]
        assert marks["value"].size == 2
        return (marks["low"] - request).tolist(), marks["value"].tolist()

    phase, alone = int(worst["phase"]), int(worst["handler"])
    taken = set()
    for second_at in (phase, phase + 1, phase + alone // 2):
        (other, handler), whose = behind(second_at)
        assert whose == [OTHER_HANDLED, scope.HANDLED] and other == alone
        taken.add(handler)
    assert len(taken) == 1 and alone + 100 < taken.pop()
    (handler, _), whose = behind(phase + alone)
    assert whose == [scope.HANDLED, OTHER_HANDLED] and handler == alone


def test_a_service_that_looks_at_the_time_is_tried_at_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--why` fails where a run from reset takes longer or shorter than the copy."""
    lab_with(tmp_path, "looks_at_time.c", monkeypatch)
    (run,) = worst(
        tmp_path / "runs", "own/looks-at-time", "--target", IBEX, "--with", "tick", "--why"
    )
    exact = population(run, "own/looks-at-time")
    assert exact.pairs > exact.tried and exact.exhaustive
    assert exact.handler.max > 500  # it waits for the time with interrupts off


def test_a_service_with_a_tick_has_no_pairs(tmp_path: Path) -> None:
    (run,) = worst(tmp_path, "critical/sleep", "--target", IBEX, "--with", "tick")
    record = record_of(run, "critical/sleep")
    assert record.status == "n/a" and "a tick of the kernel comes in its sample" in record.reason


def planted(count: int) -> Path:
    """FreeRTOS with `count` more instructions of four bytes where a send has interrupts off."""
    tree = inventory.root() / "build" / "tests" / f"send-{count}-tree"
    text = (freertos() / "queue.c").read_text()
    function = text.index("BaseType_t xQueueGenericSend( QueueHandle_t")
    place = text.index("taskENTER_CRITICAL();", function) + len("taskENTER_CRITICAL();")
    nops = (
        f'__asm volatile ( ".option push\\n .option norvc\\n .rept {count}\\n nop\\n .endr\\n'
        ' .option pop" ::: "memory" );'
    )
    changed = text[:place] + nops + text[place:]
    if not (tree / "queue.c").exists() or (tree / "queue.c").read_text() != changed:
        shutil.copytree(freertos(), tree, dirs_exist_ok=True)
        (tree / "queue.c").write_text(changed)
    return tree


def test_nops_in_a_critical_section_are_in_the_maximum_exactly(tmp_path: Path) -> None:
    most = {}
    for count in (0, NOPS):
        (run,) = worst(
            tmp_path / str(count),
            *(GIVE, *WAITER, "--target", IBEX, "--kernel-source", str(planted(count))),
        )
        most[count] = population(run, GIVE)
    assert most[NOPS].handler.max - most[0].handler.max == NOPS
    assert most[NOPS].tried - most[0].tried == NOPS


def test_a_step_tries_one_cycle_in_ten(tmp_path: Path) -> None:
    (run,) = worst(tmp_path, GIVE, "--step", "10", "--target", IBEX)
    exact, cycles = population(run, GIVE), int(run.samples(record_of(run, GIVE), 0)[-1])
    assert (exact.step, exact.tried) == (10, -(-cycles // 10))
    assert exact.coverage == f"{exact.tried} arrival cycles tried, one in 10"
    assert [e.value for e in run.manifest.conditions if e.kind == "arrivals"] == [
        f"one cycle in 10 of sample {SAMPLES}"
    ]


@pytest.mark.parametrize("target", [IBEX, VEXRISCV])
def test_a_core_that_goes_to_sleep_is_woken_at_once(target: str, tmp_path: Path) -> None:
    """Time that is skipped for a sleeping core is not skipped over a request."""
    (run,) = worst(tmp_path, "critical/sleep", "--target", target)
    exact = population(run, "critical/sleep")
    assert exact.asleep > 10 * exact.tried and exact.task.max < 5000
    assert f"in {exact.asleep:,} the core slept" in exact.coverage


def test_a_service_that_uses_the_interrupt_itself_is_not_applicable(tmp_path: Path) -> None:
    (run,) = worst(tmp_path, "irq/to-task", "--target", IBEX)
    record = record_of(run, "irq/to-task")
    assert (record.status, record.reason) == (
        "n/a",
        "it uses the interrupt itself that is to arrive",
    )


def test_two_cores_whose_handler_nobody_can_tell_are_refused(tmp_path: Path) -> None:
    answer = kadenz("worst", GIVE, "--target", CLUSTER, "--output", str(tmp_path))
    assert isinstance(answer.exception, UsageError)
    assert "it has 2 cores" in answer.exception.message and IBEX in answer.exception.remedy
    assert f"kadenz worst smp/offset --target {CLUSTER}" in answer.exception.remedy


def test_arrivals_without_an_end_are_named_and_the_others_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab_with(tmp_path, "hangs_if_late.c", monkeypatch)
    (run,) = worst(tmp_path / "runs", "own/hangs-if-late", "--target", IBEX)
    (warning,) = [each for each in run.manifest.warnings if each.code == "arrivals-lost"]
    assert warning.message.count("came to no end, and was last at measure+0x") == 8
    assert "further ones were not tried" in warning.message
    record = record_of(run, "own/hangs-if-late")
    handler = next(lane for lane in record.series if lane.name == "handler")
    assert record.status == "ok" and handler.missed == 8
    assert handler.planned == handler.taken + handler.missed + handler.not_measured


def text_of(file: Path) -> str:
    """Of a file of a process; empty, if the process has ended."""
    try:
        return file.read_text()
    except OSError:
        return ""


def descendants_of(process: int) -> set[int]:
    """The processes that any thread of it started, and theirs; none, if it has ended."""
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
    except OSError:
        return set()
    files = [thread / "children" for thread in threads]
    children = {int(word) for file in files for word in text_of(file).split()}
    return children.union(*map(descendants_of, children))


def test_a_bench_that_is_ended_keeps_what_it_tried_and_leaves_no_child(tmp_path: Path) -> None:
    bench = Bench(tmp_path, IBEX, f"critical/thread-join id=10 samples={SAMPLES} arrivals=1")
    file = tmp_path / "arrivals"
    process = bench.run(*Asked(SAMPLES - 1).arguments(str(file)))
    known: set[int] = set()
    while sum(map(utime_of, known)) < 50:  # some rows are whole by then
        assert process.poll() is None
        known = descendants_of(process.pid)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    seen = read_arrivals(file)
    assert not seen.whole and seen.rows.size >= 10
    assert not seen.lost  # an arrival that was ended with the bench has come to no end of its own
    assert not any(Path(f"/proc/{child}").exists() for child in known)


@pytest.mark.parametrize(("second", "step"), [("", 1), ("device", 64)])
def test_a_process_that_dies_costs_the_arrival_that_it_tried(
    second: str, step: int, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, IBEX, f"critical/thread-join id=10 samples={SAMPLES} arrivals=1")
    file = tmp_path / "arrivals"
    process = bench.run(*Asked(SAMPLES - 1, step, second=second).arguments(str(file)))
    killed = None
    while killed is None:
        assert process.poll() is None
        for child in descendants_of(process.pid) - {process.pid}:
            if not descendants_of(child) and utime_of(child) > 2:
                killed = child
    os.kill(killed, signal.SIGSEGV)
    process.communicate(timeout=300)
    seen = read_arrivals(file, second)
    (lost,) = seen.lost
    assert process.returncode == 0 and seen.whole and "crashed" in lost.why and lost.pc
    assert len(seen.rows) == seen.planned - 1 and lost.phase not in seen.rows["phase"]


def processes_with(argument: str) -> set[int]:
    """Processes that this one started, and theirs, with a part of their command line."""
    children = descendants_of(os.getpid())
    return {child for child in children if argument in text_of(Path(f"/proc/{child}/cmdline"))}


def kill_bench(left: int = 0) -> bool:
    """Kills the bench that tries arrivals, and leaves `left` bytes of its file of arrivals. False:
    there is none."""
    for child in processes_with("--arrivals"):
        if descendants_of(child):
            (Path(f"/proc/{child}/cwd").resolve() / "arrivals").write_bytes(bytes(left))
            os.kill(child, signal.SIGKILL)
            return True
    return False


@pytest.mark.parametrize("left", [0, 20])
def test_a_bench_that_is_killed_leaves_a_run_that_can_be_read(left: int, tmp_path: Path) -> None:
    """`left`: bytes of its file of arrivals, which it writes last."""

    ended = threading.Event()
    killer = threading.Thread(target=wait_for, args=[lambda: ended.is_set() or kill_bench(left)])
    killer.start()
    answer = kadenz(
        *("worst", "critical/thread-join", "--with", "tick", "--fresh", "--target", IBEX),
        *("--output", str(tmp_path)),
    )
    ended.set()
    killer.join()
    assert answer.return_value == EXIT_FAILED, answer.output
    (run,) = find_runs([tmp_path])
    record = record_of(run, "critical/thread-join")
    assert record.status == "failed" and not processes_with("--arrivals")


def utime_of(process: int) -> int:
    """Hundredths of a second that it ran; of a process that is there."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])


def test_json_has_the_populations(tmp_path: Path) -> None:
    answer = kadenz("worst", GIVE, "--target", IBEX, "--json", "--output", str(tmp_path))
    assert answer.return_value == 0, answer.output
    shown = json.loads(answer.stdout[answer.stdout.index("{\n") :])  # behind the progress
    (run,) = shown["runs"]
    arrivals = [row["arrivals"] for row in run["records"] if "arrivals" in row]
    assert arrivals and {"tried", "handler", "task"} <= arrivals[0].keys()
    assert arrivals[0]["task"]["worst_cycle"] >= 1
    assert shown["states"] == []


def test_a_state_that_holds_nothing_more_is_none(tmp_path: Path) -> None:
    empty = ("--state", "sleepers=0,ready=0", "--state", "waking=0")
    (none,) = worst(tmp_path / "none", GIVE, "--target", IBEX)
    (run,) = worst(tmp_path / "empty", GIVE, "--target", IBEX, *empty)
    assert run.path.name.endswith("-worst-sleepers0-ready0-waking0")
    expected, values = curve(none, GIVE), curve(run, GIVE)
    assert [of.tobytes() for of in values.values()] == [of.tobytes() for of in expected.values()]


def growths(runs: Sequence[Run]) -> dict[str, Growth]:
    """The law of the maxima of a single service over a single state, by lane."""
    sweeps = state_sweeps(labelled([analyse(run) for run in runs]))
    return {sweep.lane: sweep.growth for sweep in sweeps}


def test_each_thread_that_a_tick_wakes_delays_the_handler_by_as_much(tmp_path: Path) -> None:
    """The tick's interrupt moves all of them with interrupts off."""
    runs = worst(tmp_path, "critical/sleep", "--target", IBEX, "--state", "waking=0,1,2")
    laws = growths(runs)
    assert laws["handler"].law == "linear" and laws["handler"].deviation == 0
    assert laws["handler"].each > 50
    assert laws["task"].law != "constant"


def test_each_sleeper_lengthens_the_walk_to_a_later_time_out(tmp_path: Path) -> None:
    """FreeRTOS's timer task waits for a timer that is due after the sleepers."""
    runs = worst(tmp_path, "critical/timer-start", "--target", IBEX, "--state", "sleepers=0,1,2")
    laws = growths(runs)
    assert laws["task"].law == "linear" and laws["task"].each > 0 == laws["task"].deviation
    assert laws["handler"] == Growth("constant", 0.0, 0.0)


def test_a_service_that_lets_ready_threads_run_has_no_such_state(tmp_path: Path) -> None:
    ready = ("--state", "ready=8", "--set", "waiter=0")
    (run,) = worst(tmp_path, GIVE, "critical/sleep", "--target", IBEX, *ready)
    assert record_of(run, GIVE).status == "ok" and population(run, GIVE).exhaustive
    asleep = record_of(run, "critical/sleep")
    assert asleep.status == "n/a" and "was to stay ready ran" in asleep.reason
    assert not asleep.companions(asleep.lanes[0]) and all(
        lane.name not in ARRIVALS for lane in asleep.lanes
    )


def test_threads_without_room_fail_the_record(tmp_path: Path) -> None:
    answer = kadenz(
        *("worst", GIVE, "--target", IBEX, "--state", "sleepers=8,waking=8,ready=8"),
        *("--output", str(tmp_path)),
    )
    (run,) = find_runs([tmp_path])
    record = record_of(run, GIVE)
    assert answer.return_value == EXIT_FAILED and record.status == "failed"
    assert record.reason == "the kernel has no room for a thread of the state, or refuses it"


@pytest.mark.parametrize("waits", ["rom=0", "rom=4"])
def test_the_worst_arrival_is_followed_beside_a_typical_one(waits: str, tmp_path: Path) -> None:
    """Cycle for cycle, from the request to the mark, in a run from reset."""
    (run,) = worst(tmp_path, GIVE, *WAITER, "--target", IBEX, "--why", "--wait-states", waits)
    values, exact = curve(run, GIVE), population(run, GIVE)
    (profile,) = read_profiles(run)
    assert [lane.lane for lane in profile.lanes] == list(ARRIVALS)
    for lane, extremes in zip(profile.lanes, (exact.handler, exact.task), strict=True):
        assert [each.name for each in lane.views] == ["typical", "slowest"]
        for each in lane.views:
            assert values[lane.lane][values["phase"] == each.sample] == [each.instructions]
            assert sum(stack.instructions for stack in each.stacks) == each.instructions
        assert view(lane, "slowest").sample == extremes.phase
        assert abs(view(lane, "typical").instructions - extremes.median) < 2
    # The arrival is served while the scheduler is locked, and the switch waits for its end.
    task = view(profile.lanes[1], "slowest")
    assert task.locked and task.exceptions and task.returns
    assert (run.path / "profiles" / "profile.html").is_file()


def test_a_core_that_does_not_show_what_it_retires_is_not_followed(tmp_path: Path) -> None:
    answer = kadenz("worst", GIVE, "--target", VEXRISCV, "--why", "--output", str(tmp_path))
    assert isinstance(answer.exception, UsageError)
    assert "acts at no fixed distance from its retirement" in answer.exception.message
