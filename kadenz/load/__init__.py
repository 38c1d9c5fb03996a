# SPDX-License-Identifier: Apache-2.0
"""Loads: work during a measurement. Each is started, verified, recorded and stopped."""
