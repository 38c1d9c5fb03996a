# SPDX-License-Identifier: Apache-2.0
"""The libraries and start-up objects that tool chains bring, by name and place.

Both have to fit: an object by an absolute path may be anybody's, and so may a libm.a.
"""

from __future__ import annotations

import re

# Folders of GCC, of LLVM, of C libraries, of Rust, those named after a target, and the system's.
_PLACE = re.compile(
    r"/(gcc|clang|clang-runtimes|newlib|picolibc|avr|rustlib"
    r"|\w[\w.]*(-[\w.]+)*-(elf|eabi\w*|gnu\w*|musl\w*))/|^/(usr/)?lib(32|64)?/[^/]+$"
)
_NAMES = {
    "C++ library": re.compile(r"lib((std|sup)c\+\+|c\+\+)(abi|exp|fs)?(_nano)?\.a|libunwind\.a"),
    "compiler library": re.compile(
        r"libgcc\w*\.a|libclang_rt\.[\w.-]+\.a|libcompiler_builtins-\w+\.rlib"
        r"|crt(begin|end|fastmath)\w*\.o"
    ),
    "C library": re.compile(
        r"lib(c|g|m|nosys|rdimon|semihost|gloss|c_nonshared|pthread|rt|dl|util|crypt|mvec)"
        r"(_nano|_s)?(-v2m|-\d[\d.]*)?\.a|([\w-]+-)?[SMgr]?crt[01in]\.o|(crt|lib)at\w+\.[oa]"
    ),
}
_MEMBER = re.compile(r"\([^()]*\)$")  # of an archive: "libc.a(memcpy.o)"


def library(path: str) -> tuple[str, str] | None:
    """The part of an object or of a member of an archive, and its file; None if it is no tool
    chain's."""
    file = _MEMBER.sub("", path.replace("\\", "/"))  # links under Windows write both
    name = file.rpartition("/")[2]
    if not _PLACE.search(file):
        return None
    part = next((part for part, names in _NAMES.items() if names.fullmatch(name)), None)
    if part == "C library" and "/gcc/" in file:
        part = "compiler library"  # libgcc's own crti.o
    return (part, name) if part else None
