# SPDX-License-Identifier: Apache-2.0
"""False and true positives of outlier causes, and the cost of the search: figures of
docs/explanation/statistics.md.

    python benchmarks/outlier_causes.py [SERIES]

Series of 10,000 samples with a given autocorrelation and eight companions that come in bursts or
wander. "event" counts series in which any companion or mark is reported as common; "anything" also
counts bursts and periods, which autocorrelated samples really have.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kadenz.stats.common_causes import common_causes
from tests.stats.test_common_causes import N, companions, latencies

STRIKES = 12  # of the 20 worst samples


def main() -> None:
    """Prints both tables."""
    series = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{series} series of {N:,} samples; own error {50 / series**0.5:.1f} % at most")
    print("autocorrelation  event  anything")
    for phi in (0.0, 0.5, 0.9, 0.99):
        rng = np.random.default_rng(3)
        events = anything = 0
        for number in range(series):
            beside = companions(rng, N)
            causes = common_causes(latencies(rng, N, phi), beside, places=("cpu",), seed=number)
            events += bool(causes.common)
            anything += not causes.nothing
        print(f"{phi:15}  {100 * events / series:4.1f} %  {100 * anything / series:6.1f} %")
    rng = np.random.default_rng(4)
    named = 0
    for number in range(series):
        samples, beside = latencies(rng, N, 0.9), companions(rng, N)
        struck = rng.choice(N, STRIKES, replace=False)
        samples[struck] += 20_000.0
        beside["involuntary-switches"][struck] += 1
        causes = common_causes(samples, beside, places=("cpu",), seed=number)
        named += bool(causes.common) and causes.common[0].name == "involuntary-switches"
    print(f"planted beside {STRIKES} of the 20 worst: named first in {100 * named / series:.1f} %")
    samples, beside = latencies(rng, 1_000_000, 0.9), companions(rng, 1_000_000)
    begun = time.process_time()
    causes = common_causes(samples, beside, places=("cpu",))
    took = time.process_time() - begun
    print(f"a million samples, {causes.asked} questions: {took:.2f} s of one processor")


if __name__ == "__main__":
    main()
