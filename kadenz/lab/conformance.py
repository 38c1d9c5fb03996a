# SPDX-License-Identifier: Apache-2.0
"""The conformance test of a port, run on its image case by case; its answer is kept next to it."""

from __future__ import annotations

import dataclasses
import shlex
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kadenz.config import inventory
from kadenz.config.board_link import DEFAULT, BoardLink
from kadenz.config.manifest import Warning as Stamp
from kadenz.config.target_name import TargetName, own_image, own_source
from kadenz.errors import Interrupted, KadenzError, TargetFailed, UsageError, WireDamaged
from kadenz.images.image import Image
from kadenz.json_text import read_json
from kadenz.lab.boot import Execution, run_plan
from kadenz.lab.catalog import keep_answer
from kadenz.lab.condition import Condition, Setup
from kadenz.lab.conditions.guest import Guest
from kadenz.lab.counter import check_counter, identity
from kadenz.lab.execution import (
    ASKING,
    asked_by,
    check_board,
    check_link,
    check_tools,
    default_setup,
    image_of,
    make_target,
)
from kadenz.lab.guests import BOOT_S
from kadenz.lab.hello import check_hello
from kadenz.targets.base import Target
from kadenz.wire.messages import Conform, Hello
from kadenz.wire.records import Assembler, NoRecords

PLAN = "conformance\nend\n"
_FILE = "conformance.json"
_SILENCE_S = 30.0
_DECIDED_BY_FILES = ("emulated", "guest", "rtl")


class _Kept(msgspec.Struct, frozen=True):
    """An answer beside the image; `of` identifies image and emulator."""

    of: str
    cases: tuple[Conform, ...]
    failure: str  # why the test did not finish, else ""


@dataclass(frozen=True)
class Conformance:
    """The answer of one target. `failure` says why the test did not finish, else None."""

    target: str
    hello: Hello | None
    cases: tuple[Conform, ...]
    failure: KadenzError | None
    conditions: tuple[str, ...] = ()  # of the image: "rv32ima"

    def count(self, result: str) -> int:
        """How many cases ended as "pass", "fail" or "n/a"."""
        return sum(case.result == result for case in self.cases)

    @property
    def conforms(self) -> bool:
        """True if the test finished, no case failed and at least one passed."""
        return self.failure is None and not self.count("fail") and self.count("pass") > 0


def _refuse_application(name: TargetName) -> None:
    """UsageError for a target whose image is not the suite: it calls no kernel through a port."""
    crate = inventory.board(name.board).tier.crate(name.tier)
    if crate:
        raise UsageError(
            f"{name} is the program {crate}, not the suite on a kernel: it has no conformance test",
            remedy="Name a target of a kernel port, for example posix/linux@host",
        )


def conformance(
    name: TargetName,
    *,
    conditions: Sequence[Condition] = (),
    extra: Sequence[Path] = (),
    link: BoardLink = DEFAULT,
    silence_s: float = _SILENCE_S,
    stop: threading.Event | None = None,
) -> Conformance:
    """Builds the image of `name` and runs its conformance test.

    `conditions` change or name its image, `extra` are benchmarks built in. Raises the errors of a
    build, and UsageError for an image of another board; a failure on the target is part of the
    answer.
    """
    _refuse_application(name)
    check_tools(name)
    check_link([name], link)
    check_board(name, link)
    setup = default_setup(name)
    setup.link = link.over(setup.link)
    for condition in conditions:
        condition.set_up(setup, name)
    instrument = asked_by(name)
    image = image_of(name, instrument, setup, extra)
    stop = stop or threading.Event()
    answer = _ask_image(name, image, setup, silence_s, stop)
    if answer.hello is not None:
        check_hello(name, image, answer.hello, instrument)
    if not stop.is_set():
        _keep(name, image, setup, answer)
    labels = tuple(label for condition in conditions for label in condition.labels)
    answer = dataclasses.replace(answer, conditions=labels)
    counts = instrument == "counter" and name.tier in ("emulated", "guest")
    if answer.failure is not None or not counts:
        return answer
    try:
        counter = _counter(name, image, setup.guest, stop)
    except Interrupted as failure:
        return dataclasses.replace(answer, failure=failure)
    return dataclasses.replace(answer, cases=(*answer.cases, counter))


def _ask_image(
    name: TargetName, image: Image, setup: Setup, silence_s: float, stop: threading.Event
) -> Conformance:
    return ask(
        lambda: make_target(name, "counter", image, setup),
        str(name),
        silence_s=silence_s + (BOOT_S if setup.guest is not None else 0.0),
        stop=stop,
        symbol_at=image.elf.symbol_at,
    )


