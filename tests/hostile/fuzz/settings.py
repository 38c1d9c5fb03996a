# SPDX-License-Identifier: Apache-2.0
"""What users write: TOML of every kind, task sets, published figures, words of commands."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from kadenz.analysis.budget import budget_of, workload_points
from kadenz.analysis.deadlines import parse_deadline
from kadenz.analysis.limits import parse_limit
from kadenz.analysis.published import load
from kadenz.analysis.sensitivity import changes_of
from kadenz.capture.sample_rate import parse_rate
from kadenz.cli.figures import share, statistic
from kadenz.cli.run_request import point_of
from kadenz.config import inventory
from kadenz.config.board import Board
from kadenz.config.campaign import Campaign
from kadenz.config.debug_server import DebugServer
from kadenz.config.farm import read_farm
from kadenz.config.kernel import Kernel
from kadenz.config.lab_file import LabFile
from kadenz.config.processors import asked_cpus
from kadenz.config.quantity import parse_points, parse_quantity
from kadenz.config.target_name import known_targets, parse_target, problems
from kadenz.config.task_set import TaskSet
from kadenz.config.toml import read_toml
from kadenz.errors import UsageError
from kadenz.lab.conditions import kinds
from kadenz.load.definitions import LoadFile
from kadenz.report.budget import as_data, markdown, sentences
from kadenz.store import Run
from kadenz.targets.board.usb import parse_probe
from kadenz.targets.rtl_core import CoreFile
from kadenz.targets.timing_model import ModelFile
from tests.analysis.test_budget import RESOURCE, SET, overhead_points, run_of
from tests.cli.test_budget import TIGHT
from tests.hostile.fuzz.mutating import Files
from tests.hostile.fuzz.trying import Parser

ROOT = Path(__file__).resolve().parents[3]
FILE = "x.toml"

LAB = """\
title = "a lab"
[defaults]
output = "runs"
rounds = 3
archive = "s3://bucket/archive"
[target.mine]
kernel = "freertos"
board = "own"
tier = "board"
port = "/dev/ttyUSB0"
deadline = "100us"
[target.theirs]
board = "stm32f4"
tier = "emulated"
kernel = "freertos"
[target.theirs.conditions]
isa = "rv32imac"
[mechanisms]
channel = ["my-queue"]
lock = ["my-lock"]
"""
FARM = """\
title = "rack 1"
[dask]
scheduler = "tls://rack:8786"
keys = "keys"
retries = 2
patience_s = 60.0
[labgrid]
coordinator = "rack:20408"
wait_s = 1.5
"""
CAMPAIGN = """\
name = "sweep"
title = "a sweep"
targets = ["freertos/stm32f4@emulated", "posix/linux@host"]
[[benchmark]]
name = "itc/queue"
samples = 10
deadline = "100us"
[benchmark.params]
size_bytes = [4, 60, 600]
"""


def inputs_of(pattern: str, *more: str) -> Sequence[Files]:
    """Files of the checkout, and texts."""
    files = [{FILE: file.read_bytes()} for file in sorted(ROOT.glob(pattern))] if pattern else []
    return files + [{FILE: text.encode()} for text in more]


def toml(inputs: int, model: type, pattern: str, *more: str) -> Parser:
    """Files of a kind."""
    return Parser(
        lambda: inputs_of(pattern, *more), lambda given, _: read_toml(given / FILE, model), inputs
    )


# ---- a lab ---------------------------------------------------------------------------------------
@cache
def _labs() -> Sequence[Files]:
    files = {
        "kadenz.toml": LAB.encode(),
        "boards/own/board.toml": b'kernels = ["freertos", "mine"]\n'
        + (ROOT / "boards/stm32f4/board.toml").read_bytes(),
        "kernels/mine/kernel.toml": (ROOT / "kernels/freertos/kernel.toml").read_bytes(),
        "campaigns/c.toml": CAMPAIGN.encode(),
        "tunings/t.toml": (ROOT / "tunings/latency.toml").read_bytes(),
        "servers/s.toml": next(iter(sorted((ROOT / "servers").glob("*.toml")))).read_bytes(),
    }
    return [files]


def _read_lab(given: Path, _: Path) -> None:
    """What `list` and `doctor` read of a lab."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KADENZ_LAB", str(given))
        known = known_targets()
        inventory.campaigns()
        inventory.debug_servers()
        assert all(error.message for error in (*inventory.problems(), *problems()))
        for text in ("mine", "theirs", "freertos/own@board"):
            parse_target(text, known)


# ---- task sets -----------------------------------------------------------------------------------
_GIVEN = SET.replace("[[task]]", '[overheads]\ntick = "40 instructions"\njitter = "0"\n[[task]]', 1)
_RANKED = 'priorities = "given"\nlocks = "ceiling"\n' + SET.replace(
    'period = "4', 'priority = 3\nperiod = "4'
).replace('period = "10', 'priority = -1\nperiod = "10')


@cache
def _overheads() -> tuple[Run, ...]:
    folder = Path(tempfile.mkdtemp(prefix="kadenz-fuzz-"))
    return (run_of(folder, overhead_points()),)


