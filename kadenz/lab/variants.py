# SPDX-License-Identifier: Apache-2.0
"""Variants: the product of conditions, their names, and rounds that interleave them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import product

from kadenz.config.manifest import REPEATABLE
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.lab.condition import Choice, Condition
from kadenz.lab.job import Job, Turn


def combinations(target: TargetName, choices: Sequence[Choice]) -> list[tuple[Condition, ...]]:
    """Every combination of conditions to measure `target` under; the last kind varies fastest.

    Raises KadenzError if a choice has no condition for this target.
    """
    variants = [choice.variants(target) for choice in choices]
    return list(product(*(conditions for conditions in variants if conditions)))


def interleaved(jobs: Sequence[Job], rounds: int) -> list[Job]:
    """Jobs of `rounds` rounds in alternating order, A B C, C B A, A B C, …, each with its turn.

    Over two rounds each variant has the same mean place, so a steady change while they are
    measured (temperature, a neighbour's load) adds nothing to their difference. Targets that repeat
    themselves to the byte are measured in the first round only. UsageError for less than one round,
    or if two jobs are the same variant.
    """
    if rounds < 1:
        raise UsageError(f"--rounds {rounds}: less than one", remedy="For example --rounds 5")
    names = names_of(jobs)
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise UsageError(
            f"--rounds: two variants are both {twins[0]}",
            remedy="Name each target, kernel tree, tuning and load once",
        )
    sequence = []
    for number in range(1, rounds + 1):
        members = [
            (job, name)
            for job, name in zip(jobs, names, strict=True)
            if number == 1 or job.name.tier not in REPEATABLE
        ]
        for place, (job, name) in enumerate(members if number % 2 else members[::-1], 1):
            origin = dataclasses.replace(job.origin, turn=Turn(name, number, place))
            sequence.append(dataclasses.replace(job, origin=origin))
    return sequence


def names_of(jobs: Sequence[Job]) -> list[str]:
    """A name for each job: its labels without those that all jobs share, else its target."""
    shared = set.intersection(*(set(job.labels) for job in jobs)) if jobs else set()
    return [
        ", ".join(label for label in job.labels if label not in shared) or str(job.name)
        for job in jobs
    ]
