# SPDX-License-Identifier: Apache-2.0
"""The workflow of docs/how-to/count-a-function.md, and the one comment that it keeps."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.count.firmware import ARM, assemble
from tests.docs.ci import JOB, action, read
from tests.docs.forge import ME, Forge, forge
from tests.docs.pages import ROOT
from tests.docs.test_gate_in_ci import shell

pytestmark = pytest.mark.counted

PAGE = ROOT / "docs" / "how-to" / "count-a-function.md"
MARK = "<!-- kadenz gate -->"
CHOICE = re.compile(r"\$\{\{ github\.event_name == 'pull_request' && '(.*)' \|\| '(.*)' \}\}")


def workflow() -> str:
    """The page's YAML."""
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    return str(text)


def inputs(*, pull: bool) -> dict[str, str]:
    """What the page's job gives to the action, for a pull request or a push."""
    steps = YAML(typ="safe").load(workflow())["jobs"]["count"]["steps"]
    (step,) = (each for each in steps if each.get("uses", "").startswith("OWNER/kadenz/"))
    return {
        name: CHOICE.sub(lambda match: match[1 if pull else 2], str(value))
        for name, value in step["with"].items()
    }


def test_the_workflow_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "page.yml"
    file.write_text(workflow())
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*command, "vendor.github-workflows", str(file)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode()


def firmware(folder: Path, more: int) -> None:
    """The pull request's build."""
    (folder / "build").mkdir(exist_ok=True)
    assemble(ARM, folder / "build", "gate", defines=[f"MORE={more}"]).replace(
        folder / "firmware.elf"
    )


ASKED = {"functions": "gate\ncl*\n"}  # of this firmware


def on_github(folder: Path, site: Forge, *, pull: bool) -> int:
    """Steps of the action that do not install, as GitHub runs them. The gate's exit code."""
    steps = action(inputs(pull=pull) | ASKED | {"token": "secret"})
    github = {"GITHUB_API_URL": site.address, "GITHUB_REPOSITORY": "o/r", "PULL": "7"}
    code, output = shell(folder, *steps["Count"])
    assert code == 0, output
    if not pull:
        return 0
    gated, output = shell(folder, *steps["Gate"])
    lines, environment = steps["Comment"]
    code, output = shell(folder, lines, environment | github)
    assert code == 0, output
    return gated


def on_gitlab(folder: Path, site: Forge, *, pull: bool) -> int:
    """The script of a job that extends the one of ci/gitlab."""
    job = read(JOB)[".kadenz"]
    variables = {name: str(value) for name, value in job["variables"].items()}
    del variables["XDG_CACHE_HOME"]
    asked = inputs(pull=pull) | ASKED
    variables |= {
        "KADENZ_IMAGE": asked["image"],
        "KADENZ_BOARD": asked["board"],
        "KADENZ_FUNCTIONS": asked["functions"],
        "KADENZ_OUTPUT": asked["output"],
        "KADENZ_BASELINE": asked["baseline"],
        "KADENZ_MAX_WORSE": asked["max-worse"],
    }
    if pull:
        variables |= {"KADENZ_TOKEN": "secret", "CI_API_V4_URL": site.address}
        variables |= {"CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "7"}
    code, output = shell(folder, "\n".join(job["script"]), variables)
    assert code in (0, 3, 4), output
    return code


@pytest.mark.parametrize("system", [on_github, on_gitlab])
def test_a_pull_request_has_one_comment(system: object, tmp_path: Path) -> None:
    """Without a baseline, with seven instructions more in a callee, and without them again."""
    assert callable(system)
    with forge() as site:
        for _ in range(100):  # the mark is looked for on the second page, too
            site.write("a review", by=1, kind="User")
        site.write(f"{MARK}\nwritten by somebody else", by=1, kind="User")
        firmware(tmp_path, 0)
        assert system(tmp_path, site, pull=True) == 4
        (tmp_path / "kadenz-results").rename(tmp_path / "first")
        assert "gate is undecided" in site.comments[-1]["body"]
        assert system(tmp_path, site, pull=False) == 0
        firmware(tmp_path, 7)
        assert system(tmp_path, site, pull=True) == 3
        (tmp_path / "kadenz-results").rename(tmp_path / "second")
        body = site.comments[-1]["body"]
        firmware(tmp_path, 0)
        assert system(tmp_path, site, pull=True) == 0
        assert "kadenz gate passed" in site.comments[-1]["body"]
    assert len(site.comments) == 102 and site.comments[-1]["user"]["id"] == ME
    assert site.calls[0] == "POST" and len(site.calls) == 3 and "POST" not in site.calls[1:]
    assert body.startswith(f"{MARK}\n### kadenz gate failed\n")
    assert "| `gate` | 9 → 16 instructions | +77.8 % | 12 | +7 in `clamp` | **worse** |" in body
    assert "| `clamp` | 2 → 9 instructions | +350 % | 4 → 18 (+14) | +7 in `clamp` |" in body
