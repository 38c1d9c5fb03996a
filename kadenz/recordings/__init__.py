# SPDX-License-Identifier: Apache-2.0
"""Recordings of Linux's scheduler by other tools, as the events of a watch."""
