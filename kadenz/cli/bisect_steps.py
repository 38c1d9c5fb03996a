# SPDX-License-Identifier: Apache-2.0
"""What `kadenz bisect` searches: kernels of guests or images, in their order, and how each is
measured and judged."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kadenz.cli.bisecting import Verdict
from kadenz.errors import BuildFailed, Interrupted, KadenzError, TargetFailed, UsageError

if TYPE_CHECKING:
    from kadenz.analysis.checks import Check
    from kadenz.analysis.gating import Gate
    from kadenz.config.target_name import TargetName
    from kadenz.lab.job import Result
    from kadenz.store import Run

_VERDICTS: dict[str, Verdict] = {"pass": "good", "fail": "bad", "inconclusive": "undecided"}
_PARTS = re.compile(r"(\d+)")
_RELEASE = re.compile(r"(\d+(?:\.\d+)*)(?:-rc(\d+))?")
_FINAL = 1 << 30  # a release comes after its candidates


@dataclass(frozen=True)
class Candidate:
    """One of the things to search, with the conditions that measure it."""

    name: str
    conditions: Mapping[str, Any]
    about: str = ""  # its version
    problem: str = ""  # why it cannot be measured, if that is known before


@dataclass(frozen=True)
class Step:
    """A candidate that was measured, or could not be."""

    candidate: Candidate
    verdict: Verdict
    checks: tuple[Check, ...] = ()
    runs: tuple[Path, ...] = ()
    reason: str = ""  # why there is no verdict


@dataclass
class Judge:
    """Measures candidates, each once, and judges them.

    `decide` has the runs of a candidate and those of the first one that was measured. Without
    limits that one is the baseline, and good.
    """

    candidates: Sequence[Candidate]
    measure: Callable[[Candidate], list[Result | KadenzError]]
    decide: Callable[[list[Run], list[Run]], Gate]
    has_limits: bool
    stop: threading.Event
    say: Callable[[Step], None]
    steps: dict[int, Step] = field(default_factory=dict)

    def __call__(self, place: int) -> Verdict:
        """The verdict on one. Raises Interrupted after Ctrl-C."""
        step = self._step(self.candidates[place])
        if self.stop.is_set():
            raise Interrupted("the bisection was stopped", remedy="Repeat the same call")
        self.steps[place] = step
        self.say(step)
        return step.verdict

    def _step(self, candidate: Candidate) -> Step:
        from kadenz.store import read_run

        if candidate.problem:
            return Step(candidate, "failed", reason=candidate.problem)
        try:
            results = self.measure(candidate)
        except (TargetFailed, BuildFailed) as failure:  # it does not come up, or not compile
            return Step(candidate, "failed", reason=failure.message)
        errors = [result for result in results if isinstance(result, KadenzError)]
        runs = [result for result in results if not isinstance(result, KadenzError)]
        errors += [error for result in runs for error in result.failures]
        folders = tuple(result.folder for result in runs)
        if errors or not runs:
            reason = errors[0].message if errors else "nothing was measured"
            return Step(candidate, "failed", runs=folders, reason=reason)
        measured = [read_run(folder) for folder in folders]
        baseline = [] if self.has_limits else self._baseline()
        if not self.has_limits and not baseline:
            return Step(candidate, "good", runs=folders, reason="the baseline")
        gate = self.decide(measured, baseline)
        undecided = [check for check in gate.checks if check.outcome == "inconclusive"]
        verdict = _VERDICTS[gate.outcome]
        reason = undecided[0].reason if verdict == "undecided" and undecided else ""
        return Step(candidate, verdict, gate.checks, folders, reason)

    def _baseline(self) -> list[Run]:
        from kadenz.store import read_run

        first = next((step for step in self.steps.values() if step.verdict == "good"), None)
        return [read_run(folder) for folder in first.runs] if first is not None else []


def candidates_of(target: TargetName, conditions: Mapping[str, Any]) -> list[Candidate]:
    """The kernels of `--guest`, the images of `--image`, or the trees of `--kernel-source`.

    A list is in its own order. What a pattern stands for is in the order of versions, for images
    in that of their names. UsageError for less than two, and for what the target cannot start.
    """
    kernels, images, trees = _listed(conditions)
    if sum(map(bool, (kernels, images, trees))) != 1:
        raise UsageError(
            "kernels, images or trees to bisect: one of them",
            remedy="Name kernels, --guest kernel='kernels/*', or images, --image 'builds/*.elf', "
            "or several trees, --kernel-source DIR",
        )
    if kernels:
        candidates = _kernels(target, kernels, conditions)
    elif images:
        candidates = _images(target, images, conditions)
    else:
        candidates = [Candidate(tree, {**conditions, "kernel_source": (tree,)}) for tree in trees]
    if len(candidates) < 2:
        raise UsageError(
            f"{candidates[0].name} alone has no step",
            remedy="Name two or more, in a list or by a pattern in quotes",
        )
    return candidates


def _listed(
    conditions: Mapping[str, Any],
) -> tuple[Sequence[str], Sequence[Path], Sequence[str]]:
    """Kernels, images, and trees of a kernel where there are several."""
    trees = conditions["kernel_source"]
    kernels, images = conditions["guest"].get("kernel", ()), conditions["image"]
    return kernels, images, trees if len(trees) > 1 else ()


def version_key(release: str, name: str) -> tuple[object, ...]:
    """Orders versions of Linux as people do: 6.9 before 6.12, 6.13-rc2 before 6.13; then names."""
    match = _RELEASE.match(release)
    if match is None:
        return (), 0, natural(release), natural(name)
    numbers = tuple(int(number) for number in match[1].split("."))
    numbers = (*numbers, 0, 0)[:3] if len(numbers) < 3 else numbers
    candidate = int(match[2]) if match[2] else _FINAL
    return numbers, candidate, natural(release[match.end() :]), natural(name)


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Orders names with numbers in them: build-9 before build-10."""
    return tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part)
        for part in _PARTS.split(text)
        if part
    )


