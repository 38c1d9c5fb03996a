# SPDX-License-Identifier: Apache-2.0
"""Conditions: what is varied around a benchmark. Each is set, verified, recorded and taken back."""
