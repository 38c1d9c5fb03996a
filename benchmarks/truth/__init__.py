# SPDX-License-Identifier: Apache-2.0
"""Parts of benchmarks/how_true.py and benchmarks/yoo2024_fit.py."""
