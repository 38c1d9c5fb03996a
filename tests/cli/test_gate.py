# SPDX-License-Identifier: Apache-2.0
"""gate and compare as CI calls them: exit codes, JUnit XML, the summary page."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.errors import UsageError
from tests.synthetic import HIFIVE1, LINUX, Point, manifest, nanoseconds, write_run

# Allowed and required elements in the schemas of Jenkins (junit-10.xsd) and of Ant's reader.
ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "disabled", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "disabled", "skipped"}
    | {"timestamp", "hostname", "id", "package"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "assertions", "time", "classname", "status"},
    "failure": {"type", "message"},
    "skipped": {"message"},
    "system-out": set(),
}
REQUIRED = {"testsuite": {"name", "tests"}, "testcase": {"name", "classname"}}
INSIDE = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "skipped", "system-out"},
}


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(a) for a in arguments], standalone_mode=False)


def code(*arguments: str | Path) -> int:
    result = call(*arguments)
    if result.exception is not None:
        raise result.exception
    return int(result.return_value)


def run_of(parent: Path, centre: float, seed: int = 1, name: str = "posix") -> Path:
    rng = np.random.default_rng(seed)
    points = [
        Point("itc/mutex", {"all": nanoseconds(centre, 4000, rng)}, {"size_bytes": 4}),
        Point("itc/pipe", {"all": nanoseconds(5000, 60, rng)}),
    ]
    return write_run(parent, manifest(LINUX, id=name), points)


def against(base: Path, *arguments: str | Path) -> list[str | Path]:
    return [*arguments, "--against", base, "--statistic", "median", "--between-runs", "0.1%"]


def test_the_exit_codes_are_the_documented_ones(tmp_path: Path) -> None:
    base, same, slow = (run_of(tmp_path, c, s) for c, s in ((3000, 1), (3000, 2), (4000, 3)))
    limit = ["--limit", "itc/mutex median < 1ms"]
    assert code("gate", same, *limit) == 0
    assert code(*against(base, "gate", slow)) == 3
    assert code("gate", same, "--limit", "itc/pipe p99.9 < 1ms") == 4
    with pytest.raises(UsageError, match="neither a baseline nor a limit"):
        code("gate", same)
    with pytest.raises(UsageError, match="not a percentage"):
        code(*against(base, "gate", same, "--max-worse", "much"))
    board = write_run(
        tmp_path, manifest(HIFIVE1), [Point("itc/pipe", {"all": np.arange(60, dtype=np.uint32)})]
    )
    assert code(*against(base, "gate", board)) == 4  # clock classes have no common unit


def check_schema(element: ET.Element) -> None:
    assert set(element.attrib) <= ALLOWED[element.tag], element.tag
    assert set(element.attrib) >= REQUIRED.get(element.tag, set()), element.tag
    assert {child.tag for child in element} <= INSIDE.get(element.tag, set())
    for child in element:
        check_schema(child)


def test_junit_xml_follows_the_schema_of_ci_systems(tmp_path: Path) -> None:
    base, slow = run_of(tmp_path, 3000), run_of(tmp_path, 4000, 2, 'a "slow" <run> & \x07 co')
    file = tmp_path / "out" / "gate.xml"
    limits = ["--limit", "itc/pipe p99.9 < 1ms", "--limit", "itc/mutex max < 10s"]
    assert code(*against(base, "gate", slow, "--junit", file, *limits)) == 3
    root = ET.parse(file).getroot()
    check_schema(root)
    cases = root.findall("./testsuite/testcase")
    for whole, inside in [(root, cases)] + [
        (suite, suite.findall("testcase")) for suite in root.findall("testsuite")
    ]:
        assert int(whole.attrib["tests"]) == len(inside)
        failures = [case for case in inside if case.find("failure") is not None]
        assert int(whole.attrib["failures"]) == len(failures)
    skipped = [case for case in cases if case.find("skipped") is not None]
    assert sum(int(s.attrib["skipped"]) for s in root.findall("testsuite")) == len(skipped) >= 1
    failed = [case for case in cases if case.find("failure") is not None]
    assert [case.attrib["classname"].rpartition(".")[2] for case in failed] == ["itc/mutex"]
    assert not [case for case in failed if case in skipped]
    words = [case.attrib["name"] for case in cases]
    assert len(words) == len(
        {(c.attrib["classname"], w) for c, w in zip(cases, words, strict=True)}
    )


def test_the_report_is_written_before_it_fails(tmp_path: Path) -> None:
    base, slow = run_of(tmp_path, 3000), run_of(tmp_path, 4000, 2)
    summary = tmp_path / "summary.md"
    summary.write_text("# of another step\n")
    assert code(*against(base, "gate", slow, "--summary", summary)) == 3
    text = summary.read_text()
    assert text.startswith("# of another step\n## kadenz gate")
    assert "**failed**" in text and "itc/mutex" in text and "hosted" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {row.count("|") - row.count("\\|") for row in rows} == {9}


def test_differences_come_first(tmp_path: Path) -> None:
    base = run_of(tmp_path, 3000)
    made = manifest(LINUX, settings={"tick_rate_hz": "250", "flags": "a|b"})
    rng = np.random.default_rng(2)
    other = write_run(tmp_path, made, [Point("itc/pipe", {"all": nanoseconds(5000, 60, rng)})])
    summary = tmp_path / "summary.md"
    result = call(*against(base, "gate", other, "--summary", summary))
    for text in (result.stdout, summary.read_text()):
        assert 0 < text.index("tick_rate_hz") < text.index("itc/mutex")
    assert "a\\|b" in summary.read_text()


def test_json_agrees_with_the_exit_code(tmp_path: Path) -> None:
    run = run_of(tmp_path, 3000)
    result = call("gate", run, "--limit", "itc/mutex p99 < 1us", "--json")
    found = json.loads(result.stdout)
    assert (found["outcome"], found["exit_code"], result.return_value) == ("fail", 3, 3)
    assert found["checks"][0]["clock_class"] == "hosted"


def test_a_single_difference_may_be_insignificant_among_many(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    series = [nanoseconds(30_000, 300, rng) for _ in range(12)]
    moved = [np.asarray(series[0] * 1.03), *series[1:]]  # 2.4 standard errors
    sides = [
        write_run(
            tmp_path,
            manifest(LINUX),
            [Point(f"itc/p{i}", {"all": one.astype(np.uint32)}) for i, one in enumerate(side)],
        )
        for side in (series, moved)
    ]
    options = ["--statistic", "median", "--threshold", "0.1%", "--json", "--between-runs", "0.01%"]
    each, together = (
        json.loads(call("compare", *sides, *options, *more).stdout)["points"]
        for more in (["--each"], [])
    )
    assert (each[0]["outcome"], together[0]["outcome"]) == ("worse", "inconclusive")
    assert "over 12 comparisons" in together[0]["reason"]
    assert together[0]["p_together"] > 0.05 > together[0]["p_changed"]
    assert 0.5 < together[0]["superiority"] < 0.7
