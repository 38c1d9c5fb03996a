# SPDX-License-Identifier: Apache-2.0
"""An image of FreeRTOS that stands in for kernels that are in no registry.

It keeps the variables that their kernel.toml names (`stand_in/current_threads.c`), and says that it
is this kernel.
"""

from __future__ import annotations

from pathlib import Path

from kadenz.elf import Elf
from tests.rtos.images import build

_SOURCE = Path(__file__).parent / "stand_in" / "current_threads.c"
_WRAPPED = ("vTaskSwitchContext", "vTaskSuspendAll", "xTaskResumeAll", "kdz_kernel_name")
_NAME_BYTES = 16


def stand_in_image() -> Path:
    """The image that stands in for every kernel."""
    options = (
        ("KDZ_EXTRA_BENCH", str(_SOURCE)),
        ("CMAKE_EXE_LINKER_FLAGS", " ".join(f"-Wl,--wrap={name}" for name in _WRAPPED)),
    )
    folder = build("stm32f4", "stand-in", instrument="scope", options=options)
    return folder / "kadenz-suite.elf"


def saying(image: Path, kernel: str, folder: Path) -> Path:
    """A copy that says that it is this kernel."""
    from elftools.elf.elffile import ELFFile

    (place,) = [symbol for symbol in Elf(image).symbols if symbol.name == "stand_in_kernel"]
    with image.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(place.section)
        offset = section["sh_offset"] + place.address - section["sh_addr"]
    content = bytearray(image.read_bytes())
    content[offset : offset + _NAME_BYTES] = kernel.encode().ljust(_NAME_BYTES, b"\0")
    copy = folder / "image.elf"
    copy.write_bytes(content)
    return copy
