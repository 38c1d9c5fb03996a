# SPDX-License-Identifier: Apache-2.0
"""From captures of a logic analyser to runs: marks on pins, samples in a run folder."""
