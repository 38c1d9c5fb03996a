# SPDX-License-Identifier: Apache-2.0
"""The image of a target: configured and compiled by CMake and Ninja, quietly and incrementally."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec

from kadenz import build_key
from kadenz.config import inventory
from kadenz.config.board import Board
from kadenz.config.manifest import BuildEntry
from kadenz.config.target_name import TargetName
from kadenz.elf import Elf
from kadenz.errors import BuildFailed, TargetFailed, UsageError
from kadenz.images import compiler_cache, shared_name
from kadenz.images.build_paths import check_paths
from kadenz.images.cross import cross
from kadenz.images.footprint import weights
from kadenz.images.private_copy import is_private_copy, private_copy
from kadenz.images.program import build_program
from kadenz.images.provenance import Contents, Tree, parts, read_by_ninja, sha256_of
from kadenz.images.seal import is_whole, seal
from kadenz.images.source import Source, kernel_source

PROGRAM = "kadenz-suite"  # name of the CMake target and of its file
# Flags that only name places on this machine and do not affect the code.
_PLACES = re.compile(r"^(-I|-isystem|-o|-c|-MD|-MT|-MF|-fdebug-prefix-map|-ffile-prefix-map)")
# Files that suite/kernel_folder.cmake writes into the build folder.
_FOLDERS, _REFUSED = "kadenz-kernel-folders.txt", "kadenz-refused.txt"
_KERNEL = "kernel"  # its folder there
_LOCK = ".lock"
# Options that name parts of the checkout, or of a lab.
_OURS = ("KDZ_KERNEL_DIR", "KDZ_BOARD_DIR", "CMAKE_TOOLCHAIN_FILE")
_NINJA = re.compile(r"\[\d+/\d+\] |FAILED: |ninja: ")
_UP_TO_DATE = "ninja: no work to do."
_TAKES_VALUE = {"-o", "-c", "-MT", "-MF", "-isystem", "-I"}


@dataclass(frozen=True)
class Image:
    """A program for a target, and how it was built."""

    elf: Elf  # under a name of its own: later builds do not change it
    folder: Path  # its build folder
    entry: BuildEntry
    # Folders outside the checkout with parts of it.
    trees: tuple[Tree, ...] = field(default=(), kw_only=True)
    # Other files that an execution starts, with their digests.
    others: Mapping[Path, str] = field(default_factory=dict, kw_only=True)

    def require_unchanged(self) -> None:
        """TargetFailed if a file that an execution starts is not the one that was described."""
        for file, digest in {self.elf.path: self.entry.elf_sha256, **self.others}.items():
            if sha256_of(file) != digest:
                raise TargetFailed(
                    f"{file} changed after its check", remedy="Do not rebuild it during a run"
                )


def build_image(
    target: TargetName,
    instrument: str,
    *,
    tree: Path | None = None,
    extra_bench: Sequence[Path] = (),
    isa: str = "",
    console: str = "",
    minimal: bool = False,
    jobs: int = 2,
) -> Image:
    """Builds the image of a target for one instrument, unless up to date.

    `tree` replaces the kernel's own source; `extra_bench` are C files, or folders of them, of
    benchmarks outside the suite; `isa` is one of the board's instruction sets, if not its first;
    `console` is a way of boards/console/ by which frames leave, if not the board's own; `minimal`
    has one periodic thread instead of the suite.
    Raises BuildFailed with the compiler's output, ToolMissing, UsageError.
    """
    if not target.kernel:
        raise UsageError(f"{target} names no kernel to build", remedy="Name it: kernel/board@tier")
    kernel, board = inventory.kernel(target.kernel), inventory.board(target.board)
    source = kernel_source(target.kernel, kernel, tree, cores=board.cores)
    extra = [*inventory.benches(), *extra_bench]
    folder = image_folder(target, instrument, tree, extra, isa, console, minimal=minimal)
    check_paths([folder, inventory.root()])
    crate = board.tier.crate(target.tier)
    if crate:
        if extra_bench:
            raise UsageError(f"{target} is not an image of the suite", remedy="Leave --bench out")
        with locked(folder):
            elf, entry = build_program(crate, cross(board, target.tier))
            return Image(Elf(private_copy(elf.path, folder)), folder, entry)
    options = _options(target, board, instrument, source, extra)
    chosen = {
        "KDZ_ISA": isa or "".join(board.instruction_sets[:1]),
        "KDZ_CONSOLE": console,
        "KDZ_MINIMAL": "ON" if minimal else "",
    }
    options |= {name: value for name, value in chosen.items() if value} | compiler_cache.options()
    contents = Contents(folder)
    with locked(folder) as lock:
        key = _key(options, target.board, source)
        _configure(folder, target, options, source, key)
        for program in _programs(folder):
            contents.forget_changed(program)
        build = ["--build", str(folder), "--parallel", str(jobs)]
        try:
            said = _cmake(folder, build, target, "compile")
        except BuildFailed:
            seal(folder)  # what does compile is kept
            raise
        program = _program(folder, target)
        read = contents.files() if _UP_TO_DATE in said else set()
        if not read:
            read = read_by_ninja(folder, program.name)
            contents.keep(read)
        seal(folder)
        copy = private_copy(program, folder)
        lock.share()
        entry = _describe(folder, copy, source)
        entry.flags += "".join(f" [{name}={value}]" for name, value in key.variables.items())
        trees = _trees(folder, source, extra)
        entry.parts = parts(read, trees, folder)
        weighed = weights(program, trees, kernel.objects)
        entry.footprint, entry.objects = weighed.footprint, weighed.objects
        return Image(Elf(copy), folder, entry, trees=tuple(trees))


def compile_commands(
    target: TargetName, tree: Path | None, folder: Path, instrument: str
) -> list[dict[str, str]]:
    """The commands that would compile the image: `file` and `command`. Nothing is compiled.

    `folder` is empty; CMake writes there. Raises as `build_image`.
    """
    check_paths([folder, inventory.root()])
    kernel, board = inventory.kernel(target.kernel), inventory.board(target.board)
    # A kernel with a build of its own brings itself; a tree for it is refused.
    given = tree is None and kernel.own_build
    source = None if given else kernel_source(target.kernel, kernel, tree, cores=board.cores)
    options = _options(target, board, instrument, source, inventory.benches())
    _configure(folder, target, options, source)
    return shared_name.compile_commands(folder)


def _trees(folder: Path, source: Source | None, extra: Sequence[Path]) -> list[Tree]:
    """Folders outside the checkout with parts of an image."""
    trees = [Tree("kernel", source.folder)] if source else []
    if source and source.target:  # its CMake project may take files from elsewhere
        listed = (folder / _FOLDERS).read_text().splitlines()
        trees += [Tree("kernel", Path(line)) for line in listed]
    # A benchmark's file may include files of its folder.
    return trees + [Tree("extra benchmarks", f if f.is_dir() else f.parent) for f in extra]


def image_folder(
    target: TargetName,
    instrument: str,
    tree: Path | None = None,
    extra: Sequence[Path] = (),
    isa: str = "",
    console: str = "",
    *,
    minimal: bool = False,
) -> Path:
    """The build folder of an image; may not exist yet. For the arguments see `build_image`."""
    name = f"{_port(target)}-{target.board}-{instrument}"
    if _map(target):
        name += f"-{_map(target)}"
    other = [str(tree.resolve())] if tree else []
    other += [str(file.resolve()) for file in extra]
    name += "".join(f"-{suffix}" for suffix in (isa, console, "minimal" * minimal) if suffix)
    if other:  # a separate image next to the stock one
        name += "-" + hashlib.sha256("\n".join(other).encode()).hexdigest()[:8]
    return inventory.build_folder() / name


def _options(
    target: TargetName,
    board: Board,
    instrument: str,
    source: Source | None,
    extra: Sequence[Path],
) -> dict[str, str]:
    kernel_folder = inventory.kernel_folder(_port(target))
    board_folder = inventory.board_folder(target.board)
    check_paths([kernel_folder, board_folder, *extra])
    if source:
        check_paths([source.folder, *source.include])
    options = {
        "KDZ_KERNEL": _port(target),
        "KDZ_BOARD": target.board,
        "KDZ_KERNEL_DIR": str(kernel_folder),
        "KDZ_BOARD_DIR": str(board_folder),
        "KDZ_INSTRUMENT": instrument,
        "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
    }
    toolchain = inventory.toolchain(target.board, board.arch)
    require_compiler(target.board)
    if _map(target):
        options["KDZ_BOARD_MAP"] = _map(target)
    if board.tier.rtl is not None:
        options["KDZ_TIMER_DIVIDER"] = str(board.tier.rtl.timer_divider)
    if toolchain is not None:  # none: the compiler of this machine
        options["CMAKE_TOOLCHAIN_FILE"] = str(toolchain)
    if inventory.in_rust(_port(target)):
        options["KDZ_RUSTC"] = str(_require("rustc"))
        _require("cargo")
    if source:
        options["KDZ_KERNEL_SOURCE"] = str(source.folder)
    if source and source.target:
        options["KDZ_KERNEL_TARGET"] = source.target
        options["KDZ_KERNEL_INCLUDE"] = ";".join(str(folder) for folder in source.include)
        options |= source.cache
    for kind, names in msgspec.structs.asdict(inventory.mechanisms()).items():
        if names:
            options[f"KDZ_LAB_{kind.upper()}"] = ";".join(names)
    for file in extra:
        if not file.exists():
            raise UsageError(f"--bench {file}: no such file or folder", remedy="Check the name")
    if extra:
        options["KDZ_EXTRA_BENCH"] = ";".join(str(file.resolve()) for file in extra)
    return options


def require_compiler(board: str) -> Path:
    """The board's compiler. Raises ToolMissing, instead of fifty lines of CMake output."""
    from kadenz import tools

    name = inventory.compiler(board, inventory.board(board).arch)
    if name in {need.name for need in tools.NEEDS}:
        return tools.require(name)
    return Path(name)


