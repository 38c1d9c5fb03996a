# SPDX-License-Identifier: Apache-2.0
"""Every period of the real-time threads of an unmodified program, from the scheduler's events."""
