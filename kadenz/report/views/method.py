# SPDX-License-Identifier: Apache-2.0
"""How to read the page."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from kadenz.report.sections import Section, Text
from kadenz.report.views import Report

PLACE = 120
_TERMS = (
    (
        "Exceedance.",
        "The share of samples at or above a value. Missed cycles count as slowest: a line "
        "ends at the level of the missed share. Each run is a line; rounds of one variant "
        "share its colour and dash.",
    ),
    (
        "Bands.",
        "The line is the median over message size; the darker band holds 98 % of the samples "
        "(p1 to p99), the lighter one all of them. The thin dashed line in the text colour is "
        "the fit.",
    ),
    (
        "Histograms",
        "have logarithmic counts, so that one sample in a million is visible. Red strokes are "
        "cold executions, which are excluded from every statistic.",
    ),
    (
        "Intervals",
        "have 95 % confidence. Those of percentiles use order statistics and assume no "
        "distribution; those of means come from a moving-block bootstrap, because "
        "neighbouring samples are correlated. “…” is an end that the number of samples cannot "
        "give.",
    ),
    (
        "Max exceeded in ≤ 1 of N.",
        "With 95 % confidence, at most one in N further executions under the same conditions "
        "is slower than the observed maximum. It is not a worst case.",
    ),
    (
        "The worst samples",
        "are the largest 0.1 %, at least 20. An event is common to them if it occurs with "
        "them more often than chance allows, corrected for bursts and for the number of "
        "events tested. This is a correlation: it shows where to look for the cause.",
    ),
    (
        "Jitter",
        "is the deviation of edges or wake-ups that remains after the clocks’ rate (by "
        "regression) and drift (by moving average, drawn) are removed. A period is reported "
        "if fewer than one in a hundred series without a period would show one this clear.",
    ),
    (
        "Tail.",
        "Dots are separate peaks above a threshold, the dashed line is the distribution "
        "fitted to them, and rings are its return levels with 95 % intervals. If the fit or "
        "one of its assumptions fails, there are no levels.",
    ),
    (
        "n/a",
        "means that this kernel or target lacks the feature. Invalid and failed records show "
        "their reason and no figures.",
    ),
)


def sections(report: Report) -> Iterator[Section]:
    """Always one: the terms of the page."""
    item = Markup("<li><strong>{}</strong> {}</li>")
    items = Markup("\n").join(item.format(term, meaning) for term, meaning in _TERMS)
    yield Section("method", "How to read this", (Text(items, tag="ul"),))
