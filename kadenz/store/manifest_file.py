# SPDX-License-Identifier: Apache-2.0
"""run.json: written atomically, and read with a remedy for every defect."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from kadenz.config.manifest import SCHEMA_VERSION, Manifest
from kadenz.errors import NewerRun, StoreError
from kadenz.json_text import read_json
from kadenz.regular_files import read_regular
from kadenz.store.acceptance import accept
from kadenz.store.consistency import contradictions
from kadenz.store.layout import MANIFEST
from kadenz.store.older_runs import FIRST, renew


class _Version(msgspec.Struct):
    """The only key common to all versions of the manifest."""

    schema_version: int


def write_manifest(folder: Path, manifest: Manifest, *, sync: bool) -> None:
    """Replaces the run.json of `folder`; with `sync` it survives a power cut. Raises OSError."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    fresh = folder / (MANIFEST + ".new")
    fresh.unlink(missing_ok=True)  # of a killed writer; a link there is not followed
    with fresh.open("xb") as file:
        file.write(text + b"\n")
        if sync:
            file.flush()
            os.fsync(file.fileno())
    fresh.replace(folder / MANIFEST)


def decoded(plain: dict[str, Any]) -> Manifest:
    """A manifest of any version from its decoded JSON. Raises msgspec.ValidationError."""
    if plain["schema_version"] == FIRST:
        try:
            renew(plain)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise msgspec.ValidationError(f"{type(error).__name__}: {error}") from None
    return msgspec.convert(plain, Manifest)


def read_manifest(folder: Path) -> Manifest:
    """The run.json of `folder`.

    StoreError if it is missing, damaged, or contradicts itself; NewerRun if from a newer kadenz.
    """
    file = folder / MANIFEST
    try:
        text = read_regular(file, inside=folder)
    except OSError as error:
        raise StoreError(
            f"{folder}: not a run folder: {MANIFEST}: {error.strerror}",
            remedy="Name a run folder: `kadenz runs` lists them",
        ) from None
    manifest = _decoded(file, text)
    for contradiction in contradictions(manifest):
        raise StoreError(
            f"{file}: damaged: {contradiction}",
            remedy="Copy the folder again from its origin, or repeat the measurement",
        )
    accept(manifest)
    return manifest


def _decoded(file: Path, text: bytes) -> Manifest:
    try:
        version = read_json(text, _Version).schema_version
        if version > SCHEMA_VERSION:
            raise NewerRun(
                f"{file}: written by a newer kadenz (schema {version}; this version reads up to "
                f"{SCHEMA_VERSION})",
                remedy="Update kadenz",
            )
        if version == FIRST:
            return decoded(read_json(text, dict[str, Any]))
        return read_json(text, Manifest)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"{file}: damaged: {error}",
            remedy="The samples next to it are .npy files, which numpy can read without it",
        ) from None
