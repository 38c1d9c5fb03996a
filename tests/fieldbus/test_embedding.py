# SPDX-License-Identifier: Apache-2.0
"""The examples of a segment inside a test: in C, in Python and, with ethercrab, in one process."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import FIELDBUS, RING

EXAMPLES = FIELDBUS / "kadenz-segment" / "examples"
SEEN = "9 devices, AL status 0x01, the fourth frame was lost\n"


def run(*command: str | Path) -> str:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_test_in_python_embeds_the_segment(segment_program: Path) -> None:
    assert run(sys.executable, EXAMPLES / "embed.py", RING, segment_program) == SEEN


def test_a_test_in_c_embeds_the_segment(segment_program: Path, tmp_path: Path) -> None:
    program = tmp_path / "embed"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    run("cc", *flags, "-o", program, EXAMPLES / "embed.c")
    assert run(program, RING, segment_program) == SEEN


def test_ethercrab_and_a_segment_share_a_process() -> None:
    # With the dependencies of the workspace's tests, which scripts/setup-crates.sh keeps.
    build = ["cargo", "build", "--quiet", "--locked", "--workspace", "--example", "in_process"]
    subprocess.run(build, cwd=FIELDBUS, check=True)
    lines = run(FIELDBUS / "target" / "debug" / "examples" / "in_process").splitlines()
    assert lines == [
        "2 devices, j0 in Op",
        "after 200 cycles: j0 in SafeOp",
        "fault 1, al-error at j0: begins",
    ]


@pytest.mark.parametrize(
    ("request_bytes", "message"),
    [
        (b"\x01", "request 1: "),
        (struct.pack("<I", 5000), "request 1: length 5000 is not in 8 to 1522"),
        (struct.pack("<IQ", 20, 0) + b"short", "request 1: it ends early"),
    ],
)
def test_a_request_that_is_none_ends_the_segment_with_its_number(
    segment_program: Path, request_bytes: bytes, message: str
) -> None:
    done = subprocess.run(
        [str(segment_program), "embed", "--ring", str(RING)],
        input=request_bytes,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert message in done.stderr.decode()


def test_the_packages_of_the_registry_hold_what_the_crate_needs() -> None:
    listed = subprocess.run(
        ["cargo", "package", "--list", "--offline", "--allow-dirty", "-p", "kadenz-segment"],
        cwd=FIELDBUS,
        capture_output=True,
        text=True,
        check=True,
    )
    files = set(listed.stdout.split())
    assert {"README.md", "src/lib.rs", "rings/examine.toml", "examples/embed.c"} <= files
    assert not [file for file in files if file.startswith(("tests/", "target/"))]
