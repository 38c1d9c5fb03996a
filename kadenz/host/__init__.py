# SPDX-License-Identifier: Apache-2.0
"""This Linux: what it is, how it is set, what disturbs a measurement on it."""
