# SPDX-License-Identifier: Apache-2.0
"""Flash and RAM by load and run address, and nobody's object in a tool chain's library.

Real links: what each layout takes is read from the program headers, which the linker wrote.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from kadenz.config.manifest import FootprintEntry
from kadenz.images.footprint import footprint
from kadenz.images.libraries import library
from kadenz.images.link_map import read_map
from kadenz.report.footprint import total

pytestmark = pytest.mark.counted

SOURCE = """
#define IN(name) __attribute__((section(name), used))
IN(".ramfunc") __attribute__((noinline)) int hot(int x)
{
    __asm__ volatile(".rept 500\\n nop\\n .endr");
    return x * 3;
}
IN(".first") __attribute__((noinline)) int first(int x) { return x + 1; }
IN(".second") __attribute__((noinline)) int second(int x) { return x * x + hot(x) + 2; }
int table[64] = {1, 2, 3};
char zeroed[1024];
IN(".noinit") char kept[512];
const int constants[32] = {4, 5};
int main(void)
{
    zeroed[3] = (char)hot(table[1] + constants[2] + first(1) + second(2));
    kept[1] = zeroed[3];
    for (;;) {
    }
}
IN(".vectors") const void *vectors[] = {(void *)0x20020000, main}; /* writable: not const itself */
"""
MEMORY = """
MEMORY {{ FLASH {flash} : ORIGIN = 0x08000000, LENGTH = 1M
         RAM {ram} : ORIGIN = 0x20000000, LENGTH = 128K }}
"""
STATED, SLOPPY, UNSTATED = ("(rx)", "(rwx)"), ("(rwx)", "(rwx)"), ("", "")
TEXT = "KEEP(*(.vectors)) *(.text*) *(.rodata*) *(.srodata*)"
OVERLAYS = "*(.first) *(.second)"
DATA = "*(.data*) *(.sdata*)"
# Every section ends at a multiple of 16, so that nothing lies between two of them.
ZEROED = """
  .bss (NOLOAD) : { *(.bss*) *(.sbss*) *(COMMON) . = ALIGN(16); } > RAM
  .noinit (NOLOAD) : { *(.noinit*) . = ALIGN(16); } > RAM
  .heap_stack (NOLOAD) : { . = . + 0x1000; } > RAM
  /DISCARD/ : { *(.ARM.*) *(.comment) *(.eh_frame*) *(.note*) *(.riscv.attributes) }
"""


def section(name: str, contents: str, where: str) -> str:
    return f"  {name} : {{ {contents} . = ALIGN(16); }} > {where}\n"


LAYOUTS = {
    "code copied to RAM": section(".text", TEXT, "FLASH")
    + section(".ramtext", f"*(.ramfunc) {OVERLAYS}", "RAM AT > FLASH")
    + section(".data", DATA, "RAM AT > FLASH"),
    "code among the data": section(".text", TEXT, "FLASH")
    + section(".data", f"{DATA} *(.ramfunc) {OVERLAYS}", "RAM AT > FLASH"),
    "data called .relocate": section(".text", TEXT, "FLASH")
    + section(".relocate", f"*(.ramfunc) {OVERLAYS} {DATA}", "RAM AT > FLASH"),
    "overlays": section(".text", TEXT, "FLASH")
    + "  OVERLAY : { .one { *(.first) *(.ramfunc) . = ALIGN(16); } "
    + ".two { *(.second) . = ALIGN(16); } } > RAM AT > FLASH\n"
    + section(".data", DATA, "RAM AT > FLASH"),
    "all in RAM": section(".text", TEXT, "RAM")
    + section(".ramtext", f"*(.ramfunc) {OVERLAYS}", "RAM")
    + section(".data", DATA, "RAM"),
    "flash that is kept free": section(".text", TEXT, "FLASH")
    + section(".ramtext", f"*(.ramfunc) {OVERLAYS}", "RAM AT > FLASH")
    + section(".data", DATA, "RAM AT > FLASH")
    + "  .settings (NOLOAD) : { . = . + 0x800; } > FLASH\n",
}


def lld() -> str:
    """Rust's copy of lld. Skips without it."""
    asked = subprocess.run(
        ["rustc", "--print", "sysroot"], capture_output=True, text=True, check=False
    )
    places = [Path(asked.stdout.strip()), *Path.home().glob(".rustup/toolchains/*")]
    for place in places:
        for file in place.glob("lib/rustlib/*/bin/rust-lld"):
            return str(file)
    return shutil.which("ld.lld") or pytest.skip("no lld: neither Rust's nor LLVM's")


