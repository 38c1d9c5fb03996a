# SPDX-License-Identifier: Apache-2.0
"""The file of `kadenz run --farm`: where the coordinator of places and the scheduler are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from kadenz.config.model import FileModel
from kadenz.config.toml import read_toml
from kadenz.errors import ConfigError

_Seconds = Annotated[float, msgspec.Meta(gt=0)]


class DaskTable(FileModel, kw_only=True, frozen=True):
    """[dask]: the scheduler that executes emulated targets and simulated cores."""

    scheduler: str  # "tls://rack:8786"
    keys: str = ""  # folder with this machine's keys, beside the file; not needed on one machine
    retries: Annotated[int, msgspec.Meta(ge=0)] = 2  # of an order whose worker died
    patience_s: _Seconds = 60.0  # for a scheduler that went


class LabgridTable(FileModel, kw_only=True, frozen=True):
    """[labgrid]: the coordinator of the places that targets of tier `board` stand at."""

    coordinator: str  # "rack:20408"
    wait_s: Annotated[float, msgspec.Meta(ge=0)] = 0.0  # for a place that somebody has


class FarmFile(FileModel, kw_only=True, frozen=True):
    """A farm: at least one of its tables."""

    title: str = ""
    dask: DaskTable | None = None
    labgrid: LabgridTable | None = None


def read_farm(path: Path) -> FarmFile:
    """The farm's file. ConfigError if it is unreadable, invalid, or names nothing."""
    farm_file = read_toml(path, FarmFile)
    if farm_file.dask is None and farm_file.labgrid is None:
        raise ConfigError(f"{path}: names no farm", remedy="Add [dask] or [labgrid]")
    if farm_file.dask is None or not farm_file.dask.keys:
        return farm_file
    keys = str(path.parent / Path(farm_file.dask.keys).expanduser())
    return msgspec.structs.replace(
        farm_file, dask=msgspec.structs.replace(farm_file.dask, keys=keys)
    )
