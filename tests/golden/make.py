# SPDX-License-Identifier: Apache-2.0
"""Writes the golden frames: python tests/golden/make.py [--check].

Independent on purpose: COBS and MessagePack are implemented here from their specifications, and
nothing of kadenz is imported. C, Python and Rust are tested against these files, not against each
other.
"""

from __future__ import annotations

import json
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TYPES = {
    "HELLO": 1,
    "BENCH": 2,
    "BEGIN": 3,
    "SAMPLES": 4,
    "END": 5,
    "TEXT": 6,
    "FAULT": 7,
    "DONE": 8,
    "CONFORM": 9,
    "CASE": 10,
}
# The last frames: with values that are words, or with a timer, which C sends and Python reads. The
# motion program, in Rust, has none; they stand in words.json.
FRAMES_WITH_WORDS = 3
DTYPES = {"u4": (0, "I"), "i4": (1, "i"), "f8": (2, "d")}

# What the frames contain.
HELLO = {
    "wire": 2,
    "suite": "0.0.0-test",
    "kernel": "Fake",
    "kernel_version": "V1.2",
    "board": "bench-top",
    "arch": "none",
    "instrument": "counter",
    "clock": {"name": "fake", "hz": 5000000000, "bits": 32, "on_target": True},
    "tick_hz": 1000,
    "timer_hz": 32768,
    "cores": 2,
    "storage": 8,
    "capabilities": ["yield", "sem-counting", "sem-maximum"],
    "settings": {"tick_rate": "1000", "asserts": "off"},
}
PARAMS = [["size_bytes", 60, 4, 600], ["rank_a", 8, 1, 10], ["rank", 3, 1, 10]]
VALUES = {"size_bytes": 128, "rank_a": 8, "rank": 3}
BENCH = {
    "name": "fake/count",
    "begins": "before the count",
    "ends": "after the count",
    "source": "none",
    "self_timed": False,
    "nature": "span",
    "available": True,
    "reason": "",
    "params": PARAMS,
}
BEGIN = {
    "record": 258,
    "bench": "fake/count",
    "planned": 70000,
    "lanes": ["core0", "core1"],
    "dtype": "u4",
    "unit": "ticks",
    "params": VALUES,
    "ranks": {"rank_a": -200, "rank": -3},
}
# A parameter whose values are words.
POLICIES = ["fifo", "round-robin", "deadline"]
BENCH_WORDS = BENCH | {"params": [*PARAMS, ["policy", 0, 0, 2, POLICIES]]}
BEGIN_WORDS = BEGIN | {"params": VALUES | {"policy": "deadline"}}
# Of an image whose stamps arm a timer of the board.
BEGIN_DEVICE = BEGIN | {"device": "line", "device_ticks": 1}
COMPANIONS = ["core0:cycle", "core0:cpu", "core1:cycle", "core1:cpu"]
WITH_COMPANIONS = BEGIN | {"lanes": ["core0", "core1", *COMPANIONS]}
END = {
    "record": 258,
    "status": "invalid",
    "reason": "the reply differs from what was sent",
    "lanes": [
        {"taken": 3, "missed": 69997, "overrun": 0},
        {"taken": 0, "missed": 70000, "overrun": 0},
    ],
    "proof": {"checked": 3, "failed": 1, "reason": "the reply differs from what was sent"},
    "drains": [3],
}
FAULT = {
    "kind": "exception",
    "message": "load access fault",
    "thread": "task 1",
    "registers": {"pc": 0x20010000, "sp": 0x80003FF0},
}
CONFORM = {"case": "a mutex excludes", "result": "fail", "reason": "two were inside"}
SAMPLES = {"record": 258, "lane": 1, "index": 65536, "dtype": "u4"}


def msgpack(value: Any) -> bytes:
    """The shortest form of each value (MessagePack specification, "Formats")."""
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, str):
        text = value.encode()
        return _length(len(text), 0xA0, 32, (0xD9, 0xDA)) + text
    if isinstance(value, list):
        items = b"".join(msgpack(item) for item in value)
        return _length(len(value), 0x90, 16, (None, 0xDC)) + items
    pairs = b"".join(msgpack(k) + msgpack(v) for k, v in value.items())
    return _length(len(value), 0x80, 16, (None, 0xDE)) + pairs


def _length(n: int, fix: int, fix_below: int, types: tuple[int | None, int]) -> bytes:
    one_byte, two_bytes = types
    if n < fix_below:
        return bytes([fix | n])
    if one_byte is not None and n < 1 << 8:
        return bytes([one_byte, n])
    return struct.pack(">BH", two_bytes, n)


def _integer(n: int) -> bytes:
    if 0 <= n < 128 or -32 <= n < 0:
        return struct.pack(">b", n)
    unsigned = ((8, 0xCC, "B"), (16, 0xCD, "H"), (32, 0xCE, "I"), (64, 0xCF, "Q"))
    signed = ((8, 0xD0, "b"), (16, 0xD1, "h"), (32, 0xD2, "i"), (64, 0xD3, "q"))
    for bits, code, form in unsigned if n >= 0 else signed:
        if n < 1 << bits if n >= 0 else n >= -(1 << (bits - 1)):
            return struct.pack(">B" + form, code, n)
    raise ValueError(n)


