# SPDX-License-Identifier: Apache-2.0
"""A program of Linux that another build made, and the RAM disk of a guest that runs it."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kadenz.config.manifest import BuildEntry
from kadenz.elf import Elf
from kadenz.errors import BuildFailed, UsageError
from kadenz.images.cpio import Entry, File, Node, archive
from kadenz.images.elf_facts import ElfFacts, build_elsewhere, read_facts
from kadenz.images.guest import (
    at_their_paths,
    guest_programs,
    guest_sources,
    module_entries,
)
from kadenz.images.image import require_compiler
from kadenz.images.provenance import Tree, parts
from kadenz.images.shared_libraries import is_dynamic, shared_libraries

FOLDER = PurePosixPath("/work")  # in which the program is and runs
INPUT = PurePosixPath("/input")  # its standard input
_PROGRAMS = ("init", "launch")
_LOAD = "load"
_ISAS = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64", "EM_RISCV": "riscv64"}
# Where init mounts file systems of the kernel's.
_MOUNTED = ("dev", "proc", "sys", "tmp")
_MOST_INPUT = 128 << 20  # a guest of 512 MiB has it twice while it unpacks


def isa_of(file: Path) -> str:
    """The instruction set of a program of Linux; "" for a file of another kind, as a firmware's.
    UsageError for a file that is not ELF."""
    facts = read_facts(file)
    return _ISAS.get(facts.machine, "") if facts.bits == 64 else ""


@dataclass(frozen=True)
class Beside:
    """What a guest runs beside a program: loads, their modules, and a module that disturbs."""

    loads: bool = False
    modules: tuple[Path, ...] = ()
    disturbance: Path | None = None


@dataclass(frozen=True)
class LinuxProgram:
    """An executable with its libraries, and the files that it reads: by their paths inside.

    `standard_input` None: it reads /dev/null.
    """

    elf: Elf
    facts: ElfFacts
    isa: str
    libraries: tuple[Path, ...]
    arguments: tuple[str, ...]
    files: Mapping[PurePosixPath, Path]
    standard_input: Path | None

    @property
    def path(self) -> PurePosixPath:
        """Where the guest has it, wherever it is here: the same bytes have the same figures."""
        return FOLDER / self.elf.path.name

    @property
    def build(self) -> BuildEntry:
        """The build, as far as the files state it, with what else decides its figures."""
        read = [*self.libraries, *self.files.values()]
        if self.standard_input is not None:
            read.append(self.standard_input)
        read = [file.resolve() for file in read]
        sources = guest_sources(_PROGRAMS)
        entry = build_elsewhere(self.elf, self.facts, f"program {self.elf.path.name}")
        entry.parts = [
            *parts(read, [Tree("files", file.parent) for file in read]),
            *parts(sources, [Tree("guest", sources[0].parent)]),
        ]
        return entry

    def settings(self) -> list[tuple[str, str]]:
        """What the launcher reads: kernels/linux/guest/launch.c."""
        settings = [("folder", str(FOLDER))]
        if self.standard_input is not None:
            settings.append(("input", str(INPUT)))
        settings += [("argument", word) for word in (self.elf.path.name, *self.arguments)]
        return [*settings, ("variable", "PATH=/usr/bin:/bin"), ("variable", f"HOME={FOLDER}")]

    def archive(self, beside: Beside | None = None) -> bytes:
        """The bytes of the RAM disk, without the launcher's input; with what runs `beside`."""
        beside = beside or Beside()
        names = (*_PROGRAMS, _LOAD) if beside.loads else _PROGRAMS
        programs = guest_programs(self.isa, names)
        entries: dict[str, Entry] = {
            **dict.fromkeys(_MOUNTED),
            "dev/console": Node(5, 1),  # the kernel opens it for the output of init
            "init": File(programs["init"].read_bytes(), 0o755),
            "program": File(programs["launch"].read_bytes(), 0o755),
            **at_their_paths(self.libraries),
            **module_entries(beside.modules),
        }
        if beside.loads:
            entries[_LOAD] = File(programs[_LOAD].read_bytes(), 0o755)
        if beside.disturbance is not None:
            entries["disturbance.ko"] = File(beside.disturbance.read_bytes())
        entries |= _folders(FOLDER)
        entries[str(self.path)[1:]] = File(self.elf.path.read_bytes(), 0o755)
        for place, file in self.files.items():
            entries |= {name: None for name in _folders(place.parent) if name not in entries}
            entries[str(place)[1:]] = File(file.read_bytes(), 0o755)
        if self.standard_input is not None:
            entries[str(INPUT)[1:]] = File(self.standard_input.read_bytes())
        return archive(entries)

    def system_calls(self) -> dict[int, str]:
        """Names of the instruction set's system calls, by their numbers, of its compiler's
        headers."""
        compiler = require_compiler(self.isa)
        answer = subprocess.run(
            [str(compiler), "-E", "-dM", "-include", "asm/unistd.h", "-x", "c", "/dev/null"],
            capture_output=True,
            text=True,
            check=False,
        )
        defines = [line.split() for line in answer.stdout.splitlines() if "#define __NR" in line]
        values = {line[1]: line[2] for line in defines if len(line) == 3}
        return {
            int(number): name.removeprefix("__NR_")
            for name, value in values.items()
            if name.startswith("__NR_") and (number := values.get(value, value)).isdigit()
        }


