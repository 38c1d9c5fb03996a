# SPDX-License-Identifier: Apache-2.0
"""Channels and their edges in blocks: the common form of every format of a capture."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kadenz.config.toml import did_you_mean
from kadenz.errors import UsageError

# "pins [0]" and "pins[0]" are one name.
_SPACE = re.compile(r"\s+(?=\[)")
_RANGE = re.compile(r"\[[^\]]*\]$")

Progress = Callable[[int], None]  # gets the bytes read so far


GAP = 255  # in place of a channel: from here on nothing was recorded, for a while


@dataclass(frozen=True)
class Edges:
    """Some edges in order: three arrays of one length."""

    times: npt.NDArray[np.int64]  # in ticks, never decreasing
    channels: npt.NDArray[np.uint8]  # place in the names that were asked for, or `GAP`
    high: npt.NDArray[np.bool_]  # rising

    def __len__(self) -> int:
        return int(self.times.size)

    def where(self, chosen: npt.NDArray[np.bool_] | slice) -> Edges:
        """The edges that a mask or a slice chooses."""
        return Edges(self.times[chosen], self.channels[chosen], self.high[chosen])

    def then(self, later: Edges) -> Edges:
        """These edges, then `later`."""
        return Edges(
            np.concatenate((self.times, later.times)),
            np.concatenate((self.channels, later.channels)),
            np.concatenate((self.high, later.high)),
        )


NO_EDGES = Edges(np.empty(0, np.int64), np.empty(0, np.uint8), np.empty(0, np.bool_))


class Waveform(Protocol):
    """An open capture, whose header has been read."""

    @property
    def file(self) -> Path:
        """The file it was read from."""

    @property
    def tick_ns(self) -> float:
        """The unit of its times."""

    @property
    def step(self) -> float:
        """Ticks between two samples of the analyser; 0.0 if the file does not say."""

    @property
    def printed_step(self) -> float:
        """Ticks between two times that the file can print; 0.0 if each is exact."""

    @property
    def channels(self) -> Sequence[str]:
        """The whole names of its one-bit wires; two wires may have one name."""

    def edges(self, channels: tuple[str, ...], progress: Progress) -> Iterator[Edges]:
        """The edges of some channels, block by block: memory does not grow with the file.

        A first value is no edge, nor is one from or to an undefined level. UsageError at the first
        damage, after the edges before it.
        """


def channel_of(waveform: Waveform, name: str) -> str:
    """The whole name of a channel, which may be given without its scopes or its range of bits.

    UsageError for none, and for a name that fits several wires.
    """
    all_names = waveform.channels
    matches = channels_named(waveform, name)
    if len(matches) == 1:
        return matches[0]
    remedy = f"Channels of one bit: {', '.join(all_names) or 'none'}"
    if not matches:
        near = did_you_mean(name, [full.rpartition(".")[2] for full in all_names])
        message = f"{name} is not a channel of one bit. {near}".rstrip()
    elif len(set(matches)) == 1:
        message = f"{len(matches)} wires have the name {matches[0]}"
        remedy = "Give each wire a name of its own, in the program that exports or in the file"
    else:
        message = f"{name} could be any of {', '.join(matches)}"
    raise UsageError(f"{waveform.file}: {message}", remedy=remedy)


def channels_named(waveform: Waveform, name: str) -> list[str]:
    """The wires that a name means: the whole one, without scopes, or also without its range."""
    wanted = _SPACE.sub("", name)
    kinds: list[list[str]] = [[], [], []]
    for full in waveform.channels:
        whole = _SPACE.sub("", full)
        bare = _RANGE.sub("", whole)
        if whole == wanted:
            kinds[0].append(full)
        if whole.endswith(f".{wanted}"):
            kinds[1].append(full)
        elif bare == wanted or bare.endswith(f".{wanted}"):
            kinds[2].append(full)
    return next((kind for kind in kinds if kind), [])


def damaged(file: Path, where: str, what: str) -> UsageError:
    """A capture whose rest cannot be read."""
    return UsageError(f"{file}: damaged {where}: {what}", remedy="Export the capture again")


class Levels:
    """Edges from the levels of sampled channels."""

    def __init__(self, channels: int) -> None:
        self._before: npt.NDArray[np.uint8] | None = None
        self._channels = channels

    def edges(self, times: npt.NDArray[np.int64], levels: npt.NDArray[np.uint8]) -> Edges:
        """Edges of the next samples; `levels` is 0 or 1, with a row for each time."""
        if not times.size:
            return NO_EDGES
        first = levels[:1] if self._before is None else self._before[None]
        self._before = levels[-1].copy()
        changed = levels != np.concatenate((first, levels[:-1]))
        row, channel = np.nonzero(changed)
        return Edges(times[row], channel.astype(np.uint8), levels[row, channel] == 1)
