# SPDX-License-Identifier: Apache-2.0
"""A component of ESP-IDF: idf_component.yml and CMakeLists.txt."""

from __future__ import annotations

from collections.abc import Iterable

from kadenz.images.suite_sources import SETTINGS, Suite

HOW = (
    "Copy this folder to `components/kadenz` of your project. ESP-IDF has its own start-up, "
    "starts FreeRTOS itself and calls `app_main`: make the three calls of `main.c` there. The "
    "port must be `--kernel freertos-esp-idf`, or one of your lab."
)


def files(suite: Suite) -> dict[str, str]:
    """The texts of idf_component.yml and CMakeLists.txt."""
    manifest = f"""\
# SPDX-License-Identifier: Apache-2.0
version: "{suite.version}"
description: "Benchmark suite of kadenz for {suite.title}"
license: "Apache-2.0"
dependencies:
  idf: ">=5.0"
"""
    lists = f"""\
# SPDX-License-Identifier: Apache-2.0
# kadenz {suite.version}: the suite for {suite.title}.
idf_component_register(
    SRCS
{_lines(suite.sources)}
    INCLUDE_DIRS
{_lines(suite.include)}
    REQUIRES freertos
    WHOLE_ARCHIVE) # benchmarks register through a linker section
target_compile_options(${{COMPONENT_LIB}} PRIVATE -O2 -include ${{COMPONENT_DIR}}/{SETTINGS})
"""
    return {"idf_component.yml": manifest, "CMakeLists.txt": lists}


def _lines(names: Iterable[str]) -> str:
    return "\n".join(f"        {name}" for name in names)
