# SPDX-License-Identifier: Apache-2.0
"""Every kernel has a page in docs/kernels, and the pages are listed."""

from __future__ import annotations

import re

from kadenz.config import inventory
from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "kernels"
# Kernels whose page has another name, or which share one.
PAGES = {"posix": "linux", "linux": "linux", "linux-rt": "linux", "freertos-esp-idf": "esp-idf"}


def test_every_kernel_has_a_page() -> None:
    pages = {PAGES.get(name, name) for name in inventory.kernels()}
    assert pages == {file.stem for file in FOLDER.glob("*.md")} - {"README", "worst"}


def test_the_pages_of_kernels_are_listed() -> None:
    pages = {file.name for file in FOLDER.glob("*.md")}
    for index, prefix in ((FOLDER / "README.md", ""), (ROOT / "docs" / "README.md", "kernels/")):
        linked = set(re.findall(rf"\]\({prefix}([\w-]+\.md)\)", index.read_text()))
        assert pages - {"README.md"} <= linked, index
