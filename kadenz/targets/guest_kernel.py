# SPDX-License-Identifier: Apache-2.0
"""Kernels of guests: those in the cache, provided by `kadenz setup --guests`, and the user's."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import ClassVar

from kadenz.config.board import GuestTier
from kadenz.config.kernel import GuestKernels
from kadenz.errors import ToolMissing, UsageError
from kadenz.regular_files import read_regular
from kadenz.targets.kernel_image import REMEDY as IMAGES
from kadenz.targets.kernel_image import KernelImage, lacks_program
from kadenz.targets.kernel_settings import KernelSettings, settings_of
from kadenz.user_cache import user_cache

_FILES = ("kernel", "release", "origin", "disturbance.ko")
REMEDY = (
    "Run `kadenz setup --guests`: it unpacks Debian's kernels into ~/.cache/kadenz/guests, and "
    "builds those of riscv64 (takes an hour, once). Or name one of your own: --guest kernel=FILE"
)
_DIGITS = 8  # of a SHA-256, to tell two kernels of one version apart in a name
_VALUE_DIGITS = 16  # and in a condition; build.kernel_source has the whole
_MODULE_BYTES = 256 << 20
_BUILT_FOR = re.compile(rb"\0vermagic=([!-~]{1,200}) ")  # of a module's section .modinfo
_BESIDE = re.compile(r"\.|config|System\.map|initrd|initramfs|sha256sums", re.IGNORECASE)


@dataclass(frozen=True)
class GuestKernel:
    """A kernel that QEMU can boot."""

    version: str  # as selected: "6.12"
    release: str  # as reported by the kernel: "6.12.95+deb12-rt-amd64"
    origin: str  # "Debian linux-image-6.12.95+deb12-rt-amd64 6.12.95-1~bpo12+1"
    image: Path
    disturbance: Path | None  # the module kernels/linux/disturbance built for this kernel
    modules: Path  # folder of kernels/linux/guest/modules
    notes: tuple[str, ...] = ()  # what it lacks and boots without, or that this is unknown

    by_path: ClassVar[bool] = False  # whether it is one of the user's

    @property
    def value(self) -> str:
        """As a condition of a run."""
        return self.origin

    @property
    def label(self) -> str:
        """In the names of runs on the screen."""
        return f"kernel {self.version}"

    def loaded(self, names: Sequence[str]) -> tuple[str, ...]:
        """The modules among `names` that a guest has to load."""
        return tuple(names)

    def checked(self, module: Path) -> Path:
        """The module's file. UsageError if it says that it was built for another kernel."""
        try:
            says = _BUILT_FOR.search(b"\0" + read_regular(module, limit=_MODULE_BYTES))
        except OSError as error:
            raise UsageError(
                f"{module}: {error.strerror or error}",
                remedy="Put the kernel's own module there, and let it be read",
            ) from None
        release = says[1].decode("ascii") if says is not None else self.release
        if release != self.release:
            raise UsageError(
                f"{module}: built for Linux {release}, and {self.image} is {self.release}",
                remedy="Copy the module of this kernel's own build there",
            )
        return module

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


