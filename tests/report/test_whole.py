# SPDX-License-Identifier: Apache-2.0
"""A report, an export and a budget replace the file of the last time whole, or not at all."""

from __future__ import annotations

import itertools
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.errors import KadenzError
from kadenz.report.export import opened
from kadenz.report.render import write_text
from kadenz.report.whole import replaced
from tests.analysis.test_budget import SET, overhead_points, run_of
from tests.store.crashes import ends_at
from tests.synthetic import LINUX, linux_points, manifest, write_run

OLD = "of last month\n"


@contextmanager
def full_after(count: int) -> Iterator[None]:
    """No file of this process can become larger: as on a full disk, a write fails in its midst.

    Python does not notice that the bytecode of a module, imported now, is cut off: none is kept.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = kept


def failing(*arguments: str | Path) -> None:
    """`kadenz ARGUMENTS…`, which cannot write its file."""
    with full_after(100):
        result = CliRunner().invoke(cli, [str(word) for word in arguments], standalone_mode=False)
    assert isinstance(result.exception, KadenzError)
    assert "cannot be written" in result.exception.message


def report(folder: Path, file: Path) -> None:
    run = write_run(folder, manifest(LINUX), linux_points(np.random.default_rng(1), 200))
    failing("report", run, "--output", file)


def export(kind: str, folder: Path, file: Path) -> None:
    run = write_run(folder, manifest(LINUX), linux_points(np.random.default_rng(1), 200))
    failing("export", run, "--format", kind, "--output", file)


def budget(folder: Path, file: Path) -> None:
    (folder / "set.toml").write_text(SET)
    run = run_of(folder, overhead_points())
    failing("budget", folder / "set.toml", run.path, "--markdown", file)


@pytest.mark.parametrize(
    "write",
    [report, budget, *(partial(export, kind) for kind in ("csv", "json", "parquet"))],
    ids=["report", "budget", "csv", "json", "parquet"],
)
def test_a_full_disk_leaves_the_old_file(
    write: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    (tmp_path / "runs").mkdir()
    file = tmp_path / "out" / "file.html"
    file.parent.mkdir()
    file.write_text(OLD)
    write(tmp_path / "runs", file)
    assert file.read_text() == OLD
    assert [path.name for path in file.parent.iterdir()] == ["file.html"]


def test_a_kill_at_any_call_leaves_a_whole_file(tmp_path: Path) -> None:
    file, new = tmp_path / "file", "new\n" * 3
    file.write_text(OLD)

    def write() -> None:
        with opened(file) as out:
            for line in new.splitlines(keepends=True):
                out.write(line)
                out.flush()
                os.fsync(out.fileno())  # a call before which it is killed

    for number in itertools.count(1):
        killed = ends_at(number, write)
        assert file.read_text() in (OLD, new)
        if not killed:
            break
    assert file.read_text() == new


def test_a_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text(OLD)
    file.chmod(0o640)
    link.symlink_to(file)
    write_text(link, "new")
    assert link.is_symlink() and file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_new_file_may_be_read_by_all_and_have_a_long_name(tmp_path: Path) -> None:
    file = tmp_path / "folder" / ("n" * 255)
    write_text(file, "new")
    mask = os.umask(0)
    os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_pipe_and_a_device_are_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for special in (pipe, Path("/dev/null"), Path("/dev/stdout")):
        with replaced(special) as target:
            assert target == special
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no files in memory here")
def test_files_in_memory_are_no_devices() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        file = Path(folder) / "new" / "file"
        write_text(file, "new")
        assert file.read_text() == "new"


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KadenzError, match="Is a directory"):
        write_text(tmp_path, "new")
