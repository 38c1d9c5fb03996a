# SPDX-License-Identifier: Apache-2.0
"""Where an archive is: a folder, or an object store by its URL. `objects` has its layout.

Nothing in an archive is ever changed. A run is in it as soon as its object below runs/ exists; the
objects that belong to it are written before. Two writers therefore need no lock. Nobody can tell
what a killed writer left from what another has just written, so that only old objects are removed.
"""

from __future__ import annotations

import fnmatch
import glob
import json
import os
import re
import uuid
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from kadenz.archive import seal
from kadenz.archive.objects import EVERY_RUN, EVERY_SAMPLES, EVERY_TEXTS, is_object
from kadenz.errors import NothingThere, StoreError, ToolMissing, UsageError
from kadenz.json_text import read_json
from kadenz.regular_files import MIB, NotRegular, read_regular

FORMAT = 1
HEAD = "archive.json"
OBJECT_BYTES = 2048 * MIB  # of one object; it is read and written in one piece
OLD = timedelta(days=1)  # longer than a run is added
_FRESH = re.compile(r"\..+\.[0-9a-f]{8}")  # see _write_file
_INSTALL = "pip install 'kadenz[archive]'"


class _Head(msgspec.Struct):
    kadenz_archive: int  # its format


@dataclass(frozen=True)
class Place:
    """An archive. `fs` is its file system (fsspec), `root` its path there, without a slash."""

    fs: Any
    root: str
    text: str  # as the user wrote it

    @property
    def is_local(self) -> bool:
        """True for a folder of this machine."""
        return "file" in _protocols(self.fs)

    def url(self, relative: str) -> str:
        """An object as messages name it."""
        path = f"{self.root}/{relative}"
        return path if self.is_local else f"{_protocols(self.fs)[0]}://{path}"

    @cached_property
    def query_root(self) -> str:
        """The archive as DuckDB names it, which reads `*`, `[1]` and `month=` in any part of a path
        as its own notation. A folder is therefore named by its descriptor."""
        if not self.is_local:
            return f"{_protocols(self.fs)[0]}://{glob.escape(self.root)}"
        folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, folder)
        return f"/proc/self/fd/{folder}"

    def exists(self, relative: str) -> bool:
        """Whether there is such an object now."""
        self.fs.invalidate_cache()
        return bool(self.fs.exists(f"{self.root}/{relative}"))

    def objects(self, pattern: str) -> list[str]:
        """What matches, relative to the archive, in the order of the names.

        Only `pattern` is one: the archive's own path is never read as a pattern.
        """
        return sorted(self._facts(pattern))

    def sorted_out(self, pattern: str) -> tuple[list[str], dict[str, str]]:
        """Objects of runs that match, and what is in the place of one with the reason.

        A pipe would be waited for, a link leads elsewhere, and no run is under another name.
        """
        entries = self._facts(pattern)
        linked = self._behind_links(entries)
        foreign = {}
        for name, facts in sorted(entries.items()):
            if not is_object(name):
                foreign[name] = "its name is not that of an object"
            elif facts.get("islink") or name in linked:
                foreign[name] = "a link, which is not followed"
            elif facts["type"] != "file":
                foreign[name] = "not a file"
        return sorted(entries.keys() - foreign.keys()), foreign

    def _facts(self, pattern: str) -> dict[str, dict[str, Any]]:
        """Facts of the store about each name that matches."""
        self.fs.invalidate_cache()
        below = pattern.partition("*")[0].rpartition("/")[0]
        slashes = pattern.count("/")
        depth = slashes - below.count("/") + (not below)
        root = f"{self.root}/{below}"
        listing = self.fs.find(root, maxdepth=depth, withdirs=True, detail=True)
        facts = {str(path)[len(self.root) + 1 :]: info for path, info in listing.items()}
        # With as many slashes as the pattern has, no `*` of it can match one.
        alike = [name for name in facts if name and name.count("/") == slashes]
        return {name: facts[name] for name in fnmatch.filter(alike, pattern)}

    def _behind_links(self, names: Iterable[str]) -> set[str]:
        """Those whose folder is reached by a link inside the archive; `root` itself may be one."""
        if not self.is_local:
            return set()
        root = os.path.realpath(self.root)
        alone = {
            folder: os.path.realpath(f"{root}/{folder}") == f"{root}/{folder}"
            for folder in {name.rpartition("/")[0] for name in names} - {""}
        }
        return {name for name in names if not alone.get(name.rpartition("/")[0], True)}

    def read(self, relative: str) -> bytes:
        """The bytes of an object. StoreError if it cannot be read."""
        path = f"{self.root}/{relative}"
        try:
            if self.is_local:
                return read_regular(Path(path), inside=Path(self.root), limit=OBJECT_BYTES)
            return bytes(self.fs.cat_file(path))
        except OSError as error:
            raise StoreError(
                f"{self.url(relative)}: cannot be read: {error.strerror or error}",
                remedy="`kadenz archive check` names every damaged object",
            ) from None

    def sealed(self, relative: str) -> bytes:
        """The bytes of an object. StoreError if its seal is broken, or if it cannot be read."""
        content = self.read(relative)
        if seal.intact(content) is False:
            raise self.damaged(relative)
        return content

    def damaged(self, relative: str, why: str = "") -> StoreError:
        """The error for an object that is not as it was written."""
        return StoreError(
            f"{self.url(relative)}: damaged" + (f": {why}" if why else ""),
            remedy="Copy it from a backup, or add the run again after `kadenz archive check "
            "--mend`",
        )

    def write(self, relative: str, content: bytes, *, new: bool = False) -> bool:
        """Writes an object whole or not at all. With `new`, False if it exists already.

        StoreError if the store does not take it: a full disk, a folder that is read-only.
        """
        path = f"{self.root}/{relative}"
        try:
            if len(content) > OBJECT_BYTES:
                raise NotRegular(Path(path), f"larger than {OBJECT_BYTES / MIB:g} MiB")
            if self.is_local:
                if self._behind_links([relative]):
                    raise NotRegular(
                        Path(path), "its folder is behind a link, which is not followed"
                    )
                return _write_file(Path(path), content, new=new)
            if new and self.exists(relative):
                return False
            self.fs.pipe_file(path, content)  # an object store shows an object when it is whole
        except OSError as error:
            raise StoreError(
                f"{self.url(relative)}: cannot be written: {error.strerror or error}",
                remedy="Make room or grant write access, then add the run again: what is in the "
                "archive stays",
            ) from None
        return True

    def fragments(self) -> list[str]:
        """Files that a killed writer left: never an object, and perhaps not whole."""
        if not self.is_local:
            return []
        every = (HEAD, EVERY_RUN, EVERY_TEXTS, EVERY_SAMPLES)
        folders = [pattern.rpartition("/")[0] for pattern in every]
        hidden = [name for folder in folders for name in self.objects(f"{folder}/.*".lstrip("/"))]
        left = [name for name in hidden if _FRESH.fullmatch(Path(name).name)]
        return sorted({*left} - self._behind_links(left))

    def is_old(self, relative: str) -> bool:
        """Whether an object was written more than a day ago; True if its store does not say.

        False if it is not there any more.
        """
        self.fs.invalidate_cache()
        try:
            written = self.fs.modified(f"{self.root}/{relative}")
        except NotImplementedError:
            return True
        except FileNotFoundError:
            return False
        zone = written.tzinfo or UTC
        return bool(datetime.now(UTC) - written.replace(tzinfo=zone) > OLD)

    def remove(self, relative: str) -> None:
        """Removes an object that is no run's. StoreError if the store refuses."""
        try:
            self.fs.rm_file(f"{self.root}/{relative}")
        except FileNotFoundError:
            pass  # another process removed it
        except OSError as error:
            raise StoreError(
                f"{self.url(relative)}: cannot be removed: {error.strerror or error}",
                remedy="Grant write access, then repeat the call",
            ) from None


