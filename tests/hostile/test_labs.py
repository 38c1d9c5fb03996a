# SPDX-License-Identifier: Apache-2.0
"""A lab of somebody else is not believed, unless the caller says so."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from kadenz.cli import _COMMANDS
from kadenz.config.lab_file import find_lab
from kadenz.config.trust import PARTS, distrust, trust, trusted
from kadenz.errors import ConfigError, KadenzError, UsageError
from tests.forked import kadenz

STRANGER = 12345
STOCK = "freertos/stm32f4@emulated"
# A call of each command that reads the lab.
READING = {
    "doctor": (),
    "tune": ("list",),
    "list": (),
    "conformance": (STOCK,),
    "run": ("demo",),
    "profile": ("itc/queue", "--target", STOCK),
    "trace": ("itc/queue", "--target", STOCK),
    "worst": ("itc/queue", "--target", "freertos/ibex@rtl"),
    "bound": ("itc/queue", "--target", "freertos/ibex@rtl"),
    "count": ("x.elf", "--board", "stm32f4", "--function", "main"),
    "watch": ("--thread", "nobody"),
    "import": tuple(f"x.vcd --begin D0 --end D1 --bench itc/queue --target {STOCK}".split()),
    "footprint": (STOCK,),
    "runs": (),
    "show": ("latest",),
    "report": ("latest",),
    "compare": ("latest", "latest"),
    "gate": ("latest", "--limit", "itc/queue max < 1ms"),
    "bisect": ("itc/queue", "--target", "stm32f4@emulated", "--image", "x.elf"),
    "archive": ("check",),
    "history": (),
    "site": ("-o", "site"),
    "export": ("latest",),
    "export-suite": ("out", "--as", "files", "--board", "stm32f4"),
}
NOT_READING = {"init", "lab", "setup", "farm", "budget", "cache", "jitter", "completion"}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab with a folder for each kind of part, around the working directory."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "it's a lab"
    for part in PARTS:
        (folder / part).mkdir(parents=True)
    (folder / "kadenz.toml").write_text("")
    (folder / "x.vcd").write_text("")
    (folder / "x.elf").write_text("")
    monkeypatch.chdir(folder)
    return folder


def as_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, the caller is a user to whom none of the files here belongs."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)


def test_each_command_is_known_to_read_the_lab_or_not() -> None:
    assert set(_COMMANDS) == {*READING} | NOT_READING


@pytest.mark.parametrize("command", READING)
def test_each_command_refuses_a_lab_that_everybody_may_change(command: str, lab: Path) -> None:
    lab.chmod(0o777)
    answer = kadenz(command, *READING[command])
    assert answer.returncode == 2, answer.stdout + answer.stderr
    assert f"{lab}: a lab that everybody may change is not believed" in answer.stderr
    assert answer.stdout == ""


@pytest.mark.parametrize("exposed", [".", "kadenz.toml", *PARTS])
def test_the_remedy_for_a_lab_that_everybody_may_change_works(exposed: str, lab: Path) -> None:
    (lab / exposed).chmod(0o777)
    with pytest.raises(ConfigError) as caught:
        find_lab()
    subprocess.run(shlex.split(caught.value.remedy), check=True)
    assert find_lab() is not None


def test_a_lab_that_a_group_may_change_is_the_group_s(lab: Path) -> None:
    """With umask 002, as many systems have it, a user's own group may write to all of it."""
    for path in (lab, lab / "kadenz.toml", lab / "kernels"):
        path.chmod(0o775)
    assert find_lab() is not None


def test_a_folder_for_everybody_is_not_closed_for_a_lab(lab: Path) -> None:
    lab.chmod(0o1777)
    with pytest.raises(ConfigError, match="everybody may add parts") as caught:
        find_lab()
    assert "chmod" not in caught.value.remedy and "Move the lab" in caught.value.remedy


def test_a_lab_of_somebody_else_is_refused_until_it_is_trusted(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lab / "deep").mkdir()
    monkeypatch.chdir(lab / "deep")
    as_stranger(monkeypatch)
    with pytest.raises(ConfigError, match="a lab of somebody else is not believed") as caught:
        find_lab()
    command = shlex.split(caught.value.remedy.partition("trust it: ")[2])
    assert command == ["kadenz", "lab", "trust", str(lab)]
    monkeypatch.setattr("kadenz.config.trust.foreign", lambda path: _foreign(path, lab))
    assert kadenz(*command[1:]).returncode == 0
    assert find_lab() is not None


