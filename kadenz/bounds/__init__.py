# SPDX-License-Identifier: Apache-2.0
"""Bounds above what was tried: the longest way through an image's code, without executing it."""
