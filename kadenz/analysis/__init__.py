# SPDX-License-Identifier: Apache-2.0
"""Reading: a run folder in, results out, by the pure functions of `kadenz.stats`.

`analyse(run)` gives a `RunResult`; nothing here measures, builds or knows a target, so a run can be
read again years later. Samples stay in the ticks of the run's clock; `Unit` says what a tick is and
how it is shown. What cannot be computed is absent, and `gaps` says why.

    units           what a figure is counted in, and of which clock class it is
    results         what comes out, as frozen dataclasses
    lanes, runs     one series; one run
    outliers        the largest samples, and what the worst have in common
    trace, kept_traces   who had the processor before a late wake-up, by the kernel's trace
    sweeps          the same benchmark over message sizes, with its fit
    batches         (batch - empty loop) / iterations
    differences     what differs between the configurations of runs
    comparing       two sides of runs, benchmark point by benchmark point
    summary         results as plain rows, for JSON and for export
"""

from kadenz.analysis.results import LaneResult, RecordResult, RunResult
from kadenz.analysis.runs import analyse

__all__ = ["LaneResult", "RecordResult", "RunResult", "analyse"]
