# SPDX-License-Identifier: Apache-2.0
"""A Zephyr module: zephyr/module.yml, CMakeLists.txt and Kconfig."""

from __future__ import annotations

from collections.abc import Iterable

from kadenz.images.suite_sources import SETTINGS, Suite

HOW = (
    "Add `THIS-FOLDER/main.c` to your application and build with `west build -- "
    "-DZEPHYR_EXTRA_MODULES=THIS-FOLDER -DCONFIG_KADENZ=y`. The port must be one for Zephyr: "
    "`--kernel zephyr`, or one of your lab. Zephyr's start-up, the port and the module do what "
    "step 4 asks of a project: the module brings linker sections, plan page and "
    "`CONFIG_KADENZ_STORAGE_BYTES` of memory for samples."
)


def files(suite: Suite) -> dict[str, str]:
    """The texts of the folder zephyr/, which makes the suite a module."""
    module = """\
# SPDX-License-Identifier: Apache-2.0
name: kadenz
build:
  cmake: zephyr
  kconfig: zephyr/Kconfig
"""
    kconfig = f"""\
# SPDX-License-Identifier: Apache-2.0
config KADENZ
\tbool "Benchmark suite of kadenz {suite.version}"
\tselect EVENTS
\tselect THREAD_NAME
\thelp
\t  The suite for {suite.title}.

config KADENZ_STORAGE_BYTES
\tint "Memory for samples, 4 bytes each"
\tdepends on KADENZ
\tdefault 65536
"""
    lists = f"""\
# SPDX-License-Identifier: Apache-2.0
# kadenz {suite.version}: the suite for {suite.title}.
if(CONFIG_KADENZ)
    set(KADENZ ${{CMAKE_CURRENT_LIST_DIR}}/..)
    zephyr_include_directories(
{_lines(suite.include)})
    zephyr_library_named(kadenz)
    zephyr_library_compile_options(-O2 -include ${{KADENZ}}/{SETTINGS})
    zephyr_library_sources(
{_lines(suite.sources)})
    zephyr_linker_sources(RODATA tables.ld)
    zephyr_linker_sources(NOINIT storage.ld)
    zephyr_linker_sources(SECTIONS page.ld)
endif()
"""
    return {
        "zephyr/module.yml": module,
        "zephyr/Kconfig": kconfig,
        "zephyr/CMakeLists.txt": lists,
        "zephyr/tables.ld": _script(_TABLES),
        "zephyr/storage.ld": _script(_STORAGE),
        "zephyr/page.ld": _script(_page(suite)),
    }


# Parts of Zephyr's linker script, by the place in it.
_TABLES = """\
. = ALIGN(8);
__start_kdz_bench = .;
KEEP(*(kdz_bench))
__stop_kdz_bench = .;
. = ALIGN(8);
__start_kdz_mechanisms = .;
KEEP(*(kdz_mechanisms))
__stop_kdz_mechanisms = .;
"""
_STORAGE = """\
. = ALIGN(8);
kdz_storage = .;
. += CONFIG_KADENZ_STORAGE_BYTES;
kdz_storage_end = .;
"""


def _page(suite: Suite) -> str:
    page = suite.board.tier.emulated or suite.board.tier.rtl
    return "" if page is None else f"kdz_plan_page = {page.plan_address:#010x};\n"


def _script(text: str) -> str:
    return f"/* SPDX-License-Identifier: Apache-2.0 */\n{text}"


def _lines(names: Iterable[str]) -> str:
    return "\n".join(f"        ${{KADENZ}}/{name}" for name in names)