def _task_sets() -> Sequence[Files]:
    return inputs_of("", SET, TIGHT, SET + RESOURCE, _GIVEN, _RANKED)


def _budget(given: Path, _: Path) -> None:
    """What `kadenz budget` does."""
    asked = read_toml(given / FILE, TaskSet)
    runs = _overheads()
    budget = budget_of(asked, runs)
    changes = changes_of(budget)
    assert markdown(budget, changes) and as_data(budget, changes)
    assert sentences(budget, changes)
    workload_points(budget)


# ---- published figures ---------------------------------------------------------------------------
@cache
def _published() -> Sequence[Files]:
    names = ("published/published.csv", "published/systems.csv")
    whole = {name: (ROOT / name).read_bytes() for name in names}
    first = whole[names[0]].splitlines(keepends=True)
    return [whole | {names[0]: b"".join(first[:1] + first[at : at + 20])} for at in (1, 90)]


def _read_published(given: Path, _: Path) -> None:
    for figure in load([given]):
        assert figure.our_params is not None


# ---- words of commands ---------------------------------------------------------------------------
def _some(value: object) -> None:
    if not value:
        raise UsageError("it is none")


KEY_VALUES = {
    "load": ("cpu+disk,workers=2,cpus=0,2-3,scratch=.", '"a,b",workers=1'),
    "tuning": ("isolated,cpus=2-3", "./a=b.toml"),
    "guest": ("kernel=6.12,6.1,load=none,cpu+timers", "tuning=none,disturbance=50us/1001us"),
    "bus": ("interface=eth1,layout=a=b.toml", 'layout="a,""b""",interface=lo'),
    "wait_states": ("rom=0,1,4,ram=2",),
}
ARGUMENTS: dict[str, tuple[Callable[[str], object], Sequence[str]]] = {
    "limit": (
        parse_limit,
        (
            *("cyclic/wakeup-latency p99.9 < 100us", "cyclic/* threads=2 max <= 1.5ms"),
            *("cyclic/* misses < 0.1%", "itc/queue size_bytes=60 mean < 900 instructions"),
        ),
    ),
    "deadline": (parse_deadline, ("100us", "cyclic/wakeup-latency period_us=1000=100us")),
    "quantity": (lambda text: parse_quantity(text, "--x"), ("100us", "1.5e3 kernel ticks")),
    "points": (lambda text: parse_points(text, "--x"), ("cyclic/* period_us=1000 threads=-2",)),
    "target": (parse_target, ("freertos/stm32f4@emulated", "stm32f4@board", "posix/linux@host")),
    "setting": (lambda text: point_of([text]), ("size_bytes=60", "policy=deadline", "cold=0x10")),
    "share": (lambda text: share("--threshold", text), ("5%", "5", "0.05%")),
    "statistic": (statistic, ("p99.9", "median", "max")),
    "rate": (lambda text: _some(parse_rate(text)), ("24 MHz", "24000000", "1.5M")),
    "processors": (lambda text: asked_cpus("--cpus", text), ("0-2,6", "1")),
    **{
        option.key: (option.notation.parse, texts)
        for kind in kinds()
        for option in kind.options
        for texts in (KEY_VALUES.get(option.key, ()),)
        if option.notation is not None
    },
    "probe": (parse_probe, ("0483:374b:066EFF505251", "0669FF303435")),
}


def _arguments() -> Sequence[Files]:
    return [{name: text.encode()} for name, (_, texts) in ARGUMENTS.items() for text in texts]


def _read_argument(given: Path, _: Path) -> None:
    for file in given.iterdir():
        text = os.fsdecode(file.read_bytes().replace(b"\0", b""))  # no argument has a NUL
        ARGUMENTS[file.name][0](text)


PARSERS = {
    "toml/board": toml(40_000, Board, "boards/*/board.toml"),
    "toml/kernel": toml(40_000, Kernel, "kernels/*/kernel.toml"),
    "toml/campaign": toml(40_000, Campaign, "campaigns/*.toml", CAMPAIGN),
    "toml/server": toml(30_000, DebugServer, "servers/*.toml"),
    "toml/lab": toml(40_000, LabFile, "", LAB),
    "toml/model": toml(20_000, ModelFile, "instruments/models/*/model.toml"),
    "toml/core": toml(20_000, CoreFile, "instruments/rtl/cores/*/core.toml"),
    "toml/loads": toml(10_000, LoadFile, "kadenz/load/loads.toml"),
    "toml/tuning": Parser(
        lambda: inputs_of("tunings/*.toml"),
        lambda given, _: inventory.read_tuning(str(given / FILE)),
        40_000,
    ),
    "toml/farm": Parser(
        lambda: inputs_of("", FARM), lambda given, _: read_farm(given / FILE), 30_000
    ),
    "lab": Parser(_labs, _read_lab, 2_000),
    "budget": Parser(_task_sets, _budget, 4_000),
    "published": Parser(_published, _read_published, 30_000),
    "words": Parser(_arguments, _read_argument, 76_000),
}
