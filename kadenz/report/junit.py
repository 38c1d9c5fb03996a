# SPDX-License-Identifier: Apache-2.0
"""A gate's verdict as JUnit XML, the format that CI systems read.

One test suite per target, one test case per check. An undecided check is `skipped`, which no CI
system shows as passed; the exit code reports it too. Elements and attributes follow the schema
that Jenkins publishes (junit-10.xsd); GitLab and others read the same.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from kadenz.analysis.checks import Check
from kadenz.analysis.gating import Gate
from kadenz.report import labels

# XML 1.0 forbids other control characters, even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(gate: Gate, *, name: str, created: str) -> bytes:
    """The document, in UTF-8. `created` is the candidate run's time, ISO 8601."""
    suites: dict[str, list[Check]] = {}
    for check in gate.checks:
        suites.setdefault(check.target or name, []).append(check)
    root = ET.Element("testsuites", {"name": _text(name), **_counts(gate.checks)})
    for target, checks in suites.items():
        suite = ET.SubElement(
            root,
            "testsuite",
            {
                "name": _text(target),
                **_counts(checks),
                "skipped": str(sum(check.outcome == "inconclusive" for check in checks)),
                "timestamp": created[:19],  # xsd:dateTime; some schemas allow no zone
            },
        )
        _properties(suite, gate, checks)
        for check in checks:
            _case(suite, target, check)
    ET.indent(root, " ")
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _counts(checks: Sequence[Check]) -> dict[str, str]:
    failures = sum(check.outcome == "fail" for check in checks)
    return {"tests": str(len(checks)), "failures": str(failures), "errors": "0", "time": "0"}


def _properties(suite: ET.Element, gate: Gate, checks: Sequence[Check]) -> None:
    """Clock classes, and every difference of the configurations compared."""
    classes = dict.fromkeys(check.clock_class for check in checks)
    values = [("clock_class", str(kind)) for kind in classes if kind]
    for made in gate.configurations:
        if made.target in ("", checks[0].target):
            values += [
                (f"differs: {one.group}: {one.key}", " | ".join(one.values))
                for one in made.differences
            ]
    if not values:
        return
    properties = ET.SubElement(suite, "properties")
    for key, value in values:
        ET.SubElement(properties, "property", {"name": _text(key), "value": _text(value)})


def _case(suite: ET.Element, target: str, check: Check) -> None:
    words = [labels.parameters(check.params), check.lane, check.statistic, check.asked]
    case = ET.SubElement(
        suite,
        "testcase",
        {
            "classname": _text(f"{target}.{check.bench}"),
            "name": _text(", ".join(word for word in words if word)),
            "time": "0",
        },
    )
    detail = "; ".join(part for part in (_found(check), check.reason) if part)
    if check.outcome == "fail":
        kind = "regression" if "worse" in check.asked else "limit"
        made = ET.SubElement(case, "failure", {"type": kind, "message": _text(detail)})
        required = f"{check.bench} {check.statistic}: required {check.asked}"
        made.text = _text(f"{required}; found {detail}")
    elif check.outcome == "inconclusive":
        ET.SubElement(case, "skipped", {"message": _text(f"inconclusive: {detail}")})
    elif detail:
        ET.SubElement(case, "system-out").text = _text(detail)


def _found(check: Check) -> str:
    kind = f"{check.unit} ({check.clock_class})" if check.clock_class else check.unit
    return f"{check.found} {kind}".strip() if check.found else ""


def _text(value: str) -> str:
    return _FORBIDDEN.sub("\ufffd", value)
