# SPDX-License-Identifier: Apache-2.0
"""One boot of each architecture, of a guest and of a simulated core: what `make check` executes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.user_cache import user_cache
from tests.e2e.conftest import runs_in
from tests.forked import kadenz

pytestmark = [pytest.mark.counted, pytest.mark.boot]

TARGETS = (
    ("freertos/microbit@emulated", "scope"),  # Armv6-M, which counts no cycles
    ("freertos/stm32f4@emulated", "counter"),  # Armv7-M
    ("freertos/hifive1-revb@emulated", "counter"),  # RISC-V
    ("freertos/ibex@rtl", "counter"),
    ("linux-rt/x86_64@guest", "counter"),
)


@pytest.mark.parametrize(("target", "instrument"), TARGETS)
def test_it_boots_and_proves_its_samples(target: str, instrument: str, tmp_path: Path) -> None:
    if target.endswith("guest") and not (user_cache() / "guests" / "x86_64").is_dir():
        pytest.skip("no kernels of guests: make guest-kernels")
    command = ("run", "itc/semaphore-counting", "--set", "samples=20", "--target", target)
    answer = kadenz(*command, "--instrument", instrument, "--output", tmp_path)
    assert answer.returncode == 0, answer.stderr
    (run,) = runs_in(tmp_path).values()
    (record,) = [entry for entry in run.manifest.records if entry.bench == "itc/semaphore-counting"]
    assert (record.status, record.lanes[0].taken) == ("ok", 20), record.reason
    assert record.proof.checked >= 20 and record.proof.failed == 0
