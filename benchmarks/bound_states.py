# SPDX-License-Identifier: Apache-2.0
"""Arrivals of an interrupt in random states of a kernel, beside the bounds of these states: the
table of docs/explanation/bound.md.

    python benchmarks/bound_states.py [--states 10000] [--seed 1] [--keep FILE]
        [--service 'critical/*'] [--target freertos/ibex@rtl] [--workers 2]

A state is drawn from the seed and its number: a service with a bound and its parameters; threads
that sleep, that wake with each tick and that wait for the processor; the sample that is tried, and
the step from one arrival to the next; of a core with caches also those that are empty at BEGIN.
Each state runs on the simulated core from reset. The bound
is that of a kernel with as many threads: `sleepers` and `threads` of its kernel.toml, and the
state's on top; with a tick where one came between the sample's begin and the last mark. It is that
of `kadenz bound`, for all functions that an arrival of the service interrupted in any state. Exit
code 1 if an arrival is above its bound.

--keep continues a run that was stopped: states in FILE are not executed again. Ctrl-C prints the
table of those that were.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from pathlib import Path

import msgspec
import numpy as np

from kadenz.bounds.latency import Bounds, Latencies
from kadenz.bounds.premises import Premises
from kadenz.config import inventory
from kadenz.config.target_name import parse_target
from kadenz.lab.arrivals import functions_of
from kadenz.lab.catalog import catalog_of
from kadenz.lab.execution import default_setup, image_of
from kadenz.lab.plan import FIRST_POINT, Point, plan_text
from kadenz.lab.states import MOST
from kadenz.targets import rtl_core, scope
from kadenz.targets.arrivals import Arrivals, Asked, read_arrivals
from kadenz.targets.base import plan_page
from kadenz.targets.rtl import machine_arguments
from kadenz.targets.scope_plugin import marker_address
from kadenz.wire.decoder import Decoder
from kadenz.wire.messages import Bench, End

ROOM = 2 * MOST  # threads of a state, in the pool of the kernel's port
SAMPLES = 16  # the tried one is one of them
STEPS = 16, 1024  # cycles, drawn with equal chance for each factor
USUAL_SAMPLE = 3  # from 0, that `kadenz bound` tries
ONE_ARRIVAL = 1 << 20  # cycles, longer than a sample
SHOWN = 100  # states between two lines of progress
NEAR = 20  # cycles in which a request that came before BEGIN may still wait
SLEEP = "critical/sleep"
EMPTY = ((), ("instructions",), ("data",), ("instructions", "data"))  # caches, drawn
LANES = ("handler", "task")
QUANTITIES = ("sleepers", "threads")  # of [bound] in kernel.toml
HEADS = ("most", "nearest its bound", "ratio", "above")


More = tuple[int, int]  # threads more than usual, in the order of QUANTITIES


class State(msgspec.Struct, frozen=True):
    """A service, the threads that the kernel holds besides, and the arrivals that are tried."""

    service: str
    params: dict[str, int | str]
    sleepers: int = 0
    waking: int = 0
    ready: int = 0
    sample: int = 0
    step: int = 1
    empty: tuple[str, ...] = ()  # caches, at each BEGIN

    def __str__(self) -> str:
        fields = [f"{name}={value}" for name, value in msgspec.structs.asdict(self).items()]
        params = [f"{name}={value}" for name, value in self.params.items()]
        return " ".join(
            [self.service, *params, *fields[2:-1], *map("--flush {}".format, self.empty)]
        )

    @property
    def asked(self) -> Asked:
        """For the bench, and for the image."""
        held = {"sleepers": self.sleepers, "waking": self.waking, "ready": self.ready}
        return Asked(self.sample, self.step, state=tuple(held.items()))

    @property
    def flushed(self) -> list[str]:
        """Arguments of the bench."""
        return [word for cache in self.empty for word in ("--flush", cache)]

    @property
    def more(self) -> More:
        """What the state adds to a list in order of time, and to the threads that a tick wakes.
        Ready ones are in no list that a loop walks."""
        return self.sleepers + self.waking, self.waking


class Tried(msgspec.Struct, frozen=True):
    """What a state's arrivals did: the largest of each lane in cycles, an address in each function
    that they interrupted, and whether a tick came. `why`: the record counts for nothing."""

    number: int
    state: State
    why: str = ""
    arrivals: int = 0
    lost: int = 0
    most: tuple[int, int] = (0, 0)
    met: tuple[int, ...] = ()
    tick: bool = False


@dataclass(frozen=True)
class Ticks:
    """The cycles from reset in which ticks of the kernel come."""

    first: int
    period: int

    def between(self, begin: int, end: int) -> bool:
        """Whether one comes after `begin` and until `end`."""
        return (end - self.first) // self.period > (begin - self.first) // self.period


class Core:
    """The simulated core with the image of the suite, without the lab around it."""

    def __init__(self, target: str) -> None:
        name = parse_target(target)
        self.image = image_of(name, "scope", default_setup(name))
        board = inventory.board(name.board)
        if board.tier.rtl is None:
            sys.exit(f"{target}: no simulated core")
        self._tier, elf = board.tier.rtl, self.image.elf.path
        self.flushes = rtl_core.core_file(self._tier.core).flushes
        self._command = [
            *(str(rtl_core.build(self._tier.core).program), "--cores", "1"),
            *(*machine_arguments(self._tier, {}), "--elf", str(elf)),
            *("--watch", hex(marker_address(elf))),
        ]

    @cached_property
    def ticks(self) -> Ticks:
        """Measured: a core that sleeps until a tick wakes in its cycle."""
        begin, seen, _ = self.run(State(SLEEP, {}, step=1))
        phases = np.sort(seen.rows["phase"].astype(int))
        woken = phases[1:][np.diff(phases) > 1]
        if woken.size < 2:
            sys.exit(f"{SLEEP} does not sleep until the second next tick")
        return Ticks(begin + int(woken[0]), int(woken[1] - woken[0]))

    def run(self, state: State) -> tuple[int, Arrivals, str]:
        """From reset: the cycle in which the sample begins, its arrivals, why they do not count."""
        asked = state.asked
        point = Point(
            *(FIRST_POINT, state.service, state.sample + 1),
            params=state.params,
            arrivals=asked.keys,
        )
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            page = plan_page(plan_text([point]), self._tier.plan_bytes)
            (folder / "plan").write_bytes(page)
            files = ["--plan", f"plan@{self._tier.plan_address:#x}", "--trace", "trace"]
            answer = subprocess.run(
                [*self._command, *files, *asked.arguments("arrivals"), *state.flushed],
                cwd=folder,
                capture_output=True,
                check=False,
                process_group=0,  # Ctrl-C ends none
            )
            why = _why_not(answer.stdout) if answer.returncode == 0 else answer.stderr.decode()
            marks = scope.read_trace(folder / "trace").events
            begins = marks["low"][marks["value"] == scope.BEGIN]
            seen = read_arrivals(folder / "arrivals")
            begin = int(begins[state.sample]) if begins.size > state.sample else 0
            return begin, seen, why or ("" if seen.whole else "the sample came to no end")

    def tried(self, number: int, state: State) -> Tried:
        """The arrivals of a state."""
        begin, seen, why = self.run(state)
        rows = seen.rows
        if why or seen.repeated or not rows.size:
            return Tried(number, state, why or "no arrival, or one that was served twice")
        last = max(int((rows["phase"] + rows["task"]).max()), int(rows["end"].max()), seen.cycles)
        return Tried(
            number,
            state,
            arrivals=len(rows),
            lost=len(seen.lost),
            most=(int(rows["handler"].max()), int(rows["task"].max())),
            met=tuple(int(at, 16) for at in functions_of(seen, self.image.elf)),
            tick=self.ticks.between(begin - NEAR, begin + last),
        )


def _why_not(frames: bytes) -> str:
    """Why the record of these frames is not valid; "" for one that is."""
    messages = [item.message for item in Decoder().feed(frames) if hasattr(item, "message")]
    ends = [message for message in messages if isinstance(message, End)]
    if len(ends) != 1:
        return f"{len(ends)} records ended"
    (end,) = ends
    if end.status != "ok" or end.proof.failed or not end.proof.checked:
        return f"{end.status}: {end.reason or end.proof.reason}"
    return ""


class Kept:
    """A file with a line for each state that was tried, behind one for the image and the seed."""

    def __init__(self, file: Path | None, image: str, seed: int) -> None:
        self._file = file
        self.states: dict[int, Tried] = {}
        if file is None:
            return
        head = f"{image} seed {seed}\n"
        if not file.exists():
            file.write_text(head)
        first, *lines = file.read_text().splitlines(keepends=True)
        if first != head:
            sys.exit(f"{file}: of another image or seed. Name a file that does not exist yet")
        whole = [line for line in lines if line.endswith("\n")]
        if whole != lines:  # the program ended within a line
            file.write_text(head + "".join(whole))
        known = (msgspec.json.decode(line, type=Tried) for line in whole)
        self.states |= {tried.number: tried for tried in known}

    def add(self, tried: Tried) -> None:
        """At once, so that nothing is lost with the program."""
        self.states[tried.number] = tried
        if self._file is not None:
            with self._file.open("ab") as file:
                file.write(msgspec.json.encode(tried) + b"\n")


def try_all(core: Core, states: Iterable[tuple[int, State]], kept: Kept, workers: int) -> bool:
    """Several at once, but for those that are kept; false if Ctrl-C came before the end."""
    left = ((number, state) for number, state in states if number not in kept.states)
    running: set[Future[Tried]] = set()
    pool = ThreadPoolExecutor(workers)
    try:
        while True:
            more = islice(left, 2 * workers - len(running))
            running |= {pool.submit(core.tried, *each) for each in more}
            if not running:
                return True
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                kept.add(future.result())
                if len(kept.states) % SHOWN == 0:
                    print(f"{len(kept.states):,} states", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        return False
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class Variant:
    """A service with parameters; what `kadenz bound` tries of it; whether threads may stay ready
    while it runs."""

    service: str
    params: Mapping[str, int | str]
    usual: Tried
    ready: bool


def variants(
    core: Core, benches: Iterable[Bench], latencies: Latencies, kept: Kept, workers: int
) -> tuple[list[Variant], dict[str, str]]:
    """All that have a bound, with parameters from all of their ranges, and why others have none."""
    none = {bench.name: bench.reason for bench in benches if bench.reason}
    alone = [
        State(bench.name, params, sample=USUAL_SAMPLE)
        for bench in benches
        if not bench.reason
        for params in _params(bench)
    ]
    held = [msgspec.structs.replace(state, ready=1, step=ONE_ARRIVAL) for state in alone]
    trials = [(-1 - place, state) for place, state in enumerate([*alone, *held])]
    if not try_all(core, trials, kept, workers):
        sys.exit("stopped before any random state")
    answers = [kept.states[number] for number, _ in trials]
    known = []
    for usual, ready in zip(answers[: len(alone)], answers[len(alone) :], strict=True):
        service, why = usual.state.service, usual.why
        if not why:
            bounds = latencies.of(service, usual.met)
            why = bounds.handler if isinstance(bounds.handler, str) else ""
        if why:
            none[service] = why
        else:
            known.append(Variant(service, usual.state.params, usual, not ready.why))
    return known, none


def _params(bench: Bench) -> Iterator[dict[str, int | str]]:
    names = [param.name for param in bench.params]
    ranges = [
        [param.value(value) for value in range(param.low, param.high + 1)] for param in bench.params
    ]
    for values in product(*ranges):
        yield dict(zip(names, values, strict=True))


def draw(seed: int, number: int, known: Sequence[Variant], *, flushes: bool) -> State:
    """The state with this number. `flushes`: the core's caches can be emptied."""
    random = np.random.default_rng((seed, number))
    variant = known[int(random.integers(len(known)))]
    threads = [ROOM, ROOM, ROOM]
    while sum(threads) > ROOM:
        threads = [int(drawn) for drawn in random.integers(0, MOST + 1, 3)]
        threads[2] *= variant.ready
    least, most = np.log(STEPS)
    return State(
        variant.service,
        dict(variant.params),
        sleepers=threads[0],
        waking=threads[1],
        ready=threads[2],
        sample=int(random.integers(SAMPLES)),
        step=round(np.exp(random.uniform(least, most))),
        empty=EMPTY[int(random.integers(len(EMPTY)))] if flushes else (),
    )


