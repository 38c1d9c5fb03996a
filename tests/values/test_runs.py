# SPDX-License-Identifier: Apache-2.0
"""`kadenz run` with a store of its own: executions that it takes from there, and its words."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.errors import TargetFailed
from kadenz.store import Run, read_run
from kadenz.targets import counted
from kadenz.values import keeper as keepers
from kadenz.values.program import Program
from kadenz.values.store import Store
from tests.rtos.test_planted_change import planted_tree

STM32F4 = "freertos/stm32f4@emulated"
HIFIVE1 = "freertos/hifive1-revb@emulated"
WORK = ("run", "itc/mutex", "--set", "samples=40")

pytestmark = pytest.mark.counted


class Lab:
    """Calls of kadenz in one folder, and how many processes of targets each has started."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.runs, self.started = folder, folder / "runs", 0
        monkeypatch.setenv("KADENZ_STORE", str(folder / "store"))
        monkeypatch.setattr(keepers, "is_checked", lambda key, day: False)
        real = counted._started

        def start(really: Program, how: counted.Start) -> counted.Process:
            self.started += 1
            return real(really, how)

        monkeypatch.setattr(counted, "_started", start)

    @property
    def store(self) -> Store:
        return Store(self.folder / "store")

    def call(self, *arguments: str) -> Result:
        self.started = 0
        return CliRunner().invoke(cli, [*arguments], standalone_mode=False)

    def run(self, *options: str) -> dict[str, Run]:
        """The runs of a call that has to succeed, by target and kernel tree."""
        before = {*self.runs.glob("*")}
        answer = self.call(*WORK, *options, "--output", str(self.runs))
        assert answer.exception is None and answer.return_value == 0, answer.output
        self.output = answer.output
        new = [read_run(path) for path in sorted({*self.runs.glob("*")} - before)]
        return {name(run): run for run in new}


def name(run: Run) -> str:
    tree = "tree" in (run.manifest.build.kernel_source if run.manifest.build else "")
    return f"{run.manifest.target.name}{' tree' if tree else ''}"


def stored(run: Run) -> set[bool]:
    values = [record.value for record in run.manifest.records]
    return {value is not None and value.stored for value in values}


def samples(run: Run) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (run.path / "samples").iterdir()}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(tmp_path, monkeypatch)


def test_a_campaign_of_which_one_kernel_changed_executes_that_kernel_alone(lab: Lab) -> None:
    both = ("--target", STM32F4, "--target", HIFIVE1)
    first = lab.run(*both)
    assert {name: stored(run) for name, run in first.items()} == {
        STM32F4: {False},
        HIFIVE1: {False},
    }
    trees = ("--kernel-source", "pinned", "--kernel-source", str(planted_tree()))
    lab.run("--target", STM32F4, *trees)
    again = lab.run(*both)
    assert lab.started == 0
    assert {name: stored(run) for name, run in again.items()} == {STM32F4: {True}, HIFIVE1: {True}}
    assert {name: samples(run) for name, run in again.items()} == {
        name: samples(run) for name, run in first.items()
    }


def test_a_changed_kernel_is_executed_and_the_pinned_one_taken(lab: Lab) -> None:
    lab.run("--target", STM32F4)
    tree = planted_tree()
    runs = lab.run("--target", STM32F4, "--kernel-source", "pinned", "--kernel-source", str(tree))
    assert sorted(next(iter(stored(run))) for run in runs.values()) == [False, True]


def test_each_record_says_that_it_is_from_the_store_and_of_when(lab: Lab) -> None:
    (first,) = lab.run("--target", STM32F4).values()
    assert "from the store" not in lab.output
    (again,) = lab.run("--target", STM32F4).values()
    value, before = again.manifest.records[-1].value, first.manifest.records[-1].value
    assert value is not None and before is not None
    assert (value.key, value.measured) == (before.key, before.measured)
    assert again.manifest.records[-1].duration_s is None
    count = len(again.manifest.records)
    said = f"from the store, measured {value.day}"
    assert lab.output.count(f"ok, {said}") == count
    line = f"{count} of {count} records {said}"
    assert line in lab.output and "--fresh" in lab.output
    assert line in lab.call("show", str(again.path)).output
    (shown,) = json.loads(lab.call("show", "--json", str(again.path)).output)["runs"]
    assert {row["from_store"] for row in shown["records"]} == {value.measured}
    page = lab.folder / "page.html"
    assert lab.call("report", str(again.path), "--output", str(page)).exception is None
    assert line in page.read_text()


