# SPDX-License-Identifier: Apache-2.0
"""Archives of which one object is not as kadenz wrote it: bytes, columns, rows, texts and names."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kadenz.archive import seal

EVIL = (
    "",
    ".",
    "..",
    "../../../evil",
    "/evil",
    "a/b",
    ".hidden",
    "x" * 300,
    "\x1b[2J",
    "nul\0",
    "two\nlines",
    "\u202egnp",
    "samples/../../evil",
    "C:\\evil",
    "100 %",
    "<script>alert(1)</script>",
    "{}",
    "[" * 5000,
    "NaN",
)
VALUES: tuple[Any, ...] = (
    *EVIL,
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    10**30,
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    [],
    {},
    [None],
    {"a": {"b": []}},
)


def mutate(file: Path, dice: random.Random) -> str:
    """Changes an object. Returns what was done, for the message of a failing test."""
    kinds: list[Callable[[Path, random.Random], str]] = [_bytes, _other, _named, _special]
    kinds += [_texts, _texts, _manifest, _manifest] if file.suffix == ".zip" else [_columns] * 6
    return dice.choice(kinds)(file, dice)


def _store(file: Path, content: bytes, dice: random.Random) -> None:
    """As an attacker stores it: with a seal that fits, without one, or with the old one."""
    key = seal.KEY.encode()
    how = dice.randrange(4)
    if how and key in content:
        at = content.rfind(key) + len(key) + 2
        blank = content[:at] + seal.BLANK.encode() + content[at + 64 :]
        content = (
            seal.sealed(blank) if how > 1 and seal._place(blank) else blank.replace(key, b"x" * 13)
        )
    file.write_bytes(content)


def _bytes(file: Path, dice: random.Random) -> str:
    content = bytearray(file.read_bytes())
    for _ in range(dice.choice((1, 1, 2, 8, 64))):
        at = dice.choice(
            (dice.randrange(len(content)), -1 - dice.randrange(min(600, len(content))))
        )
        content[at] = dice.choice(
            (content[at] ^ 1 << dice.randrange(8), 0, 255, dice.randrange(256))
        )
    if dice.random() < 0.2:
        del content[dice.randrange(len(content)) :]
    _store(file, bytes(content), dice)
    return "bytes"


def _other(file: Path, dice: random.Random) -> str:
    """Another object of the archive in its place, or nothing of any format."""
    files = [path for path in file.parents[2].rglob("*.*") if path.is_file()]
    content = dice.choice((b"", b"PAR1", b"PK\5\6" + bytes(18), dice.choice(files).read_bytes()))
    file.write_bytes(content)
    return f"{len(content)} other bytes"


def _named(file: Path, dice: random.Random) -> str:
    """A name that kadenz gives to no object."""
    name = dice.choice((".hidden", "\x1b[2J", "a b", "two\nlines", "..", "x" * 230, "evil"))
    new = file.with_name(name + file.suffix)
    if dice.random() < 0.3:
        new = (
            file.parent.with_name(dice.choice(("month=1", "x=y", "month=..", "month=2026-12")))
            / file.name
        )
        new.parent.mkdir(exist_ok=True)
    (shutil.copy if dice.random() < 0.5 else shutil.move)(file, new)
    return f"named {new.name}"


def _special(file: Path, dice: random.Random) -> str:
    kind = dice.choice(("pipe", "folder", "link", "link to nothing", "linked folder"))
    there = file.with_name("more" + file.suffix) if dice.random() < 0.5 else file
    if kind == "linked folder":
        file.parent.rename(file.parent.with_name("elsewhere"))
        file.parent.symlink_to("elsewhere")
        return kind
    there.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(there)
    elif kind == "folder":
        there.mkdir()
    else:
        there.symlink_to("/dev/zero" if kind == "link" else "nothing")
    return kind


def _columns(file: Path, dice: random.Random) -> str:
    table = pq.read_table(file, partitioning=None)
    done = []
    for _ in range(dice.choice((1, 1, 1, 3))):
        name = dice.choice(table.column_names)
        at = table.column_names.index(name)
        what = dice.choice(("drop", "type", "values", "values", "values", "rows", "extra"))
        done.append(f"{what} {name}")
        if what == "drop":
            table = table.remove_column(at)
        elif what == "extra":
            table = table.append_column(
                dice.choice((name, "more", "month", "filename")), table.column(at)
            )
        elif what == "rows":
            table = _rows(table, dice)
        else:
            kind = _type(dice) if what == "type" else table.schema.field(at).type
            table = table.set_column(at, name, _column(kind, table.num_rows, dice))
        if not table.num_columns:
            break
    out = io.BytesIO()
    with pq.ParquetWriter(out, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({seal.KEY: seal.BLANK})
    _store(file, out.getvalue(), dice)
    return ", ".join(done)


def _rows(table: Any, dice: random.Random) -> Any:
    how = dice.randrange(5)
    if how == 0:
        return table.slice(0, 0)
    if how == 1:
        return pa.concat_tables([table, table])
    if how == 2:
        return table.take(pa.array(dice.sample(range(table.num_rows), table.num_rows), pa.int32()))
    if how == 3:
        return table.slice(dice.randrange(table.num_rows + 1))
    return table.take(pa.array([0] * 300_000, pa.int32())) if table.num_rows else table


def _type(dice: random.Random) -> Any:
    every: tuple[Any, ...] = (
        pa.string(),
        pa.binary(),
        pa.int8(),
        pa.uint64(),
        pa.float32(),
        pa.float64(),
        pa.bool_(),
    )
    every += (pa.timestamp("ns", "UTC"), pa.date32(), pa.list_(pa.float64()), pa.list_(pa.int64()))
    every += (pa.struct([("a", pa.string())]), pa.decimal128(30, 3), pa.null(), pa.int64())
    return dice.choice(every)


def _column(kind: Any, count: int, dice: random.Random) -> Any:
    """`count` hostile values of a type; nothing where none fits."""
    plain = kind.value_type if isinstance(kind, pa.DictionaryType) else kind
    fitting = []
    for value in VALUES:
        try:
            fitting.append(pa.array([value], plain))
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            continue
    values = [dice.choice(fitting) for _ in range(count)]
    return pa.concat_arrays(values) if values else pa.array([], plain)


def _texts(file: Path, dice: random.Random) -> str:
    name = dice.choice(
        EVIL[:14] + ("console.txt", "run.json", "samples/x.npy", "a/", "run.json/a", "a/b/c.txt")
    )
    entry = zipfile.ZipInfo(name or "x")
    entry.external_attr = dice.choice((0, 0o100644 << 16, 0o120777 << 16, 0o010644 << 16, 0x10))
    entry.compress_type = dice.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    content = dice.choice((b"", b"/etc/passwd", bytes(1 << 20)))

    def change(box: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        for old, text in files.items():
            if dice.random() < 0.9:
                box.writestr(old, text)
        box.writestr(entry, content)

    _rezip(file, change, dice)
    return f"entry {name[:40]!r}"


def _manifest(file: Path, dice: random.Random) -> str:
    done: list[str] = []

    def change(box: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        plain = json.loads(files["run.json"])
        done.extend(_changed(plain, dice) for _ in range(dice.choice((1, 1, 2))))
        files["run.json"] = json.dumps(plain).encode()
        for old, text in files.items():
            box.writestr(old, text)

    _rezip(file, change, dice)
    return ", ".join(done)


def _changed(plain: dict[str, Any], dice: random.Random) -> str:
    """Changes a random leaf, or removes it."""
    where: Any = plain
    path = "$"
    while True:
        key = dice.choice([*where]) if isinstance(where, dict) else dice.randrange(len(where))
        path += f".{key}"
        if not where[key] or not isinstance(where[key], dict | list) or dice.random() < 0.1:
            break
        where = where[key]
    if isinstance(where, dict) and dice.random() < 0.1:
        del where[key]
        return f"{path} removed"
    where[key] = dice.choice(VALUES)
    return f"{path} = {str(where[key])[:40]!r}"


def _rezip(
    file: Path, change: Callable[[zipfile.ZipFile, dict[str, bytes]], None], dice: random.Random
) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as box:
        box.comment = f"{seal.KEY}: {seal.BLANK}".encode()
        change(box, {member.filename: old.read(member) for member in old.infolist()})
    _store(file, out.getvalue(), dice)
