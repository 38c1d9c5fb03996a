# SPDX-License-Identifier: Apache-2.0
"""A lab, from `kadenz init` to a run: targets, conditions, deadlines, benchmarks, defaults."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.errors import ConfigError, KadenzError
from kadenz.lab.reference import described

MINE = '[target.mine]\nkernel = "{kernel}"\nboard = "{board}"\ntier = "{tier}"\n'
STM32 = MINE.format(kernel="freertos", board="stm32f4", tier="emulated")
LINUX = MINE.format(kernel="posix", board="linux", tier="host")


def kadenz(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab that shares the checkout's images."""
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "kadenz.toml").write_text("")
    (folder / "build").symlink_to(inventory.build_folder())
    monkeypatch.chdir(folder)
    return folder


def test_init_writes_a_lab_that_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "new"
    answer = kadenz("init", str(folder))
    assert answer.exception is None, answer.output
    assert "kadenz run first --quick" in answer.output
    monkeypatch.chdir(folder)
    assert "mine" in [
        target["name"] for target in json.loads(kadenz("list", "--json").output)["targets"]
    ]
    answer = kadenz("run", "first", "--quick")
    assert answer.exception is None and answer.return_value == 0, answer.output
    (run,) = find_runs([folder / "runs"])
    assert run.manifest.target.name == "mine"
    assert (run.manifest.target.kernel, run.manifest.target.tier) == ("freertos", "emulated")
    assert (folder / "build" / "freertos-stm32f4-counter").is_dir()
    names = {record.bench for record in run.manifest.records}
    assert {"itc/queue", "itc/semaphore-binary"} <= names
    assert all(record.status == "ok" for record in run.manifest.records)


