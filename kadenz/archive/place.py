# SPDX-License-Identifier: Apache-2.0
"""Where an archive is, and its layout: a folder, or an object store by its URL.

Nothing in an archive is ever changed. A run is in it as soon as its object below runs/ exists; the
objects that belong to it are written before. Two writers therefore need no lock. Nobody can tell
what a killed writer left from what another has just written, so that only old objects are removed.
"""

from __future__ import annotations

import fnmatch
import glob
import io
import json
import os
import re
import uuid
import weakref
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kadenz.archive import seal
from kadenz.errors import NothingThere, StoreError, ToolMissing, UsageError

FORMAT = 1
HEAD = "archive.json"
RUNS = (
    "runs"  # one object for each run, one row for each lane: this makes the run part of the archive
)
FILES = "files"  # everything of a run folder except samples, as a zip file
SAMPLES = "samples"
OLD = timedelta(days=1)  # longer than a run is added
_FRESH = re.compile(r"\..+\.[0-9a-f]{8}")  # see _write_file
_INSTALL = "pip install 'kadenz[archive]'"


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

    def run_object(self, month: str, id: str) -> str:
        """The object that makes a run part of the archive."""
        return f"{RUNS}/month={month}/{id}.parquet"

    def files_object(self, month: str, id: str) -> str:
        """The object with run.json and the texts of a run."""
        return f"{FILES}/month={month}/{id}.zip"

    def samples_object(self, target: str, bench: str, month: str, id: str) -> str:
        """The object with the samples of one benchmark of a run."""
        folder = f"target={quote(target, safe='')}/bench={quote(bench, safe='')}/month={month}"
        return f"{SAMPLES}/{folder}/{id}.parquet"

    def exists(self, relative: str) -> bool:
        """Whether there is such an object now."""
        self.fs.invalidate_cache()
        return bool(self.fs.exists(f"{self.root}/{relative}"))

    def objects(self, pattern: str) -> list[str]:
        """Objects that match, relative to the archive, in the order of their names.

        Only `pattern` is one: the archive's own path is never read as a pattern.
        """
        self.fs.invalidate_cache()
        below = pattern.partition("*")[0].rpartition("/")[0]
        slashes = pattern.count("/")
        depth = slashes - below.count("/") + (not below)
        found = self.fs.find(f"{self.root}/{below}", maxdepth=depth, withdirs=True)
        names = (str(path)[len(self.root) + 1 :] for path in found)
        # With as many slashes as the pattern has, no `*` of it can match one.
        alike = (name for name in names if name and name.count("/") == slashes)
        return sorted(fnmatch.filter(alike, pattern))

    def read(self, relative: str) -> bytes:
        """The bytes of an object. StoreError if it cannot be read."""
        try:
            return bytes(self.fs.cat_file(f"{self.root}/{relative}"))
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

    def damaged(self, relative: str) -> StoreError:
        """The error for an object that is not as it was written."""
        return StoreError(
            f"{self.url(relative)}: damaged",
            remedy="Copy it from a backup, or add the run again after `kadenz archive check "
            "--mend`",
        )

    def table(self, relative: str, columns: list[str] | None = None) -> Any:
        """A Parquet object as an Arrow table. StoreError if it is damaged or cannot be read."""
        pa = need_pyarrow()
        import pyarrow.parquet as pq

        content = self.sealed(relative)
        try:
            # Without threads: some of Arrow's do not survive the end of a process.
            return pq.ParquetFile(io.BytesIO(content)).read(columns=columns, use_threads=False)
        except (pa.ArrowInvalid, OSError):
            raise self.damaged(relative) from None

    def write(self, relative: str, content: bytes, *, new: bool = False) -> bool:
        """Writes an object whole or not at all. With `new`, False if it exists already.

        StoreError if the store does not take it: a full disk, a folder that is read-only.
        """
        path = f"{self.root}/{relative}"
        try:
            if self.is_local:
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
        folders = ("", f"{RUNS}/*/", f"{FILES}/*/", f"{SAMPLES}/*/*/*/")
        hidden = [one for folder in folders for one in self.objects(f"{folder}.*")]
        return [one for one in hidden if _FRESH.fullmatch(Path(one).name)]

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
        found = json.loads(place.read(HEAD))["kadenz_archive"]
    except (ValueError, KeyError, TypeError):
        raise StoreError(
            f"{place.url(HEAD)}: damaged", remedy='Write {"kadenz_archive": 1} into it'
        ) from None
    if found > FORMAT:
        raise StoreError(
            f"{place.text}: an archive of format {found}; this version reads up to {FORMAT}",
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
