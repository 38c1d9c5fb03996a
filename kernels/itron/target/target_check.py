# SPDX-License-Identifier: Apache-2.0
"""The configurator's third pass: nothing beyond the core's."""

IncludeTrb("core_check.py")  # noqa: F821
