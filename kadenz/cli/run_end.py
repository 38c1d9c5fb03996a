# SPDX-License-Identifier: Apache-2.0
"""The end of `kadenz run`: summary, report, errors, exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kadenz.errors import EXIT_FAILED, EXIT_PASS, KadenzError

if TYPE_CHECKING:
    from kadenz.lab.job import Result


def conclude(
    results: Sequence[Result | KadenzError], report: Path | None, *, as_json: bool, stopped: bool
) -> int:
    """Writes the summary and the report, then shows the errors. Returns the exit code."""
    from kadenz.cli import show_error
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
    codes = [show_error(error) for error in errors]
    if stopped or any(_unusable(result) for result in runs):
        codes.append(EXIT_FAILED)
    return max(codes, default=EXIT_PASS)


def _unusable(result: Result) -> bool:
    return any(record.status in ("failed", "invalid") for record in result.manifest.records)


def _write_report(folders: Sequence[Path], report: Path) -> None:
    from kadenz.cli.report import report as command

    command.main([*map(str, folders), "--output", str(report)], standalone_mode=False)