class Within:
    """The bounds of services in kernels that hold more threads. Each is computed once."""

    def __init__(self, latencies: Latencies) -> None:
        self._by_more: dict[More, Latencies] = {(0, 0): latencies}
        self._usual = latencies

    def of(self, service: str, met: Collection[int], more: More, *, tick: bool) -> Bounds:
        """Of a service that executed the functions at `met`."""
        if more not in self._by_more:
            usual = self._usual.premises.at_most
            values = {name: usual[name] + n for name, n in zip(QUANTITIES, more, strict=True)}
            self._by_more[more] = self._usual.within(values)
        return self._by_more[more].of(service, met, tick=tick)


class Judged:
    """The states of one service against their bounds, lane by lane."""

    def __init__(self, usual: Sequence[Tried], states: Sequence[Tried], within: Within) -> None:
        """All of them count; the usual ones only for what they executed."""
        self.service, self.states, self._within = usual[0].state.service, states, within
        self._all = [*usual, *states]
        self._known: dict[bool, dict[More, Bounds]] = {False: {}, True: {}}  # by tick

    def _bounds(self, more: More, *, tick: bool) -> Bounds:
        known = self._known[tick]
        if more not in known:
            met = {at for each in self._all if tick or not each.tick for at in each.met}
            known[more] = self._within.of(self.service, met, more, tick=tick)
            if known[more].tick != tick:
                sys.exit(f"{self.service}: an arrival interrupted a tick where none was to come")
        return known[more]

    def bound(self, tried: Tried, lane: int) -> float:
        """Of a lane in its state, in cycles; infinite where there is none."""
        return _cycles(self._bounds(tried.state.more, tick=tried.tick), lane)

    @property
    def none(self) -> set[str]:
        """Why some of its states have no bound."""
        known = [bounds for tick in self._known.values() for bounds in tick.values()]
        lanes = [getattr(bounds, lane) for bounds in known for lane in LANES]
        return {why for why in lanes if isinstance(why, str)}

    def least(self, tried: Tried, lane: int) -> float:
        """A value that its bound is not below: the largest of those of fewer threads."""
        self._bounds((0, 0), tick=tried.tick)
        sleepers, threads = tried.state.more
        return max(
            _cycles(bounds, lane)
            for more, bounds in self._known[tried.tick].items()
            if more[0] <= sleepers and more[1] <= threads
        )

    def above(self, lane: int) -> list[tuple[Tried, float]]:
        """States with an arrival above its bound."""
        near = [each for each in self.states if each.most[lane] > self.least(each, lane)]
        judged = [(each, self.bound(each, lane)) for each in near]
        return [(each, bound) for each, bound in judged if each.most[lane] > bound]

    def nearest(self, lane: int) -> tuple[Tried, float]:
        """The state whose largest arrival is nearest to its bound, with the bound. Only states that
        may be nearest get a bound."""

        def floor(tried: Tried) -> float:
            return self.least(tried, lane) / tried.most[lane]

        best, its_bound = self.states[0], float("inf")
        for each in sorted(self.states, key=lambda each: (floor(each), each.state.more)):
            if floor(each) < its_bound / best.most[lane]:
                bound = self.bound(each, lane)
                if bound / each.most[lane] < its_bound / best.most[lane]:
                    best, its_bound = each, bound
        return best, its_bound

    def cells(self, above: Sequence[Sequence[tuple[Tried, float]]]) -> str:
        """Of its row."""
        states = self.states
        numbers = [len(states), sum(s.tick for s in states), sum(s.arrivals for s in states)]
        cells = [f"`{self.service.partition('/')[2]}`", *(f"{number:,}" for number in numbers)]
        for lane in range(len(LANES)):
            near, bound = self.nearest(lane)
            most = f"{max(each.most[lane] for each in states):,}"
            cells += [most, "–", "–"]
            if bound < float("inf"):
                cells[-2:] = [
                    f"{near.most[lane]:,} of {bound:,.0f}",
                    f"{bound / near.most[lane]:.2f}",
                ]
            cells.append(str(len(above[lane])))
        return " | ".join(cells)


