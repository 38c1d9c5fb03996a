# SPDX-License-Identifier: Apache-2.0
"""Tables of whole suites, by the family of their benchmarks: in the page and in `kadenz show`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kadenz.report import hartstone, perf, rhealstone, thread_metric
from kadenz.report.table import Table
from kadenz.report.tables import Named

TABLES: Mapping[str, Callable[[Named], Table | None]] = {
    "rhealstone": rhealstone.table,
    "thread-metric": thread_metric.table,
    "hartstone": hartstone.table,
    "perf": perf.table,
}
