# SPDX-License-Identifier: Apache-2.0
"""A long run of the fuzzers, by hand:

    python -m tests.hostile.fuzz                             # all parsers, a million inputs
    python -m tests.hostile.fuzz series run --inputs 5000
    python -m tests.hostile.fuzz series --show FOLDER        # a saved finding again

The closing table has the inputs that reached the analysis and those that were refused. Anything
else is a finding: the first of each kind is saved, and printed with the command that repeats it.
Exit code 1 for one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kadenz.blas import bound_to_one_thread
from tests.hostile.fuzz.mutating import Files
from tests.hostile.fuzz.parsers import PARSERS
from tests.hostile.fuzz.runs import below
from tests.hostile.fuzz.trying import Finding, Tally, fuzz, prepared, scratch, tried

STEP = 500  # inputs between two lines of progress


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code."""
    asked = _parsed(arguments)
    unknown = set(asked.parser) - set(PARSERS)
    if unknown:
        print(f"no parser {', '.join(sorted(unknown))}; there are {', '.join(PARSERS)}")
        return 2
    if asked.show is not None:
        return _show(asked.parser, asked.show)
    names = asked.parser or list(PARSERS)
    whole = sum(PARSERS[name].inputs for name in names)
    tallies = {}
    for name in names:
        count = max(1, round(asked.inputs * PARSERS[name].inputs / whole))
        tallies[name] = _fuzzed(name, range(asked.first, asked.first + count), asked)
    _print(tallies)
    return int(any(tally.findings for tally in tallies.values()))


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    about = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "tests.hostile.fuzz", description=__doc__, formatter_class=about
    )
    parser.add_argument("parser", nargs="*", help=f"of {', '.join(PARSERS)}")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="in all; default: a million")
    parser.add_argument("--first", type=int, default=0, help="number of the first; default: 0")
    parser.add_argument("--seed", type=int, default=0, help="others for each; default: 0")
    parser.add_argument("--save", type=Path, default=Path("findings"), help="folder of findings")
    parser.add_argument("--show", type=Path, help="folder of one finding: reads it again")
    return parser.parse_args(arguments)


def _fuzzed(name: str, numbers: range, asked: argparse.Namespace) -> Tally:
    def progress(tally: Tally) -> None:
        if tally.inputs % STEP == 0 and sys.stderr.isatty():
            print(f"\r{name}: {tally.inputs:,} of {len(numbers):,}", end="", file=sys.stderr)

    with scratch() as folder:
        tally = fuzz(name, PARSERS[name], folder, numbers, asked.seed, progress)
    kinds = Counter(finding.kind for _, finding in tally.findings)
    for number, finding in tally.findings:
        more = kinds.pop(finding.kind, 0)
        if not more:
            continue
        place = asked.save / name.replace("/", "-") / f"{asked.seed}-{number}"
        _save(place, finding.files)
        again = f"python -m tests.hostile.fuzz {name} --seed {asked.seed} --first {number}"
        print(f"\n{name}: {finding.what}, {more} times\n  {again} --inputs 1\n  saved: {place}")
    return tally


def _save(folder: Path, files: Files) -> None:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _show(names: Sequence[str], place: Path) -> int:
    (name,) = names
    files = below(place)
    for file, content in files.items():
        print(f"{file}: {len(content):,} bytes: {content[:400]!r}")
    with scratch() as folder:
        prepared(name, PARSERS[name], folder)
        try:
            accepted = tried(PARSERS[name], files, folder)
        except Finding as finding:
            print(f"{finding.detail}{name}: {finding.what}")
            return 1
    print("reached the analysis" if accepted else "refused")
    return 0


def _print(tallies: dict[str, Tally]) -> None:
    whole = Tally()
    for name, tally in (*tallies.items(), ("all", whole)):
        print(
            f"{name:<16}{tally.inputs:>11,} inputs{tally.accepted:>11,} reached the analysis"
            f"{tally.refused:>11,} refused{len(tally.findings):>6,} findings"
        )
        whole.accepted += tally.accepted
        whole.refused += tally.refused
        whole.findings += tally.findings


if __name__ == "__main__":
    bound_to_one_thread()
    raise SystemExit(main())
