# SPDX-License-Identifier: Apache-2.0
"""Finds compilers and emulators, checks their versions, and names remedies for missing ones.

`kadenz setup` puts private tools into the cache folder if those of the system are too old. This
module searches `PATH` first, then the cache; no other module knows both places.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kadenz.errors import ToolMissing
from kadenz.user_cache import user_cache

_VERSION = re.compile(r"(\d+(?:\.\d+)+)")


@dataclass(frozen=True)
class Need:
    """A program kadenz may start: its purpose, minimum version, and how to install it."""

    name: str
    purpose: str
    remedy: str
    at_least: tuple[int, ...] = ()
    library: str = ""  # a file of the C library that the compiler must find
    source: str = ""  # a file of the compiler's own library, below its root
    named_by: str = ""  # file of a lab with the program's name: it is looked for, never started


@dataclass(frozen=True)
class Tool:
    """The result of looking up a need on this machine. `problem` is "" if the tool is usable."""

    need: Need
    path: Path | None
    version: str
    problem: str

    @property
    def unchecked(self) -> str:
        """Why nothing but its presence is known; "" for a program that was asked."""
        where = self.need.named_by
        return f"not checked: {self.need.name} is named by {where}" if where and self.path else ""


def _apt(*packages: str) -> str:
    return f"Run `kadenz setup`, or: apt-get install {' '.join(packages)}"


_QEMU_REMEDY = (
    "Run `kadenz setup`: it unpacks Debian's backported QEMU privately, "
    "or put QEMU 10 or newer into PATH"
)

_GUEST_REMEDY = "Run `kadenz setup --guests`: it provides their compilers, emulators and kernels"

NEEDS: tuple[Need, ...] = (
    Need("cmake", "builds the suite", _apt("cmake"), (3, 25)),
    Need("ninja", "runs the build that CMake generates", _apt("ninja-build")),
    Need("gcc", "compiles the suite for this Linux, and the scope", _apt("gcc"), (12,)),
    Need(
        "riscv64-unknown-elf-gcc",
        "compiles images for RISC-V boards",
        _apt("gcc-riscv64-unknown-elf", "picolibc-riscv64-unknown-elf"),
        (12,),
        "picolibc.specs",
    ),
    Need(
        "arm-none-eabi-gcc",
        "compiles images for Arm boards",
        _apt("gcc-arm-none-eabi", "picolibc-arm-none-eabi"),
        (12,),
        "picolibc.specs",
    ),
    Need(
        "cargo",
        "fetches FreeRTOS from crates.io",
        "Run `kadenz setup`, or install Rust with rustup: https://rustup.rs",
        (1, 78),  # reads version 4 of Cargo.lock
    ),
    Need(
        "rustc",
        "compiles kernels in Rust",
        "Run `kadenz setup`: it unpacks Debian's compiler privately, "
        "or add the sources to your own: rustup component add rust-src",
        (1, 87),
        source="lib/rustlib/src/rust/library/core/src/lib.rs",
    ),
    Need(
        "x86_64-linux-gnu-gcc", "builds the suite for x86-64 guests", _GUEST_REMEDY, (12,), "libc.a"
    ),
    Need(
        "aarch64-linux-gnu-gcc", "builds the suite for arm64 guests", _GUEST_REMEDY, (12,), "libc.a"
    ),
    Need(
        "riscv64-linux-gnu-gcc",
        "builds the suite for riscv64 guests",
        _GUEST_REMEDY,
        (12,),
        "libc.a",
    ),
    Need(
        "x86_64-linux-gnu-g++",
        "builds programs for x86-64 guests",
        _GUEST_REMEDY,
        (12,),
        "libstdc++.a",
    ),
    Need(
        "aarch64-linux-gnu-g++",
        "builds programs for arm64 guests",
        _GUEST_REMEDY,
        (12,),
        "libstdc++.a",
    ),
    Need(
        "riscv64-linux-gnu-g++",
        "builds programs for riscv64 guests",
        _GUEST_REMEDY,
        (12,),
        "libstdc++.a",
    ),
    Need("qemu-system-x86_64", "runs x86-64 guests", _GUEST_REMEDY, (10,)),
    Need("qemu-system-aarch64", "runs arm64 guests", _GUEST_REMEDY, (10,)),
    Need("qemu-system-riscv64", "runs riscv64 guests", _GUEST_REMEDY, (10,)),
    Need("qemu-system-riscv32", "emulates RISC-V boards", _QEMU_REMEDY, (10,)),
    Need("qemu-system-arm", "emulates Arm boards", _QEMU_REMEDY, (10,)),
    Need(
        "gdb-multiarch",
        "loads, starts and reads boards",
        _apt("gdb-multiarch"),
        (13,),
    ),
    Need("stress-ng", "loads this Linux during a measurement", _apt("stress-ng")),
)


def need(name: str) -> Need:
    """Return the need called `name`. Raises ToolMissing for a program that kadenz does not know."""
    for entry in NEEDS:
        if entry.name == name:
            return entry
    raise ToolMissing(
        f"`{name}` is not among the programs that kadenz starts",
        remedy=f"Known: {', '.join(sorted(entry.name for entry in NEEDS))}",
    )


def look_up(wanted: Need, *, path: str | None = None, cache: Path | None = None) -> Tool:
    """Look for a program in `path` (default: $PATH), then in the cache folder.

    UsageError if that is somebody else's; of the program nothing is raised.

    A program that is too old does not hide a newer one in the cache. What a lab names is not
    started.
    """
    if wanted.named_by:
        given = shutil.which(wanted.name, path=path)
        problem = "" if given else f"{wanted.name} is not installed; {wanted.named_by} names it"
        return Tool(wanted, Path(given) if given else None, "", problem)
    private = [
        str((cache or user_cache()) / package / "tools" / "bin") for package in ("qemu", "rust")
    ]
    best: Tool | None = None
    for folder in (path, *private):
        program = shutil.which(wanted.name, path=folder)
        if program is None:
            continue
        tool = _judge(wanted, Path(program))
        if not tool.problem:
            return tool
        best = best or tool
    return best or Tool(wanted, None, "", f"{wanted.name} is not installed")


def require(name: str, *, path: str | None = None, cache: Path | None = None) -> Path:
    """Return the path of a usable program. Raises ToolMissing with a remedy."""
    tool = look_up(need(name), path=path, cache=cache)
    if tool.problem or tool.path is None:
        raise ToolMissing(f"{tool.problem} ({tool.need.purpose})", remedy=tool.need.remedy)
    return tool.path


def version(name: str) -> str:
    """Return the version of a usable program, e.g. "10.0.2". Raises ToolMissing with a remedy."""
    require(name)
    return look_up(need(name)).version


def takes(program: Path, *arguments: str) -> bool:
    """Whether a program knows these arguments: given with `-version`, it ends with success."""
    return _ask(program, *arguments, "-version")[0] == 0


def plugin_header_dir(qemu_version: str, *, cache: Path | None = None) -> Path:
    """Return the folder with qemu-plugin.h of a QEMU version. Raises ToolMissing without it."""
    folder = (cache or user_cache()) / "qemu" / "include" / qemu_version
    if not (folder / "qemu-plugin.h").is_file():
        raise ToolMissing(
            f"qemu-plugin.h of QEMU {qemu_version} is not in {folder} (builds the scope)",
            remedy="Run `kadenz setup`: it takes the header from Debian's source package",
        )
    return folder


def require_rust_target(target: str) -> None:
    """ToolMissing unless the rustc in PATH has the standard library of `target`."""
    rustc = shutil.which("rustc")
    question = ("--print", "target-libdir", "--target", target)
    code, folder = _ask(Path(rustc), *question) if rustc else (1, "")
    if code != 0 or not Path(folder).is_dir():
        raise ToolMissing(
            f"rustc has no standard library for {target}",
            remedy="Run `kadenz setup --guests`, or with a Rust of https://rustup.rs: "
            f"rustup target add {target}",
        )


def kdl_dir(isa: str, *, cache: Path | None = None) -> Path:
    """The folder with KDL for guests of `isa`. Raises ToolMissing without it."""
    folder = (cache or user_cache()) / "kdl" / isa
    if not all((folder / name).is_file() for name in ("liborocos-kdl.a", "orocos-kdl.pc")):
        raise ToolMissing(
            f"KDL for {isa} guests is not in {folder} (inverse dynamics)",
            remedy="Run `kadenz setup --guests`: it compiles Debian's source package",
        )
    return folder


def _judge(wanted: Need, path: Path) -> Tool:
    code, answer = _ask(path, "--version")
    first = answer.split("\n", 1)[0]
    if code != 0:
        return Tool(wanted, path, "", f"{path} does not start: {first}")
    # The distributor's version in brackets may precede GCC's own.
    numbers = _VERSION.findall(re.sub(r"\([^)]*\)", " ", first)) or _VERSION.findall(first)
    text = numbers[0] if numbers else ""
    if wanted.at_least and text:
        have = tuple(int(part) for part in text.split("."))
        if have < wanted.at_least:
            wish = ".".join(str(part) for part in wanted.at_least)
            return Tool(wanted, path, text, f"{path} is version {text}; version {wish} is required")
    # GCC prints the bare name if it does not find the file.
    if wanted.library and _ask(path, f"-print-file-name={wanted.library}")[1] == wanted.library:
        return Tool(
            wanted, path, text, f"{path} does not find {wanted.library}: its C library is missing"
        )
    if wanted.source and not (Path(_ask(path, "--print=sysroot")[1]) / wanted.source).is_file():
        return Tool(wanted, path, text, f"{path} has no source of core, which images contain")
    return Tool(wanted, path, text, "")


def _ask(path: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and output of a program started with these arguments; never raises."""
    try:
        state = path.stat()
        return _answer(path, arguments, (state.st_ino, state.st_mtime_ns, state.st_size))
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)


@functools.lru_cache(maxsize=256)
def _answer(
    path: Path, arguments: tuple[str, ...], _state: tuple[int, int, int]
) -> tuple[int, str]:
    """A file that has not changed is asked once in a process."""
    answer = subprocess.run(
        [str(path), *arguments], capture_output=True, text=True, timeout=20, check=False
    )
    return answer.returncode, (answer.stdout or answer.stderr).strip()
