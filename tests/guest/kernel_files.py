# SPDX-License-Identifier: Apache-2.0
"""Files with the headers of kernels, and nothing that boots: for readers of images."""

from __future__ import annotations

import gzip
import struct

RT_BUILD = "#1 SMP PREEMPT_RT Test 1"
CONFIG = "# Linux/x86 6.9.1 Kernel Configuration\n"
_BODY = 4096
_NEEDED = """BLK_DEV_INITRD BINFMT_ELF DEVTMPFS PROC_FS SYSFS TMPFS PRINTK TTY FUTEX POSIX_TIMERS
HIGH_RES_TIMERS SERIAL_8250 SERIAL_8250_CONSOLE SERIAL_AMBA_PL011 SERIAL_AMBA_PL011_CONSOLE PCI
PCI_HOST_GENERIC SERIAL_8250_PCI SERIAL_OF_PLATFORM NET PACKET POSIX_MQUEUE SYSVIPC EPOLL EVENTFD
SIGNALFD TIMERFD UNIX"""


def config(*without: str, rt: bool = True, **other: str) -> str:
    """A configuration with all that a guest of any board needs, but for some."""
    values = dict.fromkeys(_NEEDED.split(), "y") | ({"PREEMPT_RT": "y"} if rt else {}) | other
    lines = [f"CONFIG_{name}={value}" for name, value in values.items() if name not in without]
    lines += [f"# CONFIG_{name} is not set" for name in without]
    return CONFIG + "\n".join(lines) + "\n"


def inside(text: str) -> bytes:
    """A configuration as CONFIG_IKCONFIG puts it into a kernel."""
    return b"IKCFG_ST" + gzip.compress(text.encode(), mtime=0) + b"IKCFG_ED"


def bzimage(
    release: str = "6.9.1-test",
    build: str = RT_BUILD,
    *,
    settings: str | None = None,
    is_64: bool = True,
) -> bytes:
    """A bzImage: Documentation/arch/x86/boot.rst."""
    header = bytearray(1024)
    header[0x1F1] = 1  # sector of set-up code
    header[0x1FE:0x206] = b"\x55\xaa\xeb\x6aHdrS"
    struct.pack_into("<H", header, 0x206, 0x20F)
    struct.pack_into("<H", header, 0x236, int(is_64))
    payload = gzip.compress(inside(settings) if settings else b"a kernel", mtime=0)
    text = f"{release} (someone@host) {build}".encode()
    struct.pack_into("<H", header, 0x20E, 0x300 - 0x200)
    header[0x300 : 0x300 + len(text)] = text
    body = payload.ljust(_BODY, b"\0")
    struct.pack_into("<I", header, 0x1F4, len(body) // 16)
    struct.pack_into("<II", header, 0x248, 0, len(payload))
    return bytes(header) + body


def image(
    magic: bytes = b"ARM\x64",
    release: str = "6.9.1-test",
    build: str = RT_BUILD,
    settings: str | None = None,
) -> bytes:
    """An Image with the sections that EFI reads: Documentation/arch/arm64/booting.rst."""
    header = bytearray(256)
    header[:2] = b"MZ"
    header[56:60] = magic
    struct.pack_into("<I", header, 60, 64)
    header[64:68] = b"PE\0\0"
    struct.pack_into("<H", header, 70, 1)
    banner = f"Linux version {release} (someone@host) (gcc 12) {build}\n".encode()
    body = (banner + (inside(settings) if settings else b"")).ljust(_BODY, b"\0")
    struct.pack_into("<II", header, 64 + 24 + 16, len(body), len(header))
    return bytes(header) + body
