# SPDX-License-Identifier: Apache-2.0
"""The file of a Linux kernel: its instruction set, its version and its configuration.

Sources: Documentation/arch/x86/boot.rst (bzImage), Documentation/arch/arm64/booting.rst,
Documentation/arch/riscv/boot-image-header.rst, init/version-timestamp.c ("Linux version"),
kernel/configs.c (IKCFG_ST) of Linux 6.12; the PE format for the length of an Image.
"""

from __future__ import annotations

import bz2
import hashlib
import lzma
import re
import shutil
import struct
import subprocess
import tempfile
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kadenz.errors import UsageError
from kadenz.regular_files import MIB, read_regular

_FILE_LIMIT = 256 * MIB
_LIMIT = 512 * MIB  # of an unpacked kernel
_BANNER = re.compile(
    rb"Linux version (\d[\x21-\x7e]{0,63}) \([^\n\0]{0,400}?(#\d+ [\x20-\x7e]{0,200})"
)
_HEADER = re.compile(r"(?P<release>\d\S{0,63}) .{0,200}?(?P<build>#\d+ .{0,200})")
_RT = re.compile(r"\bPREEMPT[_ ]RT\b")
_NUMBER = re.compile(r"\d+\.\d+(?:\.\d+)?(?:-rc\d+)?")
_MAGIC_AT = 56  # of an Image
_MAGICS = {b"ARM\x64": "aarch64", b"RSC\x05": "riscv64"}
_CONFIG = re.compile(rb"IKCFG_ST(\x1f\x8b.{8,}?)IKCFG_ED", re.DOTALL)
_CONFIG_LIMIT = 4 * MIB
_PACKED_BY = {b"\x28\xb5\x2f\xfd": ("zstd", "-dcq"), b"\x02\x21\x4c\x18": ("lz4", "-dcq")}
REMEDY = (
    "Name the file that its build made: arch/x86/boot/bzImage, arch/arm64/boot/Image or "
    "arch/riscv/boot/Image, or Image.gz beside it"
)
_OTHERS = {
    b"\x7fELF": "an ELF file (vmlinux), which has no header to boot from",
    b"\x27\x05\x19\x56": "a uImage of U-Boot",
    b"\xd0\x0d\xfe\xed": "a device tree or a FIT of U-Boot",
    b"\xfd7zXZ": "packed with xz",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
}


@dataclass(frozen=True)
class KernelImage:
    """What the file of a kernel says of itself."""

    file: Path
    form: str  # "bzImage", "Image", "Image.gz"
    isa: str  # "x86_64", "aarch64", "riscv64", or "i386"
    release: str  # as `uname -r`: "6.12.95+deb12-rt-amd64"
    build: str  # as `uname -v`: "#1 SMP PREEMPT_RT Debian 6.12.95-1 (2026-07-05)"
    sha256: str

    @property
    def preempt_rt(self) -> bool:
        """Whether it is a kernel with PREEMPT_RT, as `uname -v` says."""
        return _RT.search(self.build) is not None

    @property
    def number(self) -> str:
        """Its version without what a distributor adds: "6.12.95", "6.13-rc2"."""
        match = _NUMBER.match(self.release)
        return match[0] if match else self.release


def read_image(file: Path) -> KernelImage:
    """The kernel in `file`. UsageError for a file that is none, is cut short or cannot be read."""
    return _read(file, *_state(file))


def built_in_config(file: Path) -> str | None:
    """The configuration inside the image (CONFIG_IKCONFIG); None without, or if it is packed in a
    way that nothing here unpacks. UsageError if the file cannot be read."""
    return _config(file, *_state(file))


def lacks_program(file: Path) -> str:
    """The program without which the configuration inside cannot be looked for; "" if none."""
    content = _bytes(file)
    program, _ = _PACKED_BY.get(_payload(content)[:4] if _is_bzimage(content) else b"", ("", ""))
    return program if program and shutil.which(program) is None else ""


def _state(file: Path) -> tuple[int, int, int]:
    try:
        state = file.stat()
    except OSError as error:
        raise _refused(file, error.strerror or "cannot be read", "Check its path") from None
    return state.st_ino, state.st_mtime_ns, state.st_size


def _bytes(file: Path) -> bytes:
    try:
        return read_regular(file, limit=_FILE_LIMIT)
    except OSError as error:
        raise _refused(file, error.strerror or "cannot be read", REMEDY) from None


@lru_cache(maxsize=256)
def _read(file: Path, *_changed: int) -> KernelImage:
    content = _bytes(file)
    digest = hashlib.sha256(content).hexdigest()
    if _is_bzimage(content):
        release, build = _of_bzimage(file, content)
        isa = "x86_64" if struct.unpack_from("<H", content, 0x236)[0] & 1 else "i386"
        return KernelImage(file, "bzImage", isa, release, build, digest)
    form, image = "Image", content
    if content[:2] == b"\x1f\x8b":
        form, image = "Image.gz", _gunzipped(file, content)
    isa = _MAGICS.get(image[_MAGIC_AT : _MAGIC_AT + 4], "")
    if not isa:
        raise _no_kernel(file, image)
    _check_length(file, image)
    banner = _BANNER.search(image)
    if banner is None:
        raise _refused(file, "its text `Linux version` is missing: the file is cut short", REMEDY)
    release, build = banner[1].decode("ascii"), banner[2].decode("ascii").strip()
    return KernelImage(file, form, isa, release, build, digest)


