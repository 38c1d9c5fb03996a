# SPDX-License-Identifier: Apache-2.0
"""kadenz run: measures campaigns and benchmarks on targets, each into a run folder."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.deadline import deadline_option, planned_deadlines, stamp_deadlines
from kadenz.cli.names import (
    complete_interface,
    complete_load,
    complete_target,
    complete_tuning,
    complete_work,
)
from kadenz.errors import EXIT_FAILED, EXIT_PASS, KadenzError, UsageError

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign
    from kadenz.config.manifest import CampaignEntry
    from kadenz.lab import Request
    from kadenz.lab.measure import Result
    from kadenz.load.definitions import Options

_ADHOC_SAMPLES = 1001  # the first is cold, and jitter is taken apart from 1,000 warm ones on
_ADHOC_QUICK = 50


@click.command()
@click.argument(
    "work", metavar="CAMPAIGN|BENCHMARK...", nargs=-1, required=True, shell_complete=complete_work
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    shell_complete=complete_target,
    help="Where to measure; may be repeated. Default: the campaign's own targets.",
)
@click.option(
    "--instrument",
    type=click.Choice(["counter", "scope"]),
    default="counter",
    show_default=True,
    help="How time is taken: a counter on the target, or QEMU watching from outside.",
)
@click.option("--quick", is_flag=True, help="Fewer samples: to see that it works.")
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A parameter, or `samples`, `seconds`, `cold`; values with commas make a sweep.",
)
@deadline_option
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Where run folders go.",
)
@click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), help="Write an HTML page."
)
@click.option(
    "--kernel-source",
    "kernel_sources",
    metavar="DIR|pinned",
    multiple=True,
    help="A tree of the kernel instead of the pinned one; may be repeated, a run for each.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    help="Measure every variant (target, load, tuning, tree) so often, interleaved, for `compare`.",
)
@click.option(
    "--bench",
    "extra_bench",
    type=click.Path(path_type=Path),
    multiple=True,
    help="C file of a benchmark outside the suite; may be repeated.",
)
@click.option("--port", default="", help="Serial port of a board, e.g. /dev/ttyUSB0.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    help="Seconds of silence after which a target counts as hung.",
)
@click.option(
    "--allow-no-realtime",
    is_flag=True,
    help="Measure this Linux without the right to SCHED_FIFO or locked memory; stamps a warning.",
)
@click.option(
    "--allow-idle-states",
    is_flag=True,
    help="Measure this Linux with the processor's idle states on; stamps a warning.",
)
@click.option(
    "--load",
    "loads",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_load,
    help="Load beside the benchmarks: none, cpu, disk, cpu+disk …; `kadenz list` shows them. A run "
    "for each; replaces the campaign's.",
)
@click.option(
    "--load-workers", type=click.IntRange(min=1), help="Workers of each load. Default: its own."
)
@click.option(
    "--load-cpus", metavar="LIST", help="Processors a load may use, as 0,2-3. Default: all."
)
@click.option(
    "--load-scratch",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where a load's files go while it runs. Default: --output.",
)
@click.option(
    "--allow-weak-load",
    is_flag=True,
    help="Measure although a load does not bite as it should; stamps a warning.",
)
@click.option(
    "--tuning",
    "tunings",
    metavar="PROFILE",
    multiple=True,
    shell_complete=complete_tuning,
    help="Tune this Linux by a profile around each run and take it back: none, latency, isolated "
    "…; `kadenz tune list` shows them. A run for each. Needs root.",
)
@click.option(
    "--tuning-cpus",
    metavar="LIST",
    default="",
    help="Processors a tuning keeps apart for real time, as 2-3. Default: the profile's.",
)
@click.option(
    "--guest-kernel",
    "guest_kernels",
    metavar="VERSION",
    multiple=True,
    help="Kernel of guests: 6.12, 6.1. A run for each; replaces the campaign's.",
)
@click.option(
    "--guest-load",
    "guest_loads",
    metavar="NAME",
    multiple=True,
    help="Load inside guests: none, cpu, memory, syscalls, timers, or several, cpu+timers. A run "
    "for each; replaces the campaign's.",
)
@click.option(
    "--guest-tuning",
    "guest_tunings",
    metavar="NAME",
    multiple=True,
    help="Profile of tunings/ for kernel threads of guests, or none. A run for each; replaces the "
    "campaign's.",
)
@click.option(
    "--guest-disturbance",
    metavar="period_us=N,busy_us=M",
    default="",
    help="Plant a kernel thread into guests that holds the processor for M µs every N µs.",
)
@click.option(
    "--bus-interface",
    metavar="NAME",
    default="",
    shell_complete=complete_interface,
    help="Network interface with the real devices of a target that has a fieldbus, e.g. eth1. "
    "Default: its simulated ones.",
)
@click.option(
    "--bus-layout",
    type=click.Path(path_type=Path),
    help="File that says which device of the bus is what, and how it moves. Default: the "
    "target's own.",
)
@click.option(
    "--wait/--no-wait",
    default=True,
    show_default=True,
    help="While another kadenz measures this Linux: wait for its end, or refuse.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def run(
    work: tuple[str, ...],
    targets: tuple[str, ...],
    instrument: str,
    quick: bool,
    settings: tuple[str, ...],
    deadlines: tuple[str, ...],
    output: Path,
    report: Path | None,
    kernel_sources: tuple[str, ...],
    rounds: int | None,
    extra_bench: tuple[Path, ...],
    port: str,
    timeout_s: float,
    allow_no_realtime: bool,
    allow_idle_states: bool,
    loads: tuple[str, ...],
    load_workers: int | None,
    load_cpus: str | None,
    load_scratch: Path | None,
    allow_weak_load: bool,
    wait: bool,
    tunings: tuple[str, ...],
    tuning_cpus: str,
    guest_kernels: tuple[str, ...],
    guest_loads: tuple[str, ...],
    guest_tunings: tuple[str, ...],
    guest_disturbance: str,
    bus_interface: str,
    bus_layout: Path | None,
    as_json: bool,
) -> int:
    """Measure campaigns (by name or file) or single benchmarks.

    \b
    kadenz run demo
    kadenz run yoo2024 --target freertos/stm32f4@emulated --quick
    kadenz run itc/queue --target posix/linux@host --set size_bytes=4,64,1024
    kadenz run cyclic/wakeup-latency --target posix/linux@host --deadline 100us
    kadenz run linux-ipc --load none --load disk --rounds 5
    kadenz run motion --bus-interface eth1 --bus-layout my-robot.toml
    kadenz run linux-ipc --tuning none --tuning latency --rounds 5
    """
    from kadenz.lab import Request, prepare
    from kadenz.lab import run as measure_all
    from kadenz.lab.bus import BusChoice, check_bus
    from kadenz.lab.guests import GuestChoice
    from kadenz.lab.rounds import interleaved

    overrides = _overrides(settings)
    common: dict[str, Any] = {
        "instrument": instrument,
        "extra_bench": extra_bench,
        "overrides": overrides,
        "port": port,
        "timeout_s": timeout_s,
        "allow_no_realtime": allow_no_realtime,
        "allow_idle_states": allow_idle_states,
        "loads": loads,
        "tunings": tunings,
        "tuning_cpus": tuning_cpus,
        "guest": GuestChoice(guest_kernels, guest_loads, guest_tunings, guest_disturbance),
        "bus": BusChoice(bus_interface, bus_layout),
    }
    requests = [
        Request(
            campaign=campaign,
            entry=entry,
            targets=_targets(campaign, targets),
            load_options=_load_options(
                campaign, load_workers, load_cpus, load_scratch, allow_weak_load
            ),
            **common,
        )
        for campaign, entry in _campaigns(work, quick)
    ]
    asked = planned_deadlines(deadlines, [request.campaign for request in requests])
    for request in requests:  # of all campaigns before the first of them is measured
        check_bus(request.targets, request.bus)
    sources = [None if text == "pinned" else Path(text) for text in kernel_sources] or [None]
    folder = _rounds_folder(output) if rounds else output
    results: list[Result | KadenzError] = []
    with (
        _stoppable() as stop,
        _alone(requests, stop, wait=wait),
        _display(as_json) as display,
    ):
        for request in requests:
            if not stop.is_set():
                jobs = [
                    job
                    for source in sources
                    for job in prepare(replace(request, kernel_source=source), display)
                ]
                stamp_deadlines(jobs, asked)
                jobs = interleaved(jobs, rounds) if rounds else jobs
                results += measure_all(jobs, folder, display, stop)
    code = _conclude(results, report, as_json, stopped=stop.is_set())
    if rounds and results:
        click.echo(f"the rounds are in {folder}: kadenz compare {folder}", err=True)
    return code


def _rounds_folder(output: Path) -> Path:
    """A folder for the runs of this call alone: compare takes its sides from it."""
    from datetime import UTC, datetime

    name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-rounds"
    for number in range(1, 1000):
        folder = output / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise UsageError(f"{output}/{name}: no free name", remedy="Name another folder with --output")


def _campaigns(work: Sequence[str], quick: bool) -> Iterator[tuple[Campaign, CampaignEntry]]:
    """The campaigns named, then one made of the benchmarks named."""
    from kadenz.config import inventory
    from kadenz.config.campaign import Benchmark, Campaign
    from kadenz.config.manifest import CampaignEntry
    from kadenz.config.toml import did_you_mean
    from kadenz.lab.measure import sha256_of

    files = inventory.campaign_files()
    benchmarks = []
    for word in work:
        file = files.get(word) or (Path(word) if word.endswith(".toml") else None)
        if file is not None:
            campaign = inventory.read_campaign(file)
            entry = CampaignEntry(
                name=campaign.name, file=file.name, sha256=sha256_of(file), quick=quick
            )
            yield campaign, entry
        elif "/" in word:
            benchmarks.append(
                Benchmark(name=word, samples=_ADHOC_SAMPLES, quick_samples=_ADHOC_QUICK, cold=1)
            )
        else:
            raise UsageError(f"no campaign `{word}`", remedy=did_you_mean(word, list(files)))
    if benchmarks:
        yield (
            Campaign(name="single", title=", ".join(work), targets=[], benchmark=benchmarks),
            CampaignEntry(name="single", file="", sha256="", quick=quick),
        )


def _targets(campaign: Campaign, wanted: Sequence[str]) -> list[Any]:
    from kadenz.config.target_name import parse_target

    names = [parse_target(text) for text in dict.fromkeys(wanted or campaign.targets)]
    if not names:
        raise UsageError(
            "a benchmark alone has no target", remedy="Name one: --target kernel/board@tier"
        )
    return names


def _load_options(
    campaign: Campaign, workers: int | None, cpus: str | None, scratch: Path | None, weak: bool
) -> Options:
    """How loads run: as the command line says, else as the campaign does."""
    from kadenz.config.processors import asked_cpus
    from kadenz.load.definitions import Options

    return Options(
        workers=workers or campaign.load.workers,
        cpus=campaign.load.cpus
        if cpus is None
        else sorted(asked_cpus("--load-cpus", cpus, UsageError)),
        scratch=scratch,
        allow_weak=weak,
    )


def _overrides(settings: Sequence[str]) -> dict[str, list[int]]:
    found = {}
    for setting in settings:
        key, equals, values = setting.partition("=")
        try:
            numbers = [int(value, 0) for value in values.split(",")]
        except ValueError:
            numbers = []
        if not equals or not key or not numbers:
            raise UsageError(
                f"--set {setting}: not KEY=NUMBER", remedy="For example --set size_bytes=60,120"
            )
        if key in ("samples", "seconds") and (len(numbers) > 1 or numbers[0] < 1):
            raise UsageError(f"--set {setting}: one positive number", remedy=f"--set {key}=1000")
        if key == "cold" and (len(numbers) > 1 or numbers[0] < 0):
            raise UsageError(f"--set {setting}: one number", remedy="--set cold=10")
        found[key] = numbers
    return found


@contextmanager
def _stoppable() -> Iterator[threading.Event]:
    """Ctrl-C once: ends measuring and keeps what there is. Twice: ends at once."""
    stop = threading.Event()

    def on_signal(number: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        click.echo("stopping; what was measured is kept (again to end at once)", err=True)

    before = {n: signal.signal(n, on_signal) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _alone(
    requests: Sequence[Request], stop: threading.Event, *, wait: bool
) -> AbstractContextManager[None]:
    """Keeps other measurements off this Linux, where this is one."""
    from kadenz.host.machine_lock import alone_on_this_linux

    if not any(name.tier == "host" for request in requests for name in request.targets):
        return nullcontext()
    return alone_on_this_linux(
        wait=wait,
        waiting=lambda words: click.echo(f"waiting: {words}", err=True),
        stopped=stop.is_set,
    )


def _display(as_json: bool) -> Any:
    from kadenz.cli.run_display import LineDisplay, LiveDisplay

    return LiveDisplay() if sys.stderr.isatty() and not as_json else LineDisplay()


def _conclude(
    results: Sequence[Result | KadenzError], report: Path | None, as_json: bool, *, stopped: bool
) -> int:
    """Summary, report, errors; the exit code. The report is written before any error is told."""
    from kadenz.cli.run_summary import write_json, write_tables

    runs = [result for result in results if not isinstance(result, KadenzError)]
    errors = [error for result in runs for error in result.failures]
    errors += [result for result in results if isinstance(result, KadenzError)]
    folders = [result.folder for result in runs]
    if as_json:
        write_json(folders, errors)
    else:
        write_tables(folders)
    if report is not None and folders:
        _write_report(folders, report)
    from kadenz.cli import show_error

    codes = [show_error(error) for error in errors]
    unusable = any(_unusable(result) for result in runs)
    if stopped or unusable:
        codes.append(EXIT_FAILED)
    return max(codes, default=EXIT_PASS)


def _unusable(result: Result) -> bool:
    return any(record.status in ("failed", "invalid") for record in result.manifest.records)


def _write_report(folders: Sequence[Path], report: Path) -> None:
    from kadenz.cli.report import report as command

    command.main([*map(str, folders), "--output", str(report)], standalone_mode=False)
