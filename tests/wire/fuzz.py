# SPDX-License-Identifier: Apache-2.0
"""A long random fuzz of decoder and assembler, run by hand:

    python -m tests.wire.fuzz --seconds 600

Mutates a stream with every frame type, and earlier mutants that caused new findings. Checks that
there is no exception, no message that was not sent, and no record `ok` with other samples than the
target's. Ends with the seed and the input of the first violation.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from kadenz.wire.decoder import Decoder, Finding, Received
from kadenz.wire.messages import Begin, End, Samples
from kadenz.wire.records import Assembler, Verdict
from tests.wire.streams import on_the_line, whole_run

_CORPUS_MAX = 500


class _Sink:
    """Keeps the values that would be written to the disk."""

    def __init__(self) -> None:
        self.values_of: dict[int, list[int]] = {}
        self.verdicts: list[tuple[int, Verdict]] = []

    def opened(self, begin: Begin) -> None:
        self.values_of[begin.record] = []

    def values(self, record: int, lane: int, values: object) -> None:
        self.values_of[record] += values.tolist()  # type: ignore[attr-defined]

    def closed(self, begin: Begin, end: End | None, verdict: Verdict) -> None:
        self.verdicts.append((begin.record, verdict))


def _plain(message: object) -> object:
    return (*message[:4], message.values.tolist()) if isinstance(message, Samples) else message


def mutate(chance: random.Random, stream: bytes, others: list[bytes]) -> bytes:
    """Applies one to six random damages."""
    data = bytearray(stream)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(data) + 1)
        match chance.randrange(7):
            case 0 if data:
                data[place % len(data)] ^= 1 << chance.randrange(8)
            case 1:
                del data[place : place + chance.randint(1, 30)]
            case 2:
                data[place:place] = data[place : place + chance.randint(1, 60)]
            case 3:
                data[place:place] = chance.randbytes(chance.randint(1, 20))
            case 4:
                del data[place:]
            case 5:
                other = chance.choice(others)
                start = chance.randrange(len(other) + 1)
                data[place:place] = other[start : start + chance.randint(1, 200)]
            case _:
                data[place:place] = b"\0"
    return bytes(data)


def check(stream: bytes, chance: random.Random) -> frozenset[str]:
    """Raises AssertionError on a violation; returns the findings, to recognise new ones."""
    sent = [_plain(message) for message in whole_run()]
    whole = [1, 2, 256, 0, 0xFFFFFFFF, 7]
    decoder, sink = Decoder(), _Sink()
    assembler = Assembler(sink)
    items: list[Received | Finding] = []
    start = 0
    while start < len(stream):
        size = chance.randint(1, 400)
        items += decoder.feed(stream[start : start + size])
        start += size
    items += decoder.finish()
    for item in items:
        if isinstance(item, Received):
            assert _plain(item.message) in sent, f"invented: {item}"
        assembler.take(item)
    assembler.finish("over")
    for record, verdict in sink.verdicts:
        values = sink.values_of[record]
        assert values == whole[: len(values)], f"moved samples: {values}"
        assert verdict.status != "ok" or values == whole, f"ok with {values}"
    return frozenset(item.kind for item in items if isinstance(item, Finding)) | {
        f"{len(items)} items",
        *(f"{record} {verdict.status}" for record, verdict in sink.verdicts),
    }


def fuzz(seconds: float, seed: int) -> int:
    """Runs for the given time; returns the number of inputs tried."""
    chance = random.Random(seed)
    corpus = [on_the_line(whole_run())]
    seen: set[frozenset[str]] = set()
    tried = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        stream = mutate(chance, chance.choice(corpus), corpus)
        tried += 1
        try:
            novelty = check(stream, chance)
        except BaseException:
            print(f"seed {seed}, input {tried}: {stream.hex()}", file=sys.stderr)
            raise
        if novelty not in seen and len(corpus) < _CORPUS_MAX and len(stream) < 5000:
            seen.add(novelty)
            corpus.append(stream)
    return tried


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    arguments = parser.parse_args()
    count = fuzz(arguments.seconds, arguments.seed)
    print(f"{count} inputs, seed {arguments.seed}: no violation")
