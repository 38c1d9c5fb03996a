# SPDX-License-Identifier: Apache-2.0
"""JSON that others wrote: whatever is wrong with it is one exception."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def read_json(text: bytes | str, kind: type[T]) -> T:
    """`text` as a `kind`. Raises msgspec.DecodeError.

    msgspec has two other exceptions: for nesting that is too deep, and for text that is no UTF-8.
    """
    wanted: Any = kind  # a union, or list[int]
    try:
        document: T = msgspec.json.decode(text, type=wanted)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from None
    return document
