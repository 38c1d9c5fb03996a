# SPDX-License-Identifier: Apache-2.0
"""Measuring: a campaign, its targets built, run and written into run folders.

`prepare` builds everything and finds every mistake before the first sample; `run` measures.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from kadenz.config import inventory, manifest
from kadenz.config.campaign import Campaign
from kadenz.config.manifest import REPEATABLE, CampaignEntry, Instrument
from kadenz.config.target_name import TargetName
from kadenz.errors import KadenzError, TargetFailed, UsageError
from kadenz.host.facts import NO_RIGHT, Host
from kadenz.images.guest import guest_folder
from kadenz.images.image import Image, build_image
from kadenz.lab import catalog as catalogs
from kadenz.lab.bus import BusChoice, check_bus, refused
from kadenz.lab.counter import check_counter
from kadenz.lab.declared import check_declared
from kadenz.lab.execution import Allowance, check_instrument, check_tools, make_target
from kadenz.lab.guests import (
    BOOT_S,
    Guest,
    GuestChoice,
    default_guest,
    guest_image,
    guests_of,
)
from kadenz.lab.loads import check_loads, loads_of, stamps
from kadenz.lab.measure import Job, Result, measure
from kadenz.lab.plan import (
    campaign_points,
    check_overrides,
    clock_points,
    concerns,
    no_benchmark,
)
from kadenz.lab.progress import Progress
from kadenz.lab.tunings import check_tunings, measured_tuned, tuned_job, tunings_of
from kadenz.load.definitions import Options
from kadenz.targets.base import Target

# Listing benchmarks measures nothing, so no right is needed for it.
_ASKING: tuple[Allowance, ...] = ("no-realtime", "idle-states")
_IDLE_STATES_ALLOWED = manifest.Warning(
    code="idle-states-allowed",
    message="measured with idle states on (--allow-idle-states): wake-ups include leaving them",
)


@dataclass(frozen=True)
class Request:
    """What the user wants measured."""

    campaign: Campaign
    entry: CampaignEntry
    targets: Sequence[TargetName]
    instrument: Instrument = "counter"
    kernel_source: Path | None = None
    extra_bench: Sequence[Path] = ()
    overrides: Mapping[str, Sequence[int]] = field(default_factory=dict)
    port: str = ""
    timeout_s: float = 30.0
    allow_no_realtime: bool = False
    allow_idle_states: bool = False
    loads: Sequence[str] = ()  # one run a load; () : those of the campaign
    load_options: Options = field(default_factory=Options)
    tunings: Sequence[str] = ()  # one run a tuning, applied around it; (): as the machine is
    tuning_cpus: str = ""  # kept apart, instead of the profile's
    guest: GuestChoice = field(default_factory=GuestChoice)
    bus: BusChoice = field(default_factory=BusChoice)


def prepare(request: Request, progress: Progress) -> list[Job]:
    """Builds every target's image and makes its plan. Raises before anything is measured."""
    if not request.targets:
        raise UsageError("nothing to measure on: no target", remedy="Name one with --target")
    for name in request.targets:
        check_instrument(name, request.instrument)
        check_tools(name)
    check_declared(request.campaign, request.overrides, request.extra_bench)
    check_bus(request.targets, request.bus)
    loads = request.loads or request.campaign.loads
    where = "--load" if request.loads else f"campaign {request.campaign.name}: `loads`"
    check_loads(loads, request.load_options, where)
    tuning_lists = {name: tunings_of(name, request.tunings) for name in request.targets}
    check_tunings(request.tunings, request.tuning_cpus, request.targets)
    load_lists = {name: loads_of(name, loads) for name in request.targets}
    host = _host(request)
    variants = [
        (name, guest)
        for name in request.targets
        for guest in guests_of(name, request.campaign.guest, request.guest)
    ]
    images = [_image(name, guest, request, progress) for name, guest in variants]
    _ask_guests(variants, images)
    jobs = [
        _job(name, guest, image, request, host)
        for (name, guest), image in zip(variants, images, strict=True)
    ]
    _check_names(request.campaign, jobs)
    check_overrides(request.overrides, request.campaign, [job.catalog.benches for job in jobs])
    for job in jobs:
        points = campaign_points(
            request.campaign,
            job.name,
            job.catalog.benches,
            quick=request.entry.quick,
            overrides=request.overrides,
        )
        if points:
            clock = clock_points(job.catalog.benches, quick=request.entry.quick)
            asked = {point.bench for point in points}
            job.points = [p for p in clock if p.bench not in asked] + points
    wanted = [job for job in jobs if job.points]
    if not wanted:
        raise UsageError(
            f"campaign {request.campaign.name} has nothing for these targets",
            remedy="See `kernels` and `targets` in the campaign's file",
        )
    loaded = [
        dataclasses.replace(
            job,
            load=load,
            load_options=request.load_options,
            warnings=[*job.warnings, *stamps(job.name, loads)],
        )
        for job in wanted
        for load in load_lists[job.name]
    ]
    return [
        tuned_job(job, tuning, request.tuning_cpus, lambda: _host(request))
        for job in loaded
        for tuning in tuning_lists[job.name]
    ]


def run(
    jobs: Sequence[Job], output: Path, progress: Progress, stop: threading.Event
) -> list[Result | KadenzError]:
    """Measures every job: emulated ones beside each other, those of this machine alone after them.

    One result a job, in their order; an error where a run could not be written.
    """

    def one(job: Job) -> Result | KadenzError:
        try:
            return measured_tuned(
                job, lambda ready: measure(ready, output, progress, stop), progress
            )
        except KadenzError as error:
            return error

    beside = [job for job in jobs if job.name.tier in REPEATABLE]
    alone = [job for job in jobs if job.name.tier not in REPEATABLE]
    done: dict[int, Result | KadenzError] = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for job, result in zip(beside, pool.map(one, beside), strict=True):
            done[id(job)] = result
    for job in alone:
        if not stop.is_set():
            done[id(job)] = one(job)
    return [done[id(job)] for job in jobs if id(job) in done]


