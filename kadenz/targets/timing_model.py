# SPDX-License-Identifier: Apache-2.0
"""Timing models of cores: instruments/models. A model is compiled into a plugin of the scope."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import TimingModel
from kadenz.config.manifest import ModelEntry
from kadenz.config.model import FileModel
from kadenz.config.toml import did_you_mean, read_toml
from kadenz.errors import ConfigError
from kadenz.targets import scope_plugin


class Parameter(FileModel, kw_only=True, frozen=True):
    """A quantity that the core's manual leaves open, or that the board decides."""

    range: tuple[int, int]  # the least and the most
    source: str  # where the range is from


class ModelFile(FileModel, kw_only=True, frozen=True):
    """model.toml: what a model describes, and how far it was checked."""

    title: str  # "Ibex, default configuration"
    checked: str  # against what, with which result
    misses: bool = False  # it counts the lines that both caches fetch
    # Of a model in which an instruction and the way to the next one alone decide the cost, or that
    # says the most (model.h): cycles from an interrupt's request to its vector, at most, with
    # interrupts on, apart from the instructions that are executed. 0: another model; it gives no
    # bounds.
    entry: int = 0
    in_flight: int = 1  # instructions that the core executes at once, before it takes the interrupt
    parameter: dict[str, Parameter] = msgspec.field(default_factory=dict)


@dataclass(frozen=True)
class Model:
    """A model with the values of a board."""

    name: str
    file: ModelFile
    parameters: dict[str, tuple[int, int]]
    hz: int = 0  # the clock of the board's chip; 0: not stated

    @property
    def has_interval(self) -> bool:
        """Whether its cycles are intervals."""
        return any(low != high for low, high in self.parameters.values())

    @property
    def entry(self) -> ModelEntry:
        """The model and its parameters, as run.json has them."""
        return ModelEntry(
            name=self.name,
            title=self.file.title,
            parameters=self.parameters,
            checked=self.file.checked,
        )

    @property
    def arguments(self) -> list[str]:
        """Options of the plugin: `NAME=LOW:HIGH` for each parameter."""
        return [f"{name}={low}:{high}" for name, (low, high) in self.parameters.items()]


def model(board: str, given: TimingModel) -> Model:
    """The model that a board names. Raises ConfigError for an unknown model or parameter, and for a
    value that is not a range."""
    where = f"board {board}: [tier.emulated.model]"
    known = sorted(file.parent.name for file in folder().glob("*/model.toml"))
    if given.name not in known:
        raise ConfigError(
            f"{where}: no model `{given.name}` in {folder()}",
            remedy=did_you_mean(given.name, known),
        )
    file = read_toml(folder() / given.name / "model.toml", ModelFile)
    values = {name: parameter.range for name, parameter in file.parameter.items()}
    for name, value in given.parameters.items():
        if name not in values:
            raise ConfigError(
                f"{where}: the model {given.name} has no parameter `{name}`",
                remedy=did_you_mean(name, [*values]),
            )
        low, high = (value, value) if isinstance(value, int) else value
        if not 0 <= low <= high:
            raise ConfigError(
                f"{where}: `{name}` = {value}: expected cycles, or [least, most]",
                remedy=f"For example {name} = {list(values[name])}, the model's own range",
            )
        values[name] = (low, high)
    return Model(given.name, file, values, given.hz)


def plugin(of: str, qemu: str) -> Path:
    """The plugin with the model `of` for an emulator, compiled unless it is up to date."""
    return scope_plugin.build(
        inventory.root() / "instruments" / "scope",
        inventory.build_folder() / "scope",
        tools.version(qemu),
        model=(folder(), folder() / of),
    )


def folder() -> Path:
    """Where the models are."""
    return inventory.root() / "instruments" / "models"
