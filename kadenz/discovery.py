# SPDX-License-Identifier: Apache-2.0
"""Packages whose modules are found by their files, so that no list names them."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def modules_of(package: str) -> list[ModuleType]:
    """The modules of a package, imported, in the order of their names."""
    files = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return [importlib.import_module(f"{package}.{file.name}") for file in files]


def classes_of(package: str, base: type[T]) -> list[type[T]]:
    """The classes below `base` that the modules of a package define, in the same order."""
    return [
        value
        for module in modules_of(package)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value is not base
    ]