def catalog_of(name: TargetName) -> catalogs.Catalog:
    """What a target's counter image can measure; builds and asks it when it is not known."""
    guest = default_guest(name) if name.tier == "guest" else None
    image = guest_image(name, guest, ()) if guest else build_image(name, "counter")
    known = catalogs.remembered(image.folder, image.entry.elf_sha256)
    if known is not None:
        return known
    target = make_target(name, "counter", image, port="", allowed=_ASKING, guest=guest)
    return catalogs.ask(target, str(name), image, silence_s=_silence_s(guest))


def remembered_catalog(name: TargetName) -> catalogs.Catalog | None:
    """The same as far as it is known without building; it may be of an older image."""
    folder = inventory.root() / "build" / f"{name.kernel}-{name.board}-counter"
    guest = inventory.kernel(name.kernel).guest
    if name.tier == "guest" and guest is not None:
        folder = guest_folder(name, guest.versions[name.board][0])
    return catalogs.remembered(folder, None)


def _image(name: TargetName, guest: Guest | None, request: Request, progress: Progress) -> Image:
    progress.building(str(name))
    if guest is not None:
        return guest_image(name, guest, request.extra_bench)
    return build_image(
        name,
        request.instrument,
        tree=request.kernel_source,
        extra_bench=request.extra_bench,
    )


def _ask_guests(
    variants: Sequence[tuple[TargetName, Guest | None]], images: Sequence[Image]
) -> None:
    """The catalogs of guests that were not asked before, several boots beside each other."""
    wanted = {
        image.folder: (name, guest, image)
        for (name, guest), image in zip(variants, images, strict=True)
        if guest is not None and not _asked(guest, image)
    }

    def ask(one: tuple[TargetName, Guest, Image]) -> None:
        name, guest, image = one
        bare = dataclasses.replace(guest, load="", tuning="", disturbance="")
        target = make_target(name, "counter", image, port="", allowed=(), guest=bare)
        catalogs.ask(target, str(name), image, silence_s=_silence_s(bare))
        check_counter(name, "counter", image, bare)

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        list(pool.map(ask, wanted.values()))


def _asked(guest: Guest, image: Image) -> bool:
    """Whether this image said what it can do, under this very kernel."""
    known = catalogs.remembered(image.folder, image.entry.elf_sha256)
    return known is not None and known.hello.kernel_version == guest.kernel.release


def _silence_s(guest: Guest | None) -> float:
    """How long a target may be silent before it lists its benchmarks."""
    return BOOT_S if guest is not None else catalogs.SILENCE_S


def _job(name: TargetName, guest: Guest | None, image: Image, request: Request, host: Host) -> Job:
    wanted: dict[Allowance, bool] = {
        "no-realtime": request.allow_no_realtime,
        "idle-states": request.allow_idle_states,
    }

    def make(allowed: Collection[Allowance] = tuple(a for a in wanted if wanted[a])) -> Target:
        return make_target(
            name,
            request.instrument,
            image,
            port=request.port,
            allowed=allowed,
            guest=guest,
            bus=request.bus,
        )

    return Job(
        name=name,
        guest=guest,
        instrument=request.instrument,
        image=image,
        catalog=_catalog(name, image, make, request.bus),
        bus=request.bus,
        points=[],
        counter=check_counter(name, request.instrument, image, guest),
        make=make,
        host=host.entry,
        warnings=host.warnings if name.tier == "host" else [],
        preflight=host.preflight if name.tier == "host" else [],
        campaign=request.entry,
        conditions=request.campaign.conditions,
        timeout_s=request.timeout_s,
    )


def _catalog(
    name: TargetName, image: Image, make: Callable[..., Target], bus: BusChoice
) -> catalogs.Catalog:
    """What the image can measure. With a bus of the user's it is asked anew: it then reads the
    layout before anything is measured, and says the settings of this run."""
    if not bus:
        known = catalogs.remembered(image.folder, image.entry.elf_sha256)
        return known or catalogs.ask(make(_ASKING), str(name), image)
    try:
        return catalogs.ask(make(_ASKING), str(name), image, keep=False)
    except TargetFailed as failure:
        raise refused(bus, failure) from None


def _host(request: Request) -> Host:
    """This machine. Raises TargetFailed when a host target lacks the rights it needs."""
    from kadenz.host.facts import read_host

    host = read_host()
    on_host = [name for name in request.targets if name.tier == "host"]
    missing = [w for w in host.warnings if w.code in NO_RIGHT]
    if on_host and missing and not request.allow_no_realtime:
        raise TargetFailed(
            f"{on_host[0]}: {missing[0].message}",
            remedy=f"{missing[0].remedy}. Or pass --allow-no-realtime, which stamps it",
        )
    warnings = [*host.warnings, *([_IDLE_STATES_ALLOWED] if request.allow_idle_states else [])]
    return dataclasses.replace(host, warnings=warnings)


def _check_names(campaign: Campaign, jobs: Sequence[Job]) -> None:
    """UsageError for a benchmark that none of the images knows."""
    known = sorted({bench.name for job in jobs for bench in job.catalog.benches})
    for benchmark in campaign.benchmark:
        concerned = any(concerns(benchmark, job.name) for job in jobs)
        if concerned and benchmark.name not in known:
            raise no_benchmark(benchmark.name, known)
