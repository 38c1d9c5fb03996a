# SPDX-License-Identifier: Apache-2.0
"""Names of an archive's objects. Each says its month and its run, and no other text does.

A name becomes a file when a run is restored or a site is written. Columns of an object may say
anything, so that every reader takes the run from here.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from kadenz.store.consistency import is_name

RUNS = (
    "runs"  # one object for each run, one row for each lane: this makes the run part of the archive
)
FILES = "files"  # everything of a run folder except samples, as a zip file
SAMPLES = "samples"
# How the objects of each kind are found.
EVERY_RUN = f"{RUNS}/*/*.parquet"
EVERY_TEXTS = f"{FILES}/*/*.zip"
EVERY_SAMPLES = f"{SAMPLES}/*/*/*/*.parquet"
_QUOTED = r"[\w.~%-]+"
_NAME = re.compile(
    rf"(?:{RUNS}|{FILES}|{SAMPLES}/target={_QUOTED}/bench={_QUOTED})"
    r"/month=([0-9]{4}-[0-9]{2})/([^/]+)\.(?:parquet|zip)",
    re.ASCII,
)


def run_object(month: str, id: str) -> str:
    """The object that makes a run part of the archive."""
    return f"{RUNS}/month={month}/{id}.parquet"


def files_object(month: str, id: str) -> str:
    """The object with run.json and the texts of a run."""
    return f"{FILES}/month={month}/{id}.zip"


def samples_object(target: str, bench: str, month: str, id: str) -> str:
    """The object with the samples of one benchmark of a run."""
    folder = f"target={quote(target, safe='')}/bench={quote(bench, safe='')}/month={month}"
    return f"{SAMPLES}/{folder}/{id}.parquet"


def is_object(relative: str) -> bool:
    """Whether this is the name of an object of a run; kadenz gave no other."""
    match = _NAME.fullmatch(relative)
    return match is not None and is_name(match[2])


def run_of(relative: str) -> tuple[str, str]:
    """Month and id of the run to which an object belongs."""
    match = _NAME.fullmatch(relative)
    assert match is not None
    return match[1], match[2]