def _foreign(path: Path, lab: Path) -> int | None:
    return STRANGER if path.is_relative_to(lab) else None


@pytest.mark.parametrize("part", [".", "kadenz.toml", *PARTS])
def test_whoever_owns_any_part_may_decide_about_the_lab(
    part: str, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned = lab / part
    monkeypatch.setattr(
        "kadenz.config.trust.foreign", lambda path: STRANGER if path == owned else None
    )
    with pytest.raises(ConfigError, match=f"{owned} belongs to user {STRANGER}"):
        find_lab()


def test_with_sudo_the_labs_of_the_caller_are_its_own(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = lab.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", str(owner))
    assert find_lab() is not None
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    with pytest.raises(ConfigError, match="not believed"):  # SUDO_UID is only root's
        find_lab()


def test_a_link_to_somebody_else_s_file_makes_no_lab(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lab / "kadenz.toml").unlink()
    (lab / "kadenz.toml").symlink_to("/proc/self/status")
    real = Path.stat

    def stat(path: Path, **options: bool) -> os.stat_result:
        status = real(path, **options)
        whole = path.name == "kadenz.toml" and options.get("follow_symlinks", True)
        return os.stat_result((*status[:4], STRANGER, *status[5:])) if whole else status

    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(ConfigError, match=f"belongs to user {STRANGER}"):
        find_lab()


def test_a_lab_of_somebody_else_within_the_caller_s_lab_is_refused_first(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the remedy for a lab inside a lab would be to name it."""
    planted = lab / "cloned"
    planted.mkdir()
    (planted / "kadenz.toml").write_text("")
    monkeypatch.chdir(planted)
    monkeypatch.setattr("kadenz.config.trust.foreign", lambda path: _foreign(path, planted))
    with pytest.raises(ConfigError, match="somebody else"):
        find_lab()


def test_a_lab_that_the_caller_names_is_believed(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in CI, where a checkout may belong to another user, or be writable for all."""
    monkeypatch.setenv("KADENZ_LAB", str(lab))
    lab.chmod(0o777)
    as_stranger(monkeypatch)
    assert find_lab() is not None


def test_trusted_labs_are_listed_and_removed(lab: Path, tmp_path: Path) -> None:
    file = tmp_path / "config" / "kadenz" / "trusted"
    assert kadenz("lab", "trust", ".").returncode == 0
    assert kadenz("lab", "trust", lab).returncode == 0
    assert file.read_text() == f"{lab}\n" and file.stat().st_mode & 0o777 == 0o600
    assert kadenz("lab", "trust", "--list").stdout == f"{lab}\n"
    assert kadenz("lab", "trust", "--remove", ".").returncode == 0
    assert kadenz("lab", "trust", "--list").stdout == "" and trusted() == []


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "FOLDER or --list?"),
        ([".", "--list"], "FOLDER or --list?"),
        (["--remove"], "FOLDER or --list?"),
        (["--remove", "."], "is not trusted"),
        (["kernels"], "no lab, it has no kadenz.toml"),
    ],
)
def test_a_wrong_call_of_trust_is_a_usage_error(
    arguments: list[str], error: str, lab: Path
) -> None:
    answer = kadenz("lab", "trust", *arguments)
    assert answer.returncode == 2 and error in answer.stderr
    assert "Traceback" not in answer.stderr


def test_nobody_else_adds_to_the_trusted_labs(lab: Path, tmp_path: Path) -> None:
    trust(lab)
    (tmp_path / "config" / "kadenz" / "trusted").chmod(0o666)
    for reading in (trusted, lambda: trust(lab), lambda: distrust(lab)):
        with pytest.raises(ConfigError, match="others may write to it"):
            reading()


def test_a_path_that_is_no_line_is_not_trusted(lab: Path) -> None:
    """It would trust a second folder, whose path follows the line break."""
    with pytest.raises(UsageError, match="a path with a line break"):
        trust(Path("/one\n/two"))
    with pytest.raises(KadenzError):
        distrust(lab)