COMPILERS = {
    "arm": ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"],
    "riscv": ["riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32"],
}
# lld does not take an OVERLAY in a region of MEMORY.
LINKS = [(link, layout) for layout in LAYOUTS for link in ("arm", "riscv", "lld")]
LINKS.remove(("lld", "overlays"))


def run(command: Iterable[object], folder: Path) -> None:
    subprocess.run([str(word) for word in command], cwd=folder, check=True)


def linked(
    folder: Path, link: str, layout: str, regions: tuple[str, str] = STATED, *, mapped: bool = True
) -> Path:
    """SOURCE compiled, and linked by a script with this layout."""
    compiler = COMPILERS.get(link, COMPILERS["arm"])
    (folder / "app.c").write_text(SOURCE)
    flash, ram = regions
    sections = f"SECTIONS {{\n{LAYOUTS[layout]}{ZEROED}}}\n"
    (folder / "app.ld").write_text(MEMORY.format(flash=flash, ram=ram) + sections)
    run([*compiler, "-O1", "-g", "-c", "app.c", "-o", folder / "app.o"], folder)
    options = ["-T", "app.ld", "-e", "main", folder / "app.o", "-o", "app.elf"]
    if link == "lld":
        command: list[object] = [lld(), "-flavor", "gnu", *options]
        run([*command, *(["-Map=app.map"] if mapped else [])], folder)
    else:
        command = [*compiler, "-nostdlib", *options, "-Wl,--no-warn-rwx-segments"]
        run([*command, *(["-Wl,-Map=app.map"] if mapped else [])], folder)
    return folder / "app.elf"


def of_headers(program: Path) -> tuple[int, int]:
    """Flash and RAM by the segments: bytes that the file has for flash, addresses of RAM in use."""
    with program.open("rb") as file:
        loads = [load.header for load in ELFFile(file).iter_segments("PT_LOAD")]
    flash = sum(load["p_filesz"] for load in loads if load["p_paddr"] < 0x20000000)
    used = {
        address
        for load in loads
        if load["p_vaddr"] >= 0x20000000
        for address in range(load["p_vaddr"], load["p_vaddr"] + load["p_memsz"])
    }
    return flash, len(used)


def both(entries: list[FootprintEntry]) -> tuple[int, int]:
    every = total(entries)
    return every.flash, every.ram


# ---- by load and run address ---------------------------------------------------------------------
@pytest.mark.parametrize("mapped", [True, False], ids=["map", "no map"])
@pytest.mark.parametrize(("link", "layout"), LINKS)
def test_flash_and_ram_are_those_of_the_program_headers(
    layout: str, link: str, mapped: bool, tmp_path: Path
) -> None:
    program = linked(tmp_path, link, layout, mapped=mapped)
    flash, ram = both(footprint(program))
    assert (flash, ram) == of_headers(program)
    assert ram > 1024 + 512 + 0x1000 + 1000  # hot() runs from RAM
    assert (flash == 0) == (layout == "all in RAM")


@pytest.mark.parametrize("regions", [SLOPPY, UNSTATED], ids=["all rwx", "no attributes"])
@pytest.mark.parametrize(("link", "layout"), LINKS)
def test_attributes_of_a_script_decide_nothing_that_the_image_shows(
    layout: str, link: str, regions: tuple[str, str], tmp_path: Path
) -> None:
    program = linked(tmp_path, link, layout, regions)
    assert both(footprint(program)) == of_headers(program)