@lru_cache(maxsize=64)
def _config(file: Path, *_changed: int) -> str | None:
    content = _bytes(file)
    if _is_bzimage(content):
        content = _unpacked(_payload(content))
    elif content[:2] == b"\x1f\x8b":
        content = _gunzipped(file, content)
    for packed in _CONFIG.finditer(content):
        try:
            text = zlib.decompressobj(31).decompress(packed[1], _CONFIG_LIMIT)
        except zlib.error:
            continue
        return text.decode("ascii", errors="replace")
    return None


def _is_bzimage(content: bytes) -> bool:
    return content[0x1FE:0x200] == b"\x55\xaa" and content[0x202:0x206] == b"HdrS"


def _of_bzimage(file: Path, content: bytes) -> tuple[str, str]:
    """Release and build of a bzImage, from its header. UsageError if it is cut short."""
    if len(content) < 0x260 or struct.unpack_from("<H", content, 0x206)[0] < 0x208:
        raise _refused(file, "a bzImage cut short, or of a Linux before 2.6.24", REMEDY)
    whole = (content[0x1F1] + 1) * 512 + 16 * struct.unpack_from("<I", content, 0x1F4)[0]
    if len(content) < whole:
        raise _cut(file, len(content), whole)
    at = struct.unpack_from("<H", content, 0x20E)[0] + 0x200
    text = content[at : at + 512].split(b"\0")[0].decode("ascii", errors="replace")
    match = _HEADER.match(text)
    if match is None:
        raise _refused(file, "a bzImage whose header names no version of Linux", REMEDY)
    return match["release"], match["build"].strip()


def _payload(content: bytes) -> bytes:
    """The packed kernel of a bzImage."""
    offset, length = struct.unpack_from("<II", content, 0x248)
    at = (content[0x1F1] + 1) * 512 + offset
    return content[at : at + length]


def _unpacked(payload: bytes) -> bytes:
    """The kernel itself; nothing if this machine has no way to unpack it."""
    try:
        if payload[:2] == b"\x1f\x8b":
            return zlib.decompressobj(31).decompress(payload, _LIMIT)
        if payload[:6] == b"\xfd7zXZ\0" or payload[:3] == b"\x5d\0\0":
            return lzma.LZMADecompressor().decompress(payload, _LIMIT)
        if payload[:3] == b"BZh":
            return bz2.BZ2Decompressor().decompress(payload, _LIMIT)
        command = _PACKED_BY.get(payload[:4])
        if command is None or shutil.which(command[0]) is None:
            return b""
        return _by_program(command, payload)
    except (zlib.error, lzma.LZMAError, OSError, EOFError):
        return b""


def _by_program(command: tuple[str, str], payload: bytes) -> bytes:
    """What a program unpacks. It finds the length of 4 bytes behind the frame, which it calls an
    error after its whole output."""
    with tempfile.TemporaryFile() as packed:
        packed.write(payload)
        packed.seek(0)
        unpacker = subprocess.Popen(
            command, stdin=packed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        with unpacker:
            assert unpacker.stdout is not None
            content = unpacker.stdout.read(_LIMIT)
            unpacker.kill()
    return content


def _gunzipped(file: Path, content: bytes) -> bytes:
    unpacker = zlib.decompressobj(31)
    try:
        image = unpacker.decompress(content, _LIMIT)
    except zlib.error as error:
        raise _refused(file, f"damaged: {error}", REMEDY) from None
    if not unpacker.eof:
        raise _refused(file, f"cut short, or larger than {_LIMIT // MIB} MiB unpacked", REMEDY)
    return image


def _check_length(file: Path, image: bytes) -> None:
    """UsageError for an Image that ends within a section. Only one that EFI can start has them."""
    try:
        (pe,) = struct.unpack_from("<I", image, 60)
        if image[pe : pe + 4] != b"PE\0\0":
            return
        count, _, _, _, optional = struct.unpack_from("<HIIIH", image, pe + 6)
        sections = [
            struct.unpack_from("<II", image, pe + 24 + optional + 40 * number + 16)
            for number in range(count)
        ]
    except struct.error:
        raise _refused(file, "its header is cut short", REMEDY) from None
    whole = max((size + at for size, at in sections), default=0)
    if len(image) < whole:
        raise _cut(file, len(image), whole)


def _no_kernel(file: Path, content: bytes) -> UsageError:
    if content[4:8] == b"zimg":
        return _refused(file, "an image that only EFI unpacks (vmlinuz.efi)", REMEDY)
    kind = next((what for magic, what in _OTHERS.items() if content.startswith(magic)), "")
    what = f"{kind}, no kernel that QEMU boots" if kind else "neither a bzImage nor an Image"
    return _refused(file, what, REMEDY)


def _cut(file: Path, size: int, whole: int) -> UsageError:
    return _refused(
        file,
        f"cut short: {size:,} bytes of {whole:,}",
        "Copy it again from its build: `sha256sum` of both files is equal then",
    )


def _refused(file: Path, what: str, remedy: str) -> UsageError:
    return UsageError(f"the kernel {file}: {what}", remedy=remedy)
