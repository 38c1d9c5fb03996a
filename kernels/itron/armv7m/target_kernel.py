# SPDX-License-Identifier: Apache-2.0
"""The configurator's second pass: nothing beyond the core's."""

IncludeTrb("core_kernel.py")  # noqa: F821
