# SPDX-License-Identifier: Apache-2.0
"""A Zephyr module: zephyr/module.yml, CMakeLists.txt and Kconfig."""

from __future__ import annotations

from collections.abc import Iterable

from kadenz.images.suite_sources import SETTINGS, Suite

HOW = (
    "Build with `west build -- -DZEPHYR_EXTRA_MODULES=THIS-FOLDER -DCONFIG_KADENZ=y`. Zephyr "
    "has its own start-up and its own `main`: make the three calls of `main.c` there. The "
    "port must be one for Zephyr: write it in a lab and name it with `--kernel`."
)


def files(suite: Suite) -> dict[str, str]:
    """The folder zephyr/."""
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
\thelp
\t  The suite for {suite.title}.
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
endif()
"""
    return {
        "zephyr/module.yml": module,
        "zephyr/Kconfig": kconfig,
        "zephyr/CMakeLists.txt": lists,
    }


def _lines(names: Iterable[str]) -> str:
    return "\n".join(f"        ${{KADENZ}}/{name}" for name in names)
