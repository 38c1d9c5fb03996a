# SPDX-License-Identifier: Apache-2.0
"""A library of PlatformIO: library.json."""

from __future__ import annotations

import json

from kadenz.images.suite_sources import SETTINGS, Suite

HOW = (
    "Copy this folder to `lib/kadenz` of your project. A framework has its own start-up and "
    "`main`: make the three calls of `main.c` there. Without a framework, add the start-up "
    "files and the linker script to your project."
)


def files(suite: Suite) -> dict[str, str]:
    """The text of library.json, for a library of the project."""
    flags = [f"-I {folder}" for folder in (".", *suite.include)]
    manifest = {
        "name": "kadenz",
        "version": suite.version,
        "description": f"Benchmark suite of kadenz for {suite.title}",
        "license": "Apache-2.0",
        "frameworks": "*",
        "platforms": "*",
        "build": {
            "srcDir": ".",
            "srcFilter": ["-<*>", *(f"+<{name}>" for name in suite.sources)],
            "flags": [*flags, "-O2", f"-include {SETTINGS}"],
            "libArchive": False,  # benchmarks register through a linker section
        },
    }
    return {"library.json": json.dumps(manifest, indent=2) + "\n"}
