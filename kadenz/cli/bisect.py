# SPDX-License-Identifier: Apache-2.0
"""kadenz bisect: finds the kernel or the image that moved a figure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.bisect_steps import Candidate, Judge, Step, candidates_of
from kadenz.cli.bisecting import Answer
from kadenz.cli.bisecting import bisect as search
from kadenz.cli.option_groups import GroupedCommand, declared
from kadenz.cli.output import write_json
from kadenz.cli.recording import Asked, recording_options
from kadenz.cli.verdict_options import max_worse_option, statistics_option
from kadenz.errors import EXIT_FAILED, EXIT_INCONCLUSIVE, EXIT_PASS, Interrupted, UsageError
from kadenz.lab.conditions.guest import GuestChoice

if TYPE_CHECKING:
    from kadenz.analysis.checks import Check
    from kadenz.analysis.gating import Gate
    from kadenz.lab.preparing import Request
    from kadenz.store import Run

_COLOURS = {"good": "green", "bad": "red", "undecided": "yellow", "failed": "yellow"}
_MORE = "more samples decide (--set samples=…), or another limit"
_ONE_CHANGE = (
    "a bisection takes one change for granted: where a figure moved more than once, this is one of "
    "its steps"
)


@click.command(cls=GroupedCommand)
@recording_options(
    "Where to measure.", "A parameter, or `samples`, `seconds`, `cold`.", json="object"
)
@declared(GuestChoice.options[0], GuestChoice.title)
@click.option(
    "--limit",
    "limits",
    metavar="LIMIT",
    multiple=True,
    help="What is good, as for `gate`: 'cyclic/wakeup-latency p99.9 < 100us'; may be repeated.",
)
@max_worse_option(
    "Without a limit: the largest change for the worse that is good, against the first."
)
@statistics_option("Without a limit: statistic to compare with the first; may be repeated.")
def bisect(
    limits: tuple[str, ...],
    max_worse: float,
    statistics: tuple[str | float, ...],
    **values: Any,
) -> int:
    """Find the step that moved a figure, among kernels of a guest or images of a firmware.

    Measures the first and the last, then halves what is between them: about log2 of their number
    runs. A list is searched in its order, a pattern in the order of versions. What does not boot
    and what cannot be decided is skipped for a neighbour. Exit code 0: there is a step; 4: no
    verdict, or the same one at both ends; 1: nothing could be measured.

    \b
    kadenz bisect cyclic/wakeup-latency --target linux-rt/x86_64@guest \\
        --guest kernel='kernels/*' \\
        --limit 'cyclic/wakeup-latency p99 < 9000 virtual ns'
    kadenz bisect itc/pipe --target linux/riscv64@guest --max-worse 2% \\
        --guest kernel=./a/Image,./b/Image,./c/Image
    kadenz bisect itc/queue --target stm32f4@emulated --image 'builds/*.elf'
    """
    from kadenz.analysis.gating import gate
    from kadenz.analysis.limits import parse_limit

    asked = Asked.of(values)
    asked_limits = [parse_limit(text) for text in limits]

    def decide(runs: list[Run], baseline: list[Run]) -> Gate:
        return gate(runs, baseline, max_worse=max_worse, statistics=statistics, limits=asked_limits)

    judge, answer = _searched(asked, decide, has_limits=bool(limits))
    outcome, code = _outcome(judge, answer)
    if asked.as_json:
        write_json(_document(judge, answer, outcome, code))
    else:
        _write(judge, answer)
    return code


def _searched(
    asked: Asked, decide: Callable[[list[Run], list[Run]], Gate], *, has_limits: bool
) -> tuple[Judge, Answer | None]:
    """The measured steps and the answer; None after Ctrl-C."""
    from kadenz.cli.measuring import display_of, measured, stoppable
    from kadenz.cli.run_request import lab_defaults, overrides_of, requests_of, run_name
    from kadenz.config.target_name import parse_target
    from kadenz.lab.preparing import Request

    if len(asked.targets) != 1:
        raise UsageError(
            f"{len(asked.targets)} targets to bisect on",
            remedy="Name one: --target linux/x86_64@guest",
        )
    candidates = candidates_of(parse_target(asked.targets[0]), asked.conditions)
    output, _ = lab_defaults(asked.output, None)
    wanted = partial(
        Request,
        overrides=overrides_of(asked.settings),
        timeout_s=asked.timeout_s,
        fresh=asked.fresh,
        run_name=run_name(asked.name, output),
    )

    def requests(candidate: Candidate) -> list[Request]:
        return requests_of(wanted, asked.work, asked.targets, candidate.conditions, quick=False)

    with stoppable() as stop, display_of(asked.as_json) as display:
        judge = Judge(
            candidates,
            lambda candidate: measured(requests(candidate), output, display, stop),
            decide,
            has_limits,
            stop,
            _say,
        )
        try:
            return judge, search(len(candidates), judge)
        except Interrupted:
            if not judge.steps:
                raise
            return judge, None


def _say(step: Step) -> None:
    why = f": {step.reason}" if step.reason else ""
    click.echo(f"{step.candidate.name}: {step.verdict}{why}", err=True)


def _outcome(judge: Judge, answer: Answer | None) -> tuple[str, int]:
    """The result in one word, and the exit code."""
    if answer is None:
        return "stopped", EXIT_FAILED
    if answer.is_one_step:
        return "step", EXIT_PASS
    if all(step.verdict == "failed" for step in judge.steps.values()):
        return "failed", EXIT_FAILED
    return ("steps" if answer.changes else "undecided"), EXIT_INCONCLUSIVE


def _write(judge: Judge, answer: Answer | None) -> None:
    """Prints the steps in the order of the candidates, and the answer."""
    from kadenz.cli.console import console, styled
    from kadenz.cli.tables import write_table
    from kadenz.report.table import Cell, Table

    several = _has_points(judge)
    rows = [
        tuple(
            map(
                Cell,
                (
                    step.candidate.name,
                    step.candidate.about,
                    "; ".join(_figure(check, named=several) for check in step.checks),
                    step.verdict,
                    step.reason,
                    ", ".join(folder.name for folder in step.runs),
                ),
            )
        )
        for _, step in sorted(judge.steps.items())
    ]
    title = f"{len(judge.steps)} of {len(judge.candidates)} measured"
    heads = "candidate | version | figure | verdict | reason | run"
    screen = console()
    write_table(screen, Table.headed(heads, name="steps", title=title, rows=rows))
    colour, *lines = _sentences(judge, answer)
    screen.print(styled("[{}]{}[/]", colour, lines[0]), soft_wrap=True)
    for line in lines[1:]:
        screen.print(styled("[dim]{}[/]", line), soft_wrap=True)


def _sentences(judge: Judge, answer: Answer | None) -> list[str]:
    """A colour, the answer, and what to know about it."""
    if answer is None:
        return ["yellow", "stopped: the same call without --fresh takes these steps from the store"]
    if answer.before is None:
        return ["red", "none of them could be judged", _MORE]
    before = judge.steps[answer.before]
    if answer.after is None:
        return ["yellow", f"{before.candidate.name} alone could be judged: {before.verdict}", _MORE]
    after = judge.steps[answer.after]
    if not answer.changes:
        text = (
            f"no step: {before.candidate.name} and {after.candidate.name} are both {after.verdict}"
        )
        return ["yellow", text, "Choose a limit that separates them, or other ends"]
    ends = [f"{step.candidate.name} ({step.verdict})" for step in (before, after)]
    moved = _moved(before, after, named=_has_points(judge))
    lines = [_COLOURS[after.verdict], f"between {' and '.join(ends)}: {moved}"]
    if answer.skipped:
        names = ", ".join(judge.candidates[place].name for place in answer.skipped)
        lines.append(f"or at one of those between them that were skipped: {names}; {_MORE}")
    return [*lines, _ONE_CHANGE]


def _has_points(judge: Judge) -> bool:
    """Whether the checks are of several points, which their names have to tell apart."""
    return len({_point(check) for step in judge.steps.values() for check in step.checks}) > 1


def _moved(before: Step, after: Step, *, named: bool) -> str:
    """The figures whose checks came out otherwise."""
    earlier = {_key(check): check for check in before.checks}
    changed = []
    for check in after.checks:
        then = earlier.get(_key(check))
        if check.outcome == (then.outcome if then is not None else "pass"):  # of the baseline
            continue
        figure = _figure(check, named=named)
        if then is not None and check.kind != "baseline":
            figure = figure.replace(check.measured, f"{then.measured} → {check.measured}", 1)
        changed.append(figure if named else f"{check.bench} {figure}")
    return "; ".join(changed)


def _key(check: Check) -> tuple[str, ...]:
    return _point(check), check.statistic, check.asked


def _point(check: Check) -> str:
    from kadenz.report import labels

    parts = (check.bench, labels.parameters(check.params), check.lane)
    return ", ".join(part for part in parts if part)


def _figure(check: Check, *, named: bool) -> str:
    parts = (_point(check) if named else "", check.statistic, check.measured, check.unit)
    return " ".join(part for part in parts if part)


def _document(judge: Judge, answer: Answer | None, outcome: str, code: int) -> dict[str, Any]:
    names = [candidate.name for candidate in judge.candidates]
    known = answer or Answer(None, None, changes=False)
    ends = (known.before, known.after) if known.changes else (None, None)
    before, after = (names[place] if place is not None else None for place in ends)
    return {
        "outcome": outcome,
        "exit_code": code,
        "candidates": [
            {"name": candidate.name, "version": candidate.about} for candidate in judge.candidates
        ],
        "steps": [
            {
                "place": place,
                "name": step.candidate.name,
                "verdict": step.verdict,
                "reason": step.reason,
                "checks": step.checks,
                "runs": [str(folder) for folder in step.runs],
            }
            for place, step in judge.steps.items()
        ],
        "before": before,
        "after": after,
        "skipped": [names[place] for place in known.skipped],
    }
