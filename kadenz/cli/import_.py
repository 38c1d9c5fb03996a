# SPDX-License-Identifier: Apache-2.0
"""kadenz import: a run from the capture of a logic analyser."""

from __future__ import annotations

import math
from pathlib import Path

import click

from kadenz.cli.names import complete_target
from kadenz.cli.run_folder_options import run_folder_options
from kadenz.errors import EXIT_PASS, UsageError


@click.command("import")
@click.argument("capture", type=click.Path(path_type=Path))
@click.option("--begin", required=True, metavar="CHANNEL[:rise|:fall]", help="The edge of BEGIN.")
@click.option("--end", required=True, metavar="CHANNEL[:rise|:fall]", help="The edge of END.")
@click.option(
    "--sample-rate",
    metavar="RATE",
    default="",
    help="Sample rate of a CSV without times, e.g. 24MHz, 500k or 1000000.",
)
@click.option(
    "--unit",
    type=click.Choice(["s", "ms", "us", "ns", "ps", "fs"]),
    help="Unit of times in a CSV that does not state it.",
)
@click.option("--bench", required=True, help="The benchmark that was measured: itc/queue.")
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A parameter of the benchmark: size_bytes=60. Default: its initial value.",
)
@click.option("--target", required=True, shell_complete=complete_target, help="Where it ran.")
@click.option(
    "--glitch",
    "glitch_ns",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Leave out pulses shorter than this, in ns. Default: none.",
)
@click.option(
    "--cold", type=click.IntRange(min=0), default=1, help="First samples to exclude. Default: 1."
)
@run_folder_options(several=False)
def import_(
    capture: Path,
    begin: str,
    end: str,
    sample_rate: str,
    unit: str | None,
    bench: str,
    settings: tuple[str, ...],
    target: str,
    glitch_ns: float,
    cold: int,
    output: Path | None,
    name: str,
) -> int:
    """Make a run folder from CAPTURE, a recording of a benchmark's marks on pins.

    CAPTURE is a VCD, a session of sigrok (.sr), or a CSV of Saleae's Logic or of sigrok.
    One channel for both marks is high from BEGIN to END.

    \b
    kadenz import capture.vcd --begin D0 --end D1 \\
        --bench itc/queue --target freertos/stm32f4@board
    kadenz import capture.sr --begin D0:rise --end D0:fall \\
        --bench itc/queue --target …
    """
    from kadenz.capture.importing import Capture, import_capture
    from kadenz.capture.sample_rate import parse_rate
    from kadenz.cli.console import progress_bars
    from kadenz.cli.run_request import lab_defaults, point_of, run_name
    from kadenz.config.target_name import parse_target

    rate_hz = parse_rate(sample_rate)
    if sample_rate and not rate_hz:
        raise UsageError(f"{sample_rate}: not a sample rate", remedy="For example 24MHz")
    if not math.isfinite(glitch_ns):
        raise UsageError(
            f"--glitch {glitch_ns:g}: not a finite number", remedy="In ns: --glitch 50"
        )
    output, _ = lab_defaults(output, None)
    asked = Capture(
        capture,
        begin,
        end,
        bench,
        parse_target(target),
        glitch_ns,
        cold,
        run_name(name, output),
        rate_hz,
        unit or "",
        point_of(settings),
    )
    size = capture.stat().st_size if capture.is_file() else 0
    with progress_bars(transient=True) as bar:
        task = bar.add_task(str(capture), total=size)
        imported = import_capture(asked, output, lambda at: bar.update(task, completed=at))
    click.echo(f"{imported.folder}: {imported.samples} samples")
    for warning in imported.warnings:
        click.echo(f"warning: {warning.message}. {warning.remedy}".rstrip(), err=True)
    if imported.problem:
        raise UsageError(
            f"{capture}: {imported.problem}",
            remedy=f"The {imported.samples} paired samples are in {imported.folder}",
        )
    return EXIT_PASS
