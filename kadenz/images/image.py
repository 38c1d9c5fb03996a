# SPDX-License-Identifier: Apache-2.0
"""The image of a target: configured and compiled by CMake and Ninja, quietly, only what changed."""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.board import Board
from kadenz.config.kernel import Kernel
from kadenz.config.manifest import BuildEntry
from kadenz.config.target_name import TargetName
from kadenz.elf import Elf
from kadenz.errors import BuildFailed, UsageError
from kadenz.images.program import build_program
from kadenz.images.provenance import Contents, Tree, parts, read_by_ninja
from kadenz.images.source import Source, kernel_source

PROGRAM = "kadenz-suite"  # the CMake target, and the name of its file
# Flags that place a file on this machine, and so say nothing about the code that came out.
_PLACES = re.compile(r"^(-I|-isystem|-o|-c|-MD|-MT|-MF|-fdebug-prefix-map|-ffile-prefix-map)")
_NINJA = re.compile(r"\[\d+/\d+\] |FAILED: |ninja: ")
_TAKES_VALUE = {"-o", "-c", "-MT", "-MF", "-isystem", "-I"}


@dataclass(frozen=True)
class Image:
    """A program that can run on a target, and how it was made."""

    elf: Elf
    folder: Path  # its build folder
    entry: BuildEntry


def build_image(
    target: TargetName,
    instrument: str,
    *,
    tree: Path | None = None,
    extra_bench: Sequence[Path] = (),
    jobs: int = 2,
) -> Image:
    """Builds the image of a target for one instrument; does nothing when it is up to date.

    `tree` replaces the kernel's own source; `extra_bench` are C files, or folders of them, of
    benchmarks outside the suite. Raises BuildFailed with the compiler's output, ToolMissing,
    UsageError.
    """
    kernel, board = inventory.kernel(target.kernel), inventory.board(target.board)
    source = kernel_source(target.kernel, kernel, tree)
    folder = _folder(target, instrument, source if tree else None, extra_bench)
    crate = board.tier.host.crate if target.tier == "host" and board.tier.host else ""
    if crate:
        if extra_bench:
            raise UsageError(f"{target} is no image of the suite", remedy="Leave --bench out")
        with locked(folder):
            elf, entry = build_program(crate)
            return Image(elf, folder, entry)
    options = _options(target, kernel, board, instrument, source, extra_bench)
    contents = Contents(folder)
    with locked(folder):
        _configure(folder, target, options)
        for program in _programs(folder):
            contents.forget_changed(program)
        _cmake(["--build", str(folder), "--parallel", str(jobs)], target, "compile")
        program = _program(folder, target)
        read = read_by_ninja(folder, program.name)
        contents.keep(read)
        entry = _describe(folder, program, source)
        entry.parts = parts(read, _trees(source, extra_bench))
        return Image(Elf(program), folder, entry)


def _trees(source: Source | None, extra: Sequence[Path]) -> list[Tree]:
    """Folders outside the checkout that parts of an image come from."""
    found = [Tree("kernel", source.folder)] if source else []
    # A file of a benchmark may include what stands beside it.
    return found + [Tree("extra benchmarks", f if f.is_dir() else f.parent) for f in extra]


def _folder(
    target: TargetName, instrument: str, source: Source | None, extra: Sequence[Path]
) -> Path:
    name = f"{_port(target)}-{target.board}-{instrument}"
    other = [str(source.folder)] if source else []
    other += [str(file.resolve()) for file in extra]
    if other:  # an image of its own beside the stock one
        name += "-" + hashlib.sha256("\n".join(other).encode()).hexdigest()[:8]
    return inventory.root() / "build" / name


def _options(
    target: TargetName,
    kernel: Kernel,
    board: Board,
    instrument: str,
    source: Source | None,
    extra: Sequence[Path],
) -> dict[str, str]:
    options = {
        "KDZ_KERNEL": _port(target),
        "KDZ_BOARD": target.board,
        "KDZ_INSTRUMENT": instrument,
        "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
    }
    toolchain = inventory.toolchain(target.board, board.arch)
    require_compiler(target.board)
    if toolchain is not None:  # none: the compiler of this machine
        options["CMAKE_TOOLCHAIN_FILE"] = str(toolchain)
    if source:
        options["KDZ_KERNEL_SOURCE"] = str(source.folder)
    for file in extra:
        if not file.exists():
            raise UsageError(f"--bench {file}: no such file or folder", remedy="Check the name")
    if extra:
        options["KDZ_EXTRA_BENCH"] = ";".join(str(file.resolve()) for file in extra)
    return options


