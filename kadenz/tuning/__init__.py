# SPDX-License-Identifier: Apache-2.0
"""Priorities and placement of this Linux: applied from a profile, restored from a journal."""
