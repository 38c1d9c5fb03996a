# SPDX-License-Identifier: Apache-2.0
"""The packages of the extra `farm`, imported when a farm is asked for."""

from __future__ import annotations

import importlib
from typing import Any

from kadenz.errors import UsageError


def require(package: str) -> Any:
    """The package. UsageError that names the extra if it is not installed."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise UsageError(
            f"a farm needs {package.partition('.')[0]}: {error}",
            remedy="Install the extra: pip install 'kadenz[farm]'",
        ) from None
