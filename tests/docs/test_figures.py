# SPDX-License-Identifier: Apache-2.0
"""Each table of figures names the command that prints them again, and prints what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs import figures
from tests.docs.figures import PAGES, NoTree, Run, Stale, Table, measured, source, tables

ALL = [table for page in PAGES for table in tables(page)]
COMPARED = [table for table in ALL if table.compared]


# ---- every table says where its figures are from -------------------------------------------------
def undeclared(candidates: list[Table]) -> list[str]:
    """Tables with three figures or more that name neither a command nor a reason."""
    return [str(table) for table in candidates if table.figures >= 3 and table.comment is None]


def test_every_table_of_figures_names_its_command_or_why_there_is_none() -> None:
    assert undeclared(ALL) == []
    for table in ALL:
        if table.comment is not None and not table.compared:
            reason = table.comment.partition("not compared, ")[2]
            assert len(reason.split()) >= 3, f"{table}: a reason in words"


def test_the_comment_of_every_table_is_whole() -> None:
    for table in COMPARED:
        of = source(table)
        targets = [
            word for command in of.commands for word in re.findall(r"--target (\S+)", command)
        ]
        for column in of.columns:
            assert all(word in targets for word in column.split() if "@" in word), table
    assert len(COMPARED) >= 10


# ---- and it prints what the command prints -------------------------------------------------------
@pytest.mark.counted
@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("table", COMPARED, ids=str)
def test_the_figures_of_a_table_are_those_of_its_command(table: Table, tmp_path: Path) -> None:
    try:
        now = measured(table, tmp_path)
    except NoTree as reason:
        pytest.skip(str(reason))
    different = [
        f"page    {before}\ncommand {after}"
        for before, after in zip(table.text.splitlines(), now.splitlines(), strict=True)
        if before != after
    ]
    assert not different, f"{table}\n" + "\n".join(different)


# ---- the comparison itself -----------------------------------------------------------------------
RUNS: list[Run] = [
    {
        "target": f"{kernel}/stm32f4@emulated",
        "instrument": "counter",
        "conditions": {"bus": "fast"},
        "records": [
            {"record": 0, "bench": "itc/queue", "params": {"size_bytes": 60}, "lane": "all"}
            | {"median": 1151.0 + more, "max": 1190.0},
            {"record": 1, "bench": "itc/queue", "params": {"size_bytes": 4}, "lane": "all"}
            | {"median": 354.0},
            {"record": 2, "bench": "micro/preemption", "params": {}, "lane": "batch"}
            | {"median": 12_750_000.0, "per_iteration": 255.02, "share": {"low": 0.25}},
            {"record": 2, "bench": "micro/preemption", "params": {}, "lane": "empty-loop"}
            | {"median": 300_000.0},
        ],
    }
    for kernel, more in (("a", 0), ("b", 100))
]
COMMAND = "kadenz run all --target a/stm32f4@emulated --target b/stm32f4@emulated"


def page_of(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> list[Table]:
    monkeypatch.setattr(figures, "ROOT", folder)
    monkeypatch.setattr(figures, "runs", lambda commands, _: RUNS)
    (folder / "page.md").write_text(text)
    return list(tables("page.md"))


def test_a_figure_that_is_not_the_commands_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "micro/preemption\nitc/queue size_bytes=60, itc/queue size_bytes=4"
    comment = f"<!-- figures: {COMMAND}\n{rows}\n-->\n"
    text = "| | A | B |\n|---|---|---|\n| one | 251 | 255.02 |\n| two | 1,151, 354 | n/a |\n"
    (table,) = page_of(tmp_path, monkeypatch, comment + text)
    assert measured(table, tmp_path) == text.replace("| 251 |", "| 255 |")


def test_a_column_has_words_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    comment = (
        f"```\n{COMMAND}\n```\n<!-- figures:\ncolumns: a/stm32f4@emulated max | - "
        "| b/stm32f4@emulated bus=fast\nitc/queue size_bytes=60\n-->\n"
    )
    text = "| | A | by hand | B |\n|---|---|---|---|\n| one | 7 | 9 | 8 cycles |\n"
    (table,) = page_of(tmp_path, monkeypatch, comment + text)
    assert measured(table, tmp_path).splitlines()[2] == "| one | 1,190 | 9 | 1,251 cycles |"


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ("itc/queue size_bytes=61", "no record"),
        ("itc/queue", "2 figures"),
        ("micro/preemption p50", "no such figure"),
    ],
)
def test_a_selector_that_means_no_figure_is_named(selector: str, says: str) -> None:
    with pytest.raises(Stale, match=says):
        figures.figure(RUNS[:1], selector.split())


def test_a_field_may_be_a_percentage() -> None:
    assert figures.figure(RUNS[:1], ["micro/preemption", "share.low%"]) == 25.0
    assert figures.figure(RUNS[:1], ["micro/preemption", "empty-loop"]) == 300_000.0


def test_a_table_without_a_word_about_its_figures_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "# Page\n\n| | A | B |\n|---|---|---|\n| one | 251 | 1.5 |\n| two | 7, 8 | n/a |\n"
    on_page = page_of(tmp_path, monkeypatch, text)
    assert undeclared(on_page) == ["page.md:3"]
    assert undeclared(page_of(tmp_path, monkeypatch, text.replace("| 251", "| `a.c` 251"))) == []


def test_a_comment_that_lacks_a_row_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "| | A | B |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n"
    text = f"<!-- figures: {COMMAND}\nitc/queue\n-->\n{text}"
    (table,) = page_of(tmp_path, monkeypatch, text)
    with pytest.raises(Stale, match="2 rows, the comment has 1"):
        source(table)


def test_a_command_that_prints_the_rows_is_compared_row_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "| x | b | a |\n|---|---|---|\n| one | 2 | 1 |\n| two | 4 | 3 |\n"
    text = f"<!-- figures: python table.py -->\n{text}"
    (table,) = page_of(tmp_path, monkeypatch, text)
    printed = "other\n\n| x | a | c | b |\n|---|---|---|---|\n| two | 3 | 0 | 5 |\n|one|1|0|2|\n"
    (tmp_path / "table.py").write_text(f"print({printed!r})\n")
    assert measured(table, tmp_path).splitlines()[2:] == ["| one | 2 | 1 |", "| two | 5 | 3 |"]
    (tmp_path / "table.py").write_text(f"print({printed.replace('two', 'three')!r})\n")
    with pytest.raises(Stale, match="no row `two`"):
        measured(table, tmp_path)
