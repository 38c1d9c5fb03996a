# SPDX-License-Identifier: Apache-2.0
"""Writes and reads run folders (docs/reference/run-folder.md).

`read_run(path)` gives a `Run` (manifest and lazily mapped samples); `RunWriter` makes one.
"""

from kadenz.store.reader import Run, read_run
from kadenz.store.writer import RunWriter

__all__ = ["Run", "RunWriter", "read_run"]
