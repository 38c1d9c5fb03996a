# SPDX-License-Identifier: Apache-2.0
"""run.json and every other file of a run folder that holds no samples, as a zip file.

Such an object may come from anybody: only names, sizes and kinds that `packed` writes are unpacked.
"""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kadenz.archive import seal
from kadenz.errors import StoreError
from kadenz.regular_files import MIB, NotRegular, read_regular
from kadenz.store import Run
from kadenz.store.consistency import NAME_BYTES, is_name
from kadenz.store.layout import MANIFEST, SAMPLES

ENTRIES = 100_000  # files of a run
UNPACKED_BYTES = 1024 * MIB  # of all files of a run together
_TOO_LARGE = f"its files have more than {UNPACKED_BYTES // MIB:,} MiB together"
_PIECE = 1 << 20
_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class BadTexts(ValueError):
    """A zip file that `packed` does not write; the text says why."""


def packed(run: Run) -> bytes:
    """The zip file of a run; the same run gives the same bytes.

    StoreError if a file is a link or has a name that no archive takes, or for too many bytes.
    """
    out = io.BytesIO()
    left = UNPACKED_BYTES
    files = {file.relative_to(run.path).as_posix(): file for file in _files(run.path)}
    try:
        _check_names([*files])
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as box:
            box.comment = f"{seal.KEY}: {seal.BLANK}".encode()
            for name, file in files.items():
                content = read_regular(file, inside=run.path)
                left -= len(content)
                if left < 0:
                    raise BadTexts(_TOO_LARGE)
                # One time for all: the same run gives the same bytes.
                box.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    except (BadTexts, NotRegular) as error:
        why = (
            error.args[0] if isinstance(error, BadTexts) else f"{error.filename}: {error.strerror}"
        )
        raise StoreError(
            f"{run.path}: no archive takes it: {why}", remedy="Move that file out of the folder"
        ) from None
    return seal.sealed(out.getvalue())


def unpack(content: bytes, folder: Path) -> None:
    """Writes the files of a zip file into an empty folder. Raises BadTexts and OSError."""
    with _opened(content) as box:
        left = UNPACKED_BYTES
        for entry in box.infolist():
            file = folder / entry.filename
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as out:
                left -= _copied(box, entry, out, left)


def manifest_in(content: bytes) -> bytes:
    """The run.json in a zip file. Raises BadTexts."""
    out = io.BytesIO()
    with _opened(content) as box:
        _copied(box, box.getinfo(MANIFEST), out, UNPACKED_BYTES)
    return out.getvalue()


def _files(folder: Path) -> list[Path]:
    """Every file but samples and hidden ones, links among them."""
    files = []
    for file in sorted(folder.rglob("*")):
        parts = file.relative_to(folder).parts
        hidden = any(part.startswith(".") for part in parts)
        if not hidden and parts[0] != SAMPLES and (file.is_symlink() or file.is_file()):
            files.append(file)
    return files


def _check_names(names: list[str]) -> None:
    if len(names) > ENTRIES:
        raise BadTexts(f"{len(names):,} files; a run has at most {ENTRIES:,}")
    if len(set(names)) < len(names):
        raise BadTexts("a file twice")
    folders = {str(parent) for name in names for parent in Path(name).parents}
    for name in names:
        parts = name.split("/")
        if parts[0] == SAMPLES or not all(map(is_name, parts)) or name in folders:
            raise BadTexts(f"{name[:NAME_BYTES]!r} is not the name of a file of a run")


@contextmanager
def _opened(content: bytes) -> Iterator[zipfile.ZipFile]:
    """A zip file with the names and kinds of entries that `packed` writes. Raises BadTexts."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as box:
            _check_names([entry.filename for entry in box.infolist()])
            if sum(entry.file_size for entry in box.infolist()) > UNPACKED_BYTES:
                raise BadTexts(_TOO_LARGE)
            for entry in box.infolist():
                kind = stat.S_IFMT(entry.external_attr >> 16)
                if kind not in (0, stat.S_IFREG) or entry.compress_type not in _KINDS:
                    raise BadTexts(f"{entry.filename} is not a file of a run")
            yield box
    except (BadTexts, OSError):
        raise
    except Exception as error:  # of zipfile and zlib, for every way in which bytes can be wrong
        raise BadTexts(str(error) or type(error).__name__) from None


def _copied(box: zipfile.ZipFile, entry: zipfile.ZipInfo, out: IO[bytes], most: int) -> int:
    """Copies an entry in pieces, whatever size it states. Returns the number of bytes."""
    count = 0
    with box.open(entry) as source:
        while piece := source.read(_PIECE):
            count += len(piece)
            if count > most:
                raise BadTexts(_TOO_LARGE)
            out.write(piece)
    return count
