# SPDX-License-Identifier: Apache-2.0
"""kadenz cache: the store of executions that files alone decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.output import write_json
from kadenz.errors import EXIT_FAILED, EXIT_PASS

if TYPE_CHECKING:
    from pathlib import Path

    from kadenz.values.store import Store


@click.group(invoke_without_command=True)
@click.pass_context
def cache(context: click.Context) -> int:
    """Show, check or empty the store of emulated, guest and simulated executions.

    `kadenz run` takes an execution from there if nothing changed that it reads. $KADENZ_STORE names
    another folder, or is `off`; $KADENZ_STORE_BYTES is its size, 2 GiB by default.
    """
    if context.invoked_subcommand is None:
        context.invoke(show)
    return EXIT_PASS


@cache.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def show(as_json: bool = False) -> int:
    """Show how much is stored, of which targets, and how often it was used."""
    store = _store()
    if store is None:
        return EXIT_PASS
    contents = _contents(store)
    if as_json:
        write_json(contents)
        return EXIT_PASS
    click.echo(
        f"{contents['folder']}: {contents['entries']:,} entries, {_size(contents['bytes'])} of "
        f"{_size(contents['bound'])}"
    )
    if contents["oldest"]:
        click.echo(f"not used since {contents['oldest']}: the oldest, forgotten first")
    for target, row in contents["targets"].items():
        click.echo(f"{target}: {row['entries']:,} entries, used {row['hits']:,} times")
    return EXIT_PASS


@cache.command()
@click.option("--mend", is_flag=True, help="Remove what is damaged, and what differs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def verify(mend: bool, as_json: bool) -> int:
    """Read every byte; name damaged entries, and executions that should have been equal."""
    store = _store()
    if store is None:
        return EXIT_PASS
    damaged, pairs = store.damaged(), store.differing()
    count = sum(1 for _ in store.entries()) - len(damaged)
    if as_json:
        differing = {str(file): str(file.with_suffix("")) for file in pairs}
        why = {str(file): reason for file, reason in damaged.items()}
        write_json({"intact": count, "damaged": why, "differing": differing})
    else:
        _write_verified(store, count, damaged, pairs)
    if not (damaged or pairs):
        return EXIT_PASS
    if mend:
        for file in [*damaged, *pairs, *(file.with_suffix("") for file in pairs)]:
            file.unlink(missing_ok=True)
        click.echo("removed; the next run executes them", err=as_json)
        return EXIT_PASS
    click.echo("`kadenz cache verify --mend` removes them", err=True)
    return EXIT_FAILED


def _write_verified(
    store: Store, count: int, damaged: Mapping[Path, str], pairs: Sequence[Path]
) -> None:
    for file, why in damaged.items():
        click.echo(f"damaged: {file}: {why}")
    for file in pairs:
        click.echo(f"differs: {file} from {file.with_suffix('')}")
    click.echo(
        f"{store.folder}: {count:,} entries intact, {len(damaged)} damaged, "
        f"{len(pairs)} executions that differ"
    )


@cache.command()
def clear() -> int:
    """Remove everything from the store. Runs stay as they are."""
    store = _store()
    if store is not None:
        entries, size = store.clear()
        click.echo(f"{store.folder}: {entries:,} entries removed, {_size(size)}")
    return EXIT_PASS


def _store() -> Store | None:
    from kadenz.values.store import WHERE, the_store

    store = the_store()
    if store is None:
        click.echo(f"the store is off: {WHERE}=off", err=True)
    return store


def _contents(store: Store) -> dict[str, Any]:
    from kadenz.values.entry import DamagedError, Entry, ForeignError

    targets: Counter[str] = Counter()
    size, oldest, unusable = 0, None, 0
    for file in store.entries():
        try:
            with Entry(file) as entry:
                targets[entry.head.target] += 1
                size += entry.bytes
                oldest = min(oldest or entry.used_at, entry.used_at)
        except FileNotFoundError:
            continue  # forgotten meanwhile
        except (DamagedError, ForeignError, OSError):
            unusable += 1
    hits = store.hits()
    return {
        "folder": str(store.folder),
        "entries": targets.total(),
        "unusable": unusable,
        "bytes": size,
        "bound": store.bound,
        "oldest": f"{datetime.fromtimestamp(oldest, UTC):%Y-%m-%d %H:%M}" if oldest else "",
        "targets": {
            name: {"entries": targets[name], "hits": hits.get(name, 0)}
            for name in sorted({*targets, *hits})
        },
    }


def _size(count: int) -> str:
    return f"{count / (1 << 20):,.1f} MiB"
