# SPDX-License-Identifier: Apache-2.0
"""Finds uPlot, the library that lets the plots of a page zoom."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files

NAME = "uPlot"
PURPOSE = "zooms the plots of a report"
REMEDY = "Run `make setup` in the checkout, with a network; reports work without it"
_FILES = ("uPlot.iife.min.js", "uPlot.min.css", "LICENSE")


@dataclass(frozen=True)
class Library:
    """The parts for a page: the script, preceded by its licence, and the style."""

    version: str
    script: str
    style: str


def library() -> Library | None:
    """The library in kadenz/report/static; None if the checkout or the wheel lacks it."""
    folder = files("kadenz.report") / "static"
    sources = [folder / name for name in _FILES]
    if not all(file.is_file() for file in sources):
        return None
    script, style, license = (file.read_text(encoding="utf-8") for file in sources)
    version = re.search(r"\(v([\d.]+)\)", script[:200])
    return Library(version[1] if version else "", f"/*!\n{license.strip()}\n*/\n{script}", style)
