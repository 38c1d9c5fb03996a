# SPDX-License-Identifier: Apache-2.0
"""The key of an execution: SHA-256 over all that its process gets and can read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.values.digests import ABSENT, State, digest_of, files_below, state_of

# Of the document below, and of what an entry holds. A higher number forgets every entry.
FORMAT = 1


@dataclass(frozen=True)
class Command:
    """A process that was not started yet, and what it can read.

    It works in `folder`, where its `inputs` are, and names all files there by relative paths: no
    place and no name of this machine's reaches it.
    """

    program: Path
    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    inputs: Sequence[str] = ()  # names of files in `folder`, links too
    reads: Sequence[Path] = ()  # libraries, and folders that it searches for firmware


@dataclass(frozen=True)
class Key:
    """The digest of a command, of what it was computed, and the states of the files meanwhile."""

    digest: str
    document: Mapping[str, object]
    states: Mapping[Path, State | None]  # None: there was no such file

    def unchanged(self) -> bool:
        """Whether all files are still as they were: a process that began with them ended with
        them."""
        return all(_state(file) == state for file, state in self.states.items())


def key_of(command: Command) -> Key:
    """The key of a command. Raises OSError if a file cannot be read."""
    files: dict[str, str] = {}
    states: dict[Path, State | None] = {}
    for name in sorted(command.inputs):
        file = command.folder / name
        files[name], states[file] = digest_of(file)
    for place in [command.program, *command.reads]:
        below = files_below(place)
        for file in below:
            if file not in states:
                files[str(file)], states[file] = digest_of(file)
        if not below:
            files[str(place)] = ABSENT
            states[place] = _state(place)
    document = {
        "format": FORMAT,
        "program": str(command.program),
        "arguments": list(command.arguments),
        "environment": dict(sorted(command.environment.items())),
        "files": files,
    }
    text = json.dumps(document, sort_keys=True).encode()
    return Key(hashlib.sha256(text).hexdigest(), document, states)


def _state(file: Path) -> State | None:
    try:
        return state_of(file)
    except OSError:
        return None
