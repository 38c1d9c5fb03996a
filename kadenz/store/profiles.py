# SPDX-License-Identifier: Apache-2.0
"""Reads the profiles of a run folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from kadenz.config.profile import PROFILE_VERSION, Profile
from kadenz.errors import StoreError
from kadenz.regular_files import read_regular
from kadenz.store.layout import PROFILE_SUFFIX, PROFILES
from kadenz.store.reader import Run


def read_profiles(run: Run) -> list[Profile]:
    """The profiles of a run by record; none if it was not profiled.

    StoreError for a file that is damaged, or of another version.
    """
    found = []
    for file in sorted((run.path / PROFILES).glob(f"*{PROFILE_SUFFIX}")):
        try:
            profile = msgspec.json.decode(read_regular(file, inside=run.path), type=Profile)
        except OSError as error:
            raise _damaged(file, error.strerror or str(error)) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _damaged(file, str(error)) from None
        if profile.version != PROFILE_VERSION:
            raise StoreError(
                f"{file}: a profile of version {profile.version}; this kadenz reads version "
                f"{PROFILE_VERSION}",
                remedy="Profile again with this kadenz",
            )
        found.append(profile)
    return found


def _damaged(file: Path, what: str) -> StoreError:
    return StoreError(
        f"{file}: not a profile: {what}",
        remedy="Copy the folder again from its origin, or repeat the measurement",
    )
