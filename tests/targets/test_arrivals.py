# SPDX-License-Identifier: Apache-2.0
"""The file of arrivals that the bench of simulated cores writes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from kadenz.config.manifest import SECONDS
from kadenz.errors import TargetFailed
from kadenz.targets.arrivals import Asked, Lost, Sweep, read_arrivals, read_sweep

NOT_TRIED, WHOLE, UNENDED, CRASHED = range(4)
HEADER = struct.Struct("<8sIIIIQQ")
ROW = struct.Struct("<17I")
TRIED = struct.Struct("=8sIIQQQ")


def row(
    phase: int, state: int = WHOLE, *, handled: int = 1, responded: int = 1, seconds: int = 0
) -> tuple[int, ...]:
    lanes = [(cycles, 7 * bool(seconds), 0x80000100 + phase, 1, 0) for cycles in (120, 500)]
    head = phase, state, 0x80000200 + phase, 1300, handled, responded, seconds
    return (*head, *lanes[0], *lanes[1])


def written(
    path: Path,
    rows: Sequence[tuple[int, ...]],
    *,
    magic: bytes = b"KDZARRIV",
    version: int = 2,
    extent: int = 1,
    cycles: int = 4,
    step: int = 1,
) -> Path:
    file = path / "arrivals"
    head = HEADER.pack(magic, version, HEADER.size, ROW.size, extent, cycles, step)
    file.write_bytes(head + b"".join(ROW.pack(*values) for values in rows))
    return file


def test_rows_that_came_to_their_end_are_kept_and_the_others_named(tmp_path: Path) -> None:
    rows = [row(1), row(2, UNENDED), row(3, CRASHED), row(4)]
    seen = read_arrivals(written(tmp_path, rows))
    assert seen.rows["phase"].tolist() == [1, 4] and seen.rows["task"].tolist() == [500, 500]
    assert seen.lost == (
        Lost(2, "came to no end, and was last at", 0x80000202),
        Lost(3, "crashed the simulated core; it began at", 0x80000203),
    )
    assert (seen.planned, seen.untried, seen.whole) == (4, 0, True)


def test_an_arrival_that_is_served_twice_is_found(tmp_path: Path) -> None:
    rows = [row(1), row(2, handled=2), row(3, responded=2)]
    assert read_arrivals(written(tmp_path, rows)).repeated == [2, 3]
    assert read_arrivals(written(tmp_path, [row(1)])).repeated == []
    twice = [row(1), row(2, handled=2), row(3, handled=3), row(4, responded=2)]
    assert read_arrivals(written(tmp_path, twice), "request").repeated == [3, 4]
    assert read_arrivals(written(tmp_path, twice), "device").repeated == [2, 3, 4]


def test_arrivals_after_too_many_without_an_end_are_counted(tmp_path: Path) -> None:
    seen = read_arrivals(
        written(tmp_path, [row(1), row(11, UNENDED)], extent=2, cycles=95, step=10)
    )
    assert (seen.planned, seen.untried, seen.given_up) == (10, 8, True)


def test_a_file_that_was_cut_off_by_a_signal_has_what_was_tried(tmp_path: Path) -> None:
    seen = read_arrivals(written(tmp_path, [row(1), row(2, NOT_TRIED)], extent=0, cycles=0))
    assert seen.rows["phase"].tolist() == [1] and not seen.lost
    assert not seen.whole and not seen.given_up


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"magic": b"KDZSCOPE"}, "does not begin with KDZARRIV"),
        ({"version": 1}, "has version 1, not 2"),
    ],
)
def test_another_file_is_refused(change: dict[str, object], says: str, tmp_path: Path) -> None:
    file = written(tmp_path, [row(1)], **change)  # type: ignore[arg-type]
    with pytest.raises(TargetFailed, match=says):
        read_arrivals(file)


@pytest.mark.parametrize("second", [*SECONDS])
def test_of_pairs_each_lane_has_the_second_that_made_it_latest(second: str, tmp_path: Path) -> None:
    plain = read_arrivals(written(tmp_path, [row(1)]))
    assert plain.kinds == ("phase", "pc", "masked", "locked") and not plain.has_tick
    seen = read_arrivals(written(tmp_path, [row(1, seconds=9), row(2, seconds=8)]), second)
    assert seen.kinds == ("phase", "pc", "masked", "locked", second, f"{second}s")
    assert seen.values("task").tolist() == [500, 500]
    assert seen.values("task", second).tolist() == [7, 7]
    assert seen.values("handler", f"{second}s").tolist() == [9, 8]
    assert seen.values("handler", "pc").tolist() == [0x80000101, 0x80000102]
    assert read_arrivals(written(tmp_path, [], extent=3)).has_tick


def test_a_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, [row(1)])
    whole = file.read_bytes()
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        if size != HEADER.size:
            with pytest.raises(TargetFailed, match="what the bench wrote of its arrivals"):
                read_arrivals(file)
    file.unlink()
    with pytest.raises(TargetFailed, match="cannot be read: No such file"):
        read_arrivals(file)


def test_the_bench_is_asked_for_what_differs() -> None:
    assert Asked(3).arguments("a") == ["--arrivals", "a", "--arrival-sample", "3"]
    assert Asked(0, step=5, lock=0x80001000).arguments("a")[4:] == [
        *("--arrival-step", "5"),
        *("--arrival-lock", "0x80001000"),
    ]
    assert Asked(0, second="tick").arguments("a")[4:] == ["--arrival-second", "tick"]
    assert Asked(3).arguments("a", "b")[4:] == ["--arrivals-tried", "b"]
    assert "--arrivals-tried" not in Asked(3).following(40, 7, "task").arguments("a", "b")
    followed = Asked(2, second="tick").following(40, 7, "task").arguments("a")
    assert followed[-6:] == [
        *("--arrival-only", "40"),
        *("--arrival-second-at", "7"),
        *("--arrival-until", "4"),
    ]


def test_the_head_of_tried_arrivals_says_how_far_a_sweep_is(tmp_path: Path) -> None:
    file = tmp_path / "tried"

    def put(magic: bytes = b"KDZTRIED", version: int = 2, planned: int = 900) -> Path:
        file.write_bytes(TRIED.pack(magic, version, ROW.size, planned, 30, 20) + bytes(4096))
        return file

    assert read_sweep(put()) == Sweep(planned=900, tried=30, earlier=20)
    assert read_sweep(put(planned=0)) is None  # the sample has not ended yet
    assert read_sweep(put(magic=bytes(8))) is read_sweep(put(version=1)) is None
    file.write_bytes(b"KDZTRIED")
    assert read_sweep(file) is read_sweep(tmp_path / "none") is None
