# SPDX-License-Identifier: Apache-2.0
"""Rules of the house that a reader relies on: sizes, licenses, a quick command line."""

from __future__ import annotations

import ast
import os
import re
import resource
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.c_functions import definitions

ROOT = Path(__file__).resolve().parents[2]
LINES = 600
PORT_LINES = 400
FUNCTION_LINES = 60
DOCSTRING_WORDS = 4  # of a docstring, at least
PARAMETERS = 7
C_SOURCE = {".c", ".h", ".cpp", ".hpp"}
# Grammar, no nouns of the field; also with underscores or capitals: `_Found`, `_OWN`.
NO_NAMES = {"found", "one", "words", "own", "made"}
OTHERS = ("tx_",)  # names of another interface, whose signatures are its own
# Data and generated files, which are not read from top to bottom.
NO_SOURCE = {".lock", ".csv", ".json", ".svg", ".png", ".npy", ".bin", ".kdz", ".txt"}
SOURCE = {".py", ".c", ".h", ".S", ".cc", ".cpp", ".hpp", ".rs", ".sh", ".cmake", ".ld"}
# Packages that take long to import and that `kadenz --help` has no use for.
HEAVY = ("numpy", "scipy", "jinja2", "msgspec", "rich", "elftools", "qemu", "serial")
# Seen: 2.3 times the start of bare Python; 4.5 with rich, 7.3 with numpy.
MOST_STARTS = 4


def tracked() -> list[Path]:
    """Files of the repository; without git (an unpacked archive) all below the known folders."""
    answer = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [ROOT / line for line in answer.stdout.splitlines()]
    return [file for file in files if file.is_file()]


def test_no_file_is_longer_than_one_can_read() -> None:
    long = []
    for file in tracked():
        if file.suffix in NO_SOURCE or file.name in {"LICENSE", "COPYING"}:
            continue
        count = len(file.read_bytes().splitlines())
        limit = PORT_LINES if file.relative_to(ROOT).parts[0] in {"kernels", "boards"} else LINES
        if count > limit:
            long.append(f"{file.relative_to(ROOT)}: {count} lines, {limit} are allowed")
    assert long == []