def _keep(name: TargetName, image: Image, setup: Setup, answer: Conformance) -> _Kept:
    """Keeps the answer of an image beside it."""
    failure = answer.failure.message if answer.failure is not None else ""
    kept = _Kept(_identity(name, image, setup), answer.cases, failure)
    keep_answer(image, _FILE, kept)
    return kept


def _identity(name: TargetName, image: Image, setup: Setup) -> str:
    return identity(image, make_target(name, "counter", image, setup).emulator(), PLAN)


def _kept(name: TargetName, image: Image, setup: Setup) -> _Kept | None:
    """The last answer of this image; None if it was never asked."""
    try:
        kept = read_json((image.folder / _FILE).read_bytes(), _Kept)
    except (OSError, msgspec.DecodeError):
        return None
    return kept if kept.of == _identity(name, image, setup) else None


# ---- before a measurement ------------------------------------------------------------------------
def port_warnings(
    name: TargetName, image: Image, setup: Setup, stop: threading.Event
) -> list[Stamp]:
    """A warning if the port in an image fails the conformance test, else none.

    Where files alone decide the answer, a port that is not kadenz's own, or has a kernel that is
    not, is tested now unless it was before. Elsewhere the last `kadenz conformance` counts. Raises
    Interrupted if `stop` was set before the answer.
    """
    setup = dataclasses.replace(setup, allowed=ASKING, profiled=False, traced=False)
    if setup.guest is not None:
        setup = dataclasses.replace(setup, guest=setup.guest.bare())
    kept = _kept(name, image, setup)
    if kept is None and name.tier in _DECIDED_BY_FILES and not _is_own(name, setup):
        answer = _ask_image(name, image, setup, _SILENCE_S, stop)
        if stop.is_set():
            raise Interrupted(
                f"stopped while the port of {name} was tested: nothing was measured",
                remedy="Run it again",
            )
        kept = _keep(name, image, setup, answer)
    failed = [case for case in kept.cases if case.result == "fail"] if kept is not None else []
    if kept is None or not failed:
        return []
    more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
    return [
        Stamp(
            code="conformance-failed",
            message=f"the port fails the conformance case `{failed[0].case}`{more}: "
            f"{failed[0].reason}",
            remedy=f"See `{_command(name, setup)}`, and correct the port: until then its figures "
            "are not comparable",
        )
    ]


def _is_own(name: TargetName, setup: Setup) -> bool:
    """Whether `make test` of kadenz tests this port with this kernel."""
    given = setup.image is not None or setup.kernel_source is not None
    return not given and inventory.origin_of_both(name.kernel, name.board) == "kadenz"


def _command(name: TargetName, setup: Setup) -> str:
    """The command that shows every case."""
    command = ["kadenz", "conformance", str(name)]
    if setup.image != own_image(name):
        command += ["--image", str(setup.image)]
    if setup.kernel_source != own_source(name):
        command += ["--kernel-source", str(setup.kernel_source or "pinned")]
    command += ["--isa", setup.isa] if setup.isa else []
    return shlex.join(command)


def _counter(name: TargetName, image: Image, guest: Guest | None, stop: threading.Event) -> Conform:
    """The case that the lab adds for an emulated target: its counter counts instructions."""
    case = "the counter counts instructions"
    try:
        check_counter(name, "counter", image, guest, stop)
    except TargetFailed as failure:
        return Conform(case=case, result="fail", reason=failure.message)
    return Conform(case=case, result="pass", reason="")


def ask(
    make: Callable[[], Target],
    name: str,
    *,
    silence_s: float,
    stop: threading.Event,
    symbol_at: Callable[[int], str] = lambda address: "",
) -> Conformance:
    """Runs the plan `conformance` once on a fresh execution.

    A case that the target did not end is the last of the answer, and has failed.
    """
    assembler = Assembler(NoRecords())
    execution = Execution(make(), name, PLAN, lambda: silence_s, symbol_at)
    outcome = run_plan(execution, assembler, stop)
    failure: KadenzError | None = outcome.failure
    damage = [finding.message for finding in assembler.findings if finding.lost]
    if failure is None and outcome.stopped:
        failure = TargetFailed(f"{name}: stopped before the end", remedy="Run it again")
    elif failure is None and damage:
        failure = WireDamaged(
            f"{name}: the answer arrived damaged: {damage[0]}",
            remedy="Run it again; if the error persists, check the line",
        )
    elif failure is None and not assembler.conforms:
        failure = TargetFailed(
            f"{name} has no conformance test",
            remedy="Only images of the suite have one: `kadenz list` shows the targets",
        )
    cases = assembler.conforms
    if outcome.failure is not None and assembler.case:
        reason = "the target did not end it"
        cases = [*cases, Conform(case=assembler.case, result="fail", reason=reason)]
    return Conformance(name, assembler.hello, tuple(cases), failure)
