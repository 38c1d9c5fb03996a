# SPDX-License-Identifier: Apache-2.0
"""The suite on this Linux: measurements, and errors for missing rights."""

from __future__ import annotations

import os
import pty
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kadenz.wire.decoder import Decoder, Received
from kadenz.wire.messages import Begin
from tests.pauses import timing
from tests.posix.conftest import Run, decode

NOBODY = 65534
REALTIME = pytest.mark.linux
# Options that a user without rights needs to measure at all.
TOLERANT = "--allow-no-realtime"


def as_nobody() -> dict[str, Any]:
    """Options of subprocess.run that drop all rights; empty if there are none to drop."""
    if os.geteuid() != 0:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def limit(what: int, value: int) -> dict[str, Any]:
    return {"preexec_fn": lambda: resource.setrlimit(what, (value, value))}


@REALTIME
def test_the_port_conforms(run: Run) -> None:
    said = run("conformance\nend\n")
    assert said.done
    with timing():  # the cases order their threads by sleeping some ms
        assert [c for c in said.cases if c.result == "fail"] == []
    passed = {c.case for c in said.cases if c.result == "pass"}
    # A port that lacks everything would pass as well.
    assert {"ranks order threads", "a mutex excludes", "yield passes to an equal"} <= passed
    assert "a waiter lends its rank to the owner" in passed


@REALTIME
def test_hello_reports_settings_that_affect_figures(run: Run) -> None:
    settings = run("end\n").hello.settings
    assert settings["policy"] == "SCHED_FIFO"
    assert settings["memory_locked"] == "yes"
    assert settings["idle_states"].startswith("off")
    assert settings["preempt"] != ""
    assert settings["sched_rt_runtime_us"] not in ("", "not available")
    assert settings["priorities_of_ranks_1_to_12"].split()[6:8] == ["90", "95"]


@REALTIME
@pytest.mark.parametrize("kind", ["pipe", "fifo", "message-queue"])
@pytest.mark.parametrize("size", [4, 3072])
def test_a_channel_of_the_study_is_measured_and_proved(run: Run, kind: str, size: int) -> None:
    said = run(f"itc/{kind} id=7 samples=50 period_us=1000 size_bytes={size}\nend\n")
    (end,) = said.ends
    assert (end.status, end.reason) == ("ok", "")
    assert said.begins[0].ranks == {"rank_a": 95, "rank_b": 90}
    assert len(said.values(7)) == 50
    assert end.proof.failed == 0 and end.proof.checked >= 100


@REALTIME
def test_the_round_trip_includes_the_reply(run: Run) -> None:
    """Send, switch, reply: the whole cannot be shorter than its part on the same machine."""
    # In turn: the machine's speed differs from one moment to the next.
    lines = [
        f"itc/pipe{part} id={i} samples=50 period_us=500\n"
        for i, part in enumerate(["", "-round-trip"] * 8)
    ]
    said = run("".join(lines))
    reply, whole = (
        np.concatenate([said.values(i) for i in range(first, 16, 2)]) for first in (0, 1)
    )
    assert len(reply) == len(whole) == 400
    with timing():
        assert reply.min() < whole.min()


@REALTIME
def test_missed_periods_are_counted_and_add_up(run: Run) -> None:
    """A general-purpose kernel cannot keep a period of 10 us."""
    said = run("cyclic/wakeup-latency id=1 samples=5000 period_us=10\nend\n")
    (end,) = said.ends
    assert len(end.lanes) == said.hello.cores
    for number, lane in enumerate(end.lanes):
        assert lane.taken + lane.missed == 5000
        assert len(said.values(1, number)) == lane.taken
        assert lane.overrun <= lane.taken
    assert sum(lane.missed for lane in end.lanes) > 0


@REALTIME
def test_wake_ups_are_never_early(run: Run) -> None:
    said = run("cyclic/wakeup-latency id=1 samples=300 period_us=1000\nend\n")
    assert said.ends[0].status == "ok"
    assert said.values(1).max() < 2**31  # an early one would have wrapped


def until_begun(process: subprocess.Popen[bytes]) -> bytes:
    """The stream up to the beginning of the first record."""
    assert process.stdout is not None
    decoder, said = Decoder(), b""
    while piece := os.read(process.stdout.fileno(), 65536):
        said += piece
        received = [one for one in decoder.feed(piece) if isinstance(one, Received)]
        if any(isinstance(one.message, Begin) for one in received):
            return said
    raise AssertionError("it ended before it began a record")