def _cycles(bounds: Bounds, lane: int) -> float:
    section = getattr(bounds, LANES[lane])
    return float("inf") if isinstance(section, str) else float(section.cycles)


def print_table(tried: Sequence[Tried], known: Sequence[Variant], latencies: Latencies) -> int:
    """Returns the number of states with an arrival above its bound."""
    heads = [f"{lane}: {head}" for lane in ("handler", "thread") for head in HEADS]
    print(f"| service | states | with a tick | arrivals | {' | '.join(heads)} |")
    print("|---" * (len(heads) + 4) + "|")
    within, valid = Within(latencies), [each for each in tried if not each.why]
    worse: list[str] = []
    none: list[str] = []
    for service in sorted({each.state.service for each in valid}):
        states = [each for each in valid if each.state.service == service]
        usual = [variant.usual for variant in known if variant.service == service]
        judged = Judged(usual, states, within)
        above = [judged.above(lane) for lane in range(len(LANES))]
        print(f"| {judged.cells(above)} |", flush=True)
        none += [f"no bound: {service}: {why}" for why in sorted(judged.none)]
        worse += [
            f"above its bound: {LANES[lane]} {each.most[lane]:,} of {bound:,.0f}, {each.state}"
            for lane, those in enumerate(above)
            for each, bound in those
        ]
    arrivals = sum(each.arrivals for each in valid)
    ticks = sum(each.tick for each in valid)
    print(
        f"\n{len(valid):,} states, {ticks:,} of them with a tick; {arrivals:,} arrivals; "
        f"{len(worse)} above their bounds."
    )
    print("\n".join([*worse, *none]), end="\n" if worse or none else "")
    lost = sum(each.lost for each in tried)
    if lost:
        print(f"{lost:,} arrivals came to no end.")
    for why, count in Counter(each.why for each in tried if each.why).items():
        example = next(each.state for each in tried if each.why == why)
        print(f"{count:,} states count for nothing: {why}; for example {example}")
    return len(worse)


