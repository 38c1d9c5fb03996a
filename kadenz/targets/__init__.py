# SPDX-License-Identifier: Apache-2.0
"""ELF to frames: executions as a process, in QEMU, in a guest, on a simulated core, on a board."""
