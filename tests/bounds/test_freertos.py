# SPDX-License-Identifier: Apache-2.0
"""kadenz bound on FreeRTOS: above every arrival of the simulated core, and by how much."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace as changed

from kadenz.bounds.latency import Latencies
from kadenz.bounds.premises import Premises
from kadenz.bounds.sections import Refused, Section, Sections
from kadenz.config.target_name import parse_target
from kadenz.errors import KadenzError, UsageError
from kadenz.lab.execution import default_setup, image_of
from kadenz.store import read_run
from tests.rtl.test_arrivals import GIVE, NOPS, planted
from tests.rtl.test_cores import IBEX, kadenz

pytestmark = pytest.mark.counted
RESUME, LOCK, SLEEP = "critical/thread-resume", "critical/mutex-lock", "critical/sleep"
SERVICES = (GIVE, LOCK, RESUME, SLEEP)


def bounds(output: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    answer = kadenz("bound", *arguments, "--target", IBEX, "--json", "--output", str(output))
    assert answer.exception is None and answer.return_value == 0, answer.output
    rows = json.loads(answer.stdout[answer.stdout.index("[\n") :])  # behind the progress
    return {row["benchmark"]: row for row in rows}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bounds")


@pytest.fixture(scope="module")
def given(folder: Path) -> dict[str, dict[str, Any]]:
    return bounds(folder, *SERVICES)


@pytest.fixture(scope="module")
def latencies() -> Latencies:
    return Latencies(image(), Premises.of(parse_target(IBEX), ()))


def image() -> Path:
    target = parse_target(IBEX)
    return image_of(target, "scope", default_setup(target)).elf.path


def met(latencies: Latencies, *names: str) -> list[int]:
    return [f.start for f in latencies.code.functions if f.name in names]


def test_every_arrival_is_below_its_bound(given: dict[str, dict[str, Any]]) -> None:
    """And no bound is far above the largest arrival of all states of the service."""
    assert set(given) == set(SERVICES)
    for service, row in given.items():
        for lane in ("handler", "task"):
            end = row[lane]
            factor = 2 if service == SLEEP else 1.3
            assert end["tried"] <= end["bound"] < factor * end["tried"], row
            assert end["bound"] == sum(end["parts"].values()), row
    assert given[GIVE]["arrivals"] > 1000
    assert [row["tick"] for row in given.values()] == [False, False, False, True]
    assert [bool(row["partial"]) for row in given.values()] == [False, False, False, True]
    assert "the core slept" in given[SLEEP]["partial"][0]


def test_the_state_of_the_largest_arrival_is_named(given: dict[str, dict[str, Any]]) -> None:
    """A lock that waits with a time-out puts its thread into a list in order of time."""
    assert given[LOCK]["task"]["state"] == "blocks 2"
    assert given[GIVE]["task"]["state"] == "waiter 2"
    assert given[RESUME]["task"]["state"] is None


def test_the_median_of_all_services_is_a_line(tmp_path: Path) -> None:
    services = (RESUME, "critical/thread-yield")
    answer = kadenz("bound", *services, "--target", IBEX, "--output", str(tmp_path))
    (line,) = [line for line in answer.output.splitlines() if line.startswith("Tightness")]
    assert "handler 1." in line and "task 1." in line and line.endswith("(2 services)")


def test_services_of_timers_have_a_bound_of_the_handler(tmp_path: Path) -> None:
    """The timers' task jumps by a table; it may have the rank of the woken thread."""
    given = bounds(tmp_path, "critical/timer-start", "critical/timer-stop")
    for row in given.values():
        assert row["handler"]["tried"] <= row["handler"]["bound"] < 1.3 * row["handler"]["tried"]
        assert row["task"]["why_not"] == "prvTimerTask has the rank of the woken thread"


def test_the_section_is_named(given: dict[str, dict[str, Any]]) -> None:
    assert given[GIVE]["handler"]["section"].startswith("xQueueGenericSend+")
    assert given[GIVE]["task"]["section"].startswith("vTaskSuspendAll+")
    assert {"xQueueGenericSend", "the handler"} <= set(given[GIVE]["handler"]["parts"])


