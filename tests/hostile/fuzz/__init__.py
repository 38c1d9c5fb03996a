# SPDX-License-Identifier: Apache-2.0
"""Fuzzers of every parser of the Python part: `python -m tests.hostile.fuzz`."""
