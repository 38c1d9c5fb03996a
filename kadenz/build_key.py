# SPDX-License-Identifier: Apache-2.0
"""What decides a compilation besides its sources and options: tools by content, and variables."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

# Programs that GCC and Clang start, and the plugin that GNU ld loads.
_PROGRAMS = ("cc1", "cc1plus", "collect2", "lto-wrapper", "lto1", "as", "ld")
_FILES = ("liblto_plugin.so", "specs")
# GCC manual, "Environment Variables"; ld manual, "Environment"; cmake-env-variables(7); cargo and
# the crate cc. Ninja compiles: make's own flags decide nothing. Where a tool or a package is
# (CARGO_HOME, PYENV_ROOT) decides nothing either: tools count by content.
_VARIABLES = re.compile(
    r"(?!(GNU)?MAKEFLAGS$|MFLAGS$|CMAKE_(BUILD_PARALLEL_LEVEL|COLOR_DIAGNOSTICS)$)"
    r"(.*FLAGS(_.*)?|(.*_)?(CC|CXX|AR|AS|ASM|LD|NM|RANLIB|OBJCOPY|RUSTC)(_.*)?"
    r"|C_?PATH|(.*_)?INCLUDE_PATH|COMPILER_PATH|LIBRARY_PATH|LD_RUN_PATH|GCC_(EXEC|COMPARE)_.*"
    r"|COLLECT_.*|CCC_.*|GNUTARGET|LDEMULATION|DEPENDENCIES_OUTPUT|SUNPRO_DEPENDENCIES"
    r"|SOURCE_DATE_EPOCH|SDKROOT|DESTDIR|CMAKE_.*|CARGO_(BUILD|PROFILE)_.*|RUSTUP_TOOLCHAIN)"
)


def tools(programs: Iterable[str | Path]) -> dict[str, str]:
    """The digests of `programs` and of all that the compilers among them start, by their names.

    A program that is not there is left out: starting it fails.
    """
    digests: dict[str, str] = {}
    for program in programs:
        whole = shutil.which(str(program))
        if whole is None:
            continue
        digests[whole] = _digest(Path(whole).resolve())
        if re.search(r"(gcc|clang|cc)(-[\d.]+)?$", whole):
            digests |= {str(file): _digest(file) for file in _started_by(whole)}
        if whole.endswith("rustc"):  # rustup's program is the same for every version
            digests["rustc -vV"] = _answer(whole, "-vV")
    return digests


def variables(environ: Mapping[str, str], others: Iterable[str] = ()) -> dict[str, str]:
    """Variables that a compiler, a linker, CMake or cargo reads, and `others`, where they are set
    to something."""
    named = set(others)
    return {
        name: value
        for name, value in sorted(environ.items())
        if value and (_VARIABLES.fullmatch(name) or name in named)
    }


@cache
def _started_by(compiler: str) -> list[Path]:
    asked = [f"-print-prog-name={name}" for name in _PROGRAMS]
    asked += [f"-print-file-name={name}" for name in _FILES]
    places = [_answer(compiler, question) for question in asked]
    files = [Path(shutil.which(place) or place).resolve() for place in places if place]
    return [file for file in dict.fromkeys(files) if file.is_file()]


def _answer(compiler: str, question: str) -> str:
    try:
        answer = subprocess.run([compiler, question], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return answer.stdout.strip()


def _digest(file: Path) -> str:
    state = file.stat()
    return _digest_of(file, state.st_ino, state.st_size, state.st_ctime_ns)


@cache
def _digest_of(file: Path, *_state: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
