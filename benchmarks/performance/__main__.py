# SPDX-License-Identifier: Apache-2.0
"""Runs benchmarks and writes docs/performance.md: `python -m benchmarks.performance [NAME...]`."""

from __future__ import annotations

import argparse
import sys
from subprocess import CalledProcessError

from benchmarks.performance import PAGE, page_text, programs, replace


def main() -> None:
    """Runs the named programs, or all; each replaces its own part of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a file of benchmarks/; all")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    asked = parser.parse_args()
    known = {program.name: program for program in programs()}
    if unknown := [name for name in asked.names if name not in known]:
        sys.exit(f"{unknown[0]}: no such benchmark; there are {', '.join(known)}")
    failed = []
    for name in [] if asked.page else asked.names or known:
        print(f"\n== benchmarks/{name}.py", flush=True)
        try:
            replace(known[name])
        except CalledProcessError as error:
            failed.append(f"{name} ended with {error.returncode}, and keeps what it printed last")
    PAGE.write_text(page_text())
    print(PAGE)
    if failed:
        sys.exit("; ".join(failed))


if __name__ == "__main__":
    main()
