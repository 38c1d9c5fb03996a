# SPDX-License-Identifier: Apache-2.0
"""Counts the calls of functions in a firmware that knows nothing of kadenz."""
