# SPDX-License-Identifier: Apache-2.0
"""Images of the RTOS boards with special options, and a boot of them in QEMU."""

from __future__ import annotations

import functools
import os
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kadenz.config import inventory
from kadenz.config.board import Board, EmulatedTier
from kadenz.config.toml import read_toml
from kadenz.elf import Elf
from kadenz.images import compiler_cache, shared_name
from kadenz.images.image import locked
from kadenz.images.source import kernel_source
from kadenz.targets.qemu import QemuTarget
from kadenz.tools import require
from kadenz.wire.decoder import Decoder, Received
from kadenz.wire.messages import Begin, End, Samples
from tests.waiting import PATIENCE_S

HERE = Path(__file__).parent
TARGETS = HERE / "targets"
BOARDS = ("hifive1-revb", "stm32f4")
# Cases of conformance that are n/a on one core: kernels/conformance/cores.c, cores_at_once.c.
OF_SEVERAL_CORES = {
    "a moved thread runs on its new core",
    "ranks order threads of the other core",
    "a give wakes a thread of the other core",
    "a woken thread preempts on the other core",
    "a waiter lends its rank to the other core",
    "an interrupt of the other core wakes a thread",
    "two cores at once lose nothing",
    "stamps of two cores have one order",
}

M = TypeVar("M")


@functools.cache
def freertos() -> Path:
    """The folder of the pinned FreeRTOS."""
    source = kernel_source("freertos", inventory.kernel("freertos"), None)
    assert source is not None
    return source.folder


@functools.cache
def build(
    board: str,
    name: str = "stock",
    *,
    instrument: str = "counter",
    kernel: str = "freertos",
    options: tuple[tuple[str, str], ...] = (),
) -> Path:
    """Builds an image in its own folder; returns that folder."""
    folder = inventory.root() / "build" / "tests" / f"{kernel}-{board}-{instrument}-{name}"
    arch = read_toml(inventory.root() / "boards" / board / "board.toml", Board).arch
    toolchain = inventory.root() / "arch" / arch / "toolchain.cmake"
    cache = folder / "CMakeCache.txt"  # it remembers the flags of the tool chain file
    if cache.is_file() and cache.stat().st_mtime < toolchain.stat().st_mtime:
        cache.unlink()
    settings = {
        "KDZ_KERNEL": kernel,
        "KDZ_BOARD": board,
        "KDZ_INSTRUMENT": instrument,
        "CMAKE_TOOLCHAIN_FILE": str(toolchain),
        "KDZ_KERNEL_SOURCE": str(freertos()),
        **compiler_cache.options(),
        **dict(options),
    }
    if (inventory.root() / "kernels" / kernel / "Cargo.toml").is_file():
        settings["KDZ_RUSTC"] = str(require("rustc"))
        settings["KDZ_CARGO_TARGET"] = str(inventory.root() / "build" / "rust")
    with locked(folder):
        home = shared_name.link(folder, keep=".lock")
        settings["CMAKE_TOOLCHAIN_FILE"] = shared_name.below(home, str(toolchain))
        run(
            str(require("cmake")),
            *("-S", str(home / "suite"), "-B", str(folder), "-G", "Ninja"),
            *(f"-D{key}={value}" for key, value in settings.items()),
            folder=folder,
        )
        run(str(require("cmake")), "--build", str(folder), "--parallel", "2", folder=folder)
    return folder


def run(*command: str, folder: Path | None = None) -> str:
    """Runs a command, of the build in `folder`; returns its output. A failure fails the test."""
    answer = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**(compiler_cache.environment(folder) if folder else os.environ), "LC_ALL": "C"},
    )
    assert answer.returncode == 0, f"{' '.join(command)}\n{answer.stdout}\n{answer.stderr}"
    return answer.stdout


@dataclass
class Said:
    """All output of one boot."""

    raw: bytes
    messages: list[Any] = field(default_factory=list)
    samples: dict[tuple[int, int], NDArray[Any]] = field(default_factory=dict)

    def all(self, kind: type[M]) -> list[M]:
        """The messages of one type, in order."""
        return [m for m in self.messages if isinstance(m, kind)]

    def only(self, kind: type[M]) -> M:
        """The only message of its type."""
        (message,) = self.all(kind)
        return message

    def record(self, bench: str) -> tuple[Begin, End]:
        """Begin and end of the only record of a benchmark."""
        (begin,) = [b for b in self.all(Begin) if b.bench == bench]
        (end,) = [e for e in self.all(End) if e.record == begin.record]
        return begin, end

    def values(self, bench: str, lane: int = 0) -> NDArray[Any]:
        """The samples of a lane of the only record of a benchmark."""
        return self.samples[self.record(bench)[0].record, lane]


def boot(
    folder: Path,
    board: str,
    plan: str,
    *,
    patience_s: float = PATIENCE_S,
    target_type: Callable[[EmulatedTier, Elf], QemuTarget] = QemuTarget,
) -> Said:
    """Boots an image with a plan and reads until it ends. Fails on any damaged frame."""
    tier = inventory.board(board).tier.emulated
    assert tier is not None
    target = target_type(tier, Elf(folder / "kadenz-suite.elf"))
    return decode(_listen(target, plan, patience_s))


def _listen(target: QemuTarget, plan: str, patience_s: float) -> bytes:
    pieces = []
    target.open(plan)
    try:
        end = time.monotonic() + patience_s
        while (piece := target.read(1.0)) is not None:
            pieces.append(piece)
            seen = "" if time.monotonic() < end else target.post_mortem().report
            assert time.monotonic() < end, f"no end after {patience_s} s\n{seen}"
    finally:
        target.close()
    return b"".join(pieces)


def decode(raw: bytes) -> Said:
    """Decodes the bytes of a boot to messages and samples."""
    decoder = Decoder()
    said = Said(raw)
    parts: dict[tuple[int, int], list[NDArray[Any]]] = defaultdict(list)
    for item in [*decoder.feed(raw), *decoder.finish()]:
        assert isinstance(item, Received), item
        if isinstance(item.message, Samples):
            parts[item.message.record, item.message.lane].append(item.message.values)
        else:
            said.messages.append(item.message)
    said.samples = {key: np.concatenate(values) for key, values in parts.items()}
    return said
