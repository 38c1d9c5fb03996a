# SPDX-License-Identifier: Apache-2.0
"""How tests are spread over processes: `pytest -n 2 -m "not linux"`, as scripts/test.sh does.

One process runs the tests of a file, because they share fixtures and folders. The tests of some
files are long and share nothing: any process may run each of them. Files are taken in their order,
so that the many short ones at its end fill the processes evenly.

What two processes do at once is locked where it is done: an image is built in a locked folder, this
Linux is measured by one kadenz at a time, and names of interfaces hold the number of the process.
"""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadScopeScheduling

APART = (
    "tests/benchmarks/test_benches.py",
    "tests/cli/test_damaged_and_full.py",
    "tests/docs/test_commands.py",
    "tests/guest/test_boots.py",
    "tests/guest/test_ends.py",
    "tests/stats/test_compare.py",
    "tests/stats/test_mean_interval.py",
)


class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """A file, or a test of the files `APART`, is what a process runs as a whole."""

    def __init__(self, config: Any, log: Any = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if file in APART else file