def _require(name: str) -> Path:
    from kadenz.tools import require

    return require(name)


def _map(target: TargetName) -> str:
    """The map that the target's image is linked for; empty: the board's own."""
    emulated = inventory.board(target.board).tier.emulated
    return emulated.map if target.tier == "emulated" and emulated is not None else ""


def _port(target: TargetName) -> str:
    """The folder of kernels/ with the port of the target's kernel."""
    return inventory.kernel(target.kernel).port or target.kernel


@dataclass(frozen=True)
class _Key:
    """What decides a build besides its sources and options."""

    tools: Mapping[str, str]
    variables: Mapping[str, str]


def _key(options: Mapping[str, str], board: str, source: Source | None) -> _Key:
    cross_compiled = "CMAKE_TOOLCHAIN_FILE" in options
    compilers = (
        [str(require_compiler(board))] if cross_compiled else [*_program_of("CC"), "cc", "gcc"]
    )
    rust = [options["KDZ_RUSTC"], "cargo"] if "KDZ_RUSTC" in options else []
    project = source.folder if source and source.target else None
    return _Key(
        build_key.tools([*compilers, *rust, "cmake", "ninja"]),
        build_key.variables(os.environ, _read_by(project) if project else ()),
    )


def _program_of(variable: str) -> list[str]:
    return shlex.split(os.environ.get(variable, ""))[:1]


