# SPDX-License-Identifier: Apache-2.0
"""Output for people fits 80 columns, cuts nothing, and explains missing figures."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from kadenz.analysis import analyse
from kadenz.cli import cli, doctor
from kadenz.cli.run_summary import write_tables
from kadenz.report import page as pages
from kadenz.store import read_run
from kadenz.targets.checkup import TargetCheck
from tests.cli.test_command_line import complete
from tests.forked import kadenz
from tests.synthetic import HIFIVE1, LINUX, Point, board_points, linux_points, manifest, write_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(1)
    write_run(folder, manifest(LINUX), linux_points(rng, 300))
    write_run(folder, manifest(HIFIVE1), board_points(rng, 60))
    return folder


def show(runs: Path, columns: int) -> str:
    answer = CliRunner().invoke(cli, ["show", str(runs)], env={"COLUMNS": str(columns)})
    assert answer.exception is None or answer.exit_code == 0, answer.exception
    return answer.stdout


def figures(text: str) -> set[str]:
    """Numbers and ends of intervals."""
    return set(re.findall(r"\d[\d,.]*\d|\d", text))


def test_show_fits_80_columns_and_cuts_no_figure(runs: Path) -> None:
    narrow, wide = show(runs, 80), show(runs, 250)
    assert max(map(len, narrow.splitlines())) <= 80
    assert figures(wide) <= figures(narrow)
    text = " ".join(narrow.split())
    assert "n/a: no pipes here" in text
    assert re.search(r"all 2 lanes: \d+ of [\d,]+ missed 1,000 µs", text)


def test_show_repeats_no_heading_if_the_table_fits(runs: Path) -> None:
    rows = [line for line in show(runs, 300).splitlines() if line.startswith("itc/pipe ")]
    assert len(rows) == 7  # six sizes on one target, n/a on the other


def test_show_says_why_p99_is_missing(runs: Path) -> None:
    text = re.sub(r"\s+", " ", show(runs, 80))
    reason = "no p99 at 35 points: not enough samples: 57, 100 needed"
    assert f"{reason} for the value; measure more: --set samples=N" in text


def test_the_summary_of_a_run_says_why_p99_is_missing(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    write_tables(sorted(path for path in runs.iterdir() if "hifive1" in path.name))
    assert "no p99 at 35 points: not enough samples: 57, 100 needed" in capsys.readouterr().out
    write_tables(sorted(path for path in runs.iterdir() if "linux" in path.name))
    assert "no p99" not in capsys.readouterr().out


def test_list_marks_boards_that_were_never_measured() -> None:
    lines = kadenz("list", "targets").stdout.splitlines()
    (board,) = [line for line in lines if " freertos/stm32f4@board " in line]
    assert "not verified on silicon" in board
    assert board.startswith("     freertos")  # no letter: never measured there
    assert not any("not verified" in line for line in lines if "@emulated" in line)


def test_the_name_after_list_is_completed() -> None:
    assert "itc/queue" in complete("kadenz list itc/q")


def test_the_summary_of_a_run_fits_80_columns_and_cuts_no_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    points = board_points(rng, 300)
    batch = {
        "batch": np.array([34_950_816, 34_950_816], np.uint32),
        "empty-loop": np.array([300_055, 300_055], np.uint32),
    }
    points.append(Point("micro/semaphore-shuffle", batch, {"iterations": 50_000}))
    run = write_run(tmp_path, manifest(HIFIVE1), points)
    monkeypatch.setenv("COLUMNS", "80")
    write_tables([run])
    text = capsys.readouterr().out
    table, _, _ = text.partition("run folder")  # a path is one word
    assert max(map(len, table.splitlines())) <= 80
    assert "…" not in text
    for bench in ("itc/semaphore-counting", "micro/semaphore-shuffle batch", "34,950,816"):
        assert bench in text
    said = " ".join(text.split())
    assert "693.02 instructions per iteration, empty loop subtracted" in said
    assert "itc/pipe: n/a: no pipes here" in said
    assert "no p99" not in said  # a batch is timed once


def test_compare_fits_80_columns_and_cuts_no_figure(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    sides = [
        write_run(tmp_path, manifest(LINUX, id=f"side-{side}"), linux_points(rng, 400))
        for side in "ab"
    ]

    def text(columns: int) -> str:
        answer = CliRunner().invoke(
            cli, ["compare", *map(str, sides)], env={"COLUMNS": str(columns)}
        )
        return answer.stdout

    narrow, wide = text(80), text(300)
    assert max(map(len, narrow.splitlines())) <= 80
    assert figures(wide) <= figures(narrow)
    for bench in ("itc/semaphore-counting", "cyclic/wakeup-latency"):
        assert bench in narrow


def test_equal_cards_carry_the_name_of_their_run(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    results = [
        analyse(read_run(write_run(tmp_path, manifest(target, id=name), linux_points(rng, 60))))
        for target, name in ((LINUX, "one"), (LINUX, "two"), (HIFIVE1, "three"))
    ]
    built = pages.build(results, [], title="t", created="2026-11-21T10:30", version="0")
    assert [card.name for card in built.cards] == [
        "posix/linux@host #1",
        "posix/linux@host #2",
        "",
    ]


def test_doctor_folds_a_version_that_is_longer_than_its_column() -> None:
    version = "6.12.95+deb12-rt-arm64-of-somebody-else"
    check = TargetCheck("linux-rt/aarch64@guest", "Linux", ("counter",), (), (), f"{version}; more")
    console = Console(width=80, file=io.StringIO(), force_terminal=False)
    doctor.show_targets(console, [check])
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in text and all(len(line) <= 80 for line in text.splitlines())
    assert version in "".join(text.split())
