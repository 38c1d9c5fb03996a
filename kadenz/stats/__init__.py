# SPDX-License-Identifier: Apache-2.0
"""The statistics of latency: pure functions, numpy arrays in, frozen dataclasses out.

Imports no other part of kadenz. One idea per file; import the module you need. Unless a function
says otherwise, arrays of samples are one-dimensional, in time order and in any unit; results are in
that unit. A statistic that cannot be computed raises `stats.errors.Undefined`, or is None with a
`reason` if a table has to show the gap.

    ordered         sort once, share everywhere
    summary, box    n, mean, sd, extremes, median; quartiles and whiskers
    percentiles     p50 ... p99.99 with order-statistic intervals
    prediction      how often the observed maximum may be exceeded
    autocorrelation, effective   dependence, and the equivalent number of independent samples
    mean_interval   moving-block bootstrap interval for the mean (resample, block_length)
    cold            first executions: split, test, suggestion
    size_fit        fixed cost and cost per byte over message size
    periodic        periodic outliers, e.g. from the tick (event_period)
    common_causes   causes common to the worst samples: events, position in time
    place_effect    samples at known places (after a drain) compared with the others
    compare         two sides, one or several runs each: interval and verdict
    side            one side: its runs' figures and their errors
    spread          the spread from run to run, from few runs and many points
    histogram, envelope   exact counts and exact thinning for plots
    drift, trend    clock-rate error by regression, drift by moving average or median
    cycles          the cycle of each edge if some are missing
    disturbances    periodic ones, several at once (pulse_train, waves), and sporadic ones
    decomposition   all of these for one series
    gpd, clusters   the generalised Pareto distribution; independent peaks
    tail            peaks over threshold: checks, then return levels or a refusal
    rhealstone      six times of a kernel as one figure
    limit           how often a limit is exceeded, including never
    miss_rate       how often cycles miss their deadline, with bursts and several runs
    step            the step of the clock that the samples show
"""
