# SPDX-License-Identifier: Apache-2.0
"""Reads the profiles of a run folder."""

from __future__ import annotations

import msgspec

from kadenz.config.profile import PROFILE_VERSION, Profile
from kadenz.errors import StoreError
from kadenz.store.layout import PROFILE_SUFFIX, PROFILES
from kadenz.store.reader import Run


def read_profiles(run: Run) -> list[Profile]:
    """The profiles of a run by record; none if it was not profiled.

    StoreError for a file that is damaged, or of another version.
    """
    found = []
    for file in sorted((run.path / PROFILES).glob(f"*{PROFILE_SUFFIX}")):
        try:
            profile = msgspec.json.decode(file.read_bytes(), type=Profile)
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(
                f"{file}: not a profile: {error}",
                remedy="Copy the folder again from its origin, or repeat the measurement",
            ) from None
        if profile.version != PROFILE_VERSION:
            raise StoreError(
                f"{file}: a profile of version {profile.version}; this kadenz reads version "
                f"{PROFILE_VERSION}",
                remedy="Profile again with this kadenz",
            )
        found.append(profile)
    return found