@dataclass(frozen=True)
class GivenKernel(GuestKernel):
    """A kernel of the user's. `version` has the first digits of its digest."""

    sha256: str = ""
    built_in: frozenset[str] = frozenset()  # modules that are in the kernel itself

    by_path: ClassVar[bool] = True

    @property
    def value(self) -> str:
        """Release and digest: where the file is does not matter."""
        return f"{self.release}, SHA-256 {self.sha256[:_VALUE_DIGITS]}"

    @property
    def label(self) -> str:
        """Its file, version and digest."""
        return f"kernel {self.image.name} ({self.version})"

    def loaded(self, names: Sequence[str]) -> tuple[str, ...]:
        """The modules among `names` that are not built in."""
        return tuple(name for name in names if name not in self.built_in)

    def module_files(self, names: Sequence[str]) -> list[Path]:
        """The files of its modules, beside it. UsageError if one is missing or not its own."""
        return [self.checked(self._module_file(name)) for name in self.loaded(names)]

    def _module_file(self, name: str) -> Path:
        beside = self.modules / f"{name}.ko"
        if beside.is_file():
            return beside
        folder = self.image.parent
        # `make modules_install INSTALL_MOD_PATH=…` with the image beside lib/, and /boot.
        trees = [root / "lib/modules" / self.release for root in (folder, folder.parent)]
        files = [file for tree in trees for file in sorted(tree.rglob(f"{name}.ko"))]
        if files:
            return files[0]
        packed = [file for tree in trees for file in tree.rglob(f"{name}.ko.*")]
        raise UsageError(
            f"{self.image}: no module `{name}` for it: neither {beside} nor one in "
            f"{trees[0]}" + (f", but {packed[0]}, which is packed" if packed else ""),
            remedy="Unpack it into `modules` beside the kernel"
            if packed
            else f"Copy its {name}.ko into `modules` beside the kernel, or measure without what "
            "needs it: a load, or the board's program",
        )


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


def is_file_name(text: str) -> bool:
    """Whether `kernel=TEXT` names files: it has a slash, is a pattern, or is a file."""
    return "/" in text or has_magic(text) or Path(text).is_file()


def files_of(text: str) -> list[Path]:
    """The kernels that a name or a pattern stands for, by their names. UsageError for none.

    A pattern leaves folders out, and the files that distributions have beside kernels.
    """
    if not has_magic(text) or Path(text).exists():
        return [Path(text)]
    files = [Path(name) for name in sorted(glob(text))]  # noqa: PTH207  # may be absolute
    kernels = [file for file in files if not file.is_dir() and not _BESIDE.match(file.name)]
    if not kernels:
        raise UsageError(f"--guest kernel={text}: no file matches", remedy=IMAGES)
    return kernels


def given(image: KernelImage, tier: GuestTier, isa: str) -> GivenKernel:
    """A kernel of the user's for a board. UsageError if it lacks what a guest needs, or QEMU cannot
    load it."""
    if image.form == "Image.gz" and isa == "riscv64":  # QEMU 10.0 would start it as it is
        raise UsageError(
            f"the kernel {image.file}: QEMU unpacks no Image.gz for riscv64",
            remedy=f"gunzip --keep {shlex.quote(str(image.file))}, and name the Image",
        )
    settings = settings_of(image)
    lacking = settings.lacking(tier, isa) if settings is not None else []
    if settings is not None and lacking:
        raise UsageError(
            f"{image.file}: Linux {image.release} does not boot as a guest without "
            f"{'; '.join(lacking)} (as {settings.where} says)",
            remedy="Set it with scripts/config or menuconfig of the kernel's sources, and build "
            "the kernel again",
        )
    folder = image.file.parent
    planted = [folder / "modules/disturbance.ko", folder / "disturbance.ko"]  # as in the cache
    return GivenKernel(
        version=f"{image.number}-{image.sha256[:_DIGITS]}",
        release=image.release,
        origin=f"{image.form}, Linux {image.release} {image.build}, SHA-256 {image.sha256}",
        image=image.file.absolute(),
        disturbance=next((file for file in planted if file.is_file()), None),
        modules=folder / "modules",
        sha256=image.sha256,
        built_in=settings.built_in() if settings is not None else frozenset(),
        notes=_notes(image, settings),
    )


def _notes(image: KernelImage, settings: KernelSettings | None) -> tuple[str, ...]:
    if settings is not None:
        return tuple(
            f"its kernel has no {what}: such benchmarks are n/a" for what in settings.without()
        )
    program = lacks_program(image.file)
    how = f" (it is packed: `{program}` is not installed)" if program else ""
    text = (
        f"no configuration is inside the kernel{how} or beside it, so that what it lacks is unknown"
    )
    return (text,)
