# SPDX-License-Identifier: Apache-2.0
"""The kinds of conditions, one module each. A module placed in this folder is found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kadenz.config.campaign import Campaign
from kadenz.config.key_values import Notation
from kadenz.config.lab_file import find_lab
from kadenz.config.target_name import lab_target
from kadenz.config.toml import did_you_mean
from kadenz.discovery import classes_of
from kadenz.errors import ConfigError, UsageError
from kadenz.lab.condition import Choice, Option

if TYPE_CHECKING:
    from kadenz.config.target_name import TargetName


_NOTHING = Campaign(name="", title="", targets=[], benchmark=[])  # asks for no condition


@cache
def kinds() -> tuple[type[Choice], ...]:
    """Every kind, in order."""
    classes = classes_of(__name__, Choice)  # type: ignore[type-abstract]  # only its subclasses
    return tuple(sorted(classes, key=lambda kind: kind.order))


def choices(campaign: Campaign, values: Mapping[str, Any] | None = None) -> list[Choice]:
    """One choice of each kind, from a campaign and from options, which have precedence."""
    return [kind.asked(values or {}, campaign) for kind in kinds()]


def own_choices(
    targets: Iterable[TargetName], campaign: Campaign, values: Mapping[str, Any]
) -> dict[TargetName, list[Choice]]:
    """The same for each target whose table in the lab names conditions.

    What `values` say has precedence. ConfigError for a value that cannot hold for this target.
    """
    return {
        name: _lab_choices(name, campaign, values)
        for name in targets
        if lab_target(name).conditions
    }


def _lab_choices(target: TargetName, campaign: Campaign, values: Mapping[str, Any]) -> list[Choice]:
    options = {option.key: option for kind in kinds() for option in kind.options}
    where = _where(target)
    lab_values: dict[str, Any] = {}
    for key, value in lab_target(target).conditions.items():
        if key not in options:
            raise ConfigError(
                f"{where}: no condition `{key}`", remedy=did_you_mean(key, [*options])
            )
        lab_values[key] = _value(options[key], value, where)
    try:
        over = {
            key: _over(options[key], value, lab_values.get(key)) for key, value in values.items()
        }
        chosen = choices(campaign, lab_values | over)
        for choice in chosen:
            named = [option.key for option in choice.options if option.key in lab_values]
            choice.check([target])
            if named and not choice.variants(target):
                raise UsageError(f"`{named[0]}` does not concern a target of tier {target.tier}")
    except UsageError as error:
        raise ConfigError(f"{where}: {error.message}", remedy=error.remedy) from None
    return chosen


def _over(option: Option, given: Any, lab_value: Any) -> Any:
    """The command line's value, else the lab's: key by key where there are keys, names of both."""
    if lab_value is None:
        return given
    if option.kind == "keys":
        return {**lab_value, **given}
    return (*lab_value, *given) if option.kind == "names" else given or lab_value


def _where(target: TargetName) -> str:
    lab = find_lab()
    return f"{lab.path if lab is not None else ''}: [target.{target.lab_name}.conditions]"


def _value(option: Option, value: object, where: str) -> Any:
    """A value of the lab's file as the command line would give it."""
    several = option.many or option.kind == "keys"
    texts = value if several and isinstance(value, list) else [value]
    if any(type(text) is not str for text in texts):
        raise ConfigError(
            f"{where}: `{option.key}` = {value!r}: expected text",
            remedy=f"As on the command line: {option.flag}; `kadenz run --help` explains it",
        )
    lab = find_lab()
    folder = lab.folder if lab is not None else Path()
    if option.notation is not None:
        return _option_values(option.notation, texts, folder, where)
    if option.kind == "names":
        known = [key.name for key in option.keys]
        for text in texts:
            if text not in known:
                raise ConfigError(
                    f"{where}: `{option.key}`: no `{text}`", remedy=did_you_mean(text, known)
                )
    if option.kind == "file":
        texts = [folder / text for text in texts]
    return tuple(texts) if option.many else texts[0]


def _option_values(notation: Notation, texts: Sequence[str], folder: Path, where: str) -> Any:
    try:
        several = tuple(notation.parse(text, folder) for text in texts)
        return several if notation.name else notation.merged(several)
    except UsageError as error:
        raise ConfigError(f"{where}: {error.message}", remedy=error.remedy) from None


def image_choices(
    target: TargetName, values: Mapping[str, Any], *, given: bool = False
) -> list[Choice]:
    """Choices of the kinds that change an image, from options and the lab's file.

    `given`: also of those that name an image of another build.
    """
    lab_conditions = lab_target(target).conditions
    chosen = _lab_choices(target, _NOTHING, values) if lab_conditions else choices(_NOTHING, values)
    return _of_images(chosen, given=given)


def check_images(targets: Sequence[TargetName], values: Mapping[str, Any]) -> None:
    """KadenzError for a mistake in options that change or name an image."""
    for choice in _of_images(choices(_NOTHING, values), given=True):
        choice.check(targets)


def _of_images(chosen: Iterable[Choice], *, given: bool) -> list[Choice]:
    return [choice for choice in chosen if choice.changes_image or (given and choice.names_image)]
