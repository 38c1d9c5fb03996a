# SPDX-License-Identifier: Apache-2.0
"""The statistics of latency: pure functions, numpy arrays in, frozen dataclasses out.

Imports no other part of kadenz. One idea a file; import the module you need. Every array of samples
is one-dimensional and in time order unless a function says otherwise, in whatever unit the caller
has; results come back in that unit. What cannot be computed raises `stats.errors.Undefined`, or is
given as None together with a `reason` where a table has to show the gap.

    ordered         sort once, share everywhere
    summary, box    n, mean, sd, extremes, median; quartiles and whiskers
    percentiles     p50 ... p99.99 with order-statistic intervals
    prediction      how often the observed maximum may still be exceeded
    autocorrelation, effective   dependence, and how many independent samples it leaves
    mean_interval   moving-block bootstrap interval for the mean (resample, block_length)
    cold            first executions apart: split, test, suggestion
    size_fit        fixed cost and cost per byte over message size
    periodic        outliers that come in step with something (event_period)
    common_causes   what the worst samples have in common: events beside them, position in time
    marked          samples at known places (after a drain) against the others
    compare         two sides, one or several runs each: interval and verdict
    side            one of these sides: its runs' figures and their errors
    spread          how much figures differ from run to run, from few runs and many points
    histogram, envelope   exact counts and exact thinning for plots
    drift, trend    clock-rate error by regression, drift by moving average or median
    cycles          which cycle an edge belongs to, where some are missing
    disturbances    periodic ones by their period, several at once (comb, waves); sporadic ones
    jitter          all of that about one series
    gpd, clusters   the generalised Pareto distribution; which peaks are independent
    tail            peaks over threshold: checked, and levels with intervals or a refusal
    rhealstone      six times of a kernel as one figure
    limit           how often a limit is exceeded, zero times included
    miss_rate       how often cycles miss their deadline, bursts and several runs included
    step            the step of the clock that samples were read off
"""
