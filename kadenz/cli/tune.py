# SPDX-License-Identifier: Apache-2.0
"""kadenz tune: priorities and placement of this Linux, set by a profile and taken back."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.names import complete_profile
from kadenz.errors import EXIT_FAILED, KadenzError

if TYPE_CHECKING:
    from kadenz.tuning.change import Change
    from kadenz.tuning.journal import Step
    from kadenz.tuning.lifecycle import Check, InForce, Taken
    from kadenz.tuning.plan import Item, Plan


_profile = click.argument("profile", shell_complete=complete_profile)
_cpus = click.option(
    "--cpus", default="", metavar="LIST", help="Processors kept apart for real time, e.g. 2-3."
)
_json = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")


@click.group()
def tune() -> None:
    """Tune this Linux for real-time work, and take it back.

    `plan` shows what a profile would change and why, `apply` does it, `verify` looks whether it
    still holds, `restore` gives every value back, also after a crash or kill -9. Runs measured
    under a tuning carry it. No other command changes anything, but for `kadenz run --tuning`,
    which does the same around each run.
    """


@tune.command("list")
@_json
def list_(as_json: bool) -> None:
    """List the profiles, what each takes away of the findings of `doctor`, and the one in force."""
    from kadenz.config import inventory
    from kadenz.config.tuning import removes
    from kadenz.tuning.lifecycle import in_force
    from kadenz.tuning.machine import Machine

    there = in_force(Machine())
    answer = []
    for name, file in inventory.tuning_files().items():
        tuning, _ = inventory.read_tuning(name)
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
        _write_json({"profiles": answer, "in_force": _in_force(there)})
        return
    from rich.markup import escape

    screen = _console()
    for entry in answer:
        screen.print(f"[bold]{entry['name']}[/]  {escape(str(entry['title']))}")
        if entry["removes"]:
            screen.print(f"  [dim]takes away: {', '.join(entry['removes'])}[/]")
    screen.print(f"\n{escape(_force_words(there))}")


@tune.command()
@_profile
@_cpus
@_json
def plan(profile: str, cpus: str, as_json: bool) -> None:
    """Show what PROFILE would change on this machine: now and then, why, the risk. Changes nothing.

    \b
    kadenz tune plan latency
    kadenz tune plan isolated --cpus 2-3
    """
    made, _ = _plan(profile, cpus)
    if as_json:
        _write_json(_plan_json(made))
        return
    _print_plan(made)


@tune.command()
@_profile
@_cpus
@_json
def apply(profile: str, cpus: str, as_json: bool) -> int:
    """Make the changes `kadenz tune plan PROFILE` shows.

    Each is written to a journal first. Exits with 1 when some of it failed: the rest is in force.
    Ctrl-C takes back what was done.
    """
    from kadenz.tuning import lifecycle
    from kadenz.tuning.machine import Machine

    made, digest = _plan(profile, cpus)
    with _signals_interrupt():
        journal = lifecycle.apply(Machine(), made, digest)
    failed = [step for step in journal.steps if step.outcome == "failed"]
    if as_json:
        _write_json(
            {
                "profile": made.profile,
                "applied": journal.head.applied,
                "steps": [_step_json(step) for step in journal.steps],
            }
        )
    else:
        _print_applied(made, journal.steps, failed)
    return EXIT_FAILED if failed else 0


@tune.command()
@_json
def verify(as_json: bool) -> int:
    """Look whether every value is still as it was applied.

    Exits with 0 when it is, with 1 when one changed or failed, when a thread or an interrupt
    appeared that the profile does not hold for, or when no tuning is in force.
    """
    from kadenz.tuning import lifecycle
    from kadenz.tuning.machine import Machine

    machine = Machine()
    there = lifecycle.in_force(machine)
    if there is None or there.stale:
        raise KadenzError(
            _force_words(there), remedy="`kadenz tune list` shows the profiles there are"
        )
    head = there.journal.head
    checks = lifecycle.verify(machine, there.journal)
    unread = ""
    try:
        made, _ = _plan(head.profile, head.cpus)
        checks += lifecycle.appeared(machine, made, there.journal)
    except KadenzError as error:
        unread = f"what appeared since is not known: {error.message}"
    wrong = [check for check in checks if check.state in ("changed", "failed", "new")]
    whole = there.journal.complete and not there.journal.restoring
    if as_json:
        _write_json(
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
    help="What becomes of values that somebody else changed since: leave them so, or give them "
    "back as they were before. Without it they are told and left.",
)
@_json
def restore(changed_by_others: str | None, as_json: bool) -> int:
    """Give every value back as it was, the last change first; also after a crash of kadenz.

    After a reboot there is nothing to give back, and it says so. Exits with 1 when something could
    not be given back: the journal stays, and `restore` can be repeated.
    """
    from kadenz.tuning import lifecycle
    from kadenz.tuning.machine import Machine

    machine = Machine()
    there = lifecycle.in_force(machine)
    others: Any = changed_by_others or ""
    with _signals_interrupt():
        taken = lifecycle.restore(machine, others)
    assert there is not None
    left = [one for one in taken if one.result in ("changed by others", "failed")]
    if as_json:
        _write_json(
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
def _plan(profile: str, cpus: str) -> tuple[Plan, str]:
    """The profile held against this machine, and the digest of its file."""
    from kadenz.tuning.machine import Machine
    from kadenz.tuning.plan import plan_of

    return plan_of(Machine(), profile, cpus)


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """A closed terminal or a polite kill end it as Ctrl-C does: with everything taken back."""

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
        return (
            f"no tuning is in force: {head.profile}, applied {head.applied}, went with the reboot "
            "since then"
        )
    if not there.journal.complete or there.journal.restoring:
        return (
            f"{head.profile} of {head.applied} is half applied or half restored: "
            "kadenz tune restore"
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
def _write_json(answer: Any) -> None:
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=1))


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


def _plan_json(made: Plan) -> dict[str, Any]:
    from kadenz.config.processors import show_cpus

    return {
        "profile": made.profile,
        "title": made.tuning.title,
        "notes": list(made.tuning.notes),
        "realtime_cpus": show_cpus(made.realtime),
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
            for item in made.items
        ],
    }


# ---- for people ----------------------------------------------------------------------------------
def _console() -> Any:
    from kadenz.cli.console import console

    return console()


def _print_plan(made: Plan) -> None:
    from rich.markup import escape

    from kadenz.config.processors import show_cpus

    screen = _console()
    screen.print(f"[bold]{escape(made.profile)}[/]  {escape(made.tuning.title)}")
    for note in made.tuning.notes:
        screen.print(_indented(escape(note), 2))
    if made.realtime:
        kept, rest = show_cpus(made.realtime), show_cpus(made.housekeeping)
        screen.print(f"  processors kept apart for real time: {kept}; for everything else: {rest}")
    for title, items in (
        ("Would change", [item for item in made.items if item.changes]),
        ("Is so already", [i for i in made.items if i.as_wanted and not i.changes]),
        ("This machine does not have", [item for item in made.items if item.missing]),
    ):
        if items:
            screen.print(f"\n[bold]{title}[/]")
        for item in items:
            _print_item(screen, item)
    screen.print(f"\n[dim]Nothing was changed. kadenz tune apply {escape(made.profile)}[/]")


def _print_item(screen: Any, item: Item) -> None:
    from rich.markup import escape

    if item.missing:
        screen.print(f"  {escape(item.key)}: [dim]{escape(item.missing)}[/]", soft_wrap=True)
        return
    if not item.changes:
        screen.print(f"  {escape(item.key)}: {escape(item.wanted)}")
        return
    screen.print(f"  [bold]{escape(item.key)}[/]")
    for line in _grouped(item.changes):
        screen.print(_indented(escape(line)))
    for word, text in (("why", item.effect), ("risk", item.risk), ("note", item.note)):
        if text:
            screen.print(_indented(f"[dim]{word}: {escape(text)}[/]"))


def _indented(text: str, by: int = 6) -> Any:
    """A paragraph that wraps below its beginning."""
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, by), expand=False)


def _grouped(changes: Sequence[Change]) -> list[str]:
    """One line for everything that changes alike: "19 interrupts: 0-1 → 0"."""
    from kadenz.tuning.lifecycle import counted

    groups: dict[tuple[str, str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.kind, change.was, change.value), []).append(change)
    return [
        f"{same[0].what if len(same) == 1 else counted(same)}: {was or 'nothing'} → "
        + (f"a group with processors {value.partition(';')[0]}" if kind == "group" else value)
        for (kind, was, value), same in groups.items()
    ]


def _print_applied(made: Plan, steps: Sequence[Step], failed: Sequence[Step]) -> None:
    from rich.markup import escape

    screen = _console()
    changed = [s for s in steps if s.outcome == "done" and s.change.was != s.change.value]
    screen.print(f"[green]✓[/] {escape(made.profile)}: {len(changed)} values changed")
    for step in failed:
        change = step.change
        screen.print(
            f"[red]✗[/] {escape(f'{change.key}: {change.what} stays {change.was}: {step.why}')}",
            soft_wrap=True,
        )
    for item in made.items:
        if item.missing:
            screen.print(f"[dim]- {escape(item.key)}: {escape(item.missing)}[/]", soft_wrap=True)
    screen.print("[dim]Take it back: kadenz tune restore[/]")


def _print_checks(
    there: InForce, checks: Sequence[Check], wrong: Sequence[Check], unread: str
) -> None:
    from rich.markup import escape

    screen = _console()
    screen.print(escape(_force_words(there)))
    holds = sum(1 for check in checks if check.state == "holds")
    gone = sum(1 for check in checks if check.state == "gone")
    screen.print(f"{holds} values hold" + (f", {gone} are of threads that ended" if gone else ""))
    for check in wrong:
        change = check.change
        words = {
            "changed": f"is {check.now}, not {change.value}",
            "failed": f"was never set: {check.why}",
            "new": f"appeared since, with {check.now} instead of {change.value}",
        }[check.state]
        screen.print(f"[red]✗[/] {escape(f'{change.key}: {change.what} {words}')}", soft_wrap=True)
    if unread:
        screen.print(f"[yellow]![/] {escape(unread)}", soft_wrap=True)
    if wrong:
        screen.print("[dim]kadenz tune restore, then apply it again[/]")


def _print_taken(there: InForce, taken: Sequence[Taken], left: Sequence[Taken]) -> None:
    from rich.markup import escape

    screen = _console()
    head = there.journal.head
    if there.stale:
        screen.print(
            f"Nothing to give back: {escape(head.profile)} was applied {head.applied}, before the "
            "last reboot, which undid it. Its journal is put away."
        )
        return
    back = sum(1 for one in taken if one.result == "restored")
    screen.print(f"[green]✓[/] {escape(head.profile)}: {back} values given back")
    for one in taken:
        change = one.change
        words = {
            "changed by others": f"is {one.now}: somebody else changed it since from {change.value}"
            f"; before the tuning it was {change.was}",
            "failed": f"could not be given back as {change.was}: {one.why}",
            "kept": f"stays {one.now}; before the tuning it was {change.was}",
        }.get(one.result)
        if words:
            mark = "[red]✗[/]" if one in left else "[dim]-[/]"
            screen.print(f"{mark} {escape(f'{change.what} {words}')}", soft_wrap=True)
    if any(one.result == "changed by others" for one in left):
        screen.print(
            "These were left alone. kadenz tune restore --changed-by-others keep|overwrite decides",
            soft_wrap=True,
        )
