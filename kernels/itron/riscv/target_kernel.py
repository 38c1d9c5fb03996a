# SPDX-License-Identifier: Apache-2.0
"""The configurator's second pass: which interrupts there are, then the core's."""

INTNO_VALID = [3, 7]
INHNO_VALID = INTNO_VALID
IncludeTrb("core_kernel.py")  # noqa: F821
