# SPDX-License-Identifier: Apache-2.0
"""An object with a digest of itself, so that no changed bit passes for data.

The digest is in the metadata of a Parquet object and in the comment of a zip file: SHA-256 over all
bytes, with zeros in its own place. Other programs read the object like any other. The formats' own
checksums leave parts out: those of Parquet's pages do not cover the footer, which has the types and
places of all columns; those of a zip file do not cover its directory.
"""

from __future__ import annotations

import hashlib
import re

KEY = "kadenz_sha256"
BLANK = "0" * 64  # in the place of the digest, until it is known
# Two bytes between key and digest: type and length in Parquet's footer, ": " in a comment.
_PLACE = re.compile(KEY.encode() + rb"..(.{64})", re.DOTALL)


def sealed(content: bytes) -> bytes:
    """`content`, which has BLANK behind KEY and two bytes, with its digest there."""
    place = _place(content)
    assert place is not None
    return content[: place[0]] + _digest(content, place) + content[place[1] :]


def intact(content: bytes) -> bool | None:
    """Whether no bit has changed since the object was sealed; None if it has no seal."""
    place = _place(content)
    return None if place is None else content[slice(*place)] == _digest(content, place)


def _place(content: bytes) -> tuple[int, int] | None:
    """Where the digest is: at the end, hence behind everything that looks like it."""
    at = content.rfind(KEY.encode())
    match = _PLACE.match(content, at) if at >= 0 else None
    return match.span(1) if match else None


def _digest(content: bytes, place: tuple[int, int]) -> bytes:
    """The digest of an object with BLANK in this place."""
    view = memoryview(content)
    digest = hashlib.sha256(view[: place[0]])
    digest.update(BLANK.encode())
    digest.update(view[place[1] :])
    return digest.hexdigest().encode()
