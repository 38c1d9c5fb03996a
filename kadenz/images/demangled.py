# SPDX-License-Identifier: Apache-2.0
"""Names of C++ and Rust as their sources have them, by the tool chain's `c++filt`."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from kadenz.errors import ToolMissing
from kadenz.images.code import objdump

_TIMEOUT_S = 60.0


def demangled(names: Sequence[str], board: str) -> list[str]:
    """Each name, or the same where it is not mangled. All stay as they are if the tool chain of the
    board has no `c++filt`."""
    if not any(name.startswith("_") for name in names):
        return list(names)
    try:
        disassembler = objdump(board)
    except ToolMissing:
        return list(names)
    tool = disassembler.with_name(disassembler.name.replace("objdump", "c++filt"))
    try:
        answer = subprocess.run(
            [str(tool)],
            input="\n".join(names),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return list(names)
    lines = answer.stdout.splitlines()
    return lines if answer.returncode == 0 and len(lines) == len(names) else list(names)


def without_arguments(name: str) -> str:
    """A demangled name without its arguments and Rust's hash: "ns::filter(int)" is "ns::filter"."""
    plain, depth = [], 0
    for letter in name.removesuffix(" const"):
        depth += letter == "("
        if not depth:
            plain.append(letter)
        depth -= letter == ")"
    text = "".join(plain).strip()
    head, _, last = text.rpartition("::")
    is_hash = len(last) == 17 and last[0] == "h" and all(c in "0123456789abcdef" for c in last[1:])
    return head if is_hash else text
