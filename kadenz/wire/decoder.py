# SPDX-License-Identifier: Apache-2.0
"""Decodes a stream of bytes to messages; any damage is a named finding, never a sample."""

from __future__ import annotations

from typing import NamedTuple

from kadenz.wire.codec import decode_body
from kadenz.wire.frame import (
    ENCODED_MAX,
    SEQUENCE_MODULUS,
    BadFrame,
    FindingKind,
    Type,
    decode_frame,
)
from kadenz.wire.messages import AnyMessage


class Finding(NamedTuple):
    """Damage in the stream. `message` says what and where; `offset` is a byte of the stream."""

    kind: FindingKind
    message: str
    offset: int

    @property
    def lost(self) -> bool:
        """Whether part of the target's output is missing or unreliable."""
        return self.kind not in ("preamble", "doubled")


class Received(NamedTuple):
    """A message, and the sequence number of its frame."""

    sequence: int
    message: AnyMessage


class Decoder:
    """Takes bytes in pieces of any size; gives messages and findings in order."""

    def __init__(self) -> None:
        self.expected = 0  # next sequence number
        self.frames = 0  # valid frames
        self._pending = bytearray()
        self._offset = 0  # of the first pending byte in the stream
        self._spoken = False  # true after the first zero
        self._skipping = False  # inside something too long to be a frame
        self._foreign = False  # HELLO has another version of the format

    def feed(self, data: bytes) -> list[Received | Finding]:
        """Takes the next bytes of the stream; ignores all after a HELLO of another version."""
        outcomes: list[Received | Finding] = []
        if self._foreign:
            return outcomes
        *ended, rest = data.split(b"\0")
        for piece in ended:
            if self._pending:
                self._pending += piece
                encoded = bytes(self._pending)
                self._pending.clear()
            else:
                encoded = piece
            start = self._offset
            self._offset += len(encoded) + 1
            if self._skipping:
                self._skipping = False
            elif encoded:
                self._take(encoded, start, outcomes)
            if self._foreign:
                return outcomes
            self._spoken = True
        self._pending += rest
        if len(self._pending) > ENCODED_MAX:
            if not self._skipping:
                why = f"no zero in {len(self._pending)} bytes; a frame has at most {ENCODED_MAX}"
                outcomes.append(self._damage("length", why, self._offset))
            self._skipping = True
            self._offset += len(self._pending)
            self._pending.clear()
        return outcomes

    def finish(self) -> list[Finding]:
        """Ends the stream and reports an unfinished frame."""
        if not self._pending or self._skipping or self._foreign:
            return []
        count = len(self._pending)
        self._pending.clear()
        if not self._spoken:
            return [Finding("preamble", f"{count} bytes without any frame", self._offset)]
        why = f"the stream ends inside a frame, {count} bytes after {self._last()}"
        return [Finding("truncated", why, self._offset)]

    def _take(self, encoded: bytes, start: int, outcomes: list[Received | Finding]) -> None:
        try:
            frame = decode_frame(encoded)
        except BadFrame as bad:
            if self._spoken:
                outcomes.append(self._damage(bad.kind, str(bad), start))
            else:
                why = f"{len(encoded)} bytes before the first frame"
                outcomes.append(Finding("preamble", why, start))
            return
        ahead = (frame.sequence - self.expected) % SEQUENCE_MODULUS
        if ahead >= SEQUENCE_MODULUS // 2:
            outcomes.append(self._repeated(frame.sequence, frame.type, start))
            return
        if ahead > 0:
            between = (
                f"between {self.expected - 1} and {frame.sequence}"
                if self.expected
                else f"before {frame.sequence}, at the beginning"
            )
            lost = f"{ahead} frame{'s' if ahead > 1 else ''} lost {between}"
            outcomes.append(Finding("gap", lost, start))
        self.expected = (frame.sequence + 1) % SEQUENCE_MODULUS
        try:
            message = decode_body(frame)
        except BadFrame as bad:
            self._foreign = bad.kind == "version"
            outcomes.append(Finding(bad.kind, f"frame {frame.sequence}: {bad}", start))
            return
        self.frames += 1
        outcomes.append(Received(frame.sequence, message))

    def _repeated(self, sequence: int, kind: int, start: int) -> Finding:
        if kind == Type.HELLO and self.expected > 1:
            why = f"the target restarted after {self._last()}"
            self.expected = sequence + 1
            return Finding("restarted", why, start)
        why = f"frame {sequence} repeated after {self._last()}"
        return Finding("doubled", why, start)

    def _damage(self, kind: FindingKind, why: str, start: int) -> Finding:
        return Finding(kind, f"after {self._last()}, byte {start}: {why}", start)

    def _last(self) -> str:
        return f"frame {self.expected - 1}" if self.expected else "no frame"