def test_init_changes_no_file_and_makes_no_lab_inside_a_lab(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("mine\n")
    assert "kept" in kadenz("init", str(tmp_path)).output
    assert (tmp_path / ".gitignore").read_text() == "mine\n"
    before = (tmp_path / "kadenz.toml").read_text()
    for folder, message in ((tmp_path, "a lab already"), (tmp_path / "deep", "a lab inside a lab")):
        error = kadenz("init", str(folder)).exception
        assert isinstance(error, KadenzError) and error.exit_code == 2
        assert message in error.message and str(tmp_path / "kadenz.toml") in error.message
    assert (tmp_path / "kadenz.toml").read_text() == before
    assert not (tmp_path / "deep").exists()


def test_list_says_where_each_part_comes_from_and_what_is_wrong(lab: Path) -> None:
    shutil.copytree(inventory.root() / "boards" / "stm32f4", lab / "boards" / "desk")
    board = lab / "boards" / "desk" / "board.toml"
    board.write_text('kernels = ["freertos"]\n' + board.read_text())
    (lab / "campaigns").mkdir()
    shutil.copy2(inventory.root() / "campaigns" / "demo.toml", lab / "campaigns" / "own.toml")
    (lab / "kernels" / "broken").mkdir(parents=True)
    (lab / "kernels" / "broken" / "kernel.toml").write_text("titel = 1\n")
    (lab / "kadenz.toml").write_text(STM32 + STM32.replace("mine", "bad").replace("stm32f4", "x"))
    answer = kadenz("list", "--json")
    assert answer.exception is None, answer.output
    listing = json.loads(answer.output)
    origins = {
        entry["name"]: entry["from"] for entry in (*listing["targets"], *listing["campaigns"])
    }
    assert origins["freertos/desk@emulated"] == origins["mine"] == origins["own"] == "lab"
    assert origins["freertos/stm32f4@emulated"] == origins["demo"] == "kadenz"
    assert listing["lab"] == str(lab / "kadenz.toml")
    wrong = [problem["problem"] for problem in listing["problems"]]
    assert len(wrong) == 2 and "unknown key `titel`" in wrong[0] and "[target.bad]" in wrong[1]
    text = kadenz("list").output
    assert "(lab) " in text and "problem: " in text
    doctor = kadenz("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(doctor.output)["targets"]}
    assert checks["mine"]["ready"] and not checks["bad"]["ready"]
    assert "[target.bad]" in checks["bad"]["missing"][0]["problem"]


def test_a_fresh_lab_lists_benchmarks_before_an_image_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "new"
    assert kadenz("init", str(folder)).exception is None
    monkeypatch.chdir(folder)
    listed = json.loads(kadenz("list", "benchmarks", "--json").output)
    assert list(listed) == ["benchmarks"]
    names = [bench["name"] for bench in listed["benchmarks"]]
    parameter = next(bench["params"][0] for bench in listed["benchmarks"] if bench["params"])
    assert list(parameter) == ["name", "initial", "low", "high", "words"]
    assert names == sorted(described()) and len(names) > 100
    overview, whole = kadenz("list").output, kadenz("list", "benchmarks").output
    assert f"{len(names)} benchmarks" in overview and "No image is built yet" in overview
    for family in {name.partition("/")[0] for name in names}:
        count = sum(name.startswith(f"{family}/") for name in names)
        assert re.search(rf"^  {family} +{count}  ", overview, re.MULTILINE), family
    assert "No image is built yet: kadenz list --build --target NAME" in whole
    flat = " ".join(whole.split())
    for benchmark in listed["benchmarks"]:
        assert f"\n  {benchmark['name']}\n" in whole
        assert " ".join(f"{benchmark['begins']} … {benchmark['ends']}".split()) in flat
    details = kadenz("list", "itc/queue").output
    assert "return of task 1's send" in details and re.search(r"--set +size_bytes=60", details)
    error = kadenz("list", "itc/queu").exception
    assert isinstance(error, KadenzError) and "itc/queue" in error.remedy
    (folder / "bench").mkdir()
    page = (inventory.root() / "docs" / "how-to" / "add-a-benchmark.md").read_text()
    source = page.partition("```c\n")[2].partition("```")[0]
    (folder / "bench" / "mine.c").write_text(source)
    assert "before a give that wakes nobody … its return" in kadenz("list", "benchmarks").output
    assert not (folder / "build").exists()


@pytest.mark.parametrize("part", ["benchmarks", "targets", "campaigns", "loads"])
def test_one_part_is_listed_alone(lab: Path, part: str) -> None:
    heads = {
        "benchmarks": "itc  Communication",
        "targets": "targets  with a letter",
        "campaigns": "campaigns  kadenz run",
        "loads": "Loads  of this Linux",
    }
    text = kadenz("list", part).output
    assert [word for word, head in heads.items() if head in text] == [part]
    assert list(json.loads(kadenz("list", part, "--json").output)) == [part]
    error = kadenz("list", part[:-1]).exception
    assert isinstance(error, KadenzError) and part in error.remedy


def test_list_prints_the_folder_of_kadenzs_own_parts(lab: Path) -> None:
    folder = Path(kadenz("list", "--parts").output.strip())
    assert folder == inventory.root() and (folder / "kernels/template/port.c").is_file()


@pytest.mark.counted
def test_a_benchmark_in_the_lab_is_part_of_every_image(lab: Path) -> None:
    (lab / "bench").mkdir()
    page = (inventory.root() / "docs" / "how-to" / "add-a-benchmark.md").read_text()
    source = page.partition("```c\n")[2].partition("```")[0]
    (lab / "bench" / "mine.c").write_text(source)
    name = source.partition('.name = "')[2].partition('"')[0]
    answer = kadenz("run", name, "--target", "freertos/stm32f4@emulated", "--set", "samples=50")
    assert answer.exception is None and answer.return_value == 0, answer.output
    (run,) = find_runs([lab / "runs"])
    assert [r.status for r in run.manifest.records if r.bench == name] == ["ok"]
    assert run.manifest.build is not None
    parts = {part.part for part in run.manifest.build.parts}
    assert "extra benchmarks" in parts


@pytest.mark.counted
def test_the_deadline_of_a_target_holds_where_the_campaign_names_none(lab: Path) -> None:
    (lab / "kadenz.toml").write_text(STM32 + 'deadline = "900 instructions"\n')
    wakeup = ("cyclic/wakeup-latency", "--target", "mine", "--set", "samples=100")
    assert kadenz("run", *wakeup, "--output", "a").return_value == 0
    assert (
        kadenz("run", *wakeup, "--output", "b", "--deadline", "800 instructions").return_value == 0
    )
    deadlines = []
    for folder in ("a", "b"):
        (run,) = find_runs([lab / folder])
        (record,) = [r for r in run.manifest.records if r.bench.startswith("cyclic/")]
        assert record.deadline is not None
        deadlines.append((record.deadline.quantity, record.deadline.origin))
    assert deadlines == [("900 instructions", "lab"), ("800 instructions", "command line")]


def test_conditions_of_a_target_are_those_of_the_command_line(lab: Path) -> None:
    (lab / "kadenz.toml").write_text(
        "[defaults]\nrounds = 1\noutput = 'measured'\n"
        + LINUX
        + '[target.mine.conditions]\nload = "cpu,workers=1"\n'
        'allow = ["idle-states", "weak-load"]\n'
    )
    arguments = ["run", "clock/read-cost", "--target", "mine", "--set", "samples=200"]
    arguments += ["--allow", "no-realtime"]  # besides those of the lab
    assert kadenz(*arguments).return_value == 0
    assert kadenz(*arguments, "--load", "none").return_value == 0  # the command line has precedence
    loads = [
        find_runs([folder])[0].manifest.condition_values["load"]
        for folder in sorted((lab / "measured").iterdir())
    ]
    assert loads == ["cpu,workers=1", "none"]


@pytest.mark.parametrize(
    ("target", "conditions", "message", "remedy"),
    [
        (LINUX, 'laod = "cpu"', "no condition `laod`", "`load`"),
        (LINUX, 'load = "cpuu"', "cpuu", "cpu"),
        (LINUX, "load = 3", "expected text", "--load"),
        (LINUX, "allow = 'idle'", "`allow`: no `idle`", "`idle-states`"),
        (LINUX, "allow_idle_states = true", "no condition `allow_idle_states`", ""),
        (LINUX, "load = 'cpu,workers=two'", "not a number", "workers=2"),
        (LINUX, "load = 'cpu,workerz=2'", "no key `workerz`", "`workers`"),
        (STM32, 'load = "cpu"', "runs on this Linux", ""),
        (STM32, 'guest = "load=cpu"', "no target of this run is a guest", "name one"),
        (LINUX, 'bus = "interface=lo"', "has no bus", ""),
    ],
)
def test_a_condition_that_cannot_hold_is_refused_with_its_place(
    target: str, conditions: str, message: str, remedy: str, lab: Path
) -> None:
    (lab / "kadenz.toml").write_text(f"{target}[target.mine.conditions]\n{conditions}\n")
    answer = kadenz("run", "clock/read-cost", "--target", "mine", "--allow", "no-realtime")
    error = answer.exception
    assert isinstance(error, ConfigError) and error.exit_code == 2, answer.output
    assert f"{lab}/kadenz.toml: [target.mine.conditions]" in error.message
    assert message in error.message and remedy in error.remedy
    assert not (lab / "runs").exists()


@pytest.mark.counted
def test_two_targets_of_one_lab_are_two_variants_of_one_run(lab: Path) -> None:
    source = inventory.root() / "boards" / "stm32f4"
    shutil.copytree(source, lab / "boards" / "desk")
    board = lab / "boards" / "desk" / "board.toml"
    board.write_text('kernels = ["freertos"]\n' + board.read_text())
    text = STM32 + STM32.replace("mine", "other").replace("stm32f4", "desk")
    (lab / "kadenz.toml").write_text(text)
    answer = kadenz(
        *("run", "itc/queue", "--target", "mine", "--target", "other", "--set", "samples=50"),
        *("--output", "runs"),
    )
    assert answer.return_value == 0, answer.output
    runs = find_runs([lab / "runs"])
    assert sorted(run.manifest.target.name for run in runs) == ["mine", "other"]
    samples = [
        run.samples(r, 0).tolist()
        for run in runs
        for r in run.manifest.records
        if r.bench == "itc/queue"
    ]
    assert samples[0] == samples[1]
