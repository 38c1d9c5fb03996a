# SPDX-License-Identifier: Apache-2.0
"""Programs that loads start, each by its path: they import nothing of kadenz."""
