# SPDX-License-Identifier: Apache-2.0
"""Finds kernels, boards, campaigns, tunings and debug servers: kadenz's own, and those of the lab.

A name found twice is refused when it is used. An invalid file concerns only what needs it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from kadenz import __version__
from kadenz.config.board import Board
from kadenz.config.campaign import Campaign
from kadenz.config.debug_server import DebugServer
from kadenz.config.kernel import Kernel
from kadenz.config.lab_file import Mechanisms, find_lab
from kadenz.config.toml import did_you_mean, read_toml
from kadenz.config.tuning import Tuning, problem
from kadenz.errors import ConfigError, KadenzError, UsageError
from kadenz.regular_files import read_regular
from kadenz.user_cache import user_cache

T = TypeVar("T")
Files = dict[str, list[Path]]  # of one kind of part, by the part's name

# A file that every folder with kadenz's own parts has.
_MARK = Path("suite/include/kadenz/kernel.h")
# A part's name becomes part of paths, commands and the names of targets.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
# Folders that are templates for new parts.
_NO_PARTS = {"template", "conformance"}


class _Kind(NamedTuple):
    word: str  # "kernel"
    pattern: str  # of its files, relative to a place

    def name(self, file: Path) -> str:
        """The part's name: that of its folder, or of its file."""
        return file.parent.name if self.pattern.count("/") > 1 else file.stem


_KERNEL = _Kind("kernel", "kernels/*/kernel.toml")
_BOARD = _Kind("board", "boards/*/board.toml")
_CAMPAIGN = _Kind("campaign", "campaigns/*.toml")
_TUNING = _Kind("tuning profile", "tunings/*.toml")
_SERVER = _Kind("debug server", "servers/*.toml")


# ---- places --------------------------------------------------------------------------------------
def root() -> Path:
    """The folder of kadenz's own parts: $KADENZ_ROOT, the checkout, or what the wheel carries."""
    named = os.environ.get("KADENZ_ROOT")
    if named:
        if not (Path(named) / _MARK).is_file():
            raise ConfigError(
                f"KADENZ_ROOT={named}: not a kadenz checkout",
                remedy="Unset it, or name the folder that holds suite/",
            )
        return Path(named).resolve()
    return _own_parts()


@cache
def _own_parts() -> Path:
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent, package / "parts"):
        if (folder / _MARK).is_file():
            return folder
    raise ConfigError(
        f"{package}: installed without the suite, which is needed to build targets",
        remedy="Install kadenz from its wheel or its checkout, or set KADENZ_ROOT to a checkout",
    )


def places() -> list[Path]:
    """The folders in which parts are found: kadenz's own, then the lab's."""
    lab = find_lab()
    return [root()] if lab is None else [root(), lab.folder]


def origin(file: Path) -> str:
    """Where a part comes from: "kadenz", or "lab", which may be a folder of the checkout."""
    inside = [place for place in places() if file.resolve().is_relative_to(place.resolve())]
    nearest = max(inside, key=lambda place: len(place.resolve().parts), default=None)
    return "kadenz" if nearest == root() else "lab"


def build_folder() -> Path:
    """Where images are built: in the lab, else in the checkout, else in the user's cache."""
    lab = find_lab()
    if lab is not None:
        return lab.folder / "build"
    return _cached_builds() or root() / "build"


def cargo_folder() -> Path:
    """Where cargo compiles fieldbus/: its own folder in the checkout, else the user's cache."""
    cached = _cached_builds()
    return cached / "fieldbus" if cached else root() / "fieldbus" / "target"


def _cached_builds() -> Path | None:
    """The cache of this version's builds, if the own parts are in the wheel; None in a checkout.

    An installation is never written to, and two versions share nothing.
    """
    if not root().is_relative_to(Path(__file__).resolve().parents[1]):
        return None
    return user_cache() / "build" / __version__


def benches() -> list[Path]:
    """The C files in the lab's bench/: benchmarks that become part of each image."""
    lab = find_lab()
    files = sorted((lab.folder / "bench").glob("*.c")) if lab is not None else []
    for file in files:
        _check_name("benchmark's file", file.name, file)
    return files


def mechanisms() -> Mechanisms:
    """The names of mechanisms that the lab adds to the suite's.

    Raises ConfigError for a name that the suite has: it means the same in every lab.
    """
    lab = find_lab()
    lab_mechanisms = Mechanisms() if lab is None else lab.file.mechanisms
    if lab is not None and lab_mechanisms.names:
        text = "".join(file.read_text() for file in (root() / "suite/bench").glob("*.[ch]"))
        for name in lab_mechanisms.names:
            if re.search(f'"(itc/)?{name}"', text):
                raise ConfigError(
                    f"{lab.path}: [mechanisms] `{name}`: the suite has this name",
                    remedy="Remove it if your kernel keeps what conformance asks of the suite's; "
                    "else rename yours",
                )
    return lab_mechanisms


