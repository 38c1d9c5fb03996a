# SPDX-License-Identifier: Apache-2.0
"""`kadenz-segment examine`: masters of every kind in namespaces of their own, and nothing left."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.rights import AS_USER
from tests.waiting import wait_for

from .conftest import FIELDBUS, RING

pytestmark = pytest.mark.machine

SOEM = FIELDBUS / "kadenz-segment" / "examples" / "soem_op.py"
# Sends the same frame as fast as it can.
FLOOD = """
import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind((sys.argv[1], 0x88A4))
frame = bytes.fromhex("ffffffffffff10101010101088a40d10 0701 0000 0000 0100 0000 00 0000")
while True:
    try:
        link.send(frame)
    except OSError:
        pass
"""


def examine(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Skipped with the reason where namespaces are not allowed."""
    command = [str(program), "examine", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if "unshare" in done.stderr:
        pytest.skip(f"no namespaces here: {done.stderr.strip()}")
    return done


def rows(program: Path, master: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = examine(program, "--master", master, "--json", *arguments)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def processes(mark: str) -> list[str]:
    """Command lines of this machine with a mark."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended
            continue
        if mark in line and f"/{os.getpid()}/" not in str(path):
            lines.append(line)
    return lines


@pytest.mark.parametrize(
    ("master", "reason"),
    [
        ("true {interface}", "sent no frame; it ended with exit code 0"),
        ("kill -SEGV $$ {interface}", "crashed: ended by signal 11"),
        ("sleep 600; : {interface}", "sent no frame; it still ran at the end"),
        ("no-such-master {interface}", "exit code 127: no such command"),
    ],
)
def test_a_master_that_is_silent_crashes_or_never_ends_is_named(
    segment_program: Path, master: str, reason: str
) -> None:
    code, report = rows(segment_program, master, "--seconds", "1", "--case", "operation")
    assert (code, [row["verdict"] for row in report["rows"]]) == (1, ["failed"])
    assert reason in report["rows"][0]["reason"]


def test_a_master_that_floods_is_ended_and_named(segment_program: Path, tmp_path: Path) -> None:
    script = tmp_path / "flood.py"
    script.write_text(FLOOD, encoding="utf-8")
    master = f"{sys.executable} {script} {{interface}}"
    code, report = rows(segment_program, master, "--case", "operation", "--seconds", "60")
    assert code == 1
    reason = report["rows"][0]["reason"]
    assert re.search(r"the master flooded the segment: \d+ frames in \d", reason), reason


def test_nothing_is_left_of_a_case_whose_examiner_is_killed(
    segment_program: Path, tmp_path: Path
) -> None:
    mark = f"kadenz-mark-{os.getpid()}"
    master = f"sh -c 'sleep 600; : {mark}' & sh -c 'sleep 601; : {mark} {{interface}}'"
    command = [str(segment_program), "examine", "--master", master, "--case", "operation"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as examiner:
        wait_for(lambda: len(processes(f": {mark}")) > 3 or examiner.poll() is not None)
        if examiner.poll() is not None:
            assert examiner.stderr is not None
            pytest.skip(f"no namespaces here: {examiner.stderr.read().decode().strip()}")
        examiner.kill()
    wait_for(lambda: processes(mark) == [])


def test_ctrl_c_keeps_the_rows_that_there_are(segment_program: Path) -> None:
    master = "sleep 600; : {interface}"
    command = [str(segment_program), "examine", "--json", "--master", master]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as examiner:
        wait_for(lambda: processes("play-case") != [] or examiner.poll() is not None)
        examiner.send_signal(signal.SIGINT)
        output, errors = examiner.communicate(timeout=30)
    if "unshare" in errors:
        pytest.skip(f"no namespaces here: {errors.strip()}")
    assert examiner.returncode == 1
    reasons = {row["reason"] for row in json.loads(output)["rows"]}
    assert reasons == {"not run: interrupted"}


def test_soem_is_examined_and_the_forms_of_the_table_agree(
    segment_program: Path, tmp_path: Path
) -> None:
    pytest.importorskip("pysoem", reason="pysoem is not installed: pip install -e .[dev]")
    page, table = tmp_path / "table.html", tmp_path / "table.xml"
    cases = ["operation", "answer-lost", "device-falls"]
    arguments = [word for case in cases for word in ("--case", case)]
    outputs = ["--html", str(page), "--junit", str(table), "--record", str(tmp_path / "frames")]
    master = f"{sys.executable} {SOEM} {{interface}} {{second}}"
    _, report = rows(segment_program, master, *arguments, *outputs)
    verdicts = {(row["feature"], row["case"]): row["verdict"] for row in report["rows"]}
    for feature in ("101", "104", "107", "201", "301", "305", "401", "501", "503", "504", "701"):
        assert verdicts[feature, "operation"] == "passed", report["rows"]
    for feature in ("601", "703", "1301"):
        assert verdicts[feature, "operation"] == "not-applicable"
    # It asks for the mailbox again, and leads the device back: if no frame was late.
    assert {("402", "answer-lost"), ("105", "device-falls")} < verdicts.keys()
    document = ET.fromstring(table.read_text("utf-8"))
    assert len(document.findall(".//testcase")) == len(report["rows"])
    assert page.read_text("utf-8").count("<tr>") == len(report["rows"]) + 1
    # The recording of a case replays on the ring with its fault.
    assert {path.name for path in (tmp_path / "frames").iterdir()} == {f"{c}.pcapng" for c in cases}


def test_a_ring_of_the_user_and_wrong_words_are_checked(segment_program: Path) -> None:
    for arguments, message in [
        (["--master", "./master veth0"], "names no interface"),
        (["--master", "x {interface}", "--case", "answr-lost"], "Did you mean `answer-lost`?"),
        (["--master", "x {interface}", "--ring", "nowhere.toml"], "nowhere.toml"),
        (["--master", "x {interface}", "--seconds", "0"], "out of its range"),
    ]:
        done = examine(segment_program, *arguments)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert message in done.stderr
    master = "true {interface}"
    code, report = rows(segment_program, master, "--ring", str(RING), "--case", "operation")
    assert code == 1 and report["ring"] == str(RING)


def test_without_root_a_user_namespace_does(segment_program: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("runs as a user already")
    master = "id -u; : {interface}"
    command = [str(segment_program), "examine", "--json", "--master", master, "--case", "operation"]
    done = subprocess.run(
        [*AS_USER, *command], capture_output=True, text=True, check=False, timeout=60
    )
    if not done.stdout:
        pytest.skip(f"no user namespaces here: {done.stderr.strip()}")
    assert "sent no frame; it ended with exit code 0" in done.stdout, done.stdout
