# SPDX-License-Identifier: Apache-2.0
"""The conformance test must be able to fail: it finds the defects of a defective port."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.elf import Elf
from kadenz.images.image import locked
from kadenz.lab.boot import Execution, run_plan
from kadenz.targets.qemu import QemuTarget
from kadenz.wire.messages import Conform
from kadenz.wire.records import Assembler, NoRecords
from tests.forked import kadenz
from tests.rtos.images import TARGETS, boot, build
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.counted

BOARD = "stm32f4"
PLAN = "conformance\nend\n"


def mutant(name: str, *wrapped: str, **values: int) -> Path:
    """The folder of an image whose port has the defects of tests/rtos/targets/NAME.c.

    `values` are of symbols that the file reads.
    """
    flags = [f"-Wl,--wrap={each}" for each in wrapped]
    flags += [f"-Wl,--defsym={symbol}={value:d}" for symbol, value in values.items()]
    return build(
        BOARD,
        "-".join([name, *(f"{value:d}" for value in values.values())]),
        options=(
            ("KDZ_EXTRA_BENCH", str(TARGETS / f"{name}.c")),
            ("CMAKE_EXE_LINKER_FLAGS", " ".join(flags)),
        ),
    )


def test_a_defective_port_fails_exactly_the_cases_of_its_defects() -> None:
    folder = mutant("mutant", "kdz_mutex_create", "kdz_delay_until", "kdz_mechanism_at")
    cases = boot(folder, BOARD, PLAN).all(Conform)
    failed = {case.case: case.reason for case in cases if case.result == "fail"}
    assert set(failed) == {
        "a waiter lends its rank to the owner",
        "a missed moment is reported",
        "message-buffer carries items in their order",
        "message-buffer is sent from an interrupt",
    }
    assert all(failed.values())


# ---- a case that never ends ----------------------------------------------------------------------
RESUMES = "suspend holds until resume"  # the first case that calls kdz_thread_resume


def test_a_case_that_hangs_is_named() -> None:
    tier = inventory.board(BOARD).tier.emulated
    assert tier is not None
    folder = mutant("hang_at_resume", "kdz_thread_resume")
    assembler = Assembler(NoRecords())
    target = QemuTarget(tier, Elf(folder / "kadenz-suite.elf"))

    def patience_s() -> float:
        return 1.0 if assembler.case == RESUMES else PATIENCE_S

    outcome = run_plan(Execution(target, "it", PLAN, patience_s), assembler, threading.Event())
    assert outcome.failure is not None
    assert outcome.failure.message.startswith(f"it hangs in the conformance case `{RESUMES}`: ")
    assert "__wrap_kdz_thread_resume" in outcome.failure.detail


def test_a_case_that_faults_is_named_with_exit_code_1() -> None:
    folder = mutant("fault_at_resume", "kdz_thread_resume")
    image = str(folder / "kadenz-suite.elf")
    answer = kadenz("conformance", f"{BOARD}@emulated", "--image", image)
    assert answer.returncode == 1
    assert f"died in the conformance case `{RESUMES}`: exception" in answer.stderr
    lines = [line.strip() for line in answer.stdout.splitlines()]
    assert lines[lines.index(f"fail  {RESUMES}") + 1] == "the target did not end it"
    assert lines[-1].endswith("; the target did not finish")


# ---- a queue whose send cannot wait --------------------------------------------------------------
ORDER = "queue carries items in their order"
ROOM = "queue lets a send wait for room"
REFUSED = "queue refuses a send at once when full"


def with_queue(*, refuses: bool, admits: bool) -> Path:
    """An image whose queue refuses an item when it is full; whether its limits admit that."""
    wrapped = ("kdz_mechanism", "kdz_mechanism_at")
    return mutant("queue_that_refuses", *wrapped, kdz_refuses=refuses, kdz_admits=admits)


@pytest.mark.parametrize(
    ("refuses", "admits", "failed"),
    [
        (False, False, set()),
        (True, True, set()),
        (True, False, {ORDER, ROOM}),
        (False, True, {REFUSED}),
    ],
    ids=[
        "waits",
        "refuses and says so",
        "refuses and does not say so",
        "waits and says it refuses",
    ],
)
def test_a_queue_does_what_its_limits_say(refuses: bool, admits: bool, failed: set[str]) -> None:
    said = boot(with_queue(refuses=refuses, admits=admits), BOARD, PLAN)
    cases = {case.case: case for case in said.all(Conform)}
    assert {name for name, case in cases.items() if case.result == "fail"} == failed
    if admits:
        assert (cases[ROOM].result, cases[ROOM].reason.count(".")) == ("n/a", 0)
        assert "never waits" in cases[ROOM].reason
    else:
        assert REFUSED not in cases
    for name in failed:
        assert "limits" in cases[name].reason, cases[name]


def test_a_queue_whose_send_cannot_wait_is_measured_and_the_run_says_so(tmp_path: Path) -> None:
    image = str(with_queue(refuses=True, admits=True) / "kadenz-suite.elf")
    plain = str(build(BOARD) / "kadenz-suite.elf")
    settings = []
    for name, file in (("refuses", image), ("waits", plain)):
        command = ["run", "itc/queue", "--set", "samples=50", "--target", f"{BOARD}@emulated"]
        answer = kadenz(*command, "--image", file, "--output", tmp_path / name)
        assert answer.returncode == 0, answer.stderr
        (run,) = find_runs([tmp_path / name])
        assert {record.status for record in run.manifest.records} == {"ok"}
        settings.append(run.manifest.target.settings)
    assert settings[0] == {**settings[1], "queue_send": "never waits"}
    told = kadenz("compare", tmp_path / "waits", tmp_path / "refuses")
    assert "queue_send" in told.stdout


# ---- time slices ---------------------------------------------------------------------------------
EQUALS = "a thread runs until it waits or yields"
SLICED = "sliced/stm32f4@emulated"
SENTENCE = "this FreeRTOS gives time slices"
# A tick between their samples makes them invalid.
OF_EQUALS = ("micro/task-switch", "micro/semaphore-shuffle", "thread-metric/cooperative")


@pytest.fixture
def sliced(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The port of a lab: FreeRTOS as its own configuration has it, with time slices.

    The check at compile time is out, so that the case is what finds them.

    Always at the same path, so that it is compiled once.
    """
    lab = inventory.root() / "build" / "tests" / "sliced-lab"
    port = lab / "kernels" / "sliced"
    with locked(lab):
        for file in sorted(inventory.kernel_folder("freertos").rglob("*")):
            if file.is_file():
                text = file.read_text().replace("TIME_SLICING 0\n", "TIME_SLICING 1\n")
                text = text.replace("configUSE_TIME_SLICING == 0", "configUSE_TIME_SLICING == 1")
                write_changed(port / file.relative_to(inventory.kernel_folder("freertos")), text)
        write_changed(lab / "kadenz.toml", "")
        monkeypatch.chdir(lab)
        yield port


