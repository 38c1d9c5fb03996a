# SPDX-License-Identifier: Apache-2.0
"""From a request to jobs: everything is checked and built before the first sample."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.board_link import DEFAULT, BoardLink
from kadenz.config.campaign import Campaign
from kadenz.config.manifest import CallEntry, CampaignEntry, Instrument
from kadenz.config.manifest import Warning as Stamp
from kadenz.config.params import Value
from kadenz.config.target_name import TargetName
from kadenz.errors import TargetFailed, UsageError
from kadenz.host.facts import Host, read_host
from kadenz.images.image import Image
from kadenz.lab import catalog as catalogs
from kadenz.lab.arrivals import (
    EveryArrival,
    check_arrivals,
    check_beside,
    check_following,
    further_samples,
)
from kadenz.lab.beside import EACH_KIND, Beside
from kadenz.lab.catalog import Catalog
from kadenz.lab.condition import Choice, Condition, Setup
from kadenz.lab.conformance import port_warnings
from kadenz.lab.counter import Counter, check_counter
from kadenz.lab.declared import check_declared
from kadenz.lab.execution import (
    ASKING,
    check_board,
    check_instrument,
    check_link,
    check_marks,
    check_tools,
    image_of,
    make_target,
    marks_of,
    minimal_of,
    setup_of,
)
from kadenz.lab.graph import window_us
from kadenz.lab.hello import check_hello, named
from kadenz.lab.job import Job, Origin
from kadenz.lab.plan import (
    LATENESS,
    Point,
    campaign_points,
    check_overrides,
    clock_points,
    concerns,
    no_benchmark,
)
from kadenz.lab.profile.watching import check_profiled, check_traced, check_window
from kadenz.lab.progress import Progress
from kadenz.lab.rate import measures_rate, rate_point
from kadenz.lab.variants import combinations
from kadenz.targets.arrivals import Asked
from kadenz.targets.base import Target
from kadenz.targets.guest import modules_of


@dataclass(frozen=True)
class Request:
    """A measurement that the user wants."""

    campaign: Campaign
    entry: CampaignEntry
    targets: Sequence[TargetName]
    choices: Sequence[Choice] = ()  # of conditions
    # Of targets whose table in the lab names conditions, instead.
    own_choices: Mapping[TargetName, Sequence[Choice]] = field(default_factory=dict)
    # The targets that each instrument measures; none: the counter measures all.
    instruments: Mapping[Instrument, Sequence[TargetName]] = field(default_factory=dict)
    extra_bench: Sequence[Path] = ()  # C files of benchmarks outside the suite
    overrides: Mapping[str, Sequence[Value]] = field(default_factory=dict)  # --set
    link: BoardLink = DEFAULT  # how boards are reached
    places: Mapping[TargetName, BoardLink] = field(default_factory=dict)  # of boards in a rack
    timeout_s: float = 30.0
    run_name: str = ""  # of all runs of this call
    call: CallEntry | None = None  # that a later call can resume
    profiled: bool = False  # with a profile of each record
    traced: bool = False  # with a timeline of each record
    arriving: Sequence[Asked] = ()  # a sample with an interrupt in every cycle of it, by state
    beside: Beside = EACH_KIND  # what another core does then
    fresh: bool = False  # nothing is taken from the store of values

    @property
    def measured(self) -> list[tuple[Instrument, TargetName]]:
        """Each instrument with each of its targets."""
        by = self.instruments or {"counter": self.targets}
        return [(instrument, name) for instrument, names in by.items() for name in names]


@dataclass(frozen=True)
class _Variant:
    """A target under an instrument and one combination of conditions, and its image."""

    name: TargetName
    instrument: Instrument
    conditions: tuple[Condition, ...]
    setup: Setup
    image: Image


def check(request: Request) -> None:
    """Raises KadenzError for every mistake that can be found before anything is built."""
    if not request.targets:
        raise UsageError("nothing to measure on: no target", remedy="Name one with --target")
    check_link(request.targets, request.link)
    for instrument, name in request.measured:
        check_instrument(name, instrument)
        if request.profiled:
            check_profiled(name, instrument)
        if request.traced:
            check_traced(name, instrument)
        if request.arriving:
            check_arrivals(name, instrument)
            check_following(name, instrument, request.arriving, request.profiled)
            check_beside(name, request.arriving, request.beside)
    for name in request.targets:
        check_tools(name)
        check_board(name, request.link)
    if all(name.kernel for name in request.targets):  # else an image may have its own benchmarks
        check_declared(request.campaign, request.overrides, request.extra_bench)
    elif request.extra_bench and not any(name.kernel for name in request.targets):
        raise UsageError(
            f"--bench {request.extra_bench[0]}: no target of this run is built here",
            remedy="Add the benchmark to the project that builds the image",
        )
    others = [name for name in request.targets if name not in request.own_choices]
    for choice in request.choices if others else ():  # `own_choices` are checked when made
        choice.check(others)


def prepare(request: Request, progress: Progress, stop: threading.Event) -> list[Job]:
    """Builds the images and makes a job of each target and combination of conditions.

    Raises KadenzError before anything is measured; Interrupted if `stop` is set while an image is
    asked.
    """
    check(request)
    host = read_host()
    variants = _variants(request, progress)
    _ask_guests(variants, stop)
    jobs = _jobs(variants, request, host, stop)
    _check_names(request.campaign, jobs)
    check_overrides(request.overrides, request.campaign, [job.catalog.benches for job in jobs])
    for job in jobs:
        job.points = _points(job, request)
    wanted = [job for job in jobs if job.points]
    if not wanted:
        raise UsageError(
            f"campaign {request.campaign.name} has nothing for these targets",
            remedy="See `targets` in the campaign's file",
        )
    return wanted


def _variants(request: Request, progress: Progress) -> list[_Variant]:
    """Every combination; an image that several share is built once."""
    asked = [
        (instrument, name, conditions + arrival)
        for instrument, name in request.measured
        for conditions in combinations(name, request.own_choices.get(name, request.choices))
        for arrival in _arrivals(request, instrument, name)
    ]
    variants: list[_Variant] = []
    for instrument, name, conditions in asked:
        setup = setup_of(name)
        setup.link = request.link.over(request.places.get(name, DEFAULT)).over(setup.link)
        setup.profiled, setup.traced = request.profiled, request.traced
        setup.fresh = request.fresh
        for condition in conditions:
            condition.set_up(setup, name)
        check_marks(setup, instrument)
        kernel = setup.guest.kernel if setup.guest is not None else None
        same = (v.image for v in variants if _same_image(v, name, instrument, setup))
        image = next(same, None)
        if image is None:
            if setup.image is None:
                progress.building(f"{name}, {kernel.label}" if kernel else str(name))
            image = image_of(name, instrument, setup, request.extra_bench)
            if request.campaign.minimal and instrument == "counter":
                image.entry.minimal = minimal_of(name, setup)
        variants.append(_Variant(name, instrument, conditions, setup, image))
    return variants


def _arrivals(
    request: Request, instrument: Instrument, name: TargetName
) -> list[tuple[Condition, ...]]:
    """The condition of each state with arrivals, on several cores for each work of another one. A
    counter sees nothing outside the target, so a timer of the board raises them."""
    by_timer = instrument == "counter"
    asked = [replace(each, by_timer=by_timer) for each in request.arriving]
    if inventory.board(name.board).cores > 1:
        asked = [each for state in asked for each in request.beside.of(state)]
    return [(EveryArrival(each),) for each in asked] or [()]


def _same_image(variant: _Variant, name: TargetName, instrument: Instrument, setup: Setup) -> bool:
    guests = [
        (candidate.guest.kernel, modules_of(None, candidate.guest.load))
        if candidate.guest
        else None
        for candidate in (variant.setup, setup)
    ]
    built = [
        (candidate.kernel_source, candidate.image, candidate.isa, candidate.program)
        for candidate in (variant.setup, setup)
    ]
    marks = marks_of(variant.instrument, variant.setup), marks_of(instrument, setup)
    of = (variant.name, guests[0], built[0], marks[0])
    return of == (name, guests[1], built[1], marks[1])


def _ask_guests(variants: Sequence[_Variant], stop: threading.Event) -> None:
    """Asks guests for their catalogs if they were not asked before, several in parallel."""
    wanted = {
        variant.image.folder: variant
        for variant in variants
        if variant.setup.guest and not _asked(variant)
    }

    def ask(variant: _Variant) -> None:
        assert variant.setup.guest is not None
        bare = replace(variant.setup, guest=variant.setup.guest.bare())
        target = make_target(variant.name, "counter", variant.image, bare)
        silence_s = catalogs.silence_s(bare)
        name, image = str(variant.name), variant.image
        try:
            catalog = catalogs.ask(target, name, image, silence_s=silence_s, stop=stop)
        except TargetFailed as failure:
            raise variant.setup.guest.refused(failure) from None
        catalogs.remember(variant.image, catalog)
        check_counter(variant.name, "counter", variant.image, bare.guest, stop)

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        try:
            list(pool.map(ask, wanted.values()))
        except KeyboardInterrupt:  # of a caller without a handler, who does not wait for them
            stop.set()
            raise


def _asked(variant: _Variant) -> bool:
    """Whether this image was asked under this kernel."""
    known = catalogs.remembered(variant.image.folder, variant.image.entry.elf_sha256)
    guest = variant.setup.guest
    return (
        known is not None
        and guest is not None
        and known.hello.kernel_version == guest.kernel.release
    )


def _jobs(
    variants: Sequence[_Variant], request: Request, host: Host, stop: threading.Event
) -> list[Job]:
    """A job for each variant, without points. What an image answers is asked once."""
    catalog_of: dict[tuple[int, tuple[Condition, ...]], Catalog] = {}
    counter_of: dict[int, Counter | None] = {}
    warnings_of: dict[int, list[Stamp]] = {}
    conditions = request.campaign.conditions
    origin = Origin(request.entry, conditions, request.run_name, request.call)
    jobs = []
    for variant in variants:
        asking = tuple(condition for condition in variant.conditions if condition.asks_anew)
        image, key = id(variant.image), (id(variant.image), asking)
        if key not in catalog_of:
            catalog_of[key] = _catalog(variant, asking, request, stop)
        if image not in counter_of:
            counter_of[image] = check_counter(
                variant.name, variant.instrument, variant.image, variant.setup.guest, stop
            )
            warnings_of[image] = port_warnings(variant.name, variant.image, variant.setup, stop)
        name = named(variant.name, catalog_of[key].hello)
        jobs.append(
            Job(
                name=name,
                instrument=variant.instrument,
                image=variant.image,
                catalog=catalog_of[key],
                points=[],
                make=_maker(replace(variant, name=name), variant.setup),
                host=host,
                origin=origin,
                timeout_s=request.timeout_s,
                setup=variant.setup,
                conditions=variant.conditions,
                counter=counter_of[image],
                warnings=warnings_of[image],
            )
        )
    return jobs


def _maker(variant: _Variant, setup: Setup) -> Callable[[], Target]:
    """Makes fresh executions of a variant."""
    return partial(make_target, variant.name, variant.instrument, variant.image, setup)


def _catalog(
    variant: _Variant, asking: Sequence[Condition], request: Request, stop: threading.Event
) -> Catalog:
    """Benchmarks of the image; asked anew if a condition says so."""
    image, name = variant.image, str(variant.name)
    setup = replace(variant.setup, allowed=ASKING, profiled=False, traced=False, arriving=None)
    known = None if asking else catalogs.remembered(image.folder, image.entry.elf_sha256)
    if known is not None:  # perhaps asked for another instrument
        marks = marks_of(variant.instrument, variant.setup)
        check_hello(variant.name, image, known.hello, marks)
        return known
    target = _maker(variant, setup)()
    silence_s = request.timeout_s if setup.image is not None else catalogs.silence_s(setup)
    try:
        catalog = catalogs.ask(target, name, image, silence_s=silence_s, stop=stop)
    except TargetFailed as failure:
        error: Exception = failure
        for condition in asking:
            error = condition.refused(failure)
        raise error from None
    marks = marks_of(variant.instrument, variant.setup)
    check_hello(variant.name, image, catalog.hello, marks)
    if not asking:
        catalogs.remember(image, catalog)
    return catalog


def _check_names(campaign: Campaign, jobs: Sequence[Job]) -> None:
    """UsageError for a benchmark that no image has."""
    known = sorted({bench.name for job in jobs for bench in job.catalog.benches})
    for benchmark in campaign.benchmark:
        concerned = any(concerns(benchmark, job.name) for job in jobs)
        if concerned and benchmark.name not in known:
            raise no_benchmark(benchmark.name, known)


def _points(job: Job, request: Request) -> list[Point]:
    """The points of the campaign, preceded by those of the clock. Empty: nothing for this job."""
    quick = request.entry.quick
    points = campaign_points(
        request.campaign,
        job.name,
        job.catalog.benches,
        quick=quick,
        overrides=request.overrides,
        tick_hz=job.catalog.hello.tick_hz,
    )
    if not points:
        return []
    if job.setup.program is not None:
        _check_given(points)
    if job.setup.profiled:
        for point in points:
            check_window(point.bench, window_us(job, point))
    if job.setup.arriving is not None:
        keys = job.setup.arriving.keys
        further = further_samples(job.name, job.setup.arriving)
        points = [replace(point, arrivals=keys, cold=0, further=further) for point in points]
    asked = {point.bench for point in points}
    clock = clock_points(job.catalog.benches, job.clock().clock_class, quick=quick)
    board = inventory.board(job.name.board).tier.board
    if board is not None and measures_rate(job.clock(), job.name.tier):
        clock += rate_point(job.catalog.benches, board, len(clock))
    return [point for point in clock if point.bench not in asked] + points


def _check_given(points: Sequence[Point]) -> None:
    """UsageError unless a program that is given is measured, and once: its frames are counted from
    its start."""
    others = [point.bench for point in points if point.bench != LATENESS]
    if others:
        raise UsageError(
            f"--program measures {LATENESS}, and not {others[0]}",
            remedy=f"Run {LATENESS}, or leave --program out",
        )
    if len(points) > 1:
        raise UsageError(
            f"--program is measured once a run, and {LATENESS} has {len(points)} points",
            remedy="Give each parameter one value",
        )