def cobs(data: bytes) -> bytes:
    """Consistent overhead byte stuffing (Cheshire and Baker, 1999)."""
    out = bytearray()
    for index, whole in enumerate(pieces := data.split(b"\0")):
        rest = whole
        while len(rest) > 254 or (len(rest) == 254 and index + 1 < len(pieces)):
            out += b"\xff" + rest[:254]
            rest = rest[254:]
        out += bytes([len(rest) + 1]) + rest
    return bytes(out)


def frame(type_: str, sequence: int, body: bytes) -> bytes:
    """Header, body, CRC-32, COBS, zero."""
    raw = struct.pack("<BBIH", TYPES[type_], 0, sequence, len(body)) + body
    return cobs(raw + struct.pack("<I", zlib.crc32(raw))) + b"\0"


def body_of(type_: str, said: Any) -> bytes:
    """The bytes of a body."""
    if type_ == "TEXT":
        return str(said).encode()
    if type_ == "SAMPLES":
        code, form = DTYPES[said["dtype"]]
        head = struct.pack("<HBBI", said["record"], said["lane"], code, said["index"])
        return head + struct.pack(f"<{len(said['values'])}{form}", *said["values"])
    return msgpack(said)


def golden() -> list[dict[str, Any]]:
    """Every golden frame: file, type, sequence, body."""
    # Text bodies of these lengths put the ends of COBS blocks at, before and after the end of a
    # frame. Header and CRC contain zeros too, so several lengths are needed to hit them.
    letters = "".join(chr(33 + i % 90) for i in range(1024))
    frames: list[dict[str, Any]] = [
        {"name": "hello", "type": "HELLO", "body": HELLO},
        {"name": "bench", "type": "BENCH", "body": BENCH},
        {"name": "begin", "type": "BEGIN", "body": BEGIN},
        {
            "name": "samples-u4",
            "type": "SAMPLES",
            "body": SAMPLES | {"values": [0, 1, 255, 256, 0x01020304, 0xFFFFFFFE]},
        },
        {
            "name": "samples-i4",
            "type": "SAMPLES",
            "body": SAMPLES | {"dtype": "i4", "values": [0, -1, 2**31 - 1, -(2**31)]},
        },
        {
            "name": "samples-f8",
            "type": "SAMPLES",
            "body": SAMPLES | {"dtype": "f8", "values": [0.0, -1.5, 1e300, 0.1]},
        },
        {"name": "end", "type": "END", "body": END},
        {"name": "text", "type": "TEXT", "body": "Grüße: 5 µs"},
        {"name": "text-empty", "type": "TEXT", "body": ""},
        {"name": "fault", "type": "FAULT", "body": FAULT},
        {"name": "conform", "type": "CONFORM", "body": CONFORM},
        {"name": "done", "type": "DONE", "body": {"records": 1, "frames": 12}},
        {"name": "begin-companions", "type": "BEGIN", "body": WITH_COMPANIONS},
        {"name": "case", "type": "CASE", "body": {"case": CONFORM["case"]}},
    ]
    frames += [
        {"name": f"text-{length}", "type": "TEXT", "body": letters[:length]}
        for length in (248, 249, 250, 251, 252, 496, 497, 498, 499, 500)
    ]
    frames += [
        {"name": "bench-words", "type": "BENCH", "body": BENCH_WORDS},
        {"name": "begin-words", "type": "BEGIN", "body": BEGIN_WORDS},
        {"name": "begin-device", "type": "BEGIN", "body": BEGIN_DEVICE},
    ]
    for index, each in enumerate(frames):
        # A sequence number without a zero byte makes a long run without a zero.
        each["sequence"] = 0x01010101 if len(each["body"]) > 200 else index
    return frames


def main() -> int:
    """Writes the files, or with --check lists those that differ."""
    wanted: dict[str, bytes] = {}
    described = golden()
    for each in described:
        wanted[f"{each['name']}.bin"] = frame(
            each["type"], each["sequence"], body_of(each["type"], each["body"])
        )
    spoken = {
        "words.json": described[-FRAMES_WITH_WORDS:],
        "golden.json": described[:-FRAMES_WITH_WORDS],
    }
    for name, part in spoken.items():
        wanted[name] = (json.dumps(part, indent=1, ensure_ascii=False) + "\n").encode()
    differing = [
        name
        for name, content in wanted.items()
        if not (HERE / name).is_file() or (HERE / name).read_bytes() != content
    ]
    if "--check" in sys.argv[1:]:
        print("\n".join(f"{name} differs" for name in differing) or "golden frames are up to date")
        return 1 if differing else 0
    for name, content in wanted.items():
        (HERE / name).write_bytes(content)
    print(f"{len(wanted)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
