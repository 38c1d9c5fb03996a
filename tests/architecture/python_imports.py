# SPDX-License-Identifier: Apache-2.0
"""What each module of kadenz/ imports of kadenz/, read from its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

# Who may import whom (ARCHITECTURE.md). "part" allows all of it, "part.module" one module.
# Measuring: cli -> lab -> {build, target, store} -> {wire, config} -> errors.
# Reading:   cli -> report -> analysis -> {store, stats}.
# Both share the manifest, config.manifest, which describes a run folder, and config.quantity: how a
# person writes a deadline or a limit.
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "config": {"errors"},
    "wire": {"config", "errors"},
    "store": {"config.manifest", "errors"},
    # A builder starts tools, and a target looks into the ELF it runs: two modules of a neighbour,
    # which themselves import nothing of the other part.
    "build": {"config", "errors", "target.tools"},
    "target": {"wire", "config", "errors", "build.elf"},
    # What is varied around a benchmark: load, and the tuning of this machine.
    "condition": {"config", "errors"},
    "lab": {"build", "condition", "target", "store", "wire", "config", "errors"},
    "stats": set(),
    "analysis": {"store", "stats", "config.manifest", "config.quantity", "errors"},
    # Where the checkout keeps published/ is the only other thing it needs.
    "published": {"analysis", "config.manifest", "config.house", "errors"},
    "report": {
        "published",
        "analysis",
        "stats",
        "store",
        "config.manifest",
        "config.quantity",
        "errors",
    },
    "cli": {
        "lab",
        "condition",
        "target",
        "report",
        "analysis",
        "published",
        "store",
        "config",
        "wire",
        "errors",
    },
}


def imported(source: str) -> Iterator[str]:
    """Modules of kadenz that a source imports anywhere, without the leading "kadenz."."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            # `from kadenz.config import house` may name a module or something inside one.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("kadenz.") and name != "kadenz.__version__":
                yield name.removeprefix("kadenz.")


def forbidden(package: Path, arrows: dict[str, set[str]]) -> list[str]:
    """Imports below `package` that no arrow allows, as "file imports module"."""
    found = []
    for file in sorted(package.rglob("*.py")):
        part = file.relative_to(package).parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        if part not in arrows:
            found.append(f"{file}: the part `{part}` is not in the architecture")
            continue
        allowed = {part, *arrows[part]}
        found += [
            f"{file} imports kadenz.{name}"
            for name in imported(file.read_text())
            if not any(name == one or name.startswith(f"{one}.") for one in allowed)
        ]
    return found
