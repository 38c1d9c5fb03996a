# SPDX-License-Identifier: Apache-2.0
"""`kadenz bisect` finds the kernel that moved a figure, among real ones that boot."""

from __future__ import annotations

import json
import os
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from kadenz.config import inventory
from kadenz.config.target_name import parse_target
from kadenz.errors import ToolMissing
from kadenz.targets.guest_kernel import find
from tests.forked import kadenz
from tests.guest.conftest import machine
from tests.guest.kernel_files import bzimage, config

pytestmark = pytest.mark.counted

PLAIN = "linux/x86_64@guest"
LIMIT = "itc/pipe median < 18400 virtual ns"


def kernel(version: str) -> Path:
    """The file of a plain kernel of the cache; skips without it."""
    kernels = inventory.kernel(parse_target(PLAIN).kernel).guest
    assert kernels is not None
    try:
        return find("x86_64", kernels, version).image
    except ToolMissing as error:
        pytest.skip(f"{error.message} (make guest-kernels)")


def bisected(*arguments: str) -> CompletedProcess[str]:
    call = ("bisect", "itc/pipe", "--target", PLAIN, "--set", "samples=300")
    return kadenz(*call, *arguments)


def test_the_step_between_two_kernels_is_found_in_log2_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(PLAIN)
    monkeypatch.chdir(tmp_path)
    # A round trip through a pipe takes 18,008 virtual ns in Linux 6.1, 18,786 in 6.12.
    before, after = kernel("6.1"), kernel("6.12")
    for number in range(6):
        os.symlink(before if number < 4 else after, f"bzImage-{number}")
    Path("bzImage-2").unlink()  # one that lacks what it needs is skipped
    plain = config("DEVTMPFS", rt=False)
    Path("bzImage-2").write_bytes(bzimage("6.1.0-50-amd64", "#1 SMP", settings=plain))
    answer = bisected("--guest", "kernel=bzImage-*", "--limit", LIMIT, "--json")
    assert answer.returncode == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert (document["before"], document["after"]) == ("bzImage-3", "bzImage-4")
    verdicts = {step["name"]: step["verdict"] for step in document["steps"]}
    assert verdicts == {
        "bzImage-0": "good",
        "bzImage-5": "bad",
        "bzImage-2": "failed",
        "bzImage-3": "good",
        "bzImage-4": "bad",
    }
    skipped = next(step for step in document["steps"] if step["name"] == "bzImage-2")
    assert "CONFIG_DEVTMPFS=y" in skipped["reason"]
    again = bisected("--guest", "kernel=bzImage-*", "--limit", LIMIT)
    assert "between bzImage-3 (good) and bzImage-4 (bad): itc/pipe median " in again.stdout