def test_a_docstring_says_more_than_a_name() -> None:
    """One of three words repeats the name, or is understood by its author alone."""
    short = [
        f"{file.relative_to(ROOT)}: {getattr(node, 'name', 'the module')}: {text}"
        for file in sorted((ROOT / "kadenz").rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
        and (text := ast.get_docstring(node))
        and len(text.split()) < DOCSTRING_WORDS
    ]
    assert short == []


def test_every_source_file_names_its_license() -> None:
    missing = []
    for file in tracked():
        if file.suffix not in SOURCE and file.name != "CMakeLists.txt":
            continue
        head = file.read_text().split("\n", 5)[:5]
        if file.name == "__init__.py" and not file.read_text().strip():
            continue  # nothing is there to be licensed
        if not any("SPDX-License-Identifier:" in line for line in head):
            missing.append(str(file.relative_to(ROOT)))
    assert missing == []


def test_only_the_scope_and_the_kernel_module_are_under_another_license() -> None:
    """A QEMU plugin is a derived work of QEMU, a module one of Linux; nothing else here is."""
    other = {
        str(file.relative_to(ROOT).parent).removesuffix("/include")
        for file in tracked()
        if file.suffix in SOURCE
        and "SPDX-License-Identifier: GPL" in "\n".join(file.read_text().split("\n", 5)[:5])
    }
    assert other == {
        "instruments/calls",
        "instruments/scope",
        "instruments/tap",
        "kernels/linux/disturbance",
    }


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from kadenz.cli import cli\n"
        "cli.main(['--help'], standalone_mode=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "doctor" in answer.stdout
    assert answer.stderr.strip() == "[]"


@pytest.mark.machine
def test_help_starts_nearly_as_fast_as_python_itself() -> None:
    """As a ratio of processor time, interleaved, best of ten: others may use this machine too."""

    def start(*arguments: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *arguments],
            stdout=subprocess.DEVNULL,
            check=True,
            env=dict(os.environ),
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    help_ = "from kadenz.cli import cli; cli.main(['--help'], standalone_mode=False)"
    pairs = [(start("-c", "pass"), start("-c", help_)) for _ in range(10)]
    bare, ours = (min(column) for column in zip(*pairs, strict=True))
    assert ours < MOST_STARTS * bare, f"{ours * 1000:.0f} ms against {bare * 1000:.0f} ms"


def test_unsafe_rust_is_in_one_crate_and_one_bridge() -> None:
    """docs/decisions/0035: the compiler enforces each lint, this test that each crate has it."""
    lints = {}
    for file in tracked():
        if file.name == "Cargo.toml" and file.parent.parent == ROOT / "fieldbus":
            rust = tomllib.loads(file.read_text())["lints"]["rust"]
            lints[file.parent.name] = rust.get("unsafe_code")
    assert lints.pop("rt") is None
    assert lints.pop("kadenz-dynamics") == "deny"
    assert lints and set(lints.values()) == {"forbid"}
    crates = [ROOT / "suite/rust/Cargo.toml", *(ROOT / "kernels").glob("*/Cargo.toml")]
    assert len(crates) > 3
    for crate in crates:
        manifest = tomllib.loads(crate.read_text())
        assert manifest["lints"]["rust"]["unsafe_code"] == "deny"
    allowing = [
        str(file.relative_to(ROOT))
        for file in tracked()
        if file.suffix == ".rs" and "allow(unsafe_code)" in file.read_text()
    ]
    # Beside the bridge: the suite's ABI, and the machine under each kernel in Rust.
    assert allowing == [
        "fieldbus/kadenz-dynamics/src/bridge.rs",
        *sorted(f"{crate.parent.relative_to(ROOT)}/src/machine.rs" for crate in crates[1:]),
        "suite/rust/src/abi.rs",
    ]


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for file in tracked():
        if file.suffix == ".py":
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield file, node


def height(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def test_a_function_is_short_and_takes_few_parameters() -> None:
    """Lines without docstring; parameters without options: those of a command, and those that are
    passed by name and have a default."""
    long = []
    for file, node in functions():
        lines = height(node) - (height(node.body[0]) if ast.get_docstring(node) else 0)
        named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        asked = [parameter for parameter, default in named if default is None]
        every = [*node.args.posonlyargs, *node.args.args, *asked]
        count = len([parameter for parameter in every if parameter.arg not in {"self", "cls"}])
        command = any("command" in ast.unparse(decorator) for decorator in node.decorator_list)
        where = f"{file.relative_to(ROOT)}:{node.lineno}: {node.name}"
        if lines > FUNCTION_LINES:
            long.append(f"{where} has {lines} lines, {FUNCTION_LINES} are allowed")
        if count > PARAMETERS and not command:
            long.append(f"{where} takes {count} parameters, {PARAMETERS} are allowed")
    assert long == []


def test_a_c_function_is_short_and_takes_few_parameters() -> None:
    """Lines with the signature; C++ as well."""
    long = []
    for file in tracked():
        if file.suffix not in C_SOURCE:
            continue
        for function in definitions(file.read_text()):
            where = f"{file.relative_to(ROOT)}:{function.line}: {function.name}"
            if function.lines > FUNCTION_LINES:
                long.append(f"{where} has {function.lines} lines, {FUNCTION_LINES} are allowed")
            if function.parameters > PARAMETERS and not function.name.startswith(OTHERS):
                long.append(
                    f"{where} takes {function.parameters} parameters, {PARAMETERS} are allowed"
                )
    assert long == []


def test_a_function_of_c_is_found_with_its_size() -> None:
    text = """\
static const struct row rows[] = {
    {1, 2},
};

struct pair {
    int a, b;
};

uint32_t sum(const struct pair *pair,
             int (*add)(int, int))
{
    if (pair == NULL) {
        return 0;
    }
    return add(pair->a, pair->b);
}

Core::Core(std::map<int, int> words, int size)
    : words(words), size(size)
{
}

KDZ_BENCH(wake, "rhealstone/wake")
{
    stop();
}

int main(void)
{
}
"""
    sizes = [
        (function.name, function.line, function.lines, function.parameters)
        for function in definitions(text)
    ]
    assert sizes == [
        ("sum", 9, 8, 2),
        ("Core::Core", 18, 4, 2),
        ("KDZ_BENCH", 23, 4, 2),
        ("main", 28, 3, 0),
    ]


def test_every_crate_has_the_lints_of_size() -> None:
    """clippy.toml at the top has their limits; `make lint` runs clippy."""
    limits = tomllib.loads((ROOT / "clippy.toml").read_text())
    assert limits["too-many-lines-threshold"] == FUNCTION_LINES
    assert limits["too-many-arguments-threshold"] == PARAMETERS
    rust = [file for file in tracked() if file.suffix == ".rs"]
    sources = [file for file in rust if "fn " in file.read_text()]
    without = []
    for file in tracked():
        if file.name != "Cargo.toml" or not any(
            file.parent in source.parents for source in sources
        ):
            continue
        manifest = tomllib.loads(file.read_text())
        if "package" not in manifest:  # of the workspace
            continue
        lints = manifest.get("lints", {}).get("clippy", {})
        if not lints.get("too_many_lines") == lints.get("too_many_arguments") == "deny":
            without.append(str(file.relative_to(ROOT)))
    assert without == []


def test_no_string_shows_a_placeholder() -> None:
    """`f"{a}" "{b}"` prints the braces of the second part."""
    places = []
    for file in tracked():
        if file.suffix != ".py" or file.relative_to(ROOT).parts[0] != "kadenz":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.JoinedStr):
                continue
            texts = [part.value for part in node.values if isinstance(part, ast.Constant)]
            if any(re.search(r"\{[a-z_.]+\}", str(text)) for text in texts):
                places.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert places == []


def bound(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every name that a module gives, with its line: of variables, parameters, fields, functions,
    classes, imports and patterns."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                pass
            case ast.arg(arg=name) | ast.alias(asname=str(name)) | ast.alias(name=name):
                pass
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                pass
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                pass
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                pass
            case ast.MatchMapping(rest=str(name)):
                pass
            case _:
                continue
        yield node.lineno, name.rpartition(".")[2]


def test_a_name_says_what_it_holds() -> None:
    """Also of the modules. Files keep their keys: `field(name="words")` of msgspec."""
    files = [
        file for part in ("kadenz", "tests", "benchmarks") for file in (ROOT / part).rglob("*.py")
    ]
    empty = [str(file.relative_to(ROOT)) for file in files if file.stem in NO_NAMES]
    for file in files:
        empty += [
            f"{file.relative_to(ROOT)}:{line}: {name}"
            for line, name in bound(ast.parse(file.read_text()))
            if name.strip("_").lower() in NO_NAMES
        ]
    assert empty == []


def test_every_way_to_bind_a_name_is_seen() -> None:
    text = """\
import a.one, b as words
from c import found
class _Found:
    own: int
    def made(self, one, /, *words, found, **own): self._made = 1
async def found(): return [one for one in a]
try: (words, *own), a.b[made] = 1, lambda made: made
except E as one:
    with c as found: pass
for words in a: (own := 1)
match a:
    case {"b": 1, **made}: pass
    case [one, *words] | B() as found: pass
_OWN = own.words
"""
    names = sorted((line, name) for line, name in bound(ast.parse(text)) if name not in "abcself")
    assert names == [
        (1, "one"),
        (1, "words"),
        (2, "found"),
        (3, "_Found"),
        (4, "own"),
        (5, "_made"),
        (5, "found"),
        (5, "made"),
        (5, "one"),
        (5, "own"),
        (5, "words"),
        (6, "found"),
        (6, "one"),
        (7, "made"),
        (7, "own"),
        (7, "words"),
        (8, "one"),
        (9, "found"),
        (10, "own"),
        (10, "words"),
        (12, "made"),
        (13, "found"),
        (13, "one"),
        (13, "words"),
        (14, "_OWN"),
    ]
