# SPDX-License-Identifier: Apache-2.0
"""All errors shown to users: what happened, where, the remedy, and the exit code.

Exit codes (docs/reference/exit-codes.md): 0 pass, 1 the tool or a target failed, 2 usage or a
missing tool, 3 a regression, 4 inconclusive.
"""

from __future__ import annotations

EXIT_PASS = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_REGRESSION = 3
EXIT_INCONCLUSIVE = 4


class KadenzError(Exception):
    """An error with a remedy.

    `message` says what happened and where (file, key, line); `remedy` says what to do; `detail` may
    hold a target's last output or its registers. `exit_code` is that of the process.
    """

    exit_code = EXIT_FAILED

    def __init__(self, message: str, *, remedy: str = "", detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message}. {self.remedy}" if self.remedy else self.message


class UsageError(KadenzError):
    """The command line names something that does not exist or makes no sense."""

    exit_code = EXIT_USAGE


class NothingThere(UsageError):
    """A run, a folder of runs or an archive that is named does not exist."""


class ConfigError(KadenzError):
    """An error in a user's file; the message names the file, the key and the nearest known key."""

    exit_code = EXIT_USAGE


class ToolMissing(KadenzError):
    """A compiler, an emulator or a library is not installed: nothing was built or measured."""

    exit_code = EXIT_USAGE


class BuildFailed(KadenzError):
    """A build failed; `detail` is the compiler's output."""


class TargetFailed(KadenzError):
    """A target hung, crashed, asserted or ran out of stack; `detail` is its last output."""


class Interrupted(KadenzError):
    """Somebody stopped a call (Ctrl-C) before it measured anything."""


class LoadFailed(KadenzError):
    """A load did not start, had no effect, or ended during a measurement."""


class WireDamaged(KadenzError):
    """Frames were lost or corrupt; the message names them."""


class StoreError(KadenzError):
    """A run folder could not be written or read."""


class NewerRun(StoreError):
    """A run folder that a newer kadenz wrote: nothing is wrong with it."""
