# SPDX-License-Identifier: Apache-2.0
"""The base of all models of user-written files."""

from __future__ import annotations

import msgspec


class FileModel(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Keyword only, read-only, unknown keys are errors."""
