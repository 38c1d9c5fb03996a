# SPDX-License-Identifier: Apache-2.0
"""From executed paths to profiles: where the instructions of each sample went."""
