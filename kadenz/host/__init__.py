# SPDX-License-Identifier: Apache-2.0
"""This Linux: its hardware, its settings, and disturbances of measurements on it."""
