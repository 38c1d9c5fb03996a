# SPDX-License-Identifier: Apache-2.0
"""A test that this machine could fail says so: it has the marker `machine`.

What a test calls tells: a wait of fixed length, a limit of seconds, a clock in an assertion, or a
measurement of this Linux in real time. `make test` runs none of the tests with that marker.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_house_rules import ROOT, tracked
from tests.waiting import PATIENCE_S

SHORTEST_S = 60.0  # of a limit that a busy machine does not reach
CLOCKS = re.compile(r"\btime\.(monotonic|perf_counter|time)(_ns)?\(|\.elapsed\b")
WAITS = ("wait", "communicate", "join", "acquire")
LIMITS = ("timeout", "timeout_s")
COMMANDS = ("kadenz", "start")  # functions that call the program
THIS_LINUX = re.compile(r"@host\b|\bLINUX\b")
NO_RIGHTS = "no-realtime"
# What these wait for is no event of the test: (file, words of the call), reason.
EXCUSED = {
    ("tests/lab/test_alone.py", "time.sleep(0.5)"): "proves that nothing happens in this time",
    ("tests/lab/test_boot.py", "time.sleep(0.2)"): "comes before or after, and both are right",
    ("tests/lab/fake.py", "time.sleep"): "a target that is silent on purpose",
    ("tests/board/bench.py", "time.sleep"): "of the bench of a board, between two looks",
    ("tests/board/test_faults.py", "serial.Serial"): "a read that may find nothing",
    ("tests/board/test_network_line.py", "Pty"): "a read that may find nothing",
    ("tests/board/test_openocd.py", "timeout_s=30.0"): "the target is dead on purpose",
    ("tests/lab/test_measure.py", "timeout_s=0.1"): "the target is silent on purpose",
}


def suspects(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Calls and assertions that a slow machine may fail, outside tests with the marker."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def above(node: ast.AST) -> Iterator[ast.AST]:
        while node in parents:
            node = parents[node]
            yield node

    if any(is_marked(node) for node in tree.body):
        return
    for node in ast.walk(tree):
        around = list(above(node))
        if any(marked(outer) for outer in around):
            continue
        polls = any(isinstance(outer, ast.While) for outer in around)
        if isinstance(node, ast.Call) and (may_fail(node) and not (polls and is_sleep(node))):
            yield node, ast.unparse(node)
        if isinstance(node, ast.Assert) and not polls and CLOCKS.search(ast.unparse(node)):
            yield node, ast.unparse(node)


def is_marked(node: ast.AST) -> bool:
    """`pytestmark = pytest.mark.machine`, or a list with it."""
    return (
        isinstance(node, ast.Assign)
        and "pytestmark = " in (text := ast.unparse(node))
        and "pytest.mark.machine" in text
    )


def marked(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return False
    return any("pytest.mark.machine" in ast.unparse(decorator) for decorator in node.decorator_list)


def is_sleep(call: ast.Call) -> bool:
    return ast.unparse(call.func) == "time.sleep"


def may_fail(call: ast.Call) -> bool:
    if is_sleep(call) or measures_this_linux(call):
        return True
    limits = [word.value for word in call.keywords if word.arg in LIMITS]
    if isinstance(call.func, ast.Attribute) and call.func.attr in WAITS:
        limits += call.args[-1:]
    return any(is_short(limit) for limit in limits)


def measures_this_linux(call: ast.Call) -> bool:
    """A run of this Linux that asks for real time, and so for the right to it."""
    if ast.unparse(call.func) not in COMMANDS:
        return False
    arguments = " ".join(map(ast.unparse, call.args))
    return (
        "'run'" in arguments and bool(THIS_LINUX.search(arguments)) and NO_RIGHTS not in arguments
    )


def is_short(limit: ast.expr) -> bool:
    value = limit.value if isinstance(limit, ast.Constant) else None
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < SHORTEST_S


def found_in(file: Path, text: str) -> list[str]:
    name = str(file)
    return [
        f"{name}:{getattr(node, 'lineno', 0)}: {call}"
        for node, call in suspects(ast.parse(text))
        if not any(name == where and part in call for where, part in EXCUSED)
    ]


def test_what_a_slow_machine_could_fail_has_the_marker() -> None:
    files = [file for file in tracked() if file.suffix == ".py" and "tests" in file.parts]
    unmarked = [
        line for file in files for line in found_in(file.relative_to(ROOT), file.read_text())
    ]
    assert unmarked == [], "Wait for an event (tests/waiting.py), or mark it `machine`"


def test_every_excuse_is_needed() -> None:
    for name, part in EXCUSED:
        text = (ROOT / name).read_text()
        calls = [call for _, call in suspects(ast.parse(text))]
        assert any(part in call for call in calls), (name, part)


@pytest.mark.parametrize(
    ("body", "fails"),
    [
        ("time.sleep(0.3)", True),
        ("while not done(): time.sleep(0.01)", False),
        ("process.wait(20)", True),
        ("process.wait()", False),
        ("subprocess.run(['x'], timeout=30)", True),
        (f"process.communicate(timeout={PATIENCE_S})", False),
        ("assert time.monotonic() - begun < 5", True),
        ("kadenz('run', 'itc/pipe', '--target', LINUX)", True),
        ("kadenz('run', 'itc/pipe', '--target', LINUX, '--allow', 'no-realtime')", False),
    ],
)
def test_the_rule_knows_what_a_slow_machine_fails(body: str, fails: bool) -> None:
    free = f"def test_it():\n    {body}\n"
    assert bool(found_in(Path("tests/x.py"), free)) == fails
    assert not found_in(Path("tests/x.py"), f"@pytest.mark.machine\n{free}")
    assert not found_in(Path("tests/x.py"), f"pytestmark = pytest.mark.machine\n{free}")
