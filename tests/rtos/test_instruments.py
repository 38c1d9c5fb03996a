# SPDX-License-Identifier: Apache-2.0
"""Counter and scope measure the same operation: they agree within a constant of a few instructions.

The counter's span holds the read of the closing stamp, on the Cortex-M4 with the load of the
counter's address; the scope's holds the store of the closing mark, and what puts mark and address
into registers. Which of these stand inside a region is the compiler's choice, the same in every
sample.
"""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.wire.messages import Begin
from tests.rtos.images import BOARDS, boot, boot_scoped, build

pytestmark = pytest.mark.emulated

# Periodic benchmarks start each sample just behind a tick, so that none falls into one.
PLAN = """\
clock/read-cost id=1 samples=50
itc/queue id=2 samples=50 size_bytes=60
itc/queue-round-trip id=3 samples=50 size_bytes=240
itc/semaphore-counting id=4 samples=50
itc/semaphore-binary-to-higher id=5 samples=50
itc/mutex id=6 samples=50
irq/to-handler id=7 samples=50
irq/to-task id=8 samples=50
end
"""
OFFSET_MAX = 3


@pytest.mark.parametrize("board", BOARDS)
def test_counter_and_scope_differ_by_a_small_constant(board: str) -> None:
    counted = boot(build(board), board, PLAN)
    watched = boot_scoped(build(board, instrument="scope"), board, PLAN)
    for begin in counted.all(Begin):
        on_target = counted.samples[begin.record, 0].astype(np.int64)
        outside = watched.samples[begin.record, 0].astype(np.int64)
        assert on_target.size == outside.size == begin.planned
        offset = np.unique(outside - on_target)
        print(f"{board} {begin.bench}: counter {on_target[-1]}, scope {outside[-1]}")
        assert offset.size == 1, f"{begin.bench}: scope - counter takes the values {offset}"
        assert abs(int(offset[0])) <= OFFSET_MAX, begin.bench
