# SPDX-License-Identifier: Apache-2.0
"""The program kadenz-suite for this Linux, built once, and its answers to a plan."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kadenz.config.target_name import parse_target
from kadenz.images.image import build_image
from kadenz.wire.decoder import Decoder, Finding
from kadenz.wire.messages import Begin, Conform, Done, End, Fault, Hello, Samples, Text

CRASH = Path(__file__).parent / "crash.c"


@dataclass
class Said:
    """The frames of one run of the program."""

    code: int
    errors: str
    messages: list[Any]
    findings: list[Finding] = field(default_factory=list)

    def only(self, kind: type) -> Any:
        found = [m for m in self.messages if isinstance(m, kind)]
        assert len(found) == 1, self.messages
        return found[0]

    @property
    def hello(self) -> Hello:
        hello = self.only(Hello)
        assert isinstance(hello, Hello)
        return hello

    @property
    def fault(self) -> Fault:
        fault = self.only(Fault)
        assert isinstance(fault, Fault)
        return fault

    @property
    def ends(self) -> list[End]:
        return [m for m in self.messages if isinstance(m, End)]

    @property
    def begins(self) -> list[Begin]:
        return [m for m in self.messages if isinstance(m, Begin)]

    @property
    def cases(self) -> list[Conform]:
        return [m for m in self.messages if isinstance(m, Conform)]

    @property
    def notes(self) -> str:
        return "\n".join(m.text for m in self.messages if isinstance(m, Text))

    def values(self, record: int, lane: int = 0) -> np.ndarray[Any, np.dtype[np.uint32]]:
        pieces = [
            m.values
            for m in self.messages
            if isinstance(m, Samples) and (m.record, m.lane) == (record, lane)
        ]
        return np.concatenate(pieces) if pieces else np.zeros(0, np.uint32)

    @property
    def done(self) -> bool:
        return isinstance(self.messages[-1], Done)


def decode(stream: bytes, code: int = 0, errors: str = "") -> Said:
    """Decodes a stream; a damaged one fails the test."""
    decoder = Decoder()
    received = [*decoder.feed(stream), *decoder.finish()]
    findings = [r for r in received if isinstance(r, Finding)]
    assert not findings
    return Said(code, errors, [r.message for r in received if not isinstance(r, Finding)])


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


Run = Callable[..., Said]


@pytest.fixture
def run(program: Path) -> Run:
    """Runs the program with a plan; further keywords go to subprocess.run."""

    def _run(plan: str, *arguments: str, **options: Any) -> Said:
        answer = subprocess.run(
            [program, *arguments],
            input=plan.encode(),
            capture_output=True,
            timeout=60,
            check=False,
            cwd="/",
            **options,
        )
        return decode(answer.stdout, answer.returncode, answer.stderr.decode())

    return _run
