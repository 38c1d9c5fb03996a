# SPDX-License-Identifier: Apache-2.0
"""Tier `board`: an image on silicon, reached through a debug server by the GDB remote protocol."""
