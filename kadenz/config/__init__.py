# SPDX-License-Identifier: Apache-2.0
"""Typed models of everything a user or a run writes down. Unknown keys are errors."""
