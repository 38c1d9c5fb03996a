# SPDX-License-Identifier: Apache-2.0
"""A list for a Makefile, and for every project that adds files by hand."""

from __future__ import annotations

from collections.abc import Iterable

from kadenz.images.suite_sources import MAIN, SETTINGS, Suite

HOW = (
    "`include THIS-FOLDER/kadenz.mk` in your Makefile: compile `KADENZ_SOURCES` and "
    "`KADENZ_MAIN` with `KADENZ_CFLAGS` and your kernel's include folders. Without a start-up "
    "of your own, add `KADENZ_STARTUP_SOURCES` and link with `KADENZ_LDFLAGS`. In an IDE, add "
    "the files that `kadenz.mk` lists."
)


def files(suite: Suite) -> dict[str, str]:
    """The text of kadenz.mk, for a project built by make."""
    folders = "".join(f"-L$(KADENZ_DIR)/{folder} " for folder in suite.linker_folders)
    text = f"""\
# SPDX-License-Identifier: Apache-2.0
# kadenz {suite.version}: the suite for {suite.title}.
KADENZ_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

KADENZ_SOURCES := {_list(suite.sources)}

KADENZ_MAIN := $(KADENZ_DIR)/{MAIN}

# Reset, vectors and linker script: for a project without its own.
KADENZ_STARTUP_SOURCES := {_list(suite.startup)}
KADENZ_LDFLAGS := -nostartfiles {folders}-T$(KADENZ_DIR)/{suite.linker_script}

KADENZ_CFLAGS := -std=c11 -O2 -g -ffunction-sections -fdata-sections \\
    -include $(KADENZ_DIR)/{SETTINGS} {_list(suite.include, "-I")}
"""
    return {"kadenz.mk": text}


def _list(names: Iterable[str], option: str = "") -> str:
    return "".join(f" \\\n    {option}$(KADENZ_DIR)/{name}" for name in names).lstrip(" ")
