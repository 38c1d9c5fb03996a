# SPDX-License-Identifier: Apache-2.0
"""The first Ctrl-C of `kadenz run` stops it, whatever the lab writes to its terminal then."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from kadenz.cli.output import say_in_handler
from tests.waiting import PATIENCE_S

# Its reader reads nothing until the signal has come, as a terminal after Ctrl-S.
FULL_PIPE = """
import click
from kadenz.cli.output import guard_output
from kadenz.cli.measuring import stoppable

guard_output()
with stoppable() as stop:
    while not stop.is_set():
        click.echo("x" * 4000, err=True)
print("stopped")
"""


def waits_in_write(process: subprocess.Popen[bytes]) -> bool:
    return "pipe_w" in Path(f"/proc/{process.pid}/wchan").read_text()


def test_ctrl_c_while_output_waits_for_its_reader_stops() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FULL_PIPE], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        until = time.monotonic() + 30
        while not waits_in_write(process) and time.monotonic() < until:
            time.sleep(0.01)
        assert waits_in_write(process)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"stopped\n")
    assert b"stopping; samples that have arrived are kept" in errors and b"Traceback" not in errors


def test_a_reader_that_has_left_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb", buffering=0) as gone:
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(gone))
        say_in_handler("stopping")
        monkeypatch.undo()


class Display(io.TextIOBase):
    """In place of standard error, as rich puts its own there while it draws bars."""

    def __init__(self) -> None:
        self.text, self.writers = "", set[int]()
        self.written = threading.Event()

    def write(self, text: str) -> int:
        self.text += text
        self.writers.add(threading.get_ident())
        if "\n" in text:
            self.written.set()
        return len(text)


def test_a_display_that_redraws_itself_hears_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    display = Display()
    monkeypatch.setattr(sys, "stderr", display)
    say_in_handler("stopping")
    assert display.written.wait(PATIENCE_S)
    assert display.text == "stopping\n" and threading.get_ident() not in display.writers