def test_open_code_is_left_within_the_entry(
    given: dict[str, dict[str, Any]], folder: Path, latencies: Latencies
) -> None:
    """An arrival with interrupts on: the instruction that is executed, the core's entry, and the
    way to the handler are all that it waits for."""
    (run,) = [read_run(path) for path in folder.iterdir()]
    entry = Premises.of(parse_target(IBEX), ()).model.file.entry
    most = latencies.request(met(latencies, "xQueueGenericSend")) + latencies.to_handler
    tried = [record for record in run.manifest.records if record.functions]
    assert len(tried) > len(given)
    for record in tried:
        lane = next(lane for lane in record.series if lane.name == "handler")
        handler = run.samples(record, lane)
        masked = run.samples(record, record.companions(lane)["masked"]) > 0
        # An arrival in the last cycles before interrupts go off is served behind the section.
        on = ~masked & ~np.roll(masked, -entry)
        assert on.any()
        assert handler[on].max() <= most


def test_instructions_in_a_section_are_in_its_bound_exactly(tmp_path: Path) -> None:
    both = [
        bounds(tmp_path / str(count), GIVE, "--kernel-source", str(planted(count)))[GIVE]
        for count in (0, NOPS)
    ]
    assert both[1]["handler"]["bound"] - both[0]["handler"]["bound"] == NOPS


def test_a_loop_without_a_bound_is_named(latencies: Latencies) -> None:
    premises = Premises.of(parse_target(IBEX), ())
    loops = {name: most for name, most in premises.facts.loops.items() if name != "vListInsert"}
    facts = changed(premises.facts, loops=loops)
    without = Latencies(image(), replace(premises, facts=facts))
    answer = without.of("critical/semaphore-take", met(latencies, "kdz_sem_take"))
    assert isinstance(answer.handler, Section)
    assert isinstance(answer.task, str)
    assert answer.task.startswith("vListInsert+") and answer.task.endswith("no bound")


def test_more_rounds_are_a_longer_bound(latencies: Latencies) -> None:
    """The list of sleepers is walked in a section."""
    longer = Latencies(image(), Premises.of(parse_target(IBEX), ("sleepers=4",)))
    take = [
        each.of("critical/semaphore-take", met(each, "kdz_sem_take")).task
        for each in (latencies, longer, latencies.within({"sleepers": 4}))
    ]
    quiet, late, again = (each.cycles for each in take if isinstance(each, Section))
    assert quiet < late == again


@pytest.mark.parametrize(
    ("facts", "service", "function"),
    [
        ({"resting": ()}, "critical/heap-allocate", "pvPortMalloc"),
        ({"by_interrupts": ()}, "critical/heap-allocate", "pvPortMalloc"),
        ({"search": ()}, "critical/thread-yield", "kdz_thread_yield"),
        ({"ready": ()}, GIVE, "kdz_sem_give"),
        ({"writes": {}}, "critical/queue-send", "xQueueGenericSend"),
    ],
)
def test_without_a_fact_the_bound_is_longer(
    facts: dict[str, Any], service: str, function: str, latencies: Latencies
) -> None:
    less = changed(latencies.premises.facts, **facts)
    other = Latencies(image(), replace(latencies.premises, facts=less))
    short, long = (each.of(service, met(each, function)).handler for each in (latencies, other))
    assert isinstance(short, Section) and isinstance(long, Section)
    assert short.cycles < long.cycles


def test_with_a_tick_words_that_it_leaves_behind_are_not_known(latencies: Latencies) -> None:
    """A tick that came while the scheduler was locked: its end does the work."""
    answers = [
        latencies.of("critical/heap-allocate", met(latencies, "pvPortMalloc"), tick=tick).handler
        for tick in (False, True)
    ]
    without, ticked = (answer.parts for answer in answers if isinstance(answer, Section))
    assert "xTaskIncrementTick" in ticked and "xTaskIncrementTick" not in without


