# SPDX-License-Identifier: Apache-2.0
"""kadenz run: measures campaigns and benchmarks on targets, each into a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from kadenz.cli.board_option import board_option
from kadenz.cli.deadline import DEADLINE
from kadenz.cli.measuring import Call, measure_call
from kadenz.cli.names import complete_target, complete_work
from kadenz.cli.option_groups import ARGUMENTS, GroupedCommand, condition_options, option
from kadenz.cli.run_options import RunOptions
from kadenz.cli.timeout_option import TIMEOUT
from kadenz.config.campaign import Chosen
from kadenz.errors import UsageError

_WHAT, _HOW, _RESULTS = "What to measure", "How to measure", "Results"


@click.command(cls=GroupedCommand)
@click.argument("work", metavar="[CAMPAIGN|BENCHMARK...]", nargs=-1, shell_complete=complete_work)
@option(
    _WHAT,
    "--target",
    "targets",
    multiple=True,
    shell_complete=complete_target,
    help="Where to measure; may be repeated. Default: the campaign's own targets.",
)
@option(
    _WHAT,
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A parameter, or `samples`, `seconds`, `cold`; values with commas make a sweep.",
)
@option(_WHAT, "--quick", is_flag=True, help="Fewer samples: to see that it works.")
@option(_WHAT, "--deadline", "deadlines", **DEADLINE)
@option(
    _WHAT,
    "--bench",
    "extra_bench",
    type=click.Path(path_type=Path),
    multiple=True,
    help="C file of a benchmark outside the suite; may be repeated.",
)
@option(
    _HOW,
    "--instrument",
    type=click.Choice(get_args(Chosen)),
    help="How time is measured: by a counter on the target; from outside by a scope; from "
    "outside in cycles of a timing model of the core; or by the counter, with pins that a logic "
    "analyser sees. Default: the campaign's, else counter.",
)
@option(
    _HOW,
    "--rounds",
    type=click.IntRange(min=1),
    help="Measure each variant (target and conditions) N times in alternating order, for "
    "`compare`. Default: the lab's, else once.",
    metavar="N",
)
@option(
    _HOW,
    "--farm",
    metavar="CONFIG",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Execute emulated targets and simulated cores on the workers of a farm, and acquire the "
    "places of boards.",
)
@option(
    _HOW,
    "--timeout",
    "timeout_s",
    **TIMEOUT,
)
@option(
    _HOW,
    "--wait/--no-wait",
    default=True,
    show_default=True,
    help="While another kadenz measures this Linux: wait for its end, or refuse.",
)
@option(
    _HOW,
    "--resume",
    default="",
    metavar="RUN",
    help="Measure the rest of a stopped call. RUN is one of its runs: a folder, a name, an id or "
    "`latest`.",
)
@option(
    _HOW,
    "--dry-run",
    is_flag=True,
    help="Build the images and show what would be measured and for how long; measure nothing.",
)
@option(
    _HOW,
    "--fresh",
    is_flag=True,
    help="Take nothing from the store of earlier executions: execute everything.",
)
@option(
    _RESULTS,
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where run folders go. Default: the lab's, else runs.",
)
@option(
    _RESULTS,
    "--name",
    default="",
    help="Name of the runs of this call, for `show NAME`. Default: date and time.",
)
@option(
    _RESULTS,
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write an HTML page.",
)
@option(_RESULTS, "--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@board_option
@condition_options
def run(**values: Any) -> int:
    """Measure campaigns (by name or file) or single benchmarks.

    A condition with several values gives one run for each, and several conditions one run for each
    combination.

    \b
    kadenz run demo
    kadenz run --resume latest
    kadenz run yoo2024 --target freertos/stm32f4@emulated --quick
    kadenz run itc/queue --target posix/linux@host --set size_bytes=4,64,1024
    kadenz run cyclic/wakeup-latency --target posix/linux@host --deadline 100us
    kadenz run linux-ipc --load none --load disk,workers=2 --rounds 5
    kadenz run motion --bus interface=eth1,layout=my-robot.toml
    kadenz run linux-ipc --tuning none --tuning latency --rounds 5
    """
    from kadenz.cli.run_resume import call_of, repeated

    arguments = click.get_current_context().meta[ARGUMENTS]
    options = RunOptions.of(values)
    if options.how.resume:
        return repeated(run, values)
    if not options.what.work:
        raise UsageError("nothing to measure", remedy="Name a campaign or a benchmark")
    return measure_call(Call(options, call_of(arguments)))
