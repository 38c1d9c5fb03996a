# SPDX-License-Identifier: Apache-2.0
"""kadenz tune: applies a profile of priorities and placement to this Linux, and restores it."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.key_values import KeyValues
from kadenz.cli.names import profiles
from kadenz.cli.output import write_json
from kadenz.config.key_values import Notation, OptionValue
from kadenz.errors import EXIT_FAILED, KadenzError
from kadenz.lab.conditions.tuning import CPUS

if TYPE_CHECKING:
    from rich.text import Text

    from kadenz.tuning.change import Change
    from kadenz.tuning.journal import Step
    from kadenz.tuning.lifecycle import Check, InForce, Taken
    from kadenz.tuning.plan import Item, Plan


_profile = click.argument(
    "profile",
    metavar="PROFILE[,cpus=LIST]",
    type=KeyValues(Notation("", (CPUS,), "PROFILE"), profiles, or_file=True),
)
_json = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")


@click.group()
def tune() -> None:
    """Tune this Linux for real-time work, and restore it.

    `plan` shows what a profile would change and why. `apply` makes the changes. `verify` checks
    that they are still in effect. `restore` reverts them, even after a crash or kill -9. Runs
    record the tuning they were measured under. `kadenz run --tuning` applies and restores a profile
    around each run; no other command changes the machine.
    """


@tune.command("list")
@_json
def list_(as_json: bool) -> None:
    """List the profiles, the findings of `doctor` that each removes, and the profile in force."""
    from kadenz.cli import show_error
    from kadenz.config import inventory
    from kadenz.config.tuning import removes
    from kadenz.tuning.lifecycle import in_force
    from kadenz.tuning.machine import Machine

    there = in_force(Machine())
    answer = []
    for name, file in inventory.tuning_files().items():
        try:
            tuning, _ = inventory.read_tuning(name)
        except KadenzError as error:
            show_error(error)
            continue
        answer.append(
            {
                "name": name,
                "title": tuning.title,
                "file": str(file),
                "based_on": tuning.based_on,
                "removes": sorted(removes(tuning)),
                "notes": list(tuning.notes),
            }
        )
    if as_json:
        write_json({"profiles": answer, "in_force": _in_force(there)})
        return
    from kadenz.cli.console import styled

    screen = _console()
    for entry in answer:
        screen.print(styled("[bold]{}[/]  {}", entry["name"], str(entry["title"])))
        if entry["removes"]:
            screen.print(styled("  [dim]removes: {}[/]", ", ".join(entry["removes"])))
    screen.print(f"\n{_force_words(there)}")


@tune.command()
@_profile
@_json
def plan(profile: OptionValue, as_json: bool) -> None:
    """Show what PROFILE would change: old and new value, reason, risk. Changes nothing.

    \b
    kadenz tune plan latency
    kadenz tune plan isolated,cpus=2-3
    """
    tuning_plan, _ = _plan(profile.name, **profile.keys)
    if as_json:
        write_json(_plan_json(tuning_plan))
        return
    _print_plan(tuning_plan)


@tune.command()
@_profile
@_json
def apply(profile: OptionValue, as_json: bool) -> int:
    """Make the changes that `kadenz tune plan PROFILE` shows.

    Each change is written to a journal first. Exits with 1 if some changes failed; the others stay
    in effect. Ctrl-C reverts all of them.
    """
    from kadenz.tuning import lifecycle
    from kadenz.tuning.machine import Machine

    tuning_plan, digest = _plan(profile.name, **profile.keys)
    with _signals_interrupt():
        journal = lifecycle.apply(Machine(), tuning_plan, digest)
    failed = [step for step in journal.steps if step.outcome == "failed"]
    if as_json:
        write_json(
            {
                "profile": tuning_plan.profile,
                "applied": journal.head.applied,
                "steps": [_step_json(step) for step in journal.steps],
            }
        )
    else:
        _print_applied(tuning_plan, journal.steps, failed)
    return EXIT_FAILED if failed else 0


@tune.command()
@_json
def verify(as_json: bool) -> int:
    """Check that applied values are still in effect.

    Exits with 0 if all are. Exits with 1 if a value changed or was never set, if a new thread or
    interrupt does not match the profile, or if no tuning is in force.
    """
    from kadenz.tuning import lifecycle
    from kadenz.tuning.machine import Machine

    machine = Machine()
    there = lifecycle.in_force(machine)
    if there is None or there.stale:
        raise KadenzError(
            _force_words(there), remedy="`kadenz tune list` shows the available profiles"
        )
    head = there.journal.head
    checks = lifecycle.verify(machine, there.journal)
    unread = ""
    try:
        tuning_plan, _ = _plan(head.profile, head.cpus)
        checks += lifecycle.appeared(machine, tuning_plan, there.journal)
    except KadenzError as error:
        unread = f"cannot check for new threads and interrupts: {error.message}"
    wrong = [check for check in checks if check.state in ("changed", "failed", "new")]
    whole = there.journal.complete and not there.journal.restoring
    if as_json:
        write_json(
            {
                "in_force": _in_force(there),
                "holds": whole and not wrong,
                "note": unread,
                "checks": [
                    {**_change_json(c.change), "state": c.state, "now": c.now, "why": c.why}
                    for c in checks
                ],
            }
        )
    else:
        _print_checks(there, checks, wrong, unread)
    return 0 if whole and not wrong else EXIT_FAILED


@tune.command()
@click.option(
    "--changed-by-others",
    type=click.Choice(["keep", "overwrite"]),
    help="How to treat values changed by others since: keep them, or overwrite them with the "
    "values from before the tuning. By default they are reported and left unchanged.",
)
@_json
def restore(changed_by_others: str | None, as_json: bool) -> int:
    """Restore every value, last change first; works after a crash of kadenz, too.

    After a reboot there is nothing to restore. Exits with 1 if a value could not be restored: the
    journal stays, and `restore` can be repeated.
    """
    from kadenz.tuning import lifecycle
    from kadenz.tuning.machine import Machine

    machine = Machine()
    there = lifecycle.in_force(machine)
    others: Any = changed_by_others or ""
    with _signals_interrupt():
        taken = lifecycle.restore(machine, others)
    assert there is not None
    left = [value for value in taken if value.result in ("changed by others", "failed")]
    if as_json:
        write_json(
            {
                "profile": there.journal.head.profile,
                "stale": there.stale,
                "values": [
                    {**_change_json(t.change), "result": t.result, "now": t.now, "why": t.why}
                    for t in taken
                ],
            }
        )
    else:
        _print_taken(there, taken, left)
    return EXIT_FAILED if left else 0


# ---- shared --------------------------------------------------------------------------------------
def _plan(profile: str, cpus: str = "") -> tuple[Plan, str]:
    """The plan of a profile for this machine, and the digest of the profile's file."""
    from kadenz.tuning.machine import Machine
    from kadenz.tuning.plan import plan_of

    return plan_of(Machine(), profile, cpus)


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Treats SIGTERM and SIGHUP (a closed terminal) like Ctrl-C, which reverts all changes."""

    def interrupt(number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = {n: signal.signal(n, interrupt) for n in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _force_words(there: InForce | None) -> str:
    if there is None:
        return "no tuning is in force"
    head = there.journal.head
    if there.stale:
        return f"no tuning is in force: a reboot undid {head.profile}, applied {head.applied}"
    if not there.journal.complete or there.journal.restoring:
        return (
            f"{head.profile} of {head.applied} is only partly applied or restored; run "
            "`kadenz tune restore`"
        )
    return f"in force: {head.profile}, since {head.applied}"


def _in_force(there: InForce | None) -> dict[str, Any] | None:
    if there is None:
        return None
    head, journal = there.journal.head, there.journal
    return {
        "profile": head.profile,
        "applied": head.applied,
        "cpus": head.cpus,
        "stale": there.stale,
        "complete": journal.complete and not journal.restoring,
    }


# ---- for programs --------------------------------------------------------------------------------
def _change_json(change: Change) -> dict[str, Any]:
    return {
        "key": change.key,
        "what": change.what,
        "kind": change.kind,
        "path": change.path,
        "thread": change.tid,
        "was": change.was,
        "value": change.value,
    }


def _step_json(step: Step) -> dict[str, Any]:
    return {**_change_json(step.change), "outcome": step.outcome, "why": step.why}


def _plan_json(plan: Plan) -> dict[str, Any]:
    from kadenz.config.processors import show_cpus

    return {
        "profile": plan.profile,
        "title": plan.tuning.title,
        "notes": list(plan.tuning.notes),
        "realtime_cpus": show_cpus(plan.realtime),
        "items": [
            {
                "key": item.key,
                "wanted": item.wanted,
                "effect": item.effect,
                "risk": item.risk,
                "missing": item.missing,
                "note": item.note,
                "changes": [_change_json(change) for change in item.changes],
                "as_wanted": [_change_json(change) for change in item.as_wanted],
            }
            for item in plan.items
        ],
    }


# ---- for people ----------------------------------------------------------------------------------
def _console() -> Any:
    from kadenz.cli.console import console

    return console()


def _print_plan(plan: Plan) -> None:
    from kadenz.cli.console import styled
    from kadenz.config.processors import show_cpus

    screen = _console()
    screen.print(styled("[bold]{}[/]  {}", plan.profile, plan.tuning.title))
    for note in plan.tuning.notes:
        screen.print(_indented(note, 2))
    if plan.realtime:
        kept, rest = show_cpus(plan.realtime), show_cpus(plan.housekeeping)
        screen.print(f"  processors for real-time work: {kept}; for everything else: {rest}")
    for title, items in (
        ("Would change", [item for item in plan.items if item.changes]),
        ("Already set", [i for i in plan.items if i.as_wanted and not i.changes]),
        ("Not available on this machine", [item for item in plan.items if item.missing]),
    ):
        if items:
            screen.print(styled("\n[bold]{}[/]", title))
        for item in items:
            _print_item(screen, item)
    screen.print(
        styled("\n[dim]Nothing was changed. To apply: kadenz tune apply {}[/]", plan.profile)
    )


def _print_item(screen: Any, item: Item) -> None:
    from kadenz.cli.console import styled

    if item.missing:
        screen.print(styled("  {}: [dim]{}[/]", item.key, item.missing), soft_wrap=True)
        return
    if not item.changes:
        screen.print(f"  {item.key}: {item.wanted}")
        return
    screen.print(styled("  [bold]{}[/]", item.key))
    for line in _grouped(item.changes):
        screen.print(_indented(line))
    for word, text in (("why", item.effect), ("risk", item.risk), ("note", item.note)):
        if text:
            screen.print(_indented(styled("[dim]{}: {}[/]", word, text)))


def _indented(text: str | Text, by: int = 6) -> Any:
    """A paragraph whose lines are all indented."""
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, by), expand=False)


def _grouped(changes: Sequence[Change]) -> list[str]:
    """One line for all equal changes: "19 interrupts: 0-1 → 0"."""
    from kadenz.tuning.lifecycle import counted

    groups: dict[tuple[str, str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.kind, change.was, change.value), []).append(change)
    return [
        f"{same[0].what if len(same) == 1 else counted(same)}: {was or 'nothing'} → "
        + (f"a group with processors {value.partition(';')[0]}" if kind == "group" else value)
        for (kind, was, value), same in groups.items()
    ]


def _print_applied(plan: Plan, steps: Sequence[Step], failed: Sequence[Step]) -> None:
    from kadenz.cli.console import styled

    screen = _console()
    changed = [s for s in steps if s.outcome == "done" and s.change.was != s.change.value]
    screen.print(styled("[green]✓[/] {}: {} values changed", plan.profile, len(changed)))
    for step in failed:
        change = step.change
        screen.print(
            styled("[red]✗[/] {}", f"{change.key}: {change.what} stays {change.was}: {step.why}"),
            soft_wrap=True,
        )
    for item in plan.items:
        if item.missing:
            screen.print(styled("[dim]- {}: {}[/]", item.key, item.missing), soft_wrap=True)
    screen.print(styled("[dim]To revert: kadenz tune restore[/]"))


def _print_checks(
    there: InForce, checks: Sequence[Check], wrong: Sequence[Check], unread: str
) -> None:
    from kadenz.cli.console import styled

    screen = _console()
    screen.print(_force_words(there))
    holds = sum(1 for check in checks if check.state == "holds")
    gone = sum(1 for check in checks if check.state == "gone")
    ended = f", {gone} belong to threads that ended" if gone else ""
    screen.print(f"{holds} values are in effect{ended}")
    for check in wrong:
        change = check.change
        finding = {
            "changed": f"is {check.now}, not {change.value}",
            "failed": f"was never set: {check.why}",
            "new": f"is new, with {check.now} instead of {change.value}",
        }[check.state]
        screen.print(
            styled("[red]✗[/] {}", f"{change.key}: {change.what} {finding}"), soft_wrap=True
        )
    if unread:
        screen.print(styled("[yellow]![/] {}", unread), soft_wrap=True)
    if wrong:
        screen.print(styled("[dim]To repair: kadenz tune restore, then kadenz tune apply[/]"))


def _print_taken(there: InForce, taken: Sequence[Taken], left: Sequence[Taken]) -> None:
    from kadenz.cli.console import styled

    screen = _console()
    head = there.journal.head
    if there.stale:
        screen.print(
            f"Nothing to restore: the last reboot undid {head.profile}, applied "
            f"{head.applied}. Its journal is archived."
        )
        return
    back = sum(1 for value in taken if value.result == "restored")
    screen.print(styled("[green]✓[/] {}: {} values restored", head.profile, back))
    for value in taken:
        change = value.change
        outcome = {
            "changed by others": f"is {value.now}: others changed it from {change.value}; before "
            f"the tuning it was {change.was}",
            "failed": f"could not be restored to {change.was}: {value.why}",
            "kept": f"stays {value.now}; before the tuning it was {change.was}",
        }.get(value.result)
        if outcome:
            mark = "[red]✗[/] {} {}" if value in left else "[dim]-[/] {} {}"
            screen.print(styled(mark, change.what, outcome), soft_wrap=True)
    if any(value.result == "changed by others" for value in left):
        screen.print(
            "They were left unchanged. To decide: kadenz tune restore --changed-by-others "
            "keep|overwrite",
            soft_wrap=True,
        )
