# SPDX-License-Identifier: Apache-2.0
"""Loads by name: the values of --load, and their commands on this machine."""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from kadenz.errors import LoadFailed, ToolMissing, UsageError
from kadenz.lab.conditions.load import LoadChoice
from kadenz.load import definitions
from kadenz.load.definitions import Options
from tests.load.machine import on_a_disk


def test_a_name_is_one_kind_or_several() -> None:
    assert definitions.parts_of("none") == []
    assert definitions.parts_of("disk") == ["disk"]
    assert definitions.parts_of("disk+cpu+disk") == ["disk", "cpu"]
    assert definitions.parts_of("all") == list(definitions.ALL_OF)
    assert set(definitions.ALL_OF) < set(definitions.kinds())


def test_an_unknown_load_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError) as told:
        definitions.parts_of("netwrok")
    assert told.value.remedy == "Did you mean `network`?"
    with pytest.raises(UsageError, match="no load `none`"):
        definitions.parts_of("none+disk")  # `none` cannot be combined


def test_every_load_of_the_table_becomes_a_command(tmp_path: Path) -> None:
    parent = on_a_disk(tmp_path)
    folder = parent / ".kadenz-load-x"
    for part in definitions.parts("+".join(definitions.kinds()), Options(workers=2), folder):
        assert len(part.programs) == (2 if part.kind.copies else 1)
        for program in part.programs:
            left = [word for word in program if "{" in word and word != "{limited}"]
            assert left == [], part.name
            assert all(program)
        assert shutil.which(part.programs[0][0])
    assert list(parent.iterdir()) == []


def test_stress_ng_keeps_its_files_in_its_working_directory(tmp_path: Path) -> None:
    """The scratch folder, which it reaches whoever may enter the folders above."""
    (part,) = definitions.parts("disk", Options(), on_a_disk(tmp_path) / "here")
    (program,) = part.programs
    assert program[program.index("--temp-path") + 1] == "."


def test_parameters_can_be_read(tmp_path: Path) -> None:
    parts = {p.name: p for p in definitions.parts("all", Options(), on_a_disk(tmp_path) / "here")}
    assert parts["disk"].settings["size"] == "128 MiB per worker"
    assert parts["paging"].settings["ram"] == "64 MiB per worker"
    assert parts["paging"].settings["pages"].startswith(("anonymous memory", "a mapped file"))
    assert "MiB" in parts["memory"].settings["blocks"]


def test_a_structure_that_pages_is_larger_than_its_ram() -> None:
    paging = definitions.kinds()["paging"]
    assert paging.size_mb >= 2 * paging.limit_mb > 0


def test_a_disk_load_in_memory_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("kadenz.load.counters.device_of", lambda _: ("", "tmpfs"))
    for name in ("disk", "io", "paging"):
        with pytest.raises(LoadFailed, match="is in memory") as told:
            definitions.parts(name, Options(), tmp_path / "here")
        assert "scratch=DIR" in told.value.remedy


def test_a_load_leaves_space_for_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usage = namedtuple("usage", "total used free")
    parent = on_a_disk(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**12, 0, 1000 << 20))
    with pytest.raises(LoadFailed, match="1024 MiB in .*1000 MiB are free"):
        definitions.parts("paging", Options(workers=4), parent / "here")
    monkeypatch.undo()
    monkeypatch.setattr(
        definitions, "_meminfo", lambda key: 600 << 20 if key == "MemAvailable" else 0
    )
    with pytest.raises(LoadFailed, match="of memory"):
        definitions.parts("memory", Options(workers=1), parent / "here")


def test_a_missing_program_is_reported_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name == "stress-ng" else name)
    with pytest.raises(ToolMissing, match="stress-ng is not installed") as told:
        definitions.check_programs("cpu")
    assert "kadenz setup" in told.value.remedy
    definitions.check_programs("memory")  # a program of kadenz


def test_only_existing_processors_can_be_chosen() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    assert definitions.chosen_cpus(Options()) == allowed
    assert definitions.chosen_cpus(Options(cpus=allowed[-1:])) == allowed[-1:]
    with pytest.raises(UsageError, match="processor 4095"):
        definitions.chosen_cpus(Options(cpus=[4095]))


def test_the_command_line_completes_loads() -> None:
    complete = LoadChoice.options[0].complete
    assert complete is not None
    assert [value for value, _ in complete("net")] == ["network"]
    added = [value for value, _ in complete("cpu+")]
    assert "cpu+disk" in added and "cpu+cpu" not in added and "cpu+none" not in added
