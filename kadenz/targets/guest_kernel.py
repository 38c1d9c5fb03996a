# SPDX-License-Identifier: Apache-2.0
"""Kernels of guests in the cache, provided by `kadenz setup --guests`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.config.kernel import GuestKernels
from kadenz.errors import ToolMissing
from kadenz.user_cache import user_cache

_FILES = ("kernel", "release", "origin", "disturbance.ko")
REMEDY = (
    "Run `kadenz setup --guests`: it unpacks Debian's kernels into ~/.cache/kadenz/guests, and "
    "builds those of riscv64 (takes an hour, once)"
)


@dataclass(frozen=True)
class GuestKernel:
    """A kernel that QEMU can boot."""

    version: str  # as selected: "6.12"
    release: str  # as reported by the kernel: "6.12.95+deb12-rt-amd64"
    origin: str  # "Debian linux-image-6.12.95+deb12-rt-amd64 6.12.95-1~bpo12+1"
    image: Path
    disturbance: Path  # the module kernels/linux/disturbance built for this kernel
    modules: Path  # folder of kernels/linux/guest/modules; missing where they are built in

    def module_files(self, names: Sequence[str]) -> list[Path]:
        """The files of its modules. ToolMissing if the cache lacks one."""
        files = [self.modules / f"{name}.ko" for name in names]
        for file in files:
            if not file.is_file():
                raise ToolMissing(
                    f"{file}: this kernel of the cache has no module `{file.stem}`",
                    remedy="Run `kadenz setup --guests`, which fetches the kernel again with it",
                )
        return files


def find(isa: str, kernels: GuestKernels, version: str) -> GuestKernel:
    """The kernel of a version for an instruction set. Raises ToolMissing if it is not in the
    cache."""
    folder = user_cache() / "guests" / isa / f"{version}-{kernels.flavour}"
    if not all((folder / name).is_file() for name in _FILES):
        kind = "PREEMPT_RT kernel" if kernels.flavour == "rt" else "plain kernel"
        raise ToolMissing(f"no {kind} {version} for {isa} guests", remedy=REMEDY)
    return GuestKernel(
        version=version,
        release=(folder / "release").read_text().strip(),
        origin=(folder / "origin").read_text().strip(),
        image=folder / "kernel",
        disturbance=folder / "disturbance.ko",
        modules=folder / "modules",
    )
