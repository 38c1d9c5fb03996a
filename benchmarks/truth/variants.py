# SPDX-License-Identifier: Apache-2.0
"""Checkouts with one change: compiled with another optimisation.

A change is made in a copy. The image of kadenz itself has no such option: a figure of the suite is
one of `-O2`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kadenz.config import inventory

USUAL_LEVEL = "-O2"
_FOLDERS = ("arch", "boards", "instruments", "kernels", "published", "suite")
_VERSION = Path("kadenz/__init__.py")  # the suite's
# Where the optimisation stands, and how.
_PLACES = {
    "kernels/freertos/kernel.cmake": "PRIVATE -g {} -ffunction-sections",
    "suite/CMakeLists.txt": "$<$<COMPILE_LANGUAGE:C>:{}>",
}


@contextmanager
def optimised(by: str) -> Iterator[None]:
    """What is built inside is compiled with `by`, FreeRTOS and the suite alike."""
    if by == USUAL_LEVEL:
        yield
        return
    root = inventory.root()
    before = os.environ.get("KADENZ_ROOT")
    with tempfile.TemporaryDirectory(prefix="kadenz-variant-") as text:
        copy = Path(text)
        for name in _FOLDERS:
            shutil.copytree(root / name, copy / name)
        (copy / _VERSION).parent.mkdir()
        shutil.copy(root / _VERSION, copy / _VERSION)
        for name, place in _PLACES.items():
            code = (copy / name).read_text()
            if code.count(place.format(USUAL_LEVEL)) != 1:
                raise SystemExit(f"{name}: expected `{place.format(USUAL_LEVEL)}` once")
            (copy / name).write_text(code.replace(place.format(USUAL_LEVEL), place.format(by)))
        os.environ["KADENZ_ROOT"] = text
        try:
            yield
        finally:
            os.environ.pop("KADENZ_ROOT")
            if before is not None:
                os.environ["KADENZ_ROOT"] = before
