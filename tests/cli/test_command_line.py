# SPDX-License-Identifier: Apache-2.0
"""The command line: quick to answer, clear when wrong, complete in every shell."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kadenz.cli import _COMMANDS, _UNLISTED, cli, main
from tests.forked import kadenz

KADENZ = str(Path(sys.executable).parent / "kadenz")


def test_help_names_every_command_and_the_exit_codes() -> None:
    answer = subprocess.run([KADENZ, "--help"], capture_output=True, text=True, check=False)
    assert answer.returncode == 0
    for name in _COMMANDS.keys() - _UNLISTED.keys():
        assert f"\n  {name} " in answer.stdout
    assert all(f"`{name}`" in answer.stdout for name in _UNLISTED)
    assert "3 a regression" in answer.stdout


def test_help_imports_nothing_heavy() -> None:
    """Keeps `kadenz --help` under 150 ms: no numpy, no rich, no command modules."""
    program = (
        "import sys\n"
        "from kadenz.cli import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(answer.stderr.split())
    heavy = {"numpy", "scipy", "rich", "msgspec", "jinja2", "elftools", "serial", "asyncio"}
    assert not loaded & heavy
    assert not any(name.startswith("kadenz.cli.") for name in loaded)


@pytest.mark.parametrize("command", list(_COMMANDS))
def test_every_command_explains_itself(command: str) -> None:
    answer = kadenz(command, "--help")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("Usage: kadenz")


@pytest.mark.parametrize(
    ("arguments", "hints"),
    [
        (["rnu", "demo"], ["No such command `rnu`", "Did you mean `run`?"]),
        (["run"], ["nothing to measure"]),
        (["run", "demoo"], ["no campaign `demoo`", "Did you mean `demo`?"]),
        (["run", "none.toml"], ["none.toml: cannot be read"]),
        (["run", "itc/queue"], ["a benchmark alone has no target", "--target"]),
        (
            ["run", "demo", "--target", "freertos/stm32f5@emulated"],
            ["no target `freertos/stm32f5@emulated`", "Did you mean `freertos/stm32f4@emulated`?"],
        ),
        (["run", "demo", "--set", "size_bytes"], ["not KEY=VALUE"]),
        (["run", "demo", "--set", "a=1", "--set", "a=2"], ["`a` is there twice", "a=A,B"]),
        (["run", "demo", "--set", "samples=0"], ["one positive number"]),
        (["run", "demo", "--instrument", "oscilloscope"], ["is not one of"]),
        (
            ["run", "demo", "--instrument", "scope", "--target", "posix/linux@host"],
            ["posix/linux@host cannot be measured with the instrument `scope`"],
        ),
        (
            ["run", "demo", "--bus", "interface=lo"],
            ["--bus interface=lo: ", " has no bus", "posix/indy7@host"],
        ),
        (
            ["run", "demo", "--bus", "layout=mine.toml"],
            ["--bus layout=mine.toml: ", " has no bus", "posix/indy7@host"],
        ),
        (
            ["run", "motion", "--bus", "interface=nowhere0"],
            ["--bus interface=nowhere0: no such network interface", "try:"],
        ),
        (
            ["run", "motion", "--bus", "interface=lo"],
            ["--bus interface=lo: not an Ethernet interface"],
        ),
        (
            ["run", "cereia2011", "--bus", "layout=nowhere.toml"],
            ["--bus layout=nowhere.toml: No such file", "indy7.toml"],
        ),
        (
            ["run", "demo", "--target", "posix/linux@host", "--kernel-source", "/"],
            ["is not built with the image"],
        ),
        (
            ["run", "demo", "--kernel-source", "threads=/"],
            ["no target of this run has the kernel `threads`", "freertos, embassy, rtic, posix"],
        ),
        (
            ["conformance", "freertos/stm32f4@emulated", "--kernel-source", "posix=/"],
            ["no target of this run has the kernel `posix`"],
        ),
    ],
)
def test_a_usage_error_is_exit_code_2_with_a_hint(arguments: list[str], hints: list[str]) -> None:
    answer = kadenz(*arguments)
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    assert "Traceback" not in answer.stderr
    for word in hints:
        assert word in answer.stderr


def test_an_error_in_a_campaign_names_file_line_and_key(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "m"\ntitle = "t"\ntargets = []\n[[benchmark]]\nname = "x"\nsample = 1\n'
    )
    answer = kadenz("run", str(file))
    assert answer.returncode == 2
    assert f"{file}:6: unknown key `benchmark[0].sample`" in answer.stderr
    assert "Did you mean `samples`?" in answer.stderr


def test_an_unknown_parameter_and_one_out_of_range_are_reported() -> None:
    common = ("run", "itc/pipe", "--target", "posix/linux@host", "--allow", "no-realtime")
    unknown = kadenz(*common, "--set", "size_byte=4")
    assert unknown.returncode == 2 and "Did you mean `size_bytes`?" in unknown.stderr
    beyond = kadenz(*common, "--set", "size_bytes=99999999")
    assert beyond.returncode == 2 and "out of range" in beyond.stderr
    nearest = kadenz("run", "itc/pip", *common[2:])
    assert nearest.returncode == 2 and "Did you mean `itc/pipe`?" in nearest.stderr


@pytest.mark.parametrize("command", ["show", "report", "export"])
def test_a_missing_run_folder_is_a_usage_error(command: str, tmp_path: Path) -> None:
    answer = kadenz(command, str(tmp_path / "no-such-run"))
    assert answer.returncode == 2
    assert "no-such-run" in answer.stderr and "Traceback" not in answer.stderr


def test_a_traceback_is_only_shown_on_request() -> None:
    plain = kadenz("run", "demoo")
    asked = kadenz("run", "demoo", env={"KADENZ_DEBUG": "1"})
    assert "Traceback" not in plain.stderr and "Traceback" in asked.stderr
    assert plain.returncode == asked.returncode == 2


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.EDQUOT, "Your quota there is used up"),
        (errno.EACCES, "Check its path and permissions"),
    ],
)
def test_a_call_that_the_disk_refuses_says_what_to_do(
    number: int, remedy: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(**_: object) -> None:
        raise OSError(number, os.strerror(number), "lab/build/seal")

    monkeypatch.setattr("kadenz.cli.output.guard_output", lambda: None)
    monkeypatch.setattr(cli, "main", refused)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    told = " ".join(capsys.readouterr().err.split())
    assert f"lab/build/seal: {os.strerror(number)}" in told and remedy in told


def test_list_is_one_json_object_on_request() -> None:
    answer = kadenz("list", "--json")
    assert answer.returncode == 0, answer.stderr
    listed = json.loads(answer.stdout)
    assert {"demo", "yoo2024", "mazzi2021"} <= {c["name"] for c in listed["campaigns"]}
    assert "posix/linux@host" in {t["name"] for t in listed["targets"]}


STOCK = ("--target", "posix/linux@host", "--target", "freertos/stm32f4@emulated")


def test_list_refuses_a_target_that_does_not_exist() -> None:
    answer = kadenz("list", "--target", "freertos/stm32f5@emulated")
    assert answer.returncode == 2
    assert "stm32f5" in answer.stderr and "stm32f4" in answer.stderr


@pytest.mark.counted
def test_list_shows_end_points_and_missing_features() -> None:
    answer = kadenz("list", "--build", "--json", *STOCK)
    assert answer.returncode == 0, answer.stderr
    listed = json.loads(answer.stdout)
    assert [target["name"] for target in listed["targets"]] == list(STOCK[1::2])
    benches = {b["name"]: b for b in listed["benchmarks"]}
    pipe = benches["itc/pipe"]
    assert pipe["begins"] and pipe["ends"] and pipe["source"]
    assert "size_bytes" in [p["name"] for p in pipe["params"]]
    assert pipe["available"]["posix/linux@host"] == "yes"
    assert pipe["available"]["freertos/stm32f4@emulated"] not in ("", "yes")


def test_list_shows_a_benchmark_in_full_and_suggests_the_nearest_name() -> None:
    assert kadenz("list", "--build", "--json", *STOCK).returncode == 0
    details = kadenz("list", "itc/pipe")
    assert details.returncode == 0, details.stderr
    for word in ("from ", "to ", "source ", "size_bytes="):
        assert word in details.stdout
    assert re.search(r"^  on +posix/linux@host +yes$", details.stdout, re.MULTILINE)
    typo = kadenz("list", "itc/pip")
    assert typo.returncode == 2
    assert "itc/pipe" in typo.stderr


def complete(typed: str, shell: str = "bash") -> list[str]:
    parts = typed.split(" ")
    answer = kadenz(
        env={
            "_KADENZ_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(parts) - 1),
        }
    )
    return [line.partition(",")[2] for line in answer.stdout.splitlines()]


def test_completion_knows_commands_targets_campaigns_and_benchmarks() -> None:
    assert complete("kadenz re") == ["report"]
    assert "posix/linux@host" in complete("kadenz run --target posix")
    assert "yoo2024" in complete("kadenz run yoo")
    assert "itc/queue" in complete("kadenz run itc/q")
    assert "--kernel-source" in complete("kadenz run --kern")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_each_shell(shell: str) -> None:
    answer = kadenz("completion", shell)
    assert answer.returncode == 0, answer.stderr
    assert f"_KADENZ_COMPLETE={shell}_complete" in answer.stdout
    assert "kadenz" in answer.stdout


def test_completion_outside_a_checkout_is_empty(tmp_path: Path) -> None:
    answer = kadenz(
        env={
            "KADENZ_ROOT": str(tmp_path),
            "_KADENZ_COMPLETE": "bash_complete",
            "COMP_WORDS": "kadenz run --target p",
            "COMP_CWORD": "3",
        }
    )
    assert answer.stdout.strip() == "" and "Traceback" not in answer.stderr