def open_archive(text: str, *, create: bool = False) -> Place:
    """The archive at a path or URL ("s3://bucket/lab").

    With `create` it is made if nothing is there. UsageError if it is not an archive, or has a newer
    format; StoreError if the store does not answer; ToolMissing without the packages of the extra
    `archive`.
    """
    try:
        import fsspec
        from fsspec.implementations.local import LocalFileSystem, make_path_posix
    except ImportError:
        raise ToolMissing("fsspec is not installed", remedy=_INSTALL) from None
    try:
        if "://" in text:
            fs, root = fsspec.core.url_to_fs(text)
        else:  # a path, whatever characters it has
            fs, root = LocalFileSystem(), make_path_posix(text)
    except (ImportError, ValueError) as error:
        raise UsageError(
            f"{text}: {error}", remedy="Name a folder, or install that store's package"
        ) from None
    place = Place(fs, str(root).rstrip("/"), text)
    if not _is_there(place):
        if not create:
            raise NothingThere(
                f"{text}: no archive here", remedy=f"kadenz archive add RUN --archive {text}"
            )
        if _is_foreign(place):
            raise UsageError(
                f"{text}: neither empty nor an archive", remedy="Name a new or an empty folder"
            )
        place.write(HEAD, json.dumps({"kadenz_archive": FORMAT}).encode() + b"\n", new=True)
    _check_format(place)
    return place


def _is_there(place: Place) -> bool:
    try:
        return place.exists(HEAD)
    except Exception as error:  # the package of each store has its own
        raise StoreError(
            f"{place.text}: cannot be reached: {error}",
            remedy="Check the store's address and your credentials for it",
        ) from None


def _is_foreign(place: Place) -> bool:
    """Whether something else is there; another writer may create the archive at this moment."""
    names = [path.rsplit("/", 1)[-1] for path in place.objects("*")]
    return any(not name.startswith(".") for name in names) and not place.exists(HEAD)


def need_duckdb() -> Any:
    """The module duckdb. ToolMissing without it."""
    try:
        import duckdb
    except ImportError:
        raise ToolMissing("duckdb is not installed", remedy=_INSTALL) from None
    return duckdb


def need_pyarrow() -> Any:
    """The module pyarrow. ToolMissing without it."""
    try:
        import pyarrow
    except ImportError:
        raise ToolMissing("pyarrow is not installed", remedy=_INSTALL) from None
    return pyarrow


def _check_format(place: Place) -> None:
    try:
        version = read_json(place.read(HEAD), _Head).kadenz_archive
    except msgspec.DecodeError:
        raise StoreError(
            f"{place.url(HEAD)}: damaged", remedy='Write {"kadenz_archive": 1} into it'
        ) from None
    if version > FORMAT:
        raise StoreError(
            f"{place.text}: an archive of format {version}; this version reads up to {FORMAT}",
            remedy="Update kadenz",
        )


def _write_file(path: Path, content: bytes, *, new: bool) -> bool:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        with fresh.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if not new:
            fresh.replace(path)
            return True
        os.link(fresh, path)  # unlike a rename, this fails if another writer was first
    except FileExistsError:
        return False
    finally:
        fresh.unlink(missing_ok=True)
    return True


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)
