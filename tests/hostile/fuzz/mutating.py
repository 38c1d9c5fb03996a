# SPDX-License-Identifier: Apache-2.0
"""Changes of files: what an attacker writes, an editor spoils and a cable loses.

Texts are changed by tokens and lines, so that most of them stay what they are; everything by bytes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

Files = Mapping[str, bytes]  # content by name below a folder

LONGEST = 1 << 15  # bytes that one change adds
_HOW_MANY = (1, 1, 1, 1, 2, 2, 3, 6)  # changes of an input
_LOOK = 2048  # bytes that tell a text
_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[+-]?\d[\w.+-]*|[^\W\d]\w*|[^\w\s]')
_NUMBERS = (
    *(b"0", b"-0", b"1", b"-1", b"2", b"3", b"7", b"10", b"255", b"256", b"65535", b"65536"),
    *(b"1000000", b"2147483647", b"-2147483648", b"4294967295", b"4294967296"),
    *(b"9223372036854775807", b"-9223372036854775808", b"18446744073709551615", b"9" * 30),
    *(b"9" * 400, b"9" * 5000, b"0." + b"0" * 400 + b"1", b"1e308", b"-1e308", b"1e999", b"5e-324"),
    *(b"1e-400", b"0.1", b"1.5", b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"0x10", b"1_0"),
)
_ODD = (
    *(b"\0", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\x85"),
    *("\u202e".encode(), "\u2028".encode(), "é".encode(), "٣".encode(), "²".encode(), b"\x1b[8m"),
    *(b"\r", b"\n\n", b"\t", b"../../x", b"/dev/zero", b"/", b"$(id)", b"%s%n", b"{0}", b"[/]"),
    *(b'"', b"'", b"\\", b'"""', b"#", b"//", b"null", b"true", b"[]", b"{}", b'""', b"=", b","),
)
_OPENING = (b"[", b"{", b"(", b'{"a":', b"{a = ", b"[[", b"<a>", b"\\", b"-", b"a.", b'"', b" ")
_EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1)

Change = Callable[[random.Random, bytearray, Sequence[bytes]], None]


def mutated(dice: random.Random, seeds: Sequence[Files]) -> dict[str, bytes]:
    """One of the seeds with one to six changes of its files; at times with none left."""
    files = dict(dice.choice(seeds))
    names = sorted(files)
    for _ in range(dice.choice(_HOW_MANY)):
        name = dice.choice(names)
        data = bytearray(files[name])
        others = [seed[name] for seed in seeds if name in seed]
        is_text = b"\0" not in data[:_LOOK]
        dice.choice(_OF_TEXT if is_text and dice.random() < 0.8 else _OF_BYTES)(dice, data, others)
        files[name] = bytes(data)
    return files


def _place(dice: random.Random, data: bytes | bytearray) -> int:
    return dice.randrange(len(data) + 1)


def _size(dice: random.Random, most: int) -> int:
    """1 to `most`, each magnitude as often as another."""
    return min(most, int(2 ** dice.uniform(0, most.bit_length())))


# ---- bytes ---------------------------------------------------------------------------------------
def _flip(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    if data:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def _lose(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(dice, data)
    del data[at : at + _size(dice, 64)]


def _repeat(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(dice, data)
    piece = bytes(data[at : at + _size(dice, 64)])
    data[at:at] = piece * _size(dice, max(1, min(1000, LONGEST // max(1, len(piece)))))


def _noise(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(dice, data)
    data[at:at] = dice.randbytes(_size(dice, 32))


def _cut(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    del data[_place(dice, data) :]


def _splice(dice: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    other = dice.choice(others)
    at, begin, size = _place(dice, data), _place(dice, other), _size(dice, 512)
    data[at : at + dice.choice((0, size))] = other[begin : begin + size]


def _number(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    """A binary number."""
    size = dice.choice((1, 2, 4, 8))
    value = dice.choice((*_EDGES, len(data), dice.getrandbits(16))) % (1 << 8 * size)
    at = _place(dice, data) // size * size
    if at + size <= len(data):
        data[at : at + size] = value.to_bytes(size, dice.choice(("little", "big")))


def _odd(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(dice, data)
    data[at:at] = dice.choice(_ODD)


# ---- lines ---------------------------------------------------------------------------------------
def _line(dice: random.Random, data: bytes | bytearray) -> tuple[int, int]:
    """Where a line begins and ends, its end included."""
    at = _place(dice, data)
    end = data.find(b"\n", at)
    return data.rfind(b"\n", 0, at) + 1, len(data) if end < 0 else end + 1


def _lose_line(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    begin, end = _line(dice, data)
    del data[begin:end]


def _repeat_line(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    begin, end = _line(dice, data)
    piece = bytes(data[begin:end])
    data[begin:begin] = piece * _size(dice, max(1, min(300, LONGEST // max(1, len(piece)))))


def _move_line(dice: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    """A line of this or of another seed in the place of a line, or before it."""
    other = dice.choice((data, *others))
    begin, end = _line(dice, other)
    piece = bytes(other[begin:end])
    begin, end = _line(dice, data)
    data[begin : dice.choice((begin, end))] = piece


# ---- tokens --------------------------------------------------------------------------------------
def _token(
    dice: random.Random, data: bytes | bytearray, kind: re.Pattern[bytes] = _TOKEN
) -> tuple[int, int]:
    """Where a token begins and ends: the next one after a place."""
    match = kind.search(data, _place(dice, data)) or kind.search(data)
    return match.span() if match else (0, 0)


def _extreme(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    begin, end = _token(dice, data, re.compile(rb"-?\d[\d.]*"))
    data[begin:end] = dice.choice(_NUMBERS)


def _near(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    """A number that is a little more or less, which most readers accept."""
    begin, end = _token(dice, data, re.compile(rb"\d{1,15}"))
    value = int(data[begin:end] or b"0")
    data[begin:end] = b"%d" % max(0, value + dice.choice((-1, 1, value, -value // 2, 1000)))


def _exchange(dice: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    """A token of this or of another seed in the place of one."""
    other = dice.choice((data, *others))
    begin, end = _token(dice, other)
    piece = bytes(other[begin:end])
    begin, end = _token(dice, data)
    data[begin:end] = piece


def _lose_token(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    begin, end = _token(dice, data)
    del data[begin:end]


def _insert(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    """Something odd beside or inside a token, or in its place."""
    begin, end = _token(dice, data)
    at = dice.choice((begin, end, (begin + end) // 2))
    data[at : dice.choice((at, max(at, end)))] = dice.choice(_ODD)


def _nest(dice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    begin, end = _token(dice, data)
    opening = dice.choice(_OPENING)
    data[begin : dice.choice((begin, end))] = opening * _size(dice, LONGEST // len(opening))


_OF_BYTES: tuple[Change, ...] = (
    *(_flip, _lose, _repeat, _noise, _cut, _splice, _number, _number, _odd),
)
_OF_TEXT: tuple[Change, ...] = (
    *(_lose_line, _repeat_line, _move_line, _move_line, _extreme, _extreme, _near, _near, _near),
    *(_exchange, _exchange, _exchange, _lose_token, _insert, _nest),
)
