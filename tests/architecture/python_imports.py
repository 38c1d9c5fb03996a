# SPDX-License-Identifier: Apache-2.0
"""What each module of kadenz/ imports of kadenz/, read from its syntax tree."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

# Who may import whom (ARCHITECTURE.md). "part" allows all of it, "part.module" one module.
# Measuring: cli -> {farm, capture, bounds, counting, watching} -> lab -> {images, targets, store,
#            load, tuning, host} -> {wire, config} -> errors; recordings -> {watching, capture}.
# Reading:   cli -> report -> archive -> analysis -> {store, stats}.
# Both share the manifest, config.manifest, which describes a run folder, config.params: parameters
# of a point, config.quantity: how a person writes a deadline or a limit, and config.task_set: tasks
# with deadlines, which are measured and analysed. No arrow goes sideways: what two neighbours need
# lies below them (tools: where compilers and emulators are; elf: the symbols of an image;
# build_key: what decides a compilation besides sources; machine_files: /proc and /sys below a root;
# ftrace: events of Linux's trace;
# regular_files: files that others wrote; json_text: their JSON; user_cache: where private tools
# are; visible_text: text of others; discovery: modules of a package; owner: whose a folder is;
# blas: its threads; side_by_side: work on every processor; values: executions that files alone
# decide).
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "user_cache": {"owner", "errors"},
    "tools": {"user_cache", "errors"},
    "elf": {"regular_files", "errors"},
    "build_key": set(),
    "machine_files": set(),
    "ftrace": set(),
    "json_text": set(),
    "regular_files": set(),
    "visible_text": set(),
    "discovery": set(),
    "owner": set(),
    "blas": set(),
    "side_by_side": set(),
    "config": {"owner", "regular_files", "user_cache", "errors"},
    "wire": {"config", "errors"},
    "store": {
        "config.bounds",
        "config.manifest",
        "config.profile",
        "config.timeline",
        "owner",
        "json_text",
        "regular_files",
        "errors",
    },
    "images": {
        "config",
        "tools",
        "user_cache",
        "elf",
        "build_key",
        "json_text",
        "regular_files",
        "errors",
    },
    "values": {"config.manifest", "user_cache", "owner", "json_text", "errors"},
    "targets": {
        "values",
        "wire",
        "config",
        "tools",
        "user_cache",
        "elf",
        "build_key",
        "owner",
        "blas",
        "regular_files",
        "errors",
    },
    "host": {"config", "machine_files", "json_text", "errors"},
    "load": {"config", "owner", "errors"},
    "tuning": {"config", "machine_files", "json_text", "errors"},
    "lab": {
        "discovery",
        "images",
        "targets",
        "host",
        "load",
        "tuning",
        "store",
        "values",
        "wire",
        "config",
        "tools",
        "elf",
        "json_text",
        "regular_files",
        "errors",
    },
    # What an image can do at most, without executing it.
    "bounds": {
        "images",
        "targets",
        "config",
        "tools",
        "elf",
        "build_key",
        "errors",
    },
    # Calls of functions in a firmware that knows nothing of kadenz.
    "counting": {
        "images",
        "targets",
        "values",
        "host",
        "store",
        "config",
        "elf",
        "regular_files",
        "errors",
    },
    # The periods of a program that knows nothing of kadenz, from the scheduler's events.
    "watching": {
        "images",
        "targets",
        "values",
        "host",
        "store",
        "stats",
        "config",
        "ftrace",
        "errors",
    },
    # Recordings of other tools, as the events of a watch.
    "recordings": {
        "watching",
        "capture",
        "ftrace",
        "regular_files",
        "errors",
    },
    # Products above a measurement; nothing below a command uses them.
    "capture": {
        "lab",
        "images",
        "host",
        "store",
        "wire",
        "config",
        "regular_files",
        "errors",
    },
    "farm": {
        "lab",
        "images",
        "targets",
        "host",
        "wire",
        "config",
        "elf",
        "errors",
    },
    "stats": set(),
    # Where the checkout keeps published/ is the only other thing it needs.
    "analysis": {
        "discovery",
        "store",
        "stats",
        "config.bounds",
        "config.clock_step",
        "config.manifest",
        "config.profile",
        "config.timeline",
        "config.quantity",
        "config.params",
        "config.task_set",
        "config.inventory",
        "ftrace",
        "regular_files",
        "side_by_side",
        "errors",
    },
    # Runs of years: rows of Parquet below the run folders' own reader.
    "archive": {
        "analysis",
        "stats",
        "store",
        "config.manifest",
        "config.params",
        "json_text",
        "regular_files",
        "owner",
        "errors",
    },
    "report": {
        "discovery",
        "archive",
        "analysis",
        "stats",
        "store",
        "config.manifest",
        "config.profile",
        "config.timeline",
        "config.quantity",
        "config.params",
        "owner",
        "visible_text",
        "errors",
    },
    # For notebooks: reading only.
    "api": {
        "analysis",
        "stats",
        "store",
        "config.lab_file",
        "config.manifest",
        "config.params",
        "errors",
    },
    "cli": {
        "farm",
        "capture",
        "bounds",
        "counting",
        "watching",
        "recordings",
        "lab",
        "targets",
        "host",
        "load",
        "tuning",
        "report",
        "archive",
        "analysis",
        "store",
        "values",
        "wire",
        "config",
        "ftrace",
        "tools",
        "blas",
        "owner",
        "regular_files",
        "visible_text",
        "errors",
    },
}


def imported(source: str) -> Iterator[str]:
    """Modules of kadenz that a source imports anywhere, without the leading "kadenz."."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            # `from kadenz.config import inventory` may name a module or something inside one.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("kadenz.") and name != "kadenz.__version__":
                yield name.removeprefix("kadenz.")


def forbidden(package: Path, arrows: dict[str, set[str]]) -> list[str]:
    """Imports below `package` that no arrow allows, as "file imports module"."""
    violations = []
    for file in sorted(package.rglob("*.py")):
        part = file.relative_to(package).parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        if part not in arrows:
            violations.append(f"{file}: the part `{part}` is not in the architecture")
            continue
        allowed = {part, *arrows[part]}
        violations += [
            f"{file} imports kadenz.{name}"
            for name in imported(file.read_text())
            if not any(name == root or name.startswith(f"{root}.") for root in allowed)
        ]
    return violations


def circle(package: Path) -> list[str]:
    """Modules that need each other at run time, wherever they import it; [] if there is none."""
    files = {_module(package, file): file for file in package.rglob("*.py")}
    needs: dict[str, set[str]] = {}
    for name, file in files.items():
        every = set(imported(_at_run_time(file.read_text())))
        needs[name] = {
            module
            for dotted in every
            for module in (dotted, dotted.rpartition(".")[0])
            if module in files and module != name and (module == dotted or dotted not in files)
        }
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def _module(package: Path, file: Path) -> str:
    return ".".join(file.relative_to(package).with_suffix("").parts).removesuffix(".__init__")


def _at_run_time(source: str) -> str:
    """The source without what only a type checker reads."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(body, list) and body:
                body[:] = [statement for statement in body if not _for_types(statement)] or [
                    ast.Pass()
                ]
    return ast.unparse(ast.fix_missing_locations(tree))


def _for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