@REALTIME
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_on_a_stop_request_it_delivers_its_samples(program: Path, number: signal.Signals) -> None:
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"itc/pipe id=1 samples=100000 period_us=1000\nitc/pipe id=2 samples=9")
        process.stdin.flush()
        stream = until_begun(process)
        time.sleep(0.5)
        process.send_signal(number)
        stream += process.stdout.read()
        assert process.wait(10) == 0
    said = decode(stream)
    (end,) = said.ends  # the second line does not start
    assert said.done
    assert end.status == "ok" and "stopped on request" in end.reason
    (lane,) = end.lanes
    assert 0 < lane.taken < 100000  # a record that has begun measures once, whenever it is to end
    assert lane.missed == 0  # unrequested samples are not missed
    assert len(said.values(1)) == lane.taken


@REALTIME
def test_a_crash_is_reported_with_its_thread(run: Run) -> None:
    said = run("test/crash id=1 samples=1\nend\n")
    assert said.code == 1
    assert said.fault.kind == "exception"
    assert said.fault.message.startswith("SIGSEGV")
    assert said.fault.thread == "doomed"
    assert said.fault.registers["address_low"] == 0x10


def test_without_rights_it_ends_and_names_the_remedy(run: Run) -> None:
    said = run("itc/pipe id=1 samples=5\nend\n", **as_nobody())
    assert said.code == 1
    assert said.fault.kind == "denied"
    assert "cannot lock memory" in said.fault.message
    assert "--allow-no-realtime" in said.fault.message
    assert not said.ends


def test_without_rights_but_allowed_it_measures_with_a_warning(run: Run) -> None:
    said = run("itc/pipe id=1 samples=20 period_us=1000\nend\n", TOLERANT, **as_nobody())
    assert said.code == 0 and said.done
    assert said.ends[0].status == "ok"
    assert said.hello.settings["policy"] == "SCHED_OTHER"
    assert said.hello.settings["memory_locked"] == "no"
    assert said.hello.settings["idle_states"] == "as the system has them"
    for what in ("cannot lock memory", "SCHED_FIFO is denied", "/dev/cpu_dma_latency"):
        assert what in said.notes
    # An option that was passed is not advised.
    assert "measured all the same" in said.notes and "pass --allow" not in said.notes
    # Ranks without effect are not claimed.
    assert "priority-inheritance" not in said.hello.capabilities


@REALTIME
def test_idle_states_can_be_left_unchanged(run: Run) -> None:
    said = run("end\n", "--allow-idle-states")
    assert said.hello.settings["idle_states"] == "as the system has them"
    assert said.notes == ""


def test_a_queue_beyond_the_users_limit_fails_with_the_remedy(run: Run) -> None:
    said = run(
        "itc/message-queue id=1 samples=5\nitc/pipe id=2 samples=5 period_us=1000\nend\n",
        TOLERANT,
        **limit(resource.RLIMIT_MSGQUEUE, 0),
    )
    failed, measured = said.ends
    assert failed.status == "failed"
    assert "ulimit -q" in failed.reason
    assert measured.status == "ok"  # the other lines still run


def test_a_fifo_without_a_place_fails_with_the_remedy(run: Run) -> None:
    said = run("itc/fifo id=1 samples=5\nend\n", TOLERANT, env={"TMPDIR": "/nonexistent"})
    assert said.ends[0].status == "failed"
    assert "/nonexistent" in said.ends[0].reason and "Set TMPDIR" in said.ends[0].reason


def test_features_that_linux_lacks_are_n_a_never_zero(run: Run) -> None:
    said = run("itc/queue id=1 samples=5\nend\n", TOLERANT)
    assert said.ends[0].status == "n/a"
    assert said.values(1).size == 0


def test_a_missing_cpu_fails(run: Run) -> None:
    said = run("itc/pipe id=1 samples=5 core_a=200\nend\n", TOLERANT)
    assert said.ends[0].status == ("failed" if said.hello.cores > 1 else "n/a")
    assert "core" in said.ends[0].reason


def test_an_unterminated_plan_ends(run: Run) -> None:
    assert run("# nothing to do", TOLERANT).done


def test_frames_do_not_go_to_a_terminal(program: Path) -> None:
    leader, follower = pty.openpty()
    answer = subprocess.run(
        [program],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.PIPE,
        timeout=10,
        check=False,
    )
    os.close(leader)
    os.close(follower)
    assert answer.returncode == 2
    assert b"redirect" in answer.stderr


def test_an_unknown_option_is_a_usage_error(program: Path) -> None:
    answer = subprocess.run([program, "--alow"], capture_output=True, check=False, timeout=10)
    assert answer.returncode == 2
    assert b"--allow-no-realtime" in answer.stderr
