# SPDX-License-Identifier: Apache-2.0
"""A gate's verdict as JUnit XML, the format that CI systems read.

One test suite per target, one test case per check. An undecided check is `skipped`, which no CI
system shows as passed; the exit code reports it too. A CI system follows a test by its class and
name over years: both say what is checked, and never a version, a date, a figure or a tolerance.
These are in properties and output. Elements and attributes follow the schema that Jenkins publishes
(junit-10.xsd); GitLab and others read the same.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence

from kadenz.analysis.checks import Check
from kadenz.analysis.gating import Gate
from kadenz.analysis.matching import system_names
from kadenz.config.manifest import Manifest
from kadenz.report import labels
from kadenz.store import Run
from kadenz.visible_text import visible

NAME = "kadenz gate"
_AGAINST = {"baseline": "against the baseline", "limit": "limit"}


def junit(gate: Gate, runs: Sequence[Run]) -> bytes:
    """The document, in UTF-8. `runs` are the checked ones.

    The time of a case is what its point took to measure: checks of one point have the same. That of
    a suite is what its runs took, with building and starting.
    """
    names = dict(zip((str(run.path) for run in runs), system_names(runs), strict=True))
    suites: dict[str, list[Check]] = {}
    for check in gate.checks:
        name = names[check.runs[0]] if check.runs else check.target or NAME
        suites.setdefault(name, []).append(check)
    every = [run.manifest for run in runs]
    root = ET.Element("testsuites", {"name": NAME, **_counts(gate.checks, every)})
    for name, checks in suites.items():
        manifests = [run.manifest for run in runs if names[str(run.path)] == name]
        suite = ET.SubElement(root, "testsuite", {"name": name, **_counts(checks, manifests)})
        suite.set("skipped", str(sum(check.outcome == "inconclusive" for check in checks)))
        suite.set("timestamp", _begun(manifests or every))
        _properties(suite, gate, checks, manifests)
        seen: Counter[tuple[str, str]] = Counter()
        for check in checks:
            _case(suite, name, check, seen)
    ET.indent(root, " ")
    # XML 1.0 forbids control characters, even escaped.
    text = visible(ET.tostring(root, encoding="unicode"))
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()


def _begun(manifests: Sequence[Manifest]) -> str:
    """When the newest run began, as xsd:dateTime; some schemas allow no zone."""
    return max(manifest.created for manifest in manifests)[:19]


def _counts(checks: Sequence[Check], manifests: Sequence[Manifest]) -> dict[str, str]:
    failures = sum(check.outcome == "fail" for check in checks)
    seconds = _seconds(sum(manifest.duration_s for manifest in manifests))
    return {"tests": str(len(checks)), "failures": str(failures), "errors": "0", "time": seconds}


def _seconds(value: float) -> str:
    return f"{value:.3f}"


def _properties(
    suite: ET.Element, gate: Gate, checks: Sequence[Check], manifests: Sequence[Manifest]
) -> None:
    """What was measured, and every difference of the configurations compared."""
    values = [(key, value) for manifest in manifests for key, value in _versions(manifest)]
    values += [("clock_class", str(check.clock_class)) for check in checks if check.clock_class]
    for compared in gate.configurations:
        if compared.target in ("", *(check.target for check in checks), suite.get("name")):
            values += [
                (f"differs: {difference.group}: {difference.key}", " | ".join(difference.values))
                for difference in compared.differences
            ]
    if not values:
        return
    properties = ET.SubElement(suite, "properties")
    for key, value in dict.fromkeys(values):
        ET.SubElement(properties, "property", {"name": key, "value": value})


def _versions(manifest: Manifest) -> list[tuple[str, str]]:
    target, build = manifest.target, manifest.build
    properties = [
        ("run", manifest.id),
        ("kernel", f"{target.kernel_name} {target.kernel_version}".strip()),
        ("compiler", f"{build.compiler} {build.compiler_version}" if build is not None else ""),
        ("kadenz", manifest.kadenz_version),
    ]
    return [(key, value.strip()) for key, value in properties if value.strip()]


def _case(suite: ET.Element, system: str, check: Check, seen: Counter[tuple[str, str]]) -> None:
    """One case. The second check of the same name, as of two limits, is its number 2."""
    classname = f"{system}.{check.bench}" if check.bench else system
    against = _AGAINST.get(check.kind, check.asked)
    parts = [labels.parameters(check.params), check.lane, check.statistic, against]
    name = ", ".join(word for word in parts if word)
    seen[classname, name] += 1
    number = seen[classname, name]
    case = ET.SubElement(
        suite,
        "testcase",
        {
            "classname": classname,
            "name": f"{name} {number}" if number > 1 else name,
            "time": _seconds(check.seconds),
        },
    )
    detail = "; ".join(part for part in (_measured(check), check.reason) if part)
    what = " ".join(word for word in (check.bench, check.statistic, "required") if word)
    text = f"{what} {check.asked}; found {detail or 'it'}"
    if check.outcome == "fail":
        kind = "regression" if check.kind == "baseline" else check.kind
        ET.SubElement(case, "failure", {"type": kind, "message": detail}).text = text
        return
    if check.outcome == "inconclusive":
        ET.SubElement(case, "skipped", {"message": f"inconclusive: {detail}"})
    ET.SubElement(case, "system-out").text = text


def _measured(check: Check) -> str:
    kind = f"{check.unit} ({check.clock_class})" if check.clock_class else check.unit
    return f"{check.measured} {kind}".strip() if check.measured else ""