def linux_program(
    file: Path,
    arguments: Sequence[str] = (),
    files: Sequence[str] = (),
    standard_input: Path | None = None,
) -> LinuxProgram:
    """The program in `file`, with inputs as the command line names them: PATH or PATH=PLACE.

    Raises UsageError if no guest can run it, or for an input that is missing.
    """
    facts, isa = read_facts(file), isa_of(file)
    elf = Elf(file)
    if not isa or facts.kind not in ("ET_EXEC", "ET_DYN") or not elf.entry:
        raise UsageError(
            f"{file}: not a program of Linux for x86-64, arm64 or riscv64 ({facts.kind}, "
            f"{facts.machine}, {facts.bits} bits)",
            remedy="Pass an executable that the linker wrote. A firmware is counted with --board",
        )
    if any("\n" in word for word in arguments):
        raise UsageError(
            f"{file}: an argument has a line break",
            remedy="Put it in a file, and name that with --file",
        )
    _check_input(file, "the program")
    if standard_input is not None:
        _check_input(standard_input, "--stdin")
    places = dict(_placed(text) for text in files)
    return LinuxProgram(
        elf, facts, isa, _libraries(file, isa), tuple(arguments), places, standard_input
    )


def _libraries(file: Path, isa: str) -> tuple[Path, ...]:
    if not is_dynamic(file):
        return ()
    if platform.machine() != isa:
        raise UsageError(
            f"{file}: its libraries are those of {isa}, and this machine is {platform.machine()}",
            remedy="Link it statically (-static), or use a machine of its own kind",
        )
    try:
        return tuple(shared_libraries(file.absolute()))
    except BuildFailed as failure:
        raise UsageError(
            failure.message,
            remedy="Install it, link the program statically, or with an absolute rpath",
            detail=failure.detail,
        ) from None


def _placed(text: str) -> tuple[PurePosixPath, Path]:
    """A file and its place inside."""
    name, equals, inside = text.partition("=")
    file = Path(name)
    _check_input(file, f"--file {text}")
    place = FOLDER / (inside if equals else name)
    if ".." in place.parts or place in (FOLDER, INPUT) or place.parts[1] in _MOUNTED:
        raise UsageError(
            f"--file {text}: {place} is no place for a file in the guest",
            remedy=f"Name one: --file {name}=data/{file.name}, which is below {FOLDER}",
        )
    return place, file


def _check_input(file: Path, what: str) -> None:
    if not file.is_file():
        raise UsageError(f"{what}: {file} is not a file", remedy="Name a file that exists")
    if file.stat().st_size > _MOST_INPUT:
        raise UsageError(
            f"{what}: {file} has {file.stat().st_size:,} bytes",
            remedy=f"A guest takes files of up to {_MOST_INPUT:,} bytes: use a smaller one",
        )


def _folders(place: PurePosixPath) -> dict[str, Entry]:
    """A folder with those above it, in the order of an archive."""
    return {str(each)[1:]: None for each in [*reversed(place.parents), place] if each.name}
