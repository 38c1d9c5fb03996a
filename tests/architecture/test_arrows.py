# SPDX-License-Identifier: Apache-2.0
"""The arrows of ARCHITECTURE.md: who sees whom, in Python and in C."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from . import c_includes, python_imports

ROOT = Path(__file__).resolve().parents[2]
SHARED = ("suite/core", "suite/bench", "suite/include", "kernels/conformance")


def test_python_imports_follow_the_arrows() -> None:
    assert python_imports.forbidden(ROOT / "kadenz", python_imports.ARROWS) == []


def test_no_circle_joins_modules() -> None:
    assert python_imports.circle(ROOT / "kadenz") == []


@pytest.mark.parametrize("lazy", [True, False])
def test_a_circle_of_modules_is_found(tmp_path: Path, lazy: bool) -> None:
    """Also one that an import inside a function hides; not one that is for types alone."""
    (tmp_path / "a.py").write_text("from kadenz import errors\nfrom kadenz.b import word\n")
    asked = "if TYPE_CHECKING:\n    from kadenz.a import word\n"
    (tmp_path / "b.py").write_text(asked)
    assert python_imports.circle(tmp_path) == []
    needed = "def f():\n    from kadenz.a import word\n" if lazy else "import kadenz.a\n"
    (tmp_path / "b.py").write_text(asked + needed)
    assert {"a", "b"} == set(python_imports.circle(tmp_path))


def test_measuring_and_reading_meet_only_in_the_run_folder() -> None:
    """The table of arrows itself: no way leads from one path into the other."""

    def reached(start: str) -> set[str]:
        parts: set[str] = set()
        todo = [start]
        while todo:
            part = todo.pop().partition(".")[0]
            if part not in parts:
                parts.add(part)
                todo += python_imports.ARROWS[part]
        return parts

    measuring, reading = reached("lab"), reached("report")
    assert measuring & {"analysis", "report", "stats"} == set()
    assert reading & {"lab", "images", "targets", "host", "load", "tuning", "wire"} == set()
    below = {"discovery", "owner", "json_text", "regular_files", "user_cache", "errors"}
    assert measuring & reading == {"store", "config"} | below
    assert reached("stats") == {"stats"}


def test_c_includes_follow_the_arrows() -> None:
    includes = c_includes.includes(ROOT)
    assert len(includes) > 100
    assert c_includes.forbidden(ROOT) == []


def test_shared_code_holds_no_condition_on_a_kernel_or_a_board() -> None:
    assert c_includes.conditions(ROOT, SHARED) == []


def test_no_circle_joins_the_units_of_the_core() -> None:
    """Frames, messages, records and faults: each calls only what lies below it."""
    assert c_includes.circles(ROOT, "suite/core", {"kadenz/fault.h": "fault"}) == []


def test_a_circle_of_units_is_found(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "wire.c").write_text('#include "kadenz/fault.h"\n')
    (tmp_path / "core" / "message.c").write_text('#include "wire.h"\n')
    (tmp_path / "core" / "fault.c").write_text('#include "message.h"\n')
    circle = c_includes.circles(tmp_path, "core", {"kadenz/fault.h": "fault"})
    assert set(circle) == {"wire", "fault", "message"}


def test_core_names_no_benchmark() -> None:
    names = set()
    for file in (ROOT / "suite" / "bench").glob("*.c"):
        names |= set(re.findall(r'\.name = "([a-z]+/[a-z0-9-]+)"', file.read_text()))
    assert len(names) > 10
    for file in (ROOT / "suite" / "core").iterdir():
        text = file.read_text()
        assert [name for name in sorted(names) if name in text] == [], file


def test_the_suite_is_built_without_naming_a_kernel_or_a_board() -> None:
    text = (ROOT / "suite" / "CMakeLists.txt").read_text()
    code = "\n".join(line.partition("#")[0] for line in text.splitlines())
    parts = {
        folder.name
        for kind in ("kernels", "boards", "arch")
        for folder in (ROOT / kind).iterdir()
        if folder.is_dir()
    } - {"conformance"}
    named = [part for part in sorted(parts) if re.search(rf"\b{re.escape(part)}\b", code)]
    assert named == []


# ---- the checks themselves find what they look for -----------------------------------------------


@pytest.mark.parametrize(
    ("part", "line", "refused"),
    [
        ("stats", "from kadenz.config.manifest import Manifest", True),
        ("stats", "def f():\n    import kadenz.errors", True),
        ("analysis", "from kadenz import lab", True),
        ("store", "from kadenz.config import inventory", True),
        ("lab", "from kadenz.analysis.runs import read", True),
        ("lab", "from kadenz.images.image import build_image", False),
        ("images", "from kadenz.targets.qemu import QemuTarget", True),
        ("images", "from kadenz.tools import require", False),
        ("analysis", "from kadenz.config import manifest", False),
        ("plots", "", True),
    ],
)
def test_an_import_against_an_arrow_is_found(
    part: str, line: str, refused: bool, tmp_path: Path
) -> None:
    (tmp_path / part).mkdir()
    (tmp_path / part / "module.py").write_text(line)
    assert bool(python_imports.forbidden(tmp_path, python_imports.ARROWS)) is refused


@pytest.mark.parametrize(
    ("file", "line", "refused"),
    [
        ("suite/core/a.c", "#include <FreeRTOS.h>", True),
        ("suite/bench/a.c", "#include <stdio.h>", True),
        ("suite/bench/a.c", "#include <stdint.h>", False),
        ("suite/bench/a.c", '#include "wire.h"', True),
        ("suite/tests/a.c", '#include "wire.h"', False),
        ("suite/core/a.c", '#include "wire.h"', False),
        ("suite/core/a.c", '#include "kadenz/seam.h"', False),
        ("kernels/one/a.c", '#include "two_port.h"', True),
        ("kernels/one/a.c", '#include "pins.h"', True),
        ("kernels/one/a.c", "#include <task.h>", False),
        ("kernels/one/a.c", '#include "wire.h"', True),
        ("boards/other/a.c", '#include "pins.h"', True),
        ("boards/other/a.c", '#include "two_port.h"', True),
        ("boards/other/a.c", "#include <csr.h>", False),
        ("arch/a/a.c", '#include "pins.h"', True),
        ("arch/a/a.c", "#include <stdio.h>", True),
        ("arch/a/a.c", "#include <csr.h>", False),
    ],
)
def test_an_include_against_an_arrow_is_found(
    file: str, line: str, refused: bool, tmp_path: Path
) -> None:
    for header in (
        "suite/include/kadenz/seam.h",
        "suite/core/wire.h",
        "kernels/two/two_port.h",
        "boards/one/pins.h",
        "arch/riscv/include/csr.h",
    ):
        (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / header).touch()
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(f"{line}\n")
    assert bool(c_includes.forbidden(tmp_path)) is refused


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("#ifdef FREERTOS\n#endif\n", True),
        ("#if defined(__riscv)\n#endif\n", True),
        ("#ifndef KDZ_LANES_MAX\n#define KDZ_LANES_MAX 2\n#endif\n", False),
        ("#ifndef KDZ_LANES_MAX\nint small;\n#endif\n", True),
        ("#ifndef KADENZ_BENCH_H\n#define KADENZ_BENCH_H\n#endif\n", False),
    ],
)
def test_a_condition_in_shared_code_is_found(text: str, refused: bool, tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "a.h").write_text(text)
    assert bool(c_includes.conditions(tmp_path, ("suite",))) is refused