def require_compiler(board: str) -> Path:
    """The board's compiler, or ToolMissing with its remedy, before CMake says so in fifty lines."""
    from kadenz import tools

    name = inventory.compiler(board, inventory.board(board).arch)
    if name in {need.name for need in tools.NEEDS}:
        return tools.require(name)
    return Path(name)


def _port(target: TargetName) -> str:
    """The folder of kernels/ whose code calls the target's kernel."""
    return inventory.kernel(target.kernel).port or target.kernel


def _configure(folder: Path, target: TargetName, options: dict[str, str]) -> None:
    """Runs CMake's first step unless this folder was configured with the same options."""
    tool_chain = options.get("CMAKE_TOOLCHAIN_FILE", "")
    text = Path(tool_chain).read_text() if tool_chain else ""
    wanted = json.dumps([options, text], sort_keys=True)
    stamp = folder / "kadenz-options.json"
    if stamp.is_file() and stamp.read_text() == wanted and (folder / "build.ninja").is_file():
        return
    (folder / "CMakeCache.txt").unlink(missing_ok=True)  # it remembers another tool chain
    defines = [f"-D{key}={value}" for key, value in options.items()]
    suite = str(inventory.root() / "suite")
    _cmake(["-S", suite, "-B", str(folder), "-G", "Ninja", *defines], target, "configure")
    stamp.write_text(wanted)


def _cmake(arguments: list[str], target: TargetName, step: str) -> None:
    from kadenz.tools import require

    require("ninja")
    answer = subprocess.run(
        [str(require("cmake")), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if answer.returncode == 0:
        return
    raise BuildFailed(
        f"{target}: the suite does not {step}",
        remedy="The compiler's messages are above; with your own kernel tree, check its version",
        detail=compiler_messages(answer.stdout, 60),
    )


def compiler_messages(text: str, count: int) -> str:
    """The last `count` lines of a build's output, without the lines that ninja adds.

    Ninja prints a line for each step, the command that failed and its own end.
    """
    lines = [line for line in text.rstrip().splitlines() if not _NINJA.match(line)]
    return "\n".join([line for line in lines if len(line) < 500][-count:])


def _programs(folder: Path) -> list[Path]:
    """The suite's program: none before it is built."""
    return [folder / name for name in (PROGRAM, f"{PROGRAM}.elf") if (folder / name).is_file()]


def _program(folder: Path, target: TargetName) -> Path:
    for program in _programs(folder):
        return program
    raise BuildFailed(
        f"{target}: {folder} has no {PROGRAM} after the build",
        remedy="Remove that folder and run again",
    )


def _describe(folder: Path, program: Path, source: Source | None) -> BuildEntry:
    elf = Elf(program)
    commands = json.loads((folder / "compile_commands.json").read_text())
    compiler = _compiler(commands)
    sizes = elf.sizes
    return BuildEntry(
        compiler=Path(compiler).name,
        compiler_version=_compiler_version(compiler),
        flags=_flags(commands),
        elf_sha256=elf.sha256,
        text_bytes=sizes.text,
        data_bytes=sizes.data,
        bss_bytes=sizes.bss,
        kernel_source=source.title if source else "",
    )


def _compiler(commands: list[dict[str, str]]) -> str:
    """The program that compiled the first C file, as CMake called it."""
    return shlex.split(next(c["command"] for c in commands if c["file"].endswith(".c")))[0]


def _compiler_version(compiler: str) -> str:
    try:
        answer = subprocess.run(
            [compiler, "--version"], capture_output=True, text=True, check=False
        )
    except OSError:
        return "unknown"
    return answer.stdout.splitlines()[0].strip() if answer.stdout else "unknown"


def _flags(commands: list[dict[str, str]]) -> str:
    """What benchmarks were compiled with; another set, if the kernel has one, stands behind it."""
    sets: dict[str, str] = {}
    root = f"{inventory.root()}/"
    for command in commands:
        file = command["file"]
        if not file.endswith(".c"):
            continue
        part = "benchmarks" if "/suite/bench/" in file else "other"
        if part not in sets:
            sets[part] = _plain_flags(command["command"], root)
    bench, other = sets.get("benchmarks", ""), sets.get("other", "")
    if bench and other and other != bench:
        return f"{bench} [rest: {other}]"
    return bench or other


def _plain_flags(command: str, root: str) -> str:
    words = iter(shlex.split(command)[1:])
    kept = []
    for word in words:
        if word in _TAKES_VALUE:
            next(words, None)
        elif word.startswith("-") and not _PLACES.match(word):
            kept.append(word.replace(root, ""))
    return " ".join(kept)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One build at a time in a folder; another kadenz waits."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
