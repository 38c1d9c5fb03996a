# SPDX-License-Identifier: Apache-2.0
"""An object library for `add_subdirectory`."""

from __future__ import annotations

from collections.abc import Iterable

from kadenz.images.suite_sources import SETTINGS, Suite

HOW = (
    "`add_subdirectory(THIS-FOLDER kadenz)`, then `target_link_libraries(kadenz PUBLIC "
    "YOUR-KERNEL)` and `target_link_libraries(YOUR-APP PRIVATE kadenz YOUR-KERNEL)`. Add "
    "`main.c` to YOUR-APP. Your kernel's library must export its include folders. Pass "
    "`KADENZ_STARTUP=OFF` if your project has its own start-up."
)


def files(suite: Suite) -> dict[str, str]:
    """The text of CMakeLists.txt, with an object library `kadenz`."""
    folders = "".join(
        f"-L${{CMAKE_CURRENT_SOURCE_DIR}}/{folder} " for folder in suite.linker_folders
    )
    text = f"""\
# SPDX-License-Identifier: Apache-2.0
# kadenz {suite.version}: the suite for {suite.title}.
cmake_minimum_required(VERSION 3.22)
option(KADENZ_STARTUP "reset, vectors and linker script of kadenz; OFF: the project has its own" ON)

add_library(kadenz OBJECT
{_lines(suite.sources)})
target_include_directories(kadenz PUBLIC
{_lines(suite.include)})
set_target_properties(kadenz PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_compile_options(kadenz PRIVATE
    -include ${{CMAKE_CURRENT_SOURCE_DIR}}/{SETTINGS}
    -g -ffunction-sections -fdata-sections $<$<COMPILE_LANGUAGE:C>:-O2>)
if(KADENZ_STARTUP)
    target_sources(kadenz PRIVATE
{_lines(suite.startup, 8)})
    target_link_options(kadenz INTERFACE -nostartfiles
        {folders}-T${{CMAKE_CURRENT_SOURCE_DIR}}/{suite.linker_script})
endif()
"""
    return {"CMakeLists.txt": text + (_kernel(suite) if suite.rules else "")}


def _kernel(suite: Suite) -> str:
    """The kernel by its own rules, which get the board's values from kadenz-board."""
    return f"""
set(KDZ_KERNEL_SOURCE "" CACHE PATH "tree of {suite.kernel.title}")
set(KDZ_BOARD_ARCH {suite.board.arch})
add_library(kadenz-board INTERFACE)
target_compile_options(kadenz-board INTERFACE
    "SHELL:-include ${{CMAKE_CURRENT_SOURCE_DIR}}/{SETTINGS}")
include({suite.rules})
target_link_libraries(kadenz PUBLIC kadenz-kernel)
"""


def _lines(names: Iterable[str], indent: int = 4) -> str:
    return "\n".join(f"{' ' * indent}{name}" for name in names)
