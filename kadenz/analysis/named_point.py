# SPDX-License-Identifier: Apache-2.0
"""The names of a benchmark point, for the classes that add to its entry."""

from __future__ import annotations

from kadenz.config.manifest import Nature, RecordEntry
from kadenz.config.params import Params


class NamedPoint:
    """A base that names its `entry`."""

    entry: RecordEntry  # everything that run.json says about it

    @property
    def bench(self) -> str:
        """Name of the benchmark: "itc/queue"."""
        return self.entry.bench

    @property
    def params(self) -> Params:
        """Its parameters by name."""
        return self.entry.params

    @property
    def nature(self) -> Nature:
        """What a sample is."""
        return self.entry.nature
