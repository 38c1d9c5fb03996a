# SPDX-License-Identifier: Apache-2.0
"""Records to disk and back: the run folder of docs/reference/run-folder.md.

`read_run(path)` gives a `Run` (manifest and lazily mapped samples); `RunWriter` makes one.
"""

from kadenz.store.reader import Run, read_run
from kadenz.store.writer import RunWriter

__all__ = ["Run", "RunWriter", "read_run"]
