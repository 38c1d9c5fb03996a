# SPDX-License-Identifier: Apache-2.0
"""The program kadenz-suite for this Linux, built once, and its answers to a plan."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kadenz.config.target_name import parse_target
from kadenz.images.image import build_image
from kadenz.wire.decoder import Decoder, Received
from kadenz.wire.messages import Begin
from tests.decoded import Decoded, decode
from tests.waiting import PATIENCE_S

CRASH = Path(__file__).parent / "targets" / "crash.c"
NOBODY = 65534
# What a user without rights passes to measure at all.
TOLERANT = "--allow=no-realtime"


@pytest.fixture(scope="session")
def program() -> Iterator[Path]:
    """The suite for this Linux, executable for every user."""
    image = build_image(parse_target("posix/linux@host"), "counter", extra_bench=[CRASH])
    folder = Path(tempfile.mkdtemp(prefix="kadenz-test-"))
    folder.chmod(0o755)
    copy = folder / "kadenz-suite"
    shutil.copy(image.elf.path, copy)
    copy.chmod(0o755)
    yield copy
    shutil.rmtree(folder)


Run = Callable[..., Decoded]


@pytest.fixture
def run(program: Path) -> Run:
    """Runs the program with a plan; further keywords go to subprocess.run."""

    def _run(plan: str, *arguments: str, **options: Any) -> Decoded:
        answer = subprocess.run(
            [program, *arguments],
            input=plan.encode(),
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
            cwd="/",
            **options,
        )
        return decode(answer.stdout, answer.returncode, answer.stderr.decode())

    return _run


def without_rights() -> dict[str, Any]:
    """Options of subprocess.run: a user who may neither lock memory nor use real-time policies."""

    def give_up() -> None:
        for what in (resource.RLIMIT_MEMLOCK, resource.RLIMIT_RTPRIO):
            resource.setrlimit(what, (0, 0))

    user: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    return {"preexec_fn": give_up} | (user if os.geteuid() == 0 else {})


@contextmanager
def measuring(
    program: Path, plan: str, *arguments: str, **options: Any
) -> Iterator[tuple[subprocess.Popen[bytes], bytes]]:
    """The program, and its frames up to the beginning of its first record. Killed at the end."""
    with subprocess.Popen(
        [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/", **options
    ) as process:
        try:
            assert process.stdin is not None
            process.stdin.write(plan.encode())
            process.stdin.flush()
            yield process, _until_begun(process)
        finally:
            process.kill()


def _until_begun(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    decoder, said = Decoder(), b""
    while piece := os.read(process.stdout.fileno(), 65536):
        said += piece
        received = [item for item in decoder.feed(piece) if isinstance(item, Received)]
        if any(isinstance(item.message, Begin) for item in received):
            return said
    raise AssertionError("it ended before it began a record")
