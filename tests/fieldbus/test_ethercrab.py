# SPDX-License-Identifier: Apache-2.0
"""ethercrab brings the simulated segment up over a veth pair, with a socket on either side."""

from __future__ import annotations

import subprocess

import pytest

from .conftest import FIELDBUS, Starter, Veth


@pytest.mark.machine
def test_ethercrab_reaches_op_with_clocks_and_the_full_working_counter(
    start_segment: Starter, veth: Veth
) -> None:
    # With the dependencies of the workspace's tests, which scripts/setup-crates.sh keeps.
    build = ["cargo", "build", "--quiet", "--locked", "--workspace", "--example", "ethercrab_op"]
    subprocess.run(build, cwd=FIELDBUS, check=True)
    start_segment()
    done = subprocess.run(
        [str(FIELDBUS / "target" / "debug" / "examples" / "ethercrab_op"), veth.master, "300"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1) and "panicked" not in done.stderr, done.stderr
    # the example gives each frame some ms
    assert done.returncode == 0, done.stderr
    # Six drives read and write (3 each), one output writes (2), one input reads (1).
    lines = done.stdout.splitlines()
    assert lines[:2] == ["9 devices", "all in OP"]
    # watchdogs end OP behind a pause
    assert lines[2:] == ["working counter 21: 300 cycles"]
