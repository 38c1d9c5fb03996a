# SPDX-License-Identifier: Apache-2.0
"""The option --archive of every command that reads or writes an archive."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from kadenz.archive.place import Place

F = TypeVar("F", bound=Callable[..., Any])


def archive_option(function: F) -> F:
    """Adds --archive, as the parameter `archive`: a path, a URL, or ""."""
    return click.option(
        "--archive",
        metavar="PLACE",
        default="",
        help="Folder, or URL of an object store. Default: `archive` of the lab file, else archive.",
    )(function)


def find_archive(text: str, *, create: bool = False) -> Place:
    """The archive of the option, else of the lab file."""
    from kadenz.archive.place import open_archive
    from kadenz.config.lab_file import archive_place

    return open_archive(text or archive_place(), create=create)
