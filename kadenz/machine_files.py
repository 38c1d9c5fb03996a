# SPDX-License-Identifier: Apache-2.0
"""Text files of a machine below a root: "/", or a folder in tests."""

from __future__ import annotations

import re
from pathlib import Path


class MachineFiles:
    """Reads /proc, /sys and similar files. Reading never fails: kernels differ."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def path(self, path: str) -> Path:
        """The path below the root."""
        return self.root / path.lstrip("/")

    def read(self, path: str) -> str | None:
        """A file's text without surrounding blanks, None if it cannot be read."""
        try:
            return self.path(path).read_text(errors="replace").strip("\0 \t\r\n")
        except OSError:
            return None

    def text(self, path: str) -> str:
        """A file's text; "" if it cannot be read."""
        return self.read(path) or ""

    def number(self, path: str) -> int | None:
        """A file's number, None if it holds none."""
        text = self.text(path)
        return int(text) if re.fullmatch(r"-?\d+", text) else None

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder."""
        return self.path(path).exists()

    def glob(self, pattern: str) -> list[str]:
        """Matching paths of the machine, ordered by the numbers in them: cpu2, cpu10."""
        paths = ["/" + str(p.relative_to(self.root)) for p in self.root.glob(pattern.lstrip("/"))]
        return sorted(paths, key=_by_numbers)


def _by_numbers(path: str) -> list[tuple[int, str]]:
    return [(int(p), "") if p.isdigit() else (-1, p) for p in re.split(r"(\d+)", path)]
