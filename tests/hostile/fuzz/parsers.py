# SPDX-License-Identifier: Apache-2.0
"""Every parser of the Python part.

Archives have their own changes, of columns and rows: tests/hostile/test_archives.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.hostile.fuzz import programs, recordings, runs, settings, worst
from tests.hostile.fuzz.trying import Parser

PARSERS: Mapping[str, Parser] = {
    **settings.PARSERS,
    **recordings.PARSERS,
    **runs.PARSERS,
    **programs.PARSERS,
    **worst.PARSERS,
}
