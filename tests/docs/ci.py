# SPDX-License-Identifier: Apache-2.0
"""The files for CI systems, and the YAML of the page about them."""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import YAML

from tests.docs.pages import ROOT

PAGE = "docs/how-to/gate-in-ci.md"
ACTION, JOB = "ci/github-action/action.yml", "ci/gitlab/kadenz.yml"
Steps = dict[str, tuple[str, dict[str, str]]]


def read(name: str) -> Any:
    """A YAML file of the checkout."""
    return YAML(typ="safe").load(ROOT / name)


def blocks() -> list[str]:
    """Each YAML block of the page."""
    return re.findall(r"^```yaml\n(.*?)^```$", (ROOT / PAGE).read_text(), re.M | re.S)


def workflow() -> Any:
    """The page's workflow for GitHub."""
    return YAML(typ="safe").load(blocks()[0])


def pipeline() -> Any:
    """The page's pipeline for GitLab."""
    return YAML(typ="safe").load(blocks()[1])


def action(inputs: dict[str, str]) -> Steps:
    """Shell lines and environment of each step of the action, by name, with the inputs put in."""
    file = read(ACTION)
    assert set(inputs) <= set(file["inputs"])
    values = {
        name: declaration.get("default", "") for name, declaration in file["inputs"].items()
    } | inputs

    def put(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: values[match[1]], text)

    steps = {}
    for step in file["runs"]["steps"]:
        if "run" in step:
            assert "${{" not in step["run"], "an input in a shell line could run as a command"
            environment = {name: put(str(text)) for name, text in step.get("env", {}).items()}
            steps[step["name"]] = (step["run"], environment)
    return steps


def inputs_of(job: Any) -> dict[str, str]:
    """The inputs that a job of the workflow gives to the action."""
    (step,) = (
        candidate
        for candidate in job["steps"]
        if candidate.get("uses", "").startswith("OWNER/kadenz/")
    )
    return {name: str(value) for name, value in step["with"].items()}


def cached(job: Any, what: str) -> dict[str, str]:
    """The options of a job's step that saves or restores a cache."""
    (step,) = (
        candidate
        for candidate in job["steps"]
        if candidate.get("uses", "").startswith(f"actions/cache/{what}")
    )
    return dict(step["with"])
