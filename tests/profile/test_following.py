# SPDX-License-Identifier: Apache-2.0
"""A timeline of a path that repeats itself: what happens again and again is followed once."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from kadenz.config.timeline import Timeline
from kadenz.elf import Elf
from kadenz.images.code import Code
from kadenz.lab.profile import following
from kadenz.lab.profile.following import Follower
from kadenz.targets import scope_plugin
from kadenz.targets.paths import read_paths
from tests.scope import emulator
from tests.scope.emulator import RISCV

pytestmark = pytest.mark.counted


@pytest.mark.parametrize("program", ["idle-that-spins", "switch-in-handler"])
def test_a_timeline_does_not_depend_on_the_repetitions(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elf = emulator.assemble(RISCV, program, tmp_path)
    file = tmp_path / "paths"
    arguments = scope_plugin.arguments(emulator.plugin(RISCV, tmp_path), elf, tmp_path / "trace")
    symbols = {symbol.name: symbol.address for symbol in Elf(elf).symbols}
    word = f",word={symbols['current']:#x}" if "current" in symbols else ""
    arguments[1] += f",paths={file},region=record,register=mstatus:0x8{word}"
    subprocess.run(emulator.command(RISCV, elf, arguments), check=True, timeout=60)
    paths = read_paths(file)
    (region,) = paths.regions

    def timeline() -> tuple[Timeline, int]:
        follower = Follower(Code(Elf(elf), "hifive1-revb"), paths, "target")
        walked = 0
        follow = follower._walker.follow

        def counted(*arguments: object) -> Iterator[object]:
            nonlocal walked
            walked += 1
            return follow(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(follower._walker, "follow", counted)
        return follower.record(7, program, region), walked

    quick, pieces = timeline()

    def each_alone(path: Iterable[int]) -> Iterator[tuple[int, list[int]]]:
        return ((piece, [piece]) for piece in path)

    monkeypatch.setattr(following, "groupby", each_alone)
    slow, all_pieces = timeline()
    assert quick == slow
    assert all_pieces == len(region.path)
    if program == "idle-that-spins":
        assert pieces < 50 < all_pieces
        samples = next(track for track in quick.tracks if track.kind == "sample")
        first, second = samples.slices
        assert second.begin - first.end > 200_000
