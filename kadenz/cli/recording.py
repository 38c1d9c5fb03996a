# SPDX-License-Identifier: Apache-2.0
"""Common parts of `kadenz profile` and `kadenz trace`: options, measurement, errors, JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from kadenz.cli.names import complete_target, complete_work
from kadenz.cli.option_groups import any_image_options
from kadenz.cli.output import write_json
from kadenz.cli.run_folder_options import run_folder_options
from kadenz.cli.timeout_option import timeout_option
from kadenz.errors import EXIT_FAILED, EXIT_PASS, KadenzError, UsageError
from kadenz.lab.beside import EACH_KIND

if TYPE_CHECKING:
    from kadenz.config.manifest import Instrument
    from kadenz.lab.beside import Beside
    from kadenz.lab.job import Result
    from kadenz.lab.states import State
    from kadenz.targets.arrivals import Asked as Arriving

_OPTIONS = (
    click.argument(
        "work", metavar="BENCHMARK...", nargs=-1, required=True, shell_complete=complete_work
    ),
    run_folder_options(several=True),
    timeout_option,
    click.option("--fresh", is_flag=True, help="Take nothing from the store: execute everything."),
    any_image_options,
)


def recording_options(
    targets: str, settings: str, *, json: Literal["array", "object"] = "array"
) -> Callable[[Any], Any]:
    """Adds the options of these commands; `targets` and `settings` are the help of two of them."""
    command_options = (
        click.option(
            "--target", "targets", multiple=True, shell_complete=complete_target, help=targets
        ),
        click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help=settings),
        click.option(
            "--json", "as_json", is_flag=True, help=f"One JSON {json} on standard output."
        ),
    )

    def add(command: Any) -> Any:
        for option in reversed((*command_options, *_OPTIONS)):
            command = option(command)
        return command

    return add


@dataclass(frozen=True)
class Asked:
    """The values of the shared options."""

    work: tuple[str, ...]
    targets: tuple[str, ...]
    settings: tuple[str, ...]
    output: Path | None
    name: str
    timeout_s: float
    fresh: bool
    as_json: bool
    conditions: Mapping[str, Any]

    @classmethod
    def of(cls, values: dict[str, Any]) -> Asked:
        """From what click passes; the rest are conditions of the image."""
        fields = {key: values.pop(key) for key in list(cls.__dataclass_fields__) if key in values}
        return cls(**fields, conditions=values)


@dataclass(frozen=True)
class Recorded:
    """Results, and whether Ctrl-C ended the measurement."""

    results: Sequence[Result | KadenzError]
    stopped: bool

    @property
    def runs(self) -> list[Result]:
        """The results that have a run folder."""
        return [result for result in self.results if not isinstance(result, KadenzError)]

    def say_why_none(self) -> None:
        """Says of each benchmark that does not apply why; where there is nothing else to show."""
        for run in self.runs:
            for record in run.manifest.records:
                if record.status == "n/a" and record.nature != "context":
                    click.echo(f"{record.bench}: n/a: {record.reason}", err=True)

    def exit_code(self) -> int:
        """Shows what went wrong; the exit code."""
        from kadenz.cli import show_error

        errors = [error for result in self.runs for error in result.failures]
        errors += [result for result in self.results if isinstance(result, KadenzError)]
        codes = [show_error(error) for error in errors]
        records = [record for run in self.runs for record in run.manifest.records]
        bad = [record for record in records if record.status in ("failed", "invalid")]
        for record in bad:
            click.echo(f"{record.bench}: {record.status}: {record.reason}", err=True)
        if self.stopped or bad:
            codes.append(EXIT_FAILED)
        return max(codes, default=EXIT_PASS)


def record(
    asked: Asked,
    instruments: Mapping[Instrument, Sequence[str]],
    *,
    quick: bool = False,
    defaults: Mapping[str, Any] | None = None,
    profiled: bool = False,
    traced: bool = False,
    arriving: Arriving | None = None,
    states: Sequence[State] = (),
    beside: Beside = EACH_KIND,
) -> Recorded:
    """Measures the benchmarks; `instruments` has the targets of each. In each of `states`, if there
    are any, with interrupts in the last sample: as `arriving` asks, or one in every cycle. On
    several cores another one works `beside`."""
    from kadenz.cli.measuring import display_of, measured, stoppable
    from kadenz.cli.run_request import lab_defaults, requests_of, run_name
    from kadenz.config.target_name import own_image
    from kadenz.lab.preparing import Request
    from kadenz.targets.arrivals import Asked as Arriving

    output, _ = lab_defaults(asked.output, None)
    overrides = _overrides(asked, defaults or {})
    arrivals = [
        replace(arriving or Arriving(0), sample=int(overrides["samples"][0]) - 1, state=state)
        for state in states
    ]
    wanted = partial(
        Request,
        overrides=overrides,
        timeout_s=asked.timeout_s,
        fresh=asked.fresh,
        run_name=run_name(asked.name, output),
        profiled=profiled,
        traced=traced,
        arriving=arrivals,
        beside=beside,
    )
    requests = [
        request
        for instrument, targets in instruments.items()
        for request in requests_of(
            wanted, asked.work, targets, asked.conditions, quick=quick, instrument=instrument
        )
    ]
    with stoppable() as stop, display_of(asked.as_json) as display:
        results = measured(requests, output, display, stop)
    names = [name for request in requests for name in request.targets]
    kept = "counter" not in instruments and all(
        name.tier == "rtl" and not own_image(name) for name in names
    )
    if arrivals and stop.is_set() and kept and not asked.conditions.get("image"):
        _say_that_it_goes_on()
    return Recorded(results, stop.is_set())


def _overrides(asked: Asked, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """`--set` over the command's defaults. UsageError for a length beside a default number of
    samples."""
    from kadenz.cli.run_request import overrides_of
    from kadenz.lab.plan import SAMPLES_KEY, SECONDS_KEY

    given = overrides_of(asked.settings)
    if SECONDS_KEY in given and SAMPLES_KEY in defaults and SAMPLES_KEY not in given:
        raise UsageError(
            f"--set {SECONDS_KEY}: this command measures a number of samples "
            f"({defaults[SAMPLES_KEY][0]} by default), however long they are",
            remedy=f"Leave it out, or set {SAMPLES_KEY}",
        )
    return {**defaults, **given}


def _say_that_it_goes_on() -> None:
    """After Ctrl-C, where the store is on and keeps what was tried."""
    from kadenz.values.store import the_store

    if the_store() is not None:
        click.echo("the same call goes on behind the arrivals that were tried", err=True)


def print_json(entries: Sequence[Any]) -> None:
    """One array on standard output."""
    write_json(entries)