def main() -> int:
    """Prints the table, and what is not in it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--service", default="critical/*")
    parser.add_argument("--target", default="freertos/ibex@rtl")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    asked = parser.parse_args()
    name = parse_target(asked.target)
    core, premises = Core(asked.target), Premises.of(name, ())
    latencies = Latencies(core.image.elf.path, premises)
    benches = [b for b in catalog_of(name).benches if fnmatch.fnmatch(b.name, asked.service)]
    benches.sort(key=lambda bench: bench.name)
    _ = core.ticks  # before threads ask for them
    digest = core.image.entry.elf_sha256
    kept = Kept(asked.keep, digest, asked.seed)
    known, none = variants(core, benches, latencies, kept, asked.workers)
    if not known:
        sys.exit(f"{asked.service}: no service has a bound: {none}")
    drawn = (
        (number, draw(asked.seed, number, known, flushes=core.flushes))
        for number in range(asked.states)
    )
    if not try_all(core, drawn, kept, asked.workers):
        print("stopped: the table has the states that were tried", file=sys.stderr)
    tried = [kept.states[number] for number in sorted(kept.states) if 0 <= number < asked.states]
    if not tried:
        sys.exit("no state was tried")
    print(f"{asked.target}, image {digest[:12]}, seed {asked.seed}, in cycles.\n")
    worse = print_table(tried, known, latencies)
    waiting = sorted({each.service.partition("/")[2] for each in known if not each.ready})
    if waiting:
        print(f"Without threads that are ready, which would run: {', '.join(waiting)}.")
    for service, why in none.items():
        print(f"Not drawn: {service}: {why}.")
    print(f"The usual quantities: {premises.sentence}.")
    return 1 if worse else 0


if __name__ == "__main__":
    raise SystemExit(main())
