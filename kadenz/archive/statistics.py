# SPDX-License-Identifier: Apache-2.0
"""The statistics that an archive keeps of each lane, and their names."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}  # as objects hold them
NAMES = {"p50": "median", "p999": "p99.9"}  # in SQL, and everywhere else
STATISTICS = ("min", *(NAMES.get(name, name) for name in QUANTILES), "max", "mean")