def _read_by(project: Path) -> set[str]:
    """The variables that a CMake project reads by itself."""
    files = [*project.rglob("CMakeLists.txt"), *project.rglob("*.cmake")]
    return {
        name
        for file in files
        for name in re.findall(r"\$ENV\{(\w+)\}", file.read_text(errors="replace"))
    }


def _empty(folder: Path) -> None:
    """Removes what was built in a folder; not what executions may still start."""
    for entry in folder.iterdir():
        if entry.name == _LOCK or is_private_copy(entry):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _configure(
    folder: Path,
    target: TargetName,
    options: dict[str, str],
    source: Source | None,
    key: _Key | None = None,
) -> None:
    """Configures the folder with CMake, unless that was done with the same options and `key`.

    A folder that was configured otherwise is emptied: CMake and Ninja keep variables, and see no
    change of a tool. So is one with damaged files. None: the folder is empty.
    Raises UsageError if the kernel's own CMake project is not what `source` says.
    """
    home = shared_name.link(folder, keep=_LOCK)
    ours = {key: shared_name.below(home, options[key]) for key in _OURS if key in options}
    options = {**options, **ours}
    tool_chain = options.get("CMAKE_TOOLCHAIN_FILE", "")
    text = Path(tool_chain).read_text() if tool_chain else ""
    decides = [key.tools, key.variables] if key else []
    wanted = json.dumps([options, text, *decides], sort_keys=True)
    stamp = folder / shared_name.CONFIGURED
    configured = stamp.is_file() and stamp.read_bytes() == wanted.encode()
    if configured and is_whole(folder):
        return
    if key is not None:
        _empty(folder)
        shared_name.link(folder, keep=_LOCK)
    defines = [f"-D{key}={value}" for key, value in options.items()]
    try:
        _cmake(
            folder,
            ["-S", f"{home}/suite", "-B", str(folder), "-G", "Ninja", *defines],
            target,
            "configure",
        )
    except BuildFailed as failure:
        refused = folder / _REFUSED
        if source is None or not refused.is_file():
            raise
        reason = refused.read_text().strip()
        shutil.rmtree(folder)
        raise UsageError(
            f"{source.place}: {reason}",
            remedy=f"Pass a folder whose CMakeLists.txt builds the library `{source.target}`",
            detail=failure.detail,
        ) from None
    (folder / _REFUSED).unlink(missing_ok=True)
    stamp.write_text(wanted)


