# SPDX-License-Identifier: Apache-2.0
"""The environment of a counted target: fixed, so that none of it reaches the target unseen.

QEMU and its libraries read many variables (QEMU_*, G_*, MALLOC_*, TMPDIR, LANG, TZ). A target gets
the ones below and no others; all that it gets is in its key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

FIXED = {"LC_ALL": "C", "TZ": "UTC0"}
# Set for the emulator or the loader, on purpose.
PASSED_ON = ("LD_", "QEMU_")


def counted_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a counted target started from `environ`, by default that of kadenz."""
    around = os.environ if environ is None else environ
    return {**{k: v for k, v in around.items() if k.startswith(PASSED_ON)}, **FIXED}
