# SPDX-License-Identifier: Apache-2.0
"""kadenz: the open benchmark lab for real-time systems."""

__version__ = "0.2.0"