def test_fresh_executes_everything_and_resume_keeps_it(lab: Lab) -> None:
    lab.run("--target", STM32F4)
    (run,) = lab.run("--target", STM32F4, "--fresh").values()
    assert lab.started == 1 and stored(run) == {False}
    assert run.manifest.call is not None and "--fresh" in run.manifest.call.arguments


def test_with_the_store_off_everything_is_executed_and_says_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KADENZ_STORE", "off")
    for _ in range(2):
        (run,) = lab.run("--target", STM32F4).values()
        assert {record.value for record in run.manifest.records} == {None}
        assert lab.started >= 1 and "the store" not in lab.output


def test_the_profile_of_a_value_is_that_of_its_execution(lab: Lab) -> None:
    arguments = ("profile", "itc/mutex", "--target", STM32F4, "--set", "samples=5", "--json")

    def profile(*more: str) -> Mapping[str, Any]:
        answer = lab.call(*arguments, *more, "--output", str(lab.runs))
        assert answer.exception is None and answer.return_value == 0, answer.output
        text = answer.stdout
        (document,) = json.loads(text[text.index("[") :])
        return dict(document)

    first = profile()
    assert lab.started >= 1
    assert profile() == first and lab.started == 0
    assert profile("--fresh") == first and lab.started >= 1


def changed(kept: Path) -> Callable[[Any, Any, Path], Path]:
    """An entry of an emulator that is not deterministic: with another last byte."""
    real = Store.put

    def put(store: Store, head: Any, folder: Path, *, differing: bool = False) -> Path:
        if not differing:
            with (folder / "words").open("ab") as file:
                file.write(b"!")
            head = type(head)(
                **{
                    **{name: getattr(head, name) for name in head.__struct_fields__},
                    "files": [(n, s + (n == "words")) for n, s in head.files],
                }
            )
        return real(store, head, folder, differing=differing)

    return put


def test_a_spot_check_that_differs_is_exit_code_1_and_both_executions_are_kept(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as once:
        once.setattr(Store, "put", changed(lab.folder))
        lab.run("--target", STM32F4)
    before = {file: file.read_bytes() for file in lab.store.entries()}
    monkeypatch.setattr(keepers, "is_checked", lambda key, day: True)
    answer = lab.call(*WORK, "--target", STM32F4, "--output", str(lab.runs))
    assert answer.return_value == 1, answer.output
    assert "two executions with the same inputs differ in `words`" in answer.output
    assert "kadenz cache verify" in answer.output
    assert {file: file.read_bytes() for file in lab.store.entries()} == before
    run = read_run(max(lab.runs.iterdir()))
    assert any("differ in `words`" in warning.message for warning in run.manifest.warnings)
    verify = lab.call("cache", "verify")
    assert verify.return_value == 1 and verify.output.count("differs: ") == 1
    assert lab.call("cache", "verify", "--mend").return_value == 0
    assert lab.call("cache", "verify").return_value == 0


def test_a_difference_while_a_target_is_asked_for_its_benchmarks_is_an_error(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kadenz.config.target_name import parse_target
    from kadenz.lab.catalog import ask
    from kadenz.lab.execution import default_setup, image_of, make_target

    target = parse_target(STM32F4)
    setup = default_setup(target)
    image = image_of(target, "counter", setup)

    def asked() -> None:
        asking = make_target(target, "counter", image, setup)
        ask(asking, STM32F4, image, silence_s=600.0, stop=threading.Event())

    with monkeypatch.context() as once:
        once.setattr(Store, "put", changed(lab.folder))
        asked()
    monkeypatch.setattr(keepers, "is_checked", lambda key, day: True)
    with pytest.raises(TargetFailed, match="differ in `words`"):
        asked()
