# SPDX-License-Identifier: Apache-2.0
"""Loads: work beside a measurement. Each is started, verified, recorded and stopped."""
