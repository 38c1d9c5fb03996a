# SPDX-License-Identifier: Apache-2.0
"""Reading: a run folder in, results out, by the pure functions of `kadenz.stats`.

`analyse(run)` gives a `RunResult`. Nothing here measures, builds or knows a target, so a run can
still be read years later. Samples stay in ticks of the run's clock; `Unit` defines the tick and its
display. A figure that cannot be computed is missing, and `gaps` gives the reason.

    units           the units of figures, with their clock class
    results         the results, as frozen dataclasses
    lanes, runs     one series; one run
    outliers        the largest samples, and common causes of the worst
    trace, kept_traces   who held the processor before a late wake-up, from the kernel's trace
    sweeps          the same benchmark over message sizes, with its fit
    batches         (batch - empty loop) / iterations
    breakdown       where a task set misses its first deadline
    tick_split      samples with a tick of the kernel, and the others
    offsets         a call over the moment at which another core begins to work
    counted         operations counted in windows of time
    differences     configuration differences between runs
    comparing       two sides of runs, compared point by point
    standings, margins   several systems: who is quickest at what, and by how much
    summary         results as plain rows, for JSON and for export
"""

from kadenz.analysis.results import LaneResult, RecordResult, RunResult
from kadenz.analysis.runs import analyse, analyse_record

__all__ = ["LaneResult", "RecordResult", "RunResult", "analyse", "analyse_record"]
