# SPDX-License-Identifier: Apache-2.0
"""docs/explanation/security.md names every test here, and only tests that exist."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "explanation" / "security.md"


def test_each_promise_has_its_tests_and_each_test_its_promise() -> None:
    named = set(re.findall(r"`([\w/-]+\.(?:py|rs))`", PAGE.read_text()))
    assert named and {file for file in named if not (ROOT / file).is_file()} == set()
    here = {str(file.relative_to(ROOT)) for file in (ROOT / "tests/hostile").glob("test_*.py")}
    assert here - named - {"tests/hostile/test_promises.py"} == set()
