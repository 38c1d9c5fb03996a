# SPDX-License-Identifier: Apache-2.0
"""Text of others: what is escaped, what stays, and that it stays text in each format."""

from __future__ import annotations

import io
import json
import re
import sys
import unicodedata

import click
import pytest
from hypothesis import given
from hypothesis.strategies import sampled_from, text
from markdown_it import MarkdownIt
from rich.table import Table

from kadenz.cli.console import progress_bars, screen_of, styled
from kadenz.cli.output import Filtered
from kadenz.visible_text import markdown_cell, markdown_text, spreadsheet_cell, visible

HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
DRAWN = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
MARKUP = text(sampled_from("[]()<>!/`#*_-+=~|\\:&;. \n1ax"), max_size=40)


def test_what_is_not_drawn_is_escaped_and_all_else_stays() -> None:
    """Each character of Unicode, but those that later versions may add."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        hidden = unicodedata.category(character) in HIDDEN and character not in DRAWN + "\t\n"
        if hidden and not 0x13430 <= code <= 0x1345F:  # joins hieroglyphs, which are drawn
            assert re.fullmatch(r"(\\u[0-9a-f]{4})+", visible(character)), hex(code)
        elif unicodedata.category(character) != "Cn":
            assert visible(character) == character, hex(code)


@pytest.mark.parametrize(
    "word", ["2.5 µs × 3", "日本語", "e\u0301", "a\tb\n", "a\r\nb", "\u0e01\u0e33"]
)
def test_ordinary_text_stays(word: str) -> None:
    assert visible(word) == word


@given(text())
def test_json_stays_the_same_json(value: str) -> None:
    written = json.dumps([value], ensure_ascii=False)
    assert json.loads(visible(written)) == [value]


@given(MARKUP)
def test_markdown_shows_the_text(value: str) -> None:
    """As a heading, in a list, and in a cell of a table."""
    line, cell = markdown_text(value), markdown_cell(value)
    page = f"## {line}\n\n- {line}\n\n| a |\n|---|\n| {cell} |\n"
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    kinds = [part.type for token in tokens for part in [token, *(token.children or [])]]
    strange = {"link_open", "image", "html_inline", "html_block", "fence", "code_block", "hr"}
    assert not strange & set(kinds), page
    assert kinds.count("heading_open") == 1 and kinds.count("bullet_list_open") == 1, page
    assert kinds.count("ordered_list_open") == 0 == kinds.count("blockquote_open"), page
    assert kinds.count("td_open") == 1 and kinds.count("tr_open") == 2, page


@pytest.mark.parametrize("value", ["=1", "+x", "-1+1", "@a", "\t=1", " =1", "\tx", "-O2", "\n=x"])
def test_a_spreadsheet_executes_no_text(value: str) -> None:
    assert spreadsheet_cell(value) == f"'{visible(value)}"


@pytest.mark.parametrize("value", [1, -1.5, None, "-1", "+2.5e3", "-inf", "a=b", "–", ""])
def test_figures_and_other_text_stay_as_they_are(value: object) -> None:
    assert spreadsheet_cell(value) == value


@given(text(sampled_from("[]/\\{}:redbol \x1b"), max_size=30))
def test_no_value_is_markup(value: str) -> None:
    line = styled("[bold]{}[/] {}", value, value)
    assert line.plain == f"{visible(value)} {visible(value)}"
    assert {str(span.style) for span in line.spans} <= {"bold", ""}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_and_titles_beside_a_bar_are_filtered(monkeypatch: pytest.MonkeyPatch) -> None:
    """rich shows what is written meanwhile, in the colours that it finds."""
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, Filtered(terminal))
    trick = "\x1b[8m\x9b2J\u202e[/][red]x"
    with progress_bars() as bars:
        bars.add_task(trick)
        bars.console.print(trick)
        print(trick, file=sys.stderr)
        click.echo(trick, err=True)
    assert terminal.getvalue().count("\\u001b[8m\\u009b2J\\u202e[/][red]x") == 2
    assert not re.search("\x1b\\[8m|[\x9b\u202e]", terminal.getvalue())


def test_the_title_and_cells_of_a_table_are_text() -> None:
    """The closing table of `kadenz run` has a target's words as its title."""
    stream = io.StringIO()
    table = Table("[red]a\x1b[8m", title="[/]\x9b", box=None)
    table.add_row("[x](y)\u202e")
    screen_of(stream).print(table)
    lines = [line.strip() for line in stream.getvalue().splitlines()]
    assert lines == ["[/]\\u009b", "[red]a\\u001b[8m", "[x](y)\\u202e"]
