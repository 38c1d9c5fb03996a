# SPDX-License-Identifier: Apache-2.0
"""Each decision has a number of its own, the list names every page once, links name their page."""

from __future__ import annotations

import re
from collections import Counter

from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "decisions"


def test_each_decision_has_its_own_number_and_stands_in_the_list_once() -> None:
    pages = sorted(file.name for file in FOLDER.glob("[0-9]*.md"))
    numbers = [int(name[:4]) for name in pages]
    assert numbers == list(range(1, len(pages) + 1))
    for name, number in zip(pages, numbers, strict=True):
        assert (FOLDER / name).read_text().startswith(f"# {number}. "), name
    listed = re.findall(
        r"^\| (\d+) \| \[(.*)\]\((.*\.md)\)", (FOLDER / "README.md").read_text(), re.M
    )
    titles = {name: (FOLDER / name).read_text().partition("\n")[0] for name in pages}
    assert Counter((f"# {number}. {title}", name) for number, title, name in listed) == Counter(
        (title, name) for name, title in titles.items()
    )


def test_a_link_has_the_number_of_its_page() -> None:
    link = re.compile(r"\[(?:[Dd]ecision )?(\d+)\]\((?:[^)]*/)?(\d{4})-[^)]*\.md\)")
    pages = [ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    links = [reference for page in pages for reference in link.findall(page.read_text())]
    assert len(links) > 20
    assert [(text, page) for text, page in links if int(text) != int(page)] == []


def test_a_decision_is_cited_by_its_number() -> None:
    nameless = re.compile(r"\[(?:the )?decision\]\(", re.I)
    pages = [ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    assert [page.name for page in pages if nameless.search(page.read_text())] == []
