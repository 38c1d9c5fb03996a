# SPDX-License-Identifier: Apache-2.0
"""`kadenz setup` shows what it will do, asks, and runs the one script that `make setup` runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kadenz.cli.setup import setup
from kadenz.errors import KadenzError, UsageError

SCRIPT = """\
. {lib}
if [ "$PLAN" = yes ]; then
    [ -e {folder}/done ] || planned "install a compiler for ${{1:-boards}}"
    exit 0
fi
[ ! -e {folder}/broken ] || die "no network" "Plug it in"
touch {folder}/done
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """kadenz with a set-up that makes the file `done`."""
    for name in ("suite/include/kadenz/kernel.h", "scripts/setup-machine.sh"):
        (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / "suite/include/kadenz/kernel.h").touch()
    lib = Path(__file__).resolve().parents[2] / "scripts" / "lib.sh"
    text = SCRIPT.format(lib=lib, folder=tmp_path)
    (tmp_path / "scripts/setup-machine.sh").write_text(text)
    monkeypatch.setenv("KADENZ_ROOT", str(tmp_path))
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(setup, list(arguments))


def test_a_dry_run_shows_the_plan_and_does_nothing(machine: Path) -> None:
    answer = invoke("--dry-run")
    assert answer.output == "kadenz setup will\n- install a compiler for boards\n"
    assert "for guests" in invoke("--dry-run", "--guests").output
    assert not (machine / "done").exists()


def test_it_asks_before_it_installs(machine: Path) -> None:
    answer = invoke()
    assert isinstance(answer.exception, UsageError) and "--yes" in answer.exception.remedy
    assert "install a compiler" in answer.output
    assert not (machine / "done").exists()


def test_yes_installs_and_a_second_call_finds_nothing_to_do(machine: Path) -> None:
    assert invoke("--yes").exit_code == 0
    assert (machine / "done").exists()
    assert invoke().output == "nothing to do: every tool is installed\n"


def test_a_set_up_that_stops_is_an_error(machine: Path) -> None:
    (machine / "broken").touch()
    answer = invoke("--yes")
    assert isinstance(answer.exception, KadenzError) and answer.exception.exit_code == 1
    assert not (machine / "done").exists()