def test_the_file_of_a_linux_program_keeps_all_that_it_loads(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int table[900] = {1}; int main(void) { return table[3]; }\n")
    for kind in ("-pie", "-no-pie", "-static"):
        run(["gcc", "-g", kind, "-o", "firmware.elf", "main.c"], tmp_path)
        every = total(footprint(tmp_path / "firmware.elf"))
        assert every.flash == every.code + every.constants + every.data
        assert every.data >= 3600 and every.ram <= every.data + every.zeroed


def test_an_older_run_has_flash_and_ram_by_kind() -> None:
    older = FootprintEntry(part="kernel", file="a.c", code=100, constants=10, data=4, zeroed=8)
    assert (older.flash, older.ram) == (114, 12)
    code_in_ram = FootprintEntry(part="", file="", code=100, stored=0, resident=100)
    assert both([older, code_in_ram]) == (114, 112)


# ---- whose object it is --------------------------------------------------------------------------
UTILITY = "int utility(int x) { static int calls[7]; return calls[x & 3]++ + x * 5; }\n"
MAIN = """
#include <string.h>
int utility(int);
char buffer[99];
long long divisor = 3;
int main(void)
{
    memset(buffer, utility(2), sizeof buffer);
    return (int)(buffer[3] / divisor);
}
"""


def build(folder: Path, link: str, *options: str, keep: bool = True) -> list[FootprintEntry]:
    """An image of main.c and of an archive libm.a of the user's, all by absolute paths."""
    compiler = [*COMPILERS[link], "--specs=picolibc.specs", "-O1", *options]
    user = folder / "user"
    user.mkdir()
    (user / "main.c").write_text(MAIN)
    (user / "utility.c").write_text(UTILITY)
    archiver = compiler[0].replace("-gcc", "-gcc-ar")
    run([*compiler, "-c", user / "utility.c", "-o", user / "utility.o"], folder)
    run([*compiler, "-c", user / "main.c", "-o", user / "main.o"], folder)
    run([archiver, "rcs", user / "libm.a", user / "utility.o"], folder)
    command = [*compiler, "-nostartfiles", "-Wl,-e,main"]
    run([*command, user / "main.o", user / "libm.a", "-Wl,-Map=app.map", "-o", "app.elf"], folder)
    return footprint(folder / "app.elf")


@pytest.mark.parametrize("options", [(), ("-g",), ("-ffunction-sections", "-fdata-sections")])
@pytest.mark.parametrize("link", ["arm", "riscv"])
def test_an_object_by_an_absolute_path_is_not_the_c_librarys(
    link: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    entries = build(tmp_path, link, *options)
    mine = [entry for entry in entries if str(tmp_path / "user") in entry.file]
    assert {entry.part for entry in mine} == {"not attributed"}
    assert total(mine).code > 0 and total(mine).zeroed >= 99 + 28
    assert {entry.file for entry in entries if entry.part == "C library"} == {"libc.a"}
    assert {entry.file for entry in entries if entry.part == "compiler library"} == {"libgcc.a"}


@pytest.mark.parametrize("link", ["arm", "riscv"])
def test_link_time_optimisation_keeps_the_sources_apart(link: str, tmp_path: Path) -> None:
    options = ("-g", "-flto", "-fno-inline", "-fno-ipa-icf")
    entries = build(tmp_path, link, *options)
    of = {Path(entry.file).name: entry for entry in entries if entry.part == "not attributed"}
    assert of["main.c"].code > of["utility.c"].code > 0
    assert (of["main.c"].zeroed, of["utility.c"].zeroed) == (99 + 0, 28)
    assert not any("ltrans" in name for name in of)


def test_link_time_optimisation_without_debug_information_is_nobodys(tmp_path: Path) -> None:
    entries = build(tmp_path, "arm", "-flto")
    assert total([row for row in entries if row.part == "not attributed"]).zeroed >= 99 + 28
    assert not any("ltrans" in entry.file for entry in entries)


def test_objects_that_a_build_lists_are_their_sources(tmp_path: Path) -> None:
    build(tmp_path, "arm")
    user = tmp_path / "user"
    listed: list[dict[str, Any]] = [
        {"directory": str(user), "file": str(user / "main.c"), "output": "main.o"},
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(listed))
    (mine,) = [e for e in footprint(tmp_path / "app.elf") if e.file == str(user / "main.c")]
    assert mine.compiled >= mine.code > 0


def test_a_map_by_the_whole_name_of_the_program_is_read(tmp_path: Path) -> None:
    entries = build(tmp_path, "arm")
    (tmp_path / "app.map").rename(tmp_path / "app.elf.map")
    assert footprint(tmp_path / "app.elf") == entries


GCC = "/opt/st/gnu-tools-for-stm32/tools"
TOOL_CHAINS = {
    "/usr/lib/picolibc/arm-none-eabi/lib/release/thumb/v7-m/libc.a(memcpy.S.o)": "C library",
    "/usr/lib/arm-none-eabi/newlib/thumb/v7e-m+fp/hard/libc_nano.a(libc_a-memset.o)": "C library",
    "/usr/lib/gcc/arm-none-eabi/12.2.1/thumb/libgcc.a(_divdi3.o)": "compiler library",
    "/usr/lib/gcc/arm-none-eabi/12.2.1/thumb/crti.o": "compiler library",
    "/usr/lib/gcc/arm-none-eabi/12.2.1/thumb/crtbegin.o": "compiler library",
    "/usr/lib/gcc/x86_64-linux-gnu/12/libstdc++.a(new_op.o)": "C++ library",
    "/usr/lib/x86_64-linux-gnu/Scrt1.o": "C library",
    "/usr/lib64/libc.a(printf.o)": "C library",
    f"{GCC}/arm-none-eabi/lib/thumb/v7e-m+fp/hard/librdimon_nano.a(a.o)": "C library",
    r"C:\ST\tools\arm-none-eabi\lib\thumb\libg_nano.a(libc_a-exit.o)": "C library",
    "c:/program files (x86)/gnu arm/arm-none-eabi/lib/libm.a(libm_a-sf_exp.o)": "C library",
    "/home/u/.espressif/tools/riscv32-esp-elf/lib/rv32imc/ilp32/libc.a(a.o)": "C library",
    "/home/u/.arduino15/tools/avr-gcc/7.3.0/avr/lib/avr5/crtatmega328p.o": "C library",
    "/opt/LLVM-ET-Arm/lib/clang-runtimes/arm-none-eabi/lib/libc.a(a.o)": "C library",
    "/opt/LLVM-ET-Arm/lib/clang/17/lib/libclang_rt.builtins-armv7em.a(a.o)": "compiler library",
    "/root/.rustup/toolchains/stable/lib/rustlib/thumbv7em-none-eabihf/lib/"
    "libcompiler_builtins-0a1b.rlib(x.o)": "compiler library",
    "/opt/zephyr-sdk/arm-zephyr-eabi/arm-zephyr-eabi/lib/thumb/libc.a(a.o)": "C library",
}
USERS = (
    "/home/u/firmware/build/main.o",
    "/home/u/firmware/lib/libm.a(filter.o)",
    "/home/u/.arduino15/packages/esp32/core.a(main.cpp.o)",
    "/home/u/.platformio/packages/framework-x/libFrameworkArduino.a(wiring.o)",
    "/opt/nordic/lib/cortex-m4/hard-float/libble.a(a.o)",
    "/usr/lib/arm-none-eabi/lib/libarm_cortexM4lf_math.a(a.o)",
    "/usr/lib/x86_64-linux-gnu/libcurl.a(a.o)",
    "/tmp/ccaBc1.ltrans0.ltrans.o",
    r"D:\work\obj\startup_stm32f405xx.o",
)


@pytest.mark.parametrize("path", TOOL_CHAINS)
def test_a_library_of_a_tool_chain_is_known_by_name_and_place(path: str) -> None:
    member = library(path)
    assert member is not None and member[0] == TOOL_CHAINS[path]
    assert "(" not in member[1] and "/" not in member[1] and "\\" not in member[1]


@pytest.mark.parametrize("path", USERS)
def test_an_object_of_anybody_else_is_no_library_of_a_tool_chain(path: str) -> None:
    assert library(path) is None


# ---- the map of lld ------------------------------------------------------------------------------
def test_the_map_of_lld_is_read() -> None:
    linker_map = read_map(
        "     VMA      LMA     Size Align Out     In      Symbol\n"
        " 8000000  8000000       2c     4 .text\n"
        " 8000000  8000000       20     4         /home/u/main.o:(.text.main)\n"
        " 8000000  8000000       20     1                 main\n"
        " 8000020  8000020        8     4         /home/u/lib(1)/libx.a(x.o):(.text)\n"
        " 8000028  8000028        4     4         <internal>:(.text.thunk)\n"
        "20000000  800002c       10     1 .stack\n"
        "20000000  800002c       10     1         . = . + 0x10\n"
        "20000010  8000030        5     1 .rodata.str\n"
        "20000010  8000030        5     1         <internal>:(.rodata.str)\n"
    )
    assert linker_map.sections == {
        ".text": (0x8000000, 0x2C),
        ".stack": (0x20000000, 0x10),
        ".rodata.str": (0x20000010, 5),
    }
    assert [(piece.size, piece.object) for piece in linker_map.pieces] == [
        (0x20, "/home/u/main.o"),
        (8, "/home/u/lib(1)/libx.a(x.o)"),
        (4, "linker stubs"),
        (0x10, "*fill*"),
        (5, ""),
    ]
