# SPDX-License-Identifier: Apache-2.0
"""The configuration of a kernel, and what a guest needs of it.

The needs are those of kernels/linux/guest/init.c, of the C library and of QEMU's machines; for
riscv64, boards/riscv64/linux.config shows a kernel that has no more than them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kadenz.config.board import GuestTier
from kadenz.regular_files import MIB, read_regular
from kadenz.targets.kernel_image import KernelImage, built_in_config

_LIMIT = 16 * MIB  # of a file; Debian's have 0.3 MiB
_LINE = re.compile(r"^CONFIG_(\w{1,100})=([^\n]{0,1000})$", re.MULTILINE)
_TITLE = re.compile(r"^# Linux/(\w+) (\S{1,100}) Kernel Configuration$", re.MULTILINE)
_ARCHITECTURES = {"x86_64": "x86", "aarch64": "arm64", "riscv64": "riscv"}  # there
_RAM_DISK = "the suite is in the initial RAM disk"
_NEEDED = {
    "BLK_DEV_INITRD": _RAM_DISK,
    "BINFMT_ELF": "the suite is an ELF program",
    "DEVTMPFS": "its lines are devices of /dev",
    "PROC_FS": "the first program waits by /proc/uptime until the kernel has settled",
    "SYSFS": "facts of the run are read there",
    "TMPFS": "/tmp and shared memory",
    "PRINTK": "the console says why a boot fails",
    "TTY": "frames leave through a serial line",
    "FUTEX": "locks of the C library",
    "POSIX_TIMERS": "clock_nanosleep",
    "HIGH_RES_TIMERS": "wake-ups between two ticks",
}
# By the name of the console's line, without its number.
_LINES = {
    "ttyS": ("SERIAL_8250", "SERIAL_8250_CONSOLE"),
    "ttyAMA": ("SERIAL_AMBA_PL011", "SERIAL_AMBA_PL011_CONSOLE"),
}
_CARD = ("PCI", "PCI_HOST_GENERIC", "SERIAL_8250_PCI")  # of a second line on a card
_DEVICE_TREE = "SERIAL_OF_PLATFORM"  # where the console's 8250 is in a device tree
_WINDOW = {
    "PCI": "frames of its program leave through a PCI device",
    "NET": "its program has a network",
    "PACKET": "its program sends frames of Ethernet",
}
# Without these a guest boots, and benchmarks are n/a.
_WANTED = {
    "POSIX_MQUEUE": "POSIX message queues",
    "SYSVIPC": "System V message queues and semaphores",
    "EPOLL": "epoll",
    "EVENTFD": "eventfd",
    "SIGNALFD": "signalfd",
    "TIMERFD": "timerfd",
    "UNIX": "Unix sockets",
}
# Modules of kernels/linux/guest/modules that take no parameters, and so may be built in.
_MODULES = {"veth": "VETH", "e1000e": "E1000E", "configfs": "CONFIGFS_FS"}


@dataclass(frozen=True)
class KernelSettings:
    """The configuration of one kernel, and where it was read."""

    where: str
    values: Mapping[str, str]  # without CONFIG_: "DEVTMPFS" -> "y"

    def lacking(self, tier: GuestTier, arch: str) -> list[str]:
        """What a guest of this board needs and the kernel has not, each with its reason."""
        return [
            f"{self._named(name)}: {why}"
            for name, why in _needs(tier, arch).items()
            if self.values.get(name) != "y"
        ]

    def without(self) -> list[str]:
        """What benchmarks call and the kernel has not."""
        missing = (name for name in _WANTED if self.values.get(name) != "y")
        return [f"CONFIG_{name} ({_WANTED[name]})" for name in missing]

    def built_in(self) -> frozenset[str]:
        """Modules of guests that are in the kernel itself."""
        return frozenset(name for name, key in _MODULES.items() if self.values.get(key) == "y")

    def _named(self, name: str) -> str:
        """CONFIG_NAME=y, and that it is a module if it is."""
        as_module = " (it is a module, which nothing loads)" if name in self._modules else ""
        return f"CONFIG_{name}=y{as_module}"

    @property
    def _modules(self) -> set[str]:
        return {name for name, value in self.values.items() if value == "m"}


def settings_of(image: KernelImage) -> KernelSettings | None:
    """The configuration inside the image, else that of a file beside it; None without both."""
    text = built_in_config(image.file)
    if text is not None:
        return _parsed(f"the configuration inside {image.file}", text)
    for file in _beside(image):
        try:
            text = read_regular(file, limit=_LIMIT).decode(errors="replace")
        except OSError:
            continue
        settings = _parsed(str(file), text)
        if _belongs(image, file, text, settings):
            return settings
    return None


def _parsed(where: str, text: str) -> KernelSettings:
    return KernelSettings(where, dict(_LINE.findall(text)))


def _beside(image: KernelImage) -> Iterator[Path]:
    """Files that may have the configuration of an image, the most certain first."""
    folder, name = image.file.parent, image.file.name
    _, hyphen, after = name.partition("-")  # vmlinuz-6.1.0-50-amd64
    names = [f"config-{after}"] if hyphen else []
    for each in dict.fromkeys([*names, f"config-{image.release}", f"{name}.config", "config"]):
        yield folder / each
    if folder.name == "boot" and len(folder.parents) > 2:  # LINUX/arch/x86/boot
        yield folder.parents[2] / ".config"


def _belongs(image: KernelImage, file: Path, text: str, settings: KernelSettings) -> bool:
    """Whether a configuration is of this kernel: its name says so, or the version in its title.

    One of another kind of preemption or of another architecture never is.
    """
    if (settings.values.get("PREEMPT_RT") == "y") != image.preempt_rt:
        return False
    title = _TITLE.search(text)
    named = file.name in (f"config-{image.release}", f"{image.file.name}.config")
    if title is not None and title[1] != _ARCHITECTURES.get(image.isa):
        return False
    of_version = title is not None and title[2] in f"{image.release} {image.build}"
    return bool(settings.values) and (named or of_version)


def _needs(tier: GuestTier, arch: str) -> dict[str, str]:
    line = tier.console.rstrip("0123456789")
    serial = dict.fromkeys(_LINES.get(line, ()), f"the console is {tier.console}")
    if line == "ttyS" and arch != "x86_64":
        serial[_DEVICE_TREE] = f"the console is {tier.console}"
    card = _CARD if tier.frames_device else ()
    frames = dict.fromkeys(card, f"frames leave through {tier.frames}, a card")
    window = _WINDOW if tier.program is not None else {}
    return {**_NEEDED, **serial, **frames, **window}
