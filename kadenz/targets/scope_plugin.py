# SPDX-License-Identifier: Apache-2.0
"""The scope's QEMU plugins: built once for the QEMU in use, and started with the marker's address.

The plugin (instruments/scope, GPL-2.0-or-later) is compiled on the user's machine against the
header of the same QEMU version and loaded by QEMU; kadenz itself never links it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.sections import SymbolTableSection

from kadenz import build_key, tools
from kadenz.elf import opened
from kadenz.errors import BuildFailed, ToolMissing

MARKER_SYMBOL = "kdz_scope_marker"
COUNTING, CHARGING = "count.c", "charge.c"  # the stopwatches: instructions, cycles
_FLAGS = [
    "-std=c11",
    "-D_GNU_SOURCE",
    "-O2",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Werror",
]


def build(
    source: Path,
    output: Path,
    qemu_version: str,
    *,
    model: Sequence[Path] = (),
    shared: Sequence[Path] = (),
    name: str = "scope",
) -> Path:
    """Compile a plugin unless `output` holds an up-to-date one; return the library's path.

    `source` is a folder of instruments/, `output` a build folder, `qemu_version` "10.0.2". `model`
    are folders with the C files of a timing model, `shared` files of another plugin. Raises
    ToolMissing without compiler, header or glib, BuildFailed with the compiler's output.
    """
    other = COUNTING if model else CHARGING
    files = sorted([*(f for f in _files([source, *model]) if f.name != other), *shared])
    folders = dict.fromkeys([source, *model, *(file.parent for file in shared)])
    compiler = tools.require("gcc")
    key = [qemu_version, _FLAGS, build_key.tools([compiler]), build_key.variables(os.environ)]
    digest = hashlib.sha256(json.dumps(key).encode())
    for file in files:
        digest.update(file.read_bytes())
    library = output / f"libkadenz-{name}-{digest.hexdigest()[:16]}.so"
    if _is_whole(library):
        return library
    header = tools.plugin_header_dir(qemu_version)
    output.mkdir(parents=True, exist_ok=True)
    # Built under another name and moved, so that a simultaneous run never loads a partial library.
    part = library.with_name(f".{library.name}.{secrets.token_hex(4)}")
    command = [
        str(compiler),
        *_FLAGS,
        "-isystem",
        str(header),
        *_glib_flags(),
        *(f"-I{folder}" for folder in folders),
        *(str(file) for file in files if file.suffix == ".c"),
        "-o",
        str(part),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise BuildFailed(
            f"{source}: the plugin did not compile",
            remedy="Its QEMU header may have another version: run `kadenz setup`",
            detail=answer.stderr,
        )
    _digest_file(library).write_text(_sha256(part))
    part.replace(library)
    return library


def _is_whole(library: Path) -> bool:
    """Whether a library is what the compiler wrote: QEMU dies of one that was cut."""
    known = _digest_file(library)
    return library.is_file() and known.is_file() and known.read_text() == _sha256(library)


def _digest_file(library: Path) -> Path:
    return library.with_suffix(".sha256")


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def marker_address(elf: Path) -> int:
    """Return the marker's address in an image built with the instrument `scope`."""
    with opened(elf) as file:
        for section in file.iter_sections():
            if not isinstance(section, SymbolTableSection):
                continue
            for symbol in section.get_symbol_by_name(MARKER_SYMBOL) or ():
                return int(symbol["st_value"])
    raise BuildFailed(
        f"{elf}: no symbol {MARKER_SYMBOL}: the image was not built for the scope",
        remedy="Build it with the instrument `scope`",
    )


@dataclass(frozen=True)
class NamePlace:
    """A name in an object: `bytes` of text at `offset`, or a pointer to the text there."""

    offset: int
    bytes: int
    pointer_bytes: int = 0  # 0: the text itself


@dataclass(frozen=True)
class Watched:
    """Values recorded along a path: addresses of words, and registers, each with a mask."""

    addresses: tuple[int, ...] = ()
    registers: tuple[tuple[str, int], ...] = ()
    name: NamePlace | None = None  # in the object the first word points to
    whole_records: bool = False  # regions are records; else from stamp to stamp


@dataclass(frozen=True)
class ShownState:
    """Registers that show whether a core takes no interrupt, by masks of which a bit is set, or
    none; and a tick of its timer: `NAME:MASK:VALUE`, and behind it the register with the address
    where its handler begins, if that is said later as well."""

    off_if_set: tuple[tuple[str, int], ...]
    off_if_clear: tuple[tuple[str, int], ...]
    tick: str


def path_arguments(paths: Path, watched: Watched) -> list[str]:
    """The parameters that make the plugin record paths too."""
    parameters = [f"word={address:#x}" for address in watched.addresses]
    parameters += [f"register={name}:{mask:#x}" for name, mask in watched.registers]
    if watched.name is not None and watched.addresses:
        name = watched.name
        parameters.append(f"name={name.offset:#x}:{name.bytes}:{name.pointer_bytes}")
    if watched.whole_records:
        parameters.append("region=record")
    return [f"paths={paths}", *parameters]


def arguments(
    library: Path | str, elf: Path, trace: Path, parameters: Sequence[str] = ()
) -> list[str]:
    """Return QEMU's arguments that load the plugin for an image; the trace goes to `trace`."""
    options = [str(library), f"marker={marker_address(elf):#x}", f"trace={trace}", *parameters]
    return ["-plugin", ",".join(options)]


def _files(folders: Sequence[Path]) -> list[Path]:
    return [file for folder in folders for file in folder.glob("*.[ch]")]


def _glib_flags() -> list[str]:
    """Include flags that mark glib's headers as system headers, to suppress their warnings."""
    try:
        answer = subprocess.run(
            ["pkg-config", "--cflags-only-I", "glib-2.0"],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        answer = None
    if answer is None or answer.returncode != 0:
        raise ToolMissing(
            "the headers of glib are missing (qemu-plugin.h includes them)",
            remedy="Run `kadenz setup`, or: apt-get install pkg-config libglib2.0-dev",
        )
    flags: list[str] = []
    for flag in answer.stdout.split():
        flags += ["-isystem", flag.removeprefix("-I")]
    return flags