def _cmake(folder: Path, arguments: list[str], target: TargetName, step: str) -> str:
    """Runs CMake; returns what it printed. BuildFailed if it fails."""
    from kadenz.tools import require

    require("ninja")
    answer = subprocess.run(
        [str(require("cmake")), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        env=compiler_cache.environment(folder),
    )
    if answer.returncode == 0:
        return answer.stdout
    raise BuildFailed(
        f"{target}: the suite does not {step}",
        remedy="See the compiler's messages above; for your own kernel tree, check its version",
        detail=compiler_messages(answer.stdout, 60),
    )


def compiler_messages(text: str, count: int) -> str:
    """The last `count` lines of a build's output, without those of ninja.

    Ninja prints a line per step, the failed command, and its own end.
    """
    lines = [line for line in text.rstrip().splitlines() if not _NINJA.match(line)]
    return "\n".join([line for line in lines if len(line) < 500][-count:])


def _programs(folder: Path) -> list[Path]:
    """The suite's program; None before it is built."""
    return [folder / name for name in (PROGRAM, f"{PROGRAM}.elf") if (folder / name).is_file()]


def _program(folder: Path, target: TargetName) -> Path:
    for program in _programs(folder):
        return program
    raise BuildFailed(
        f"{target}: {folder} has no {PROGRAM} after the build",
        remedy="Remove that folder and retry",
    )


def _describe(folder: Path, program: Path, source: Source | None) -> BuildEntry:
    elf = Elf(program)
    commands = shared_name.compile_commands(folder)
    compiler = _compiler(commands)
    sizes = elf.sizes
    return BuildEntry(
        compiler=Path(compiler).name,
        compiler_version=_compiler_version(compiler),
        flags=_flags(commands, source.target if source else ""),
        elf_sha256=elf.sha256,
        text_bytes=sizes.text,
        data_bytes=sizes.data,
        bss_bytes=sizes.bss,
        kernel_source=source.title if source else "",
    )


def _compiler(commands: list[dict[str, str]]) -> str:
    """The compiler of the first C file, as called by CMake."""
    return shlex.split(next(c["command"] for c in commands if c["file"].endswith(".c")))[0]


def _compiler_version(compiler: str) -> str:
    try:
        answer = subprocess.run(
            [compiler, "--version"], capture_output=True, text=True, check=False
        )
    except OSError:
        return "unknown"
    return answer.stdout.splitlines()[0].strip() if answer.stdout else "unknown"


def _flags(commands: list[dict[str, str]], library: str) -> str:
    """The compiler flags of benchmarks, then others if they differ.

    `library` is the kernel that its own CMake project builds, with flags of that project; or "".
    """
    sets: dict[str, str] = {}
    roots = [f"{place}/" for place in inventory.places()]
    for command in commands:
        file, command_line = command["file"], command["command"]
        if not file.endswith(".c"):
            continue
        part = "benchmarks" if "/suite/bench/" in file else "rest"
        if f" -o {_KERNEL}/" in command_line:
            if f"/{library}.dir/" not in command_line:
                continue
            part = "kernel"
        if part not in sets:
            sets[part] = _plain_flags(command_line, roots)
    shown = sets.pop("benchmarks", sets.get("rest", ""))
    return " ".join([shown, *(f"[{part}: {sets[part]}]" for part in sets if sets[part] != shown)])


def _plain_flags(command: str, roots: Sequence[str]) -> str:
    arguments = iter(shlex.split(command)[1:])
    kept = []
    for word in arguments:
        if word in _TAKES_VALUE:
            next(arguments, None)
        elif word.startswith("-") and not _PLACES.match(word):
            for root in roots:
                word = word.replace(root, "")  # noqa: PLW2901
            kept.append(word)
    return " ".join(kept)


@dataclass(frozen=True)
class Lock:
    """A build folder's lock, held."""

    _file: IO[str]

    def share(self) -> None:
        """From now on others may read the folder, too: nothing more is built here."""
        fcntl.flock(self._file, fcntl.LOCK_SH)


@contextmanager
def locked(folder: Path) -> Iterator[Lock]:
    """Allows one build at a time in a folder; another kadenz waits."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Lock(lock)
