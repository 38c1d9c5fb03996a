# SPDX-License-Identifier: Apache-2.0
"""gate and compare as CI calls them: exit codes, JUnit XML, the summary page."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from kadenz.archive.adding import add
from kadenz.archive.place import open_archive
from kadenz.cli import cli
from kadenz.config.manifest import CallEntry, ConditionEntry, Manifest
from kadenz.errors import UsageError
from kadenz.store import read_run
from kadenz.store.manifest_file import read_manifest, write_manifest
from tests.synthetic import HIFIVE1, LINUX, Point, manifest, nanoseconds, write_run

# The schema of Jenkins' xUnit plug-in, junit-10.xsd: attributes, required ones, children.
ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp"}
    | {"hostname", "id", "package", "file", "log", "url"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "time", "classname", "group"},
    "failure": {"type", "message"},
    "skipped": {"type", "message"},
    "system-out": set(),
}
REQUIRED = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "testcase": {"name", "classname"},
    "property": {"name", "value"},
}
INSIDE = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "skipped", "system-out"},
}
SECONDS = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")  # SUREFIRE_TIME


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


def change(run: Path, how: Callable[[Manifest], None]) -> None:
    document = read_manifest(run)
    how(document)
    write_manifest(run, document, sync=False)


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
    assert SECONDS.fullmatch(element.get("time", "0"))
    for child in element:
        check_schema(child)


def test_junit_xml_follows_the_schema_of_ci_systems(tmp_path: Path) -> None:
    base, slow = run_of(tmp_path, 3000), run_of(tmp_path, 4000, 2, "slow")
    change(slow, lambda document: setattr(document.target, "name", 'a "slow" <run> & \x07 co'))
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
    names = [case.attrib["name"] for case in cases]
    assert len(names) == len(
        {(c.attrib["classname"], w) for c, w in zip(cases, names, strict=True)}
    )


# What a new version of something changes in a run that measures the same.
RENEWED: dict[str, Callable[[Manifest], None]] = {
    "kernel": lambda document: setattr(document.target, "kernel_version", "6.19.7"),
    "kernel tree": lambda document: setattr(document.build, "kernel_source", "tree v, 6.19.7"),
    "compiler": lambda document: setattr(document.build, "compiler_version", "6.19.7"),
    "kadenz": lambda document: setattr(document, "kadenz_version", "6.19.7"),
    "guest kernel": lambda document: document.enter_condition(
        ConditionEntry(kind="guest kernel", value="linux 6.19.7", label="kernel 6.19.7")
    ),
    "day": lambda document: setattr(document, "created", "2027-06-19T07:00:00Z"),
}


def cyclic(parent: Path, name: str, renew: Callable[[Manifest], None], *, whole: bool) -> Path:
    """Two benchmarks with lanes and parameters; if not `whole`, a partial run lacks one of them."""
    rng = np.random.default_rng(len(name))
    lanes = {f"core{i}": nanoseconds(3000 + i, 4000, rng) for i in (0, 1)}
    points = [
        Point("cyclic/x", lanes, {"period_us": 1000}),
        Point("itc/mutex", {"all": nanoseconds(3000, 4000, rng)}, {"size_bytes": 4}),
    ]
    document = manifest(LINUX, id=name)
    document.enter_condition(ConditionEntry(kind="guest kernel", value="linux 6.18", label="6.18"))
    document.partial, document.partial_reason = not whole, "" if whole else "interrupted"
    renew(document)
    return write_run(parent, document, points[: 1 + whole])


def cases_of(junit: Path) -> list[tuple[str, str]]:
    root = ET.parse(junit).getroot()
    check_schema(root)
    cases = [(case.attrib["classname"], case.attrib["name"]) for case in root.iter("testcase")]
    assert len(set(cases)) == len(cases)
    return [(suite.attrib["name"], "") for suite in root] + cases


@pytest.mark.parametrize("what", RENEWED)
@pytest.mark.parametrize("whole", [True, False])
def test_a_test_keeps_its_name_over_a_new_version(tmp_path: Path, what: str, whole: bool) -> None:
    base = cyclic(tmp_path, "20260101-1", lambda _: None, whole=True)
    names = []
    for name, renew in (("20260101-2", lambda _: None), ("20270619-0700", RENEWED[what])):
        run, file = cyclic(tmp_path, name, renew, whole=whole), tmp_path / f"{name}.xml"
        limits = ["--limit", "cyclic/x max < 1ms", "--limit", "cyclic/x max < 10s"]
        tolerance = "5%" if name.endswith("2") else "7%"
        call(*against(base, "gate", run, *limits, "--max-worse", tolerance, "--junit", file))
        call("gate", run, "--limit", "itc/mutex median < 1ms", "--junit", file.with_suffix(".2"))
        also = file.with_suffix(".2")
        names.append([*cases_of(file), *(cases_of(also) if also.exists() else [])])
    assert names[0] == names[1]
    assert not [name for pair in names[1] for name in pair if re.search(r"6\.1|2027|%", name)]
    for properties in ET.parse(file).getroot().iter("properties"):
        told = {entry.get("name"): entry.get("value") for entry in properties}
        assert told["run"] == "20270619-0700" and "6." in str(told["kernel"])


def test_times_are_those_of_the_measurement(tmp_path: Path) -> None:
    base, run = run_of(tmp_path, 3000), run_of(tmp_path, 4000, 2)
    change(run, lambda document: setattr(document.records[0], "duration_s", 2.25))
    change(run, lambda document: setattr(document.records[1], "duration_s", None))  # from the store
    change(run, lambda document: setattr(document, "duration_s", 1_234.5))
    limit = ["--limit", "itc/mutex max < 10s"]
    assert code(*against(base, "gate", run, "--junit", tmp_path / "gate.xml", *limit)) == 3
    root = ET.parse(tmp_path / "gate.xml").getroot()
    (suite,) = root
    times = {case.get("classname", "")[-9:]: case.get("time") for case in suite.iter("testcase")}
    assert times == {"itc/mutex": "2.250", ".itc/pipe": "0.000"}
    assert suite.get("time") == root.get("time") == "1234.500"
    assert suite.get("timestamp") == "2026-11-21T10:30:00"


@pytest.mark.parametrize("state", ["missing", "empty", "archive", "label"])
def test_the_first_gate_has_no_baseline_and_says_how_to_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_of(tmp_path / "new", 3000)
    arguments = ["itc/mutex", "--output", "new", "--report=a.html", "--target", "posix/linux@host"]
    change(
        run, lambda document: setattr(document, "call", CallEntry(arguments=arguments, folder="/"))
    )
    (tmp_path / "base").mkdir()
    name = {"missing": "nowhere", "empty": "base"}.get(state, "archive:main")
    if state == "label":
        add(open_archive("archive", create=True), read_run(run), label="other")
    out = ["--junit", "gate.xml", "--summary", "summary.md"]
    answer = call("gate", "new", "--against", name, *out)
    assert answer.return_value == 4, answer.exception
    says = f"kadenz run itc/mutex --target posix/linux@host --output {name}"
    if name.startswith("archive:"):
        says = "kadenz archive add RUN --label main"
    for text in (answer.output, Path("summary.md").read_text(), Path("gate.xml").read_text()):
        assert says in " ".join(text.split())
    assert cases_of(Path("gate.xml"))[1:] == [("kadenz gate", f"a baseline {name}")]
    limits = [("itc/mutex max < 10s", 4), ("itc/mutex max < 1ns", 3)]
    for limit, wanted in limits:
        assert call("gate", "new", "--against", name, "--limit", limit).return_value == wanted


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
    document = manifest(LINUX, settings={"tick_rate_hz": "250", "flags": "a|b"})
    rng = np.random.default_rng(2)
    other = write_run(tmp_path, document, [Point("itc/pipe", {"all": nanoseconds(5000, 60, rng)})])
    summary = tmp_path / "summary.md"
    result = call(*against(base, "gate", other, "--summary", summary))
    for text in (result.stdout, summary.read_text()):
        assert 0 < text.index("tick_rate_hz") < text.index("itc/mutex")
    assert "a\\|b" in summary.read_text()


def test_json_agrees_with_the_exit_code(tmp_path: Path) -> None:
    run = run_of(tmp_path, 3000)
    result = call("gate", run, "--limit", "itc/mutex p99 < 1us", "--json")
    document = json.loads(result.stdout)
    assert (document["outcome"], document["exit_code"], result.return_value) == ("fail", 3, 3)
    (check,) = document["checks"]
    assert check["clock_class"] == "hosted" and check["found"].startswith("4.0")


def test_a_single_difference_may_be_insignificant_among_many(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    series = [nanoseconds(30_000, 300, rng) for _ in range(12)]
    moved = [np.asarray(series[0] * 1.03), *series[1:]]  # 2.4 standard errors
    sides = [
        write_run(
            tmp_path,
            manifest(LINUX),
            [
                Point(f"itc/p{i}", {"all": values.astype(np.uint32)})
                for i, values in enumerate(side)
            ],
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