def _kernels(
    target: TargetName, texts: Sequence[str], conditions: Mapping[str, Any]
) -> list[Candidate]:
    from kadenz.lab.conditions.guest import GuestChoice
    from kadenz.targets.guest_kernel import files_of, is_file_name
    from kadenz.targets.kernel_image import read_image

    GuestChoice(tuple(texts)).check([target])
    candidates: list[Candidate] = []
    for text in texts:
        if not is_file_name(text):
            candidates.append(_kernel(target, text, text, "", conditions))
            continue
        images = [read_image(file) for file in files_of(text)]
        if has_magic(text):
            images.sort(key=lambda image: version_key(image.release, image.file.name))
        candidates += [
            _kernel(target, str(image.file), image.file.name, image.release, conditions)
            for image in images
        ]
    return candidates


def _kernel(
    target: TargetName, text: str, name: str, release: str, conditions: Mapping[str, Any]
) -> Candidate:
    """One kernel, and what it lacks to boot."""
    from kadenz.lab.conditions.guest import GuestChoice

    # A name without a slash may have been completed from a pattern in this folder.
    value = f"./{text}" if release and "/" not in text else text
    problem = ""
    try:
        GuestChoice((value,)).variants(target)
    except UsageError as error:
        if not release:
            raise
        problem = error.message
    guest = {**conditions["guest"], "kernel": (value,)}
    return Candidate(name, {**conditions, "guest": guest}, release, problem)


def _images(
    target: TargetName, patterns: Sequence[Path], conditions: Mapping[str, Any]
) -> list[Candidate]:
    from kadenz.lab.conditions.image import ImageChoice

    files: list[Path] = []
    for pattern in patterns:
        text = str(pattern)
        if not has_magic(text) or pattern.exists():
            files.append(pattern)
            continue
        names = sorted(glob(text), key=natural)  # noqa: PTH207  # may be absolute
        if not names:
            raise UsageError(f"--image {text}: no file matches", remedy="Check the pattern")
        files += map(Path, names)
    ImageChoice(tuple(files)).check([target])
    return [Candidate(file.name, {**conditions, "image": (file,)}) for file in files]
