# SPDX-License-Identifier: Apache-2.0
"""Writes the list of benchmarks: `python -m tests.docs.benchmarks`.

Two images list their benchmarks, whose texts are in `suite/bench/`. Their answers are kept in
`suite/benchmarks.json`, which `kadenz list` reads before an image is built. The page is made of
that file and of `suite/bench/families.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from kadenz.config import inventory
from kadenz.config.target_name import parse_target
from kadenz.json_text import read_json
from kadenz.lab.catalog import catalog_of
from kadenz.lab.reference import SUITE, Described, families
from kadenz.wire.messages import Bench
from tests.docs.pages import ROOT

FILE = ROOT / SUITE
PAGE = ROOT / "docs" / "reference" / "benchmarks.md"
# Linux has the widest ranges: its messages are the longest.
TARGETS = {"Linux": "posix/linux@host", "FreeRTOS": "freertos/stm32f4@emulated"}
NATURES = {
    "context": "a property of the clock or of the machine; no system is judged by it",
    "periodic": "how late a periodic release is; its period is its deadline",
    "edges": "the time of an edge that is to repeat; its jitter is described",
}
HOW = "write it again: python -m tests.docs.benchmarks"
HEAD = """\
<!-- Written by `python -m tests.docs.benchmarks`. The texts are in suite/bench/. -->
# Benchmarks

The benchmarks of the suite, with the end points of a sample and the parameters that `--set`
changes. `kadenz list NAME` shows one of them, with the ranges of its parameters and where it runs.
The comment at the top of its file in `suite/bench/` describes the proof of a sample.
[Motion control](motion.md) has its own page.

A value counts ticks of the run's clock; there is one for each sample, and one lane unless the
family says otherwise. Ranks go from 1 (least urgent) to 12; the manifest records the kernel's own
numbers. A period is the nearest number of kernel ticks. Core 255 stands for any core.
"""


def listed(answers: dict[str, list[Bench]]) -> list[Described]:
    """The benchmarks by name, as kernels listed them: the first one decides all but `lacks`.

    `lacks` has sentences of `[lacks]` in the kernel's `kernel.toml`.
    """
    first, *_ = answers.values()
    lacks: dict[str, dict[str, str]] = {}
    for kernel, benches in answers.items():
        sentences = set(inventory.kernel(parse_target(TARGETS[kernel]).kernel).lacks.values())
        for bench in benches:
            if bench.reason in sentences:  # any other is this machine's
                lacks.setdefault(bench.name, {})[kernel] = bench.reason
    return [
        Described(
            name=bench.name,
            begins=bench.begins,
            ends=bench.ends,
            source=bench.source,
            self_timed=bench.self_timed,
            nature=bench.nature,
            params=bench.params,
            lacks=lacks.get(bench.name, {}),
        )
        for bench in sorted(first, key=lambda bench: bench.name)
    ]


def asked() -> list[Described]:
    """The benchmarks, as the images of TARGETS list them. Builds these images."""
    return listed(
        {name: catalog_of(parse_target(target)).benches for name, target in TARGETS.items()}
    )


def file_text(benches: Sequence[Described]) -> str:
    """`suite/benchmarks.json`: one benchmark a line."""
    lines = [msgspec.json.encode(bench).decode() for bench in benches]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def page_text(benches: Sequence[Described]) -> str:
    """The page."""
    parts = [HEAD]
    for name, family in families().items():
        members = [bench for bench in benches if bench.name.startswith(f"{name}/")]
        link = f" [More](../explanation/{family.page}.md)." if family.page else ""
        parts.append(f"## {name}/\n{family.text}{link}\n")
        parts += [_nature(members), _rows(members), _choices(members)]
    parts += ["## Where they run\n", _where(benches)]
    return "\n".join(part for part in parts if part)


def _nature(benches: Sequence[Described]) -> str:
    natures = {bench.nature for bench in benches} - {"span"}
    return "".join(f"A sample is {NATURES[nature]}.\n" for nature in sorted(natures))


def _rows(benches: Sequence[Described]) -> str:
    """The table of a family; benchmarks that differ in their names alone share a row."""

    def cells(bench: Described) -> tuple[str, ...]:
        params = ", ".join(
            f"`{parameter.name}` ({parameter.value(parameter.initial)})"
            for parameter in bench.params
        )
        return bench.begins, bench.ends, bench.source, params

    rows: dict[tuple[str, ...], list[str]] = {}
    for bench in benches:
        rows.setdefault(cells(bench), []).append(bench.name)
    return _table(
        ("benchmark", "from", "to", "source", "parameters (initial)"),
        [(_names(names), *key) for key, names in rows.items()],
    )


def _choices(benches: Sequence[Described]) -> str:
    """The values of parameters that are words."""
    values = {
        parameter.name: parameter.choices
        for bench in benches
        for parameter in bench.params
        if parameter.choices
    }
    return "".join(f"- `{name}`: {', '.join(choices)}\n" for name, choices in values.items())


def _where(benches: Sequence[Described]) -> str:
    def sentences(bench: Described) -> tuple[str, ...]:
        return tuple(
            f"n/a: {bench.lacks[kernel]}" if kernel in bench.lacks else "yes"
            for kernel in sorted(TARGETS)
        )

    rows: dict[tuple[str, ...], list[str]] = {}
    for bench in benches:
        if bench.lacks:
            rows.setdefault(sentences(bench), []).append(bench.name)
    return "\n".join(
        (
            "On FreeRTOS and Linux, except for these. What parameters need besides, a record says. "
            "The pages of [the other kernels](../kernels/README.md) list what they lack; "
            "`kadenz list --build --target TARGET` asks a target.\n",
            _table(
                ("benchmark", *sorted(TARGETS)),
                [(_names(same), *key) for key, same in rows.items()],
            ),
            "Under the scope the target reads no clock, so that these are `n/a`: "
            + _names(bench.name for bench in benches if bench.self_timed)
            + ". They have no profile; `kadenz trace --instrument records` draws their timeline on "
            "one core.\n",
        )
    )


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:], ""])


if __name__ == "__main__":
    FILE.write_text(file_text(asked()))
    PAGE.write_text(page_text(read_json(FILE.read_bytes(), list[Described])))
    print(FILE, PAGE, sep="\n")
