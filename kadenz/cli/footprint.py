# SPDX-License-Identifier: Apache-2.0
"""kadenz footprint: flash and RAM of images."""

from __future__ import annotations

import csv
import io
import string
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.names import complete_target
from kadenz.cli.option_groups import image_options
from kadenz.cli.output import write_json
from kadenz.errors import UsageError
from kadenz.visible_text import spreadsheet_cell

if TYPE_CHECKING:
    from kadenz.config.manifest import BuildEntry, Instrument

_COLUMNS = ("code", "constants", "data", "zeroed", "flash", "ram", "compiled")


@click.command()
@click.argument(
    "images", metavar="TARGET|ELF...", nargs=-1, required=True, shell_complete=complete_target
)
@image_options
@click.option(
    "--instrument",
    type=click.Choice(["counter", "scope"]),
    default="counter",
    show_default=True,
    help="How the image takes time stamps.",
)
@click.option(
    "--bench",
    "extra_bench",
    type=click.Path(path_type=Path),
    multiple=True,
    help="C file of a benchmark outside the suite; may be repeated.",
)
@click.option(
    "--minimal",
    is_flag=True,
    help="One thread that wakes at every tick, instead of the suite: what an application takes "
    "at least.",
)
@click.option("--files", is_flag=True, help="A row for each file instead of each part.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "markdown"]),
    help="Instead of tables for the terminal. csv has a row for each file of each image.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON array on standard output.")
def footprint(
    images: tuple[str, ...],
    instrument: Instrument,
    extra_bench: tuple[Path, ...],
    minimal: bool,
    files: bool,
    kind: str | None,
    as_json: bool,
    **conditions: Any,
) -> None:
    """Show flash and RAM of kernel, port, suite, board and libraries in the image of each TARGET.

    Images are built first if they are not up to date; nothing is run. A TARGET may omit its tier,
    which does not change its image. An ELF of another build is shown by its linker map or symbols.

    \b
    kadenz footprint freertos/stm32f4
    kadenz footprint freertos/stm32f4 freertos/hifive1-revb \\
        --isa rv32imac --isa rv32ima
    kadenz footprint --minimal freertos/stm32f4 embassy/stm32f4 rtic/stm32f4
    """
    if minimal and extra_bench:
        raise UsageError(
            f"--bench {extra_bench[0]}: a minimal application has no benchmarks",
            remedy="Leave --bench or --minimal out",
        )
    builds = _builds(images, instrument, extra_bench, conditions, minimal=minimal)
    if as_json:
        _write_json(builds)
    elif kind == "csv":
        _write_csv(builds)
    elif kind == "markdown":
        from kadenz.report.table import join

        click.echo(join(_tables(builds, files)), nl=False)
    else:
        _write_screen(builds, files)


def _builds(
    images: Sequence[str],
    instrument: Instrument,
    extra_bench: Sequence[Path],
    conditions: dict[str, Any],
    *,
    minimal: bool,
) -> list[tuple[str, BuildEntry]]:
    """Every image, in the order of the command line. UsageError for a file with `minimal`."""
    from kadenz.config.target_name import parse_image_name
    from kadenz.lab.conditions import image_choices
    from kadenz.lab.footprint import built, check, of_file

    asked = {text: None if _is_file(text) else parse_image_name(text) for text in images}
    targets = [name for name in asked.values() if name is not None]
    choices = {name: image_choices(name, conditions) for name in targets}
    check(choices, instrument, minimal=minimal)
    builds = []
    for text, name in asked.items():
        if name is None and minimal:
            raise UsageError(
                f"{text}: --minimal builds an image, and this is one", remedy="Name a target"
            )
        if name is None:
            builds.append((text, of_file(Path(text))))
        else:
            builds += built(name, choices[name], instrument, extra_bench, _say, minimal=minimal)
    return builds


def _is_file(text: str) -> bool:
    return Path(text).is_file() or Path(text).suffix == ".elf"


def _say(text: str) -> None:
    click.echo(text, err=True)


def _tables(builds: Sequence[tuple[str, BuildEntry]], files: bool) -> list[Any]:
    from kadenz.report import footprint as pages

    first, *rest = pages.tables(builds)
    return [pages.files(builds) if files else first, *rest]


def _write_screen(builds: Sequence[tuple[str, BuildEntry]], files: bool) -> None:
    """Each image with its compiler, under a letter if there are several; then the tables."""
    from kadenz.cli.console import console, styled
    from kadenz.cli.tables import write_table

    screen = console()
    letters = string.ascii_lowercase if len(builds) > 1 else ("",)
    named = []
    for letter, (label, build) in zip(letters, builds, strict=False):
        named.append((letter or label, build))
        screen.print(styled("[bold]{}{}[/]", f"{letter}  " if letter else "", label))
        flags = " ".join(word for word in build.flags.split() if not word.startswith("-W"))
        for line in (build.compiler_version, flags, build.kernel_source):
            if line:
                screen.print(styled("[dim]{}[/]", line))
    for table in _tables(named, files):
        screen.print()
        write_table(screen, table)


def _write_json(builds: Sequence[tuple[str, BuildEntry]]) -> None:
    import msgspec

    answer = [{"image": label, **msgspec.to_builtins(build)} for label, build in builds]
    write_json(answer)


def _write_csv(builds: Sequence[tuple[str, BuildEntry]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(("image", "part", "file", *_COLUMNS))
    for label, build in builds:
        for entry in build.footprint:
            figures = [getattr(entry, column) for column in _COLUMNS]
            cells = map(spreadsheet_cell, (label, entry.part, entry.file))
            writer.writerow((*cells, *figures))
    click.echo(out.getvalue(), nl=False)