def test_a_return_that_a_loop_without_rounds_leads_to_is_refused(
    latencies: Latencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has rounds, then: it must not make the function vanish."""
    (start,) = met(latencies, "vTaskResume")
    monkeypatch.setattr(Sections, "_empty_loops", lambda self, unfolded: {start})
    other = Latencies(image(), latencies.premises)
    answer = other.of(RESUME, [start])
    assert isinstance(answer.handler, str)
    assert (
        answer.handler == "vTaskResume+0x0: no way to its return without a loop that has no round"
    )


def test_a_jump_that_nothing_decides_is_refused_with_its_place(latencies: Latencies) -> None:
    """Of a timer that is due, in a service that does not exclude one."""
    answer = latencies.of(GIVE, met(latencies, "prvTimerTask"))
    assert isinstance(answer.handler, str)
    assert answer.handler.startswith("prvProcessExpiredTimer+")
    assert "leads through a register" in answer.handler


def test_a_section_that_leaves_its_function_is_refused(latencies: Latencies) -> None:
    answer = latencies.of(GIVE, met(latencies, "vTaskSuspendAll"))
    assert isinstance(answer.handler, str)
    assert answer.handler.startswith("vTaskSuspendAll+") and "scheduler locked" in answer.handler


def test_what_was_executed_cannot_be_declared_as_never_reached(latencies: Latencies) -> None:
    answer = latencies.of(GIVE, met(latencies, "kdz_sem_give", "memcpy"))
    assert answer.handler == "memcpy was executed, and [bound] says that it never is"


def test_a_tick_is_part_of_the_bound_where_it_may_come(latencies: Latencies) -> None:
    give = met(latencies, "kdz_sem_give")
    without, ticked = latencies.of(GIVE, give), latencies.of(GIVE, give, tick=True)
    assert (without.tick, ticked.tick) == (False, True)
    for quiet, late in ((without.handler, ticked.handler), (without.task, ticked.task)):
        assert isinstance(quiet, Section) and isinstance(late, Section)
        assert quiet.cycles < late.cycles


def test_a_word_that_the_image_lacks_is_named(latencies: Latencies) -> None:
    kernel = changed(latencies.premises.kernel, scheduler_lock="uxGone")
    with pytest.raises(UsageError, match="0 variables uxGone, which kernel.toml names"):
        Latencies(image(), replace(latencies.premises, kernel=kernel))


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"should_run": "pxDelayedTaskList"}, "a return that may owe a switch"),
        ({"switches": ("vListInsert",)}, "a switch with interrupts off, or the scheduler locked"),
    ],
)
def test_a_kernel_that_switches_in_another_way_than_declared_is_refused(
    facts: dict[str, Any], why: str, latencies: Latencies
) -> None:
    changed_facts = changed(latencies.premises.facts, **facts)
    other = Latencies(image(), replace(latencies.premises, facts=changed_facts))
    answer = other.of(GIVE, met(other, "kdz_sem_take"))
    assert isinstance(answer.handler, str) and answer.handler.endswith(why)


def test_a_function_that_switches_is_a_section_of_its_code(latencies: Latencies) -> None:
    """Here one that keeps interrupts on: the handler waits for nothing but what other threads have
    left of a section in which they switched."""
    facts = changed(latencies.premises.facts, switches=("xTaskGetTickCount",))
    other = Latencies(image(), replace(latencies.premises, facts=facts))
    functions = met(other, "kdz_tick_now")
    answer = other.of(GIVE, functions)
    assert isinstance(answer.handler, Section)
    left = answer.handler.parts["the switch"]
    assert 0 < left < 50
    assert answer.handler.cycles == other.request(functions) + other.to_handler + left


def test_a_call_that_was_passed_before_an_owed_switch_is_refused(latencies: Latencies) -> None:
    sections = Sections(
        latencies.code, latencies._sections.layout, latencies._sections._costs, latencies.premises
    )
    (start,) = met(latencies, "xQueueGenericSend")
    root = sections.unfolded(start)
    assert sections.through(root, lambda node: node.masked, to_switch=True).cycles
    root.passed |= {node for node in root.ways if node.masked}
    with pytest.raises(Refused, match="a call that cannot be followed, before an owed switch"):
        sections.through(root, lambda node: node.masked, to_switch=True)


def test_a_switch_that_the_image_lacks_is_named(latencies: Latencies) -> None:
    facts = changed(latencies.premises.facts, switches=("vGone",))
    with pytest.raises(UsageError, match="no function vGone, which kernel.toml names"):
        Latencies(image(), replace(latencies.premises, facts=facts))


def test_an_exception_that_cannot_be_followed_is_refused(
    latencies: Latencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Sections, cause: int, *, locked: bool = False) -> Any:
        raise Refused("vTick+0x4: `jr a5` leads through a register")

    monkeypatch.setattr(Sections, "trap", refuse)
    answer = latencies.of(GIVE, met(latencies, "kdz_sem_give"))
    assert answer.handler == answer.task == "vTick+0x4: `jr a5` leads through a register"


@pytest.mark.parametrize("command", ["bound", "worst"])
def test_a_service_without_arrivals_says_why(command: str, tmp_path: Path) -> None:
    answer = kadenz(command, "irq/to-task", "--target", IBEX, "--output", str(tmp_path))
    assert answer.return_value == 0
    assert "irq/to-task: n/a: it uses the interrupt itself" in answer.output.splitlines()[-1]


def test_an_image_names_its_kernel(tmp_path: Path) -> None:
    answer = kadenz(
        *("bound", RESUME, "--image", str(image()), "--target", "ibex@rtl", "--json"),
        *("--output", str(tmp_path)),
    )
    assert answer.return_value == 0, answer.output
    (row,) = json.loads(answer.stdout[answer.stdout.index("[\n") :])
    assert row["handler"]["tried"] <= row["handler"]["bound"]


def test_a_thread_of_the_same_rank_is_named(latencies: Latencies) -> None:
    facts = changed(latencies.premises.facts, urgent=("kdz_sem_take",))
    other = Latencies(image(), replace(latencies.premises, facts=facts))
    answer = other.of(GIVE, met(other, "kdz_sem_take"))
    assert answer.task == "kdz_sem_take has the rank of the woken thread"


def test_an_arrival_above_its_bound_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A premise that is wrong must not pass."""
    right = Latencies.of

    def wrong(self: Latencies, *arguments: Any, **named: Any) -> Any:
        answer = right(self, *arguments, **named)
        return replace(answer, handler=Section(300, "", {}))

    monkeypatch.setattr(Latencies, "of", wrong)
    answer = kadenz("bound", RESUME, "--target", IBEX, "--output", str(tmp_path))
    assert type(answer.exception) is KadenzError
    assert RESUME in answer.exception.message


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--target", "freertos/ibex2@rtl"), "no timing model gives bounds for this core"),
        (("--target", "freertos/ibex@emulated"), "no timing model gives bounds for this core"),
        (("--target", "rtic/ibex@rtl"), "nothing is declared about the loops of this kernel"),
        (("--target", IBEX, "--at-most", "thread=4"), "no quantity `thread` bounds a loop"),
        (("--target", IBEX, "--at-most", "threads=-1"), "expected a number from 0"),
        (("--target", IBEX, "--at-most", "threads"), "expected a number from 0"),
        (("--target", IBEX, "--at-most", "threads=1000001"), "expected a number from 0"),
        (("--target", IBEX, "--at-most", f"threads={'9' * 5000}"), "expected a number from 0"),
    ],
)
def test_what_has_no_bounds_is_refused(
    arguments: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    answer = kadenz("bound", GIVE, *arguments, "--output", str(tmp_path))
    assert isinstance(answer.exception, UsageError)
    assert why in answer.exception.message and answer.exception.remedy
    assert not any(tmp_path.iterdir())
