# SPDX-License-Identifier: Apache-2.0
"""Footprint in the report: from run folders alone, next to the published code sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from kadenz.analysis import RunResult, analyse, published
from kadenz.config.manifest import BuildEntry, FootprintEntry, ObjectEntry
from kadenz.report import footprint
from kadenz.report.page import build
from kadenz.report.render import render
from kadenz.report.sections import leaves
from kadenz.report.studies import kioxia2019
from kadenz.report.table import Cell, Table
from kadenz.store import read_run
from tests.synthetic import HIFIVE1, LINUX, STM32F4, board_points, manifest, write_run


def image(name: str, scale: int) -> BuildEntry:
    """A kernel of two common files and one of its own, a library, padding."""
    entries = [
        FootprintEntry(part="kernel", file="a.c", code=100 * scale, zeroed=8, compiled=110 * scale),
        FootprintEntry(part="kernel", file="b.c", code=10 * scale, data=4, compiled=10 * scale),
        FootprintEntry(part="kernel", file=f"port/{name}.c", code=7, compiled=7),
        FootprintEntry(part="C library", file="libc.a", code=50, constants=5),
        FootprintEntry(part="padding", file=".text", code=3),
    ]
    every = footprint.total(entries)
    return BuildEntry(
        compiler="gcc",
        compiler_version="gcc 12",
        flags="-O2",
        elf_sha256=name,
        text_bytes=every.code + every.constants,
        data_bytes=every.data,
        bss_bytes=every.zeroed,
        kernel_source="",
        footprint=entries,
        objects=[
            ObjectEntry(kind="task", type="TCB", bytes=80 + scale, plus="its stack"),
            ObjectEntry(kind="timer", type="TIMER", bytes=None, plus=""),
        ],
    )


def run(folder: Path, machine: dict[str, Any], build_entry: BuildEntry | None) -> RunResult:
    document = manifest(machine)
    document.build = build_entry
    return analyse(
        read_run(write_run(folder, document, board_points(np.random.default_rng(1), 60)))
    )


def texts(rows: tuple[tuple[Cell, ...], ...]) -> list[list[str]]:
    return [[cell.text for cell in row] for row in rows]


def test_parts_are_summed_and_compared_side_by_side() -> None:
    builds = [("arm", image("arm", 1)), ("riscv", image("riscv", 2))]
    parts, objects, common = footprint.tables(builds)
    assert parts.columns == ("Part", "Flash, arm", "RAM, arm", "Flash, riscv", "RAM, riscv")
    assert texts(parts.rows) == [
        ["kernel", "121", "12", "231", "12"],
        ["C library", "55", "0", "55", "0"],
        ["padding", "3", "0", "3", "0"],
        ["whole image", "179", "12", "289", "12"],
    ]
    assert texts(objects.rows) == [
        ["task", "81", "82", "TCB", "its stack"],
        ["timer", "not in this image", "not in this image", "TIMER", "–"],
    ]
    assert texts(common.rows)[:2] == [
        ["kernel: 2 common files, compiled", "120", "240 (+100.0 %)"],
        ["kernel: 2 common files, linked", "110", "220 (+100.0 %)"],
    ]
    assert texts(common.rows)[-1] == ["whole image, linked", "175", "285 (+62.9 %)"]


def test_one_image_shows_code_constants_data_and_zeroed() -> None:
    (parts, _) = footprint.tables([("arm", image("arm", 1))])
    assert parts.columns[1:] == ("Code", "Constants", "Data", "Zeroed", "Flash", "RAM")
    assert texts(parts.rows)[0] == ["kernel", "117", "0", "4", "8", "121", "12"]


def test_images_of_other_kernels_are_not_compared_by_their_files() -> None:
    other = image("other", 3)
    for entry in other.footprint:
        entry.file = f"x/{entry.file}"
    tables = footprint.tables([("arm", image("arm", 1)), ("other", other)])
    assert [table.name for table in tables] == ["footprint", "footprint-objects"]


def test_the_page_has_a_section_for_runs_that_know_their_footprint(tmp_path: Path) -> None:
    known = run(tmp_path, STM32F4, image("arm", 1))
    older = run(tmp_path, LINUX, None)

    def page(*runs: RunResult) -> tuple[str, ...]:
        built = build(runs, [], title="t", created="2026-11-23T10:00:00Z", version="0")
        blocks = [s.blocks for s in built.sections if s.anchor == "footprint-section"]
        tables = [block for block in leaves(*blocks) if isinstance(block, Table)] if blocks else []
        assert all(table in built.all_tables for table in tables)
        html = render(built)
        contents, _, rest = html.partition('<nav aria-label="Contents">')[2].partition("</nav>")
        expected = 1 if tables else 0
        assert contents.count('href="#footprint-section"') == expected
        assert html.count('id="footprint-section"') == expected
        assert "<section" not in contents
        assert rest.count('id="footprint-section"') == expected
        return tuple(table.title for table in tables)

    assert page(older) == ()
    assert page(known, older) == page(known, known) == ("Flash and RAM", "RAM of one kernel object")


def test_code_sizes_stand_next_to_the_published_ones(tmp_path: Path) -> None:
    runs = [
        ("arm", run(tmp_path, STM32F4, image("arm", 1))),
        ("riscv", run(tmp_path, HIFIVE1, image("riscv", 2))),
    ]
    table = kioxia2019.size_table(published.load(), runs)
    assert table is not None
    assert [(row[0].text, row[1].text, row[4].text) for row in table.rows] == [
        ("Common object files", "published", "+17.8"),
        ("Whole image", "published", "+10.3"),
        ("Common object files", "ours", "+100.0"),
        ("Whole image", "ours", "+62.9"),
    ]
    assert kioxia2019.size_table(published.load(), runs[:1]) is None


def test_a_run_without_footprint_is_read() -> None:
    """As runs before 0.3 were written."""
    older = msgspec.to_builtins(image("arm", 1))
    del older["footprint"], older["objects"]
    assert msgspec.convert(older, BuildEntry).footprint == []


def test_minimal_applications_are_compared_without_what_scripts_reserve() -> None:
    builds = [(name, image(name, scale)) for name, scale in (("arm", 1), ("riscv", 2))]
    assert footprint.minimal(builds) is None
    for (_, entry), code in zip(builds, (400, 500), strict=True):
        entry.minimal = [
            FootprintEntry(part="kernel", file="a.c", code=code, zeroed=20),
            FootprintEntry(part="port", file="port.c", code=60),
            FootprintEntry(part="linker script", file=".stack", zeroed=9_000),
        ]
    table = footprint.minimal(builds)
    assert table is not None and table in footprint.tables(builds)
    assert texts(table.rows) == [
        ["kernel", "400", "20", "500", "20"],
        ["port", "60", "0", "60", "0"],
        ["whole image", "460", "20", "560", "20"],
    ]
    builds[1][1].minimal = []
    minimal = footprint.minimal(builds)
    assert minimal is not None and texts(minimal.rows)[0][:2] == ["kernel", "400"]


def test_objects_of_the_published_chart_are_marked_beside_ours(tmp_path: Path) -> None:
    builds = []
    for name, scale in (("arm", 1), ("riscv", 2)):
        entry = image(name, scale)
        entry.footprint[0].file = "kernel/alarm.c"
        builds.append(entry)
    runs = [
        ("arm", run(tmp_path, STM32F4, builds[0])),
        ("riscv", run(tmp_path, HIFIVE1, builds[1])),
    ]
    (table,) = kioxia2019.object_tables(published.load(), runs)
    assert table.columns[2:4] == ("Text, arm", "Text, riscv")
    assert texts(table.rows) == [
        ["b.o", "no", "10", "20", "+100.0 %"],
        ["alarm.o", "yes", "110", "220", "+100.0 %"],
        ["sum", "yes", "120", "240", "+100.0 %"],
        ["whole image", "yes", "175", "285", "+62.9 %"],
    ]
    absent = table.notes[1].partition("name of: ")[2].rstrip(".").split(", ")
    assert len(absent) == 29 and "alarm.o" not in absent and "wait.o" in absent
    assert list(kioxia2019.object_tables(published.load(), runs[:1])) == []