def write_changed(file: Path, text: str) -> None:
    """An unchanged file is not compiled again."""
    if not file.is_file() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_a_port_with_time_slices_fails(sliced: Path) -> None:
    answer = kadenz("conformance", SLICED, "--json")
    assert answer.returncode == 1
    (report,) = json.loads(answer.stdout)
    failed = {case["case"]: case["reason"] for case in report["cases"] if case["result"] == "fail"}
    assert set(failed) == {EQUALS}
    assert "time slices" in failed[EQUALS]


def test_a_port_that_says_that_it_slices_time_is_not_failed_for_it(
    sliced: Path, tmp_path: Path
) -> None:
    toml = sliced / "kernel.toml"
    says = f'[lacks]\n"policy-fifo" = "{SENTENCE}"\n'
    toml.write_text(toml.read_text().replace("[lacks]\n", says))
    answer = kadenz("conformance", SLICED, "--json")
    assert answer.returncode == 0, answer.stdout
    (report,) = json.loads(answer.stdout)
    (case,) = [case for case in report["cases"] if case["case"] == EQUALS]
    assert (case["result"], case["reason"]) == ("n/a", SENTENCE)

    command = ["run", *OF_EQUALS, "--set", "samples=2", "--target", SLICED]
    answer = kadenz(*command, "--output", tmp_path / "run")
    assert answer.returncode == 0, answer.stderr
    (run,) = find_runs([tmp_path / "run"])
    told = {r.bench: (r.status, r.reason) for r in run.manifest.records}
    assert {told[bench] for bench in OF_EQUALS} == {("n/a", SENTENCE)}
    assert "conformance-failed" not in {warning.code for warning in run.manifest.warnings}


# ---- a run of a port that fails ------------------------------------------------------------------
def test_a_run_warns_of_a_port_that_fails(sliced: Path, tmp_path: Path) -> None:
    command = ["run", "itc/queue", "--set", "samples=20", "--target", SLICED]
    answer = kadenz(*command, "--output", tmp_path / "run")
    assert answer.returncode == 0, answer.stderr
    (run,) = find_runs([tmp_path / "run"])
    warnings = run.manifest.warnings
    (warning,) = [entry for entry in warnings if entry.code == "conformance-failed"]
    assert f"`{EQUALS}`" in warning.message and f"`kadenz conformance {SLICED}`" in warning.remedy
    for text in (answer.stdout, kadenz("show", run.path).stdout):
        assert f"the port fails the conformance case `{EQUALS}`" in " ".join(text.split())
