# SPDX-License-Identifier: Apache-2.0
"""Reads the profiles of a run folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from kadenz.config.profile import PROFILE_VERSION, Profile
from kadenz.errors import StoreError
from kadenz.json_text import read_json
from kadenz.regular_files import read_regular
from kadenz.store.layout import PROFILE_SUFFIX, PROFILES
from kadenz.store.reader import Run


def read_profiles(run: Run) -> list[Profile]:
    """The profiles of a run by record; none if it was not profiled.

    StoreError for a file that is damaged, or of another version.
    """
    profiles = []
    for file in sorted((run.path / PROFILES).glob(f"*{PROFILE_SUFFIX}")):
        try:
            profile = read_json(read_regular(file, inside=run.path), Profile)
        except OSError as error:
            raise _damaged(file, error.strerror or str(error)) from None
        except msgspec.DecodeError as error:
            raise _damaged(file, str(error)) from None
        if profile.version != PROFILE_VERSION:
            raise StoreError(
                f"{file}: a profile of version {profile.version}; this kadenz reads version "
                f"{PROFILE_VERSION}",
                remedy="Profile again with this kadenz",
            )
        for what in _contradictions(profile):
            raise _damaged(file, what)
        profiles.append(profile)
    return profiles


def _contradictions(profile: Profile) -> Iterator[str]:
    """References to functions, instructions and views that the profile does not have."""
    views = [view for lane in profile.lanes for view in lane.views]
    paths = [stack.path for view in views for stack in view.stacks]
    paths += [
        section.path for view in views for section in (*view.masked, *view.locked, *view.held)
    ]
    functions = {code.function for code in profile.code}.union(*paths)
    if not functions <= {*range(len(profile.functions))}:
        yield "names a function that it does not have"
    if not all(paths):
        yield "an instruction is in no function"
    if not {number for view in views for number, _ in view.code} <= {*range(len(profile.code))}:
        yield "names an instruction that it does not have"
    for lane in profile.lanes:
        names = [view.name for view in lane.views]
        if len({*names}) != len(names) or not {"typical", "slowest"} <= {*names}:
            yield f"the lane {lane.lane} does not have its views once"


def _damaged(file: Path, what: str) -> StoreError:
    return StoreError(
        f"{file}: not a profile: {what}",
        remedy="Copy the folder again from its origin, or repeat the measurement",
    )