# ---- kernels and boards --------------------------------------------------------------------------
def kernels() -> dict[str, Kernel]:
    """Every valid kernel by its folder's name."""
    files = _files_of(_KERNEL)
    return _valid(files, lambda name: _kernel(name, files))


def boards() -> dict[str, Board]:
    """Every valid board by its folder's name."""
    files, known = _files_of(_BOARD), _files_of(_KERNEL)
    return _valid(files, lambda name: _board(_single_file(_BOARD, name, files), known))


def kernel(name: str) -> Kernel:
    """One kernel. UsageError with the nearest name if there is none, ConfigError if it is invalid.

    A kernel also lacks everything that its port lacks, and has its kinds of objects.
    """
    return _kernel(name, _files_of(_KERNEL))


def _kernel(name: str, files: Files) -> Kernel:
    kernel = read_toml(_single_file(_KERNEL, name, files), Kernel)
    if not kernel.port:
        return kernel
    port = read_toml(_single_file(_KERNEL, kernel.port, files), Kernel)
    return msgspec.structs.replace(
        kernel, lacks={**port.lacks, **kernel.lacks}, objects={**port.objects, **kernel.objects}
    )


def board(name: str) -> Board:
    """One board. UsageError with the nearest name if there is none, ConfigError if it is invalid.

    ConfigError as well for a kernel in `kernels` that does not exist.
    """
    return _board(_file(_BOARD, name), _files_of(_KERNEL))


def _board(file: Path, known: Files) -> Board:
    board = read_toml(file, Board)
    for kernel in board.kernels:
        if kernel not in known:
            raise ConfigError(
                f"{file}: `kernels`: no kernel `{kernel}`",
                remedy=did_you_mean(kernel, list(known)),
            )
    return board


def pairs() -> list[tuple[str, str]]:
    """Each kernel with each of its boards: kernel.toml names boards, board.toml kernels."""
    known = boards()
    kernel_boards = []
    for name, kernel in kernels().items():
        named_boards = [board for board in kernel.boards if board in known]
        more = [
            board for board in known if name in known[board].kernels and board not in named_boards
        ]
        kernel_boards += [(name, board) for board in (*named_boards, *more)]
    return kernel_boards


def kernel_folder(name: str) -> Path:
    """The folder of a kernel's port."""
    return _file(_KERNEL, name).parent


def origin_of_both(kernel: str, board: str) -> str:
    """Where a target comes from: "lab" if its kernel or its board is the lab's."""
    origins = {origin(kernel_folder(kernel)), origin(board_folder(board))}
    return "lab" if "lab" in origins else "kadenz"


def in_rust(name: str) -> bool:
    """Whether a kernel's port is a crate, which cargo compiles."""
    return (kernel_folder(name) / "Cargo.toml").is_file()


def board_folder(name: str) -> Path:
    """The folder of a board."""
    return _file(_BOARD, name).parent


def toolchain(board: str, arch: str) -> Path | None:
    """CMake's tool chain file of a board or else its arch; None: this machine's compiler."""
    for folder in (board_folder(board), root() / "arch" / arch):
        if (folder / "toolchain.cmake").is_file():
            return folder / "toolchain.cmake"
    return None


def compiler(board: str, arch: str) -> str:
    """The C compiler named in this file: "riscv64-unknown-elf-gcc"."""
    file = toolchain(board, arch)
    text = read_regular(file).decode(errors="replace") if file else ""
    match = re.search(r"set\(CMAKE_C_COMPILER\s+(\S+?)\s*\)", text)
    return match.group(1) if match else "gcc"


# ---- campaigns -----------------------------------------------------------------------------------
def campaign_files() -> dict[str, Path]:
    """Campaign files by name, without the suffix; names found twice are left out."""
    return _single(_CAMPAIGN)


def campaign_file(name: str) -> Path:
    """The file of a campaign. UsageError for an unknown name, ConfigError if found twice."""
    return _file(_CAMPAIGN, name)


def campaigns() -> dict[str, Campaign]:
    """Every valid campaign by its file's name."""
    return _valid(_files_of(_CAMPAIGN), lambda name: read_campaign(campaign_file(name)))


def read_campaign(file: Path) -> Campaign:
    """The campaign in `file`; its files are relative to it. Raises ConfigError with the line."""
    campaign = read_toml(file, Campaign)
    kernels = tuple(
        str(file.parent / text) if "/" in text else text for text in campaign.guest.kernels
    )
    guest = msgspec.structs.replace(campaign.guest, kernels=kernels)
    return msgspec.structs.replace(campaign, guest=guest)


# ---- tunings -------------------------------------------------------------------------------------
def tuning_files() -> dict[str, Path]:
    """Tuning profiles by name, without the suffix; names found twice are left out."""
    return _single(_TUNING)


