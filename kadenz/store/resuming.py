# SPDX-License-Identifier: Apache-2.0
"""Takes a partial run up again, in its own folder.

Each step can be repeated: a lab that is killed here leaves a partial run, which can be resumed.
"""

from __future__ import annotations

import errno
from pathlib import Path

from kadenz.config.manifest import KILLED, Manifest
from kadenz.errors import StoreError
from kadenz.store.layout import INTERRUPTED, MANIFEST, PARTIAL_SUFFIX, SAMPLES
from kadenz.store.manifest_file import read_manifest, write_manifest
from kadenz.store.running import Running


def go_on(folder: Path, manifest: Manifest) -> tuple[Path, Running]:
    """Locks a partial run and gives it `manifest`. Returns its folder under its current name.

    Records that `manifest` lacks are set aside, as a run folder of their own below `interrupted/`.
    BlockingIOError while another process holds the run, OSError if the disk refuses.
    """
    running = Running(folder)
    if running.storage is not None and running.storage.exists():
        running.close()
        raise BlockingIOError(errno.EAGAIN, "samples in memory are not in the folder yet")
    try:
        before = read_manifest(folder)
        if not folder.name.endswith(PARTIAL_SUFFIX):
            folder = folder.rename(folder.with_name(folder.name + PARTIAL_SUFFIX))
        kept = {record.id for record in manifest.records}
        before.records = [record for record in before.records if record.id not in kept]
        manifest.partial, manifest.partial_reason = True, KILLED
        if before.records:
            aside = folder / INTERRUPTED / str(len(manifest.resumed))
            (aside / SAMPLES).mkdir(parents=True, exist_ok=True)
            write_manifest(aside, before, sync=True)
        write_manifest(folder, manifest, sync=True)
        manifest.partial, manifest.partial_reason = False, ""
        _set_aside(folder, manifest)
    except BaseException:
        running.close()
        raise
    return folder, running


def _set_aside(folder: Path, manifest: Manifest) -> None:
    """Moves every file of samples that `manifest` does not name to the run that names it."""
    named = {lane.file for record in manifest.records for lane in record.lanes}
    owners = {name: aside for aside in _asides(folder) for name in _files(aside)}
    for file in sorted((folder / SAMPLES).iterdir()):
        name = f"{SAMPLES}/{file.name}"
        if name not in named:
            # A file without a name in any manifest was created just before a kill.
            aside = owners.get(name, folder / INTERRUPTED / str(len(manifest.resumed)))
            (aside / SAMPLES).mkdir(parents=True, exist_ok=True)
            file.rename(aside / name)


def _asides(folder: Path) -> list[Path]:
    """The runs of superseded records, the oldest first."""
    manifests = (folder / INTERRUPTED).glob(f"*/{MANIFEST}")
    return sorted(
        (file.parent for file in manifests), key=lambda aside: (len(aside.name), aside.name)
    )


def _files(aside: Path) -> list[str]:
    try:
        manifest = read_manifest(aside)
    except StoreError:
        return []
    return [lane.file for record in manifest.records for lane in record.lanes if lane.file]
