# SPDX-License-Identifier: Apache-2.0
"""Priorities and placement of this Linux, applied as data and restored from a journal."""