def read_tuning(name: str) -> tuple[Tuning, Path]:
    """A profile by name or path, merged with the profile it is based on; and its file.

    Raises UsageError for an unknown name, ConfigError for a wrong file or circular profiles.
    """
    file = Path(name) if name.endswith(".toml") else _file(_TUNING, name)
    tuning = _tuning(file)
    below, seen = tuning.based_on, [file]
    while below:
        known = _files_of(_TUNING)
        if below not in known:
            raise ConfigError(
                f"{file}: `based_on`: no profile `{below}`", remedy=did_you_mean(below, list(known))
            )
        base = _file(_TUNING, below)
        if base in seen:
            raise ConfigError(
                f"{file}: is based on itself", remedy=did_you_mean(below, list(known))
            )
        seen.append(base)
        layer = _tuning(base)
        tuning, below = tuning.over(layer), layer.based_on
    return tuning, file


def _tuning(file: Path) -> Tuning:
    tuning = read_toml(file, Tuning)
    wrong = problem(tuning)
    if wrong:
        raise ConfigError(f"{file}: {wrong}", remedy="See docs/how-to/tune-a-machine.md")
    return tuning


# ---- debug servers -------------------------------------------------------------------------------
def debug_servers() -> dict[str, DebugServer]:
    """Every valid debug server by its file's name."""
    return _valid(_files_of(_SERVER), debug_server)


def debug_server(name: str) -> DebugServer:
    """One debug server. UsageError with the nearest name if there is none."""
    return read_toml(_file(_SERVER, name), DebugServer)


def lab_naming(server: DebugServer) -> Path | None:
    """The lab's servers/ if none of kadenz's own servers has the program of this one."""
    shipped_servers = (read_toml(file, DebugServer) for file in root().glob(_SERVER.pattern))
    known = server.program in {shipped.program for shipped in shipped_servers}
    return None if known else places()[-1] / "servers"


def probe_names() -> set[str]:
    """USB names "vid:pid" of the debug probes that any server knows."""
    every = (server.interfaces for server in debug_servers().values())
    return {name for names in every for name in names if name}


def own_probe_names() -> set[str]:
    """USB names of the probes that are parts of boards, by their board.toml."""
    tiers = (board.tier.board for board in boards().values())
    board_probes = (
        names for tier in tiers if tier is not None for names in tier.own_probe.values()
    )
    return {name for names in board_probes for name in names}


# ---- finding -------------------------------------------------------------------------------------
def problems() -> list[KadenzError]:
    """An error for every invalid part of all kinds, and every name found twice."""
    readers: list[tuple[_Kind, Callable[[str], object]]] = [
        (_KERNEL, kernel),
        (_BOARD, board),
        (_CAMPAIGN, lambda name: read_campaign(campaign_file(name))),
        (_TUNING, read_tuning),
        (_SERVER, debug_server),
    ]
    errors: list[KadenzError] = []
    try:
        benches()
    except KadenzError as error:
        errors.append(error)
    for kind, read in readers:
        for name in _files_of(kind):
            try:
                read(name)
            except KadenzError as error:
                errors.append(error)
    try:
        mechanisms()
    except KadenzError as error:
        errors.append(error)
    return errors


def _files_of(kind: _Kind) -> Files:
    """The files of a kind in all places, by the part's name."""
    files: Files = {}
    for place in places():
        for file in sorted(place.glob(kind.pattern)):
            if kind.name(file) not in _NO_PARTS:
                files.setdefault(kind.name(file), []).append(file)
    return files


def _file(kind: _Kind, name: str) -> Path:
    return _single_file(kind, name, _files_of(kind))


def _single_file(kind: _Kind, name: str, files: Files) -> Path:
    if name not in files:
        raise UsageError(f"no {kind.word} `{name}`", remedy=did_you_mean(name, list(files)))
    first, *others = files[name]
    _check_name(kind.word, name, first.parent if kind.pattern.count("/") > 1 else first)
    if others:
        raise ConfigError(
            f"{kind.word} `{name}` is found twice: {first} and {others[0]}",
            remedy=f"Rename {others[0].parent if kind.pattern.count('/') > 1 else others[0]}",
        )
    return first


def _check_name(word: str, name: str, path: Path) -> None:
    """ConfigError for a name that a shell, CMake or the command line would take apart."""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{str(path)!r}: the name of a {word} has letters, digits and `_ . + -`",
            remedy="Rename it",
        )


def _single(kind: _Kind) -> dict[str, Path]:
    """Those of a kind that are found once and have a valid name."""
    return {
        name: files[0]
        for name, files in _files_of(kind).items()
        if len(files) == 1 and _NAME.fullmatch(name)
    }


def _valid(files: Files, read: Callable[[str], T]) -> dict[str, T]:
    parts = {}
    for name in files:
        try:
            parts[name] = read(name)
        except KadenzError:  # `problems` has it
            continue
    return parts
