# SPDX-License-Identifier: Apache-2.0
"""Interleaved rounds: every variant once a round, in an order that turns round each time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kadenz.config.manifest import REPEATABLE
from kadenz.errors import UsageError
from kadenz.lab.measure import Job
from kadenz.lab.tunings import TunedJob
from kadenz.tuning.lifecycle import short_name


def interleaved(jobs: Sequence[Job], rounds: int) -> list[Job]:
    """Jobs of `rounds` rounds, A B C, C B A, A B C, …, each stamped with variant, round and place.

    In two rounds each variant has the same mean place, so what changes steadily while they are
    measured (temperature, a neighbour's load) adds nothing to their difference. Targets that repeat
    themselves to the byte are measured in the first round only. UsageError for less than one round,
    or where two jobs are the same variant.
    """
    if rounds < 1:
        raise UsageError(f"--rounds {rounds}: less than one", remedy="For example --rounds 5")
    names = _variants(jobs)
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise UsageError(
            f"--rounds: two variants are both {twins[0]}",
            remedy="Name targets, loads, tunings, trees once",
        )
    found = []
    for number in range(1, rounds + 1):
        members = [
            (job, name)
            for job, name in zip(jobs, names, strict=True)
            if number == 1 or job.name.tier not in REPEATABLE
        ]
        for place, (job, name) in enumerate(members if number % 2 else members[::-1], 1):
            found.append(dataclasses.replace(job, variant=name, round=number, place=place))
    return found


def _variants(jobs: Sequence[Job]) -> list[str]:
    """What sets each job apart: of target, guest, load, tuning and source what is not all alike."""
    words = [
        (
            str(job.name),
            job.guest.label.strip(" ()") if job.guest is not None else "",
            f"load {job.load}" if job.load else "",
            f"tuning {short_name(job.tuning)}" if isinstance(job, TunedJob) else "",
            job.image.entry.kernel_source,
        )
        for job in jobs
    ]
    apart = [len({words[i][part] for i in range(len(jobs))}) > 1 for part in range(5)]
    return [
        ", ".join(word for word, is_apart in zip(own, apart, strict=True) if is_apart and word)
        or own[0]
        for own in words
    ]
