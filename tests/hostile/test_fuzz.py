# SPDX-License-Identifier: Apache-2.0
"""Every parser of the Python part is fuzzed, with inputs that reach its analysis."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cobs import cobs

from kadenz.errors import UsageError
from kadenz.wire import decoder
from kadenz.wire.frame import CRC, HEADER, BadFrame, Frame
from tests.hostile.fuzz import __main__ as command
from tests.hostile.fuzz import trying
from tests.hostile.fuzz.parsers import PARSERS
from tests.hostile.fuzz.trying import Parser, Tally, fuzz, scratch

INPUTS = 1_000_000  # in `make test-all`
CHUNKS = 4  # of each parser, for several processes
SEED = 31
FEWEST = 40  # of each parser, in `make test`
REACHED = 0.1  # of the inputs, at least


def tally_of(name: str, numbers: range, seed: int) -> Tally:
    """Fails with the command that repeats the first finding."""
    with scratch() as folder:
        tally = fuzz(name, PARSERS[name], folder, numbers, seed)
    for number, finding in tally.findings:
        again = f"python -m tests.hostile.fuzz {name} --seed {seed} --first {number} --inputs 1"
        pytest.fail(f"{len(tally.findings)} findings: {finding.what}: {again}\n{finding.detail}")
    return tally


@pytest.mark.parametrize("name", PARSERS)
def test_a_few_inputs_of_each_parser_end_in_a_result_or_a_reason(name: str) -> None:
    tally = tally_of(name, range(max(FEWEST, PARSERS[name].inputs // 500)), seed=0)
    assert tally.accepted >= REACHED * tally.inputs, tally


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("name", PARSERS)
def test_a_million_inputs_end_in_a_result_or_a_reason(name: str, chunk: int) -> None:
    count = PARSERS[name].inputs // CHUNKS
    tally = tally_of(name, range(chunk * count, (chunk + 1) * count), SEED)
    assert tally.inputs == count and tally.accepted >= REACHED * count, tally


def test_the_parts_are_a_million() -> None:
    assert sum(parser.inputs // CHUNKS * CHUNKS for parser in PARSERS.values()) == INPUTS


# ---- a fuzzer that finds nothing is a defect -----------------------------------------------------
def test_a_decoder_that_does_not_check_the_crc_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(encoded: bytes) -> Frame:
        try:
            raw = cobs.decode(encoded)
        except cobs.DecodeError:
            raise BadFrame("cobs", "") from None
        if len(raw) < HEADER.size + CRC.size:
            raise BadFrame("length", "")
        kind, _, sequence, _ = HEADER.unpack_from(raw)
        return Frame(kind, sequence, raw[HEADER.size : -CRC.size])

    monkeypatch.setattr(decoder, "decode_frame", careless)
    with scratch() as folder:
        findings = fuzz("wire/line", PARSERS["wire/line"], folder, range(1000)).findings
    assert {
        word
        for _, finding in findings
        for word in ("invented", "moved", "ok with")
        if word in finding.what
    }


def _loops(given: Path, _: Path) -> None:
    while True:
        try:
            len(given.parts)
        except Exception:  # a reader that takes the end for damage
            continue


def _recurses(given: Path, output: Path) -> None:
    _recurses(given, output)


def _changes(given: Path, _: Path) -> None:
    (given / "x").write_text("mended")


DEFECTS: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "another exception": (lambda given, _: int((given / "x").read_text()), "ValueError"),
    "a recursion": (_recurses, "RecursionError"),
    "an endless loop": (_loops, "s of the processor"),
    "memory": (lambda given, _: b"x" * (256 << 20), "MiB more of memory"),
    "a changed input": (_changes, "reached beyond its output: open"),
    "a file elsewhere": (
        lambda given, output: (output.parent / "y").write_text(""), "reached beyond"
    ),
    "a folder elsewhere": (lambda given, output: (output.parent / "y").mkdir(), "os.mkdir"),
    "a file of a name that begins alike": (
        lambda given, output: Path(f"{output}2").write_text(""), "reached beyond"
    ),
    "a removed file": (lambda given, output: (given / "x").unlink(), "os.remove"),
    "a program": (lambda given, _: subprocess.run(["true"], check=True), "subprocess.Popen"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DEFECTS)
def test_each_kind_of_defect_is_a_finding(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, what = DEFECTS[kind]
    monkeypatch.setattr(trying, "SECONDS", 0.3)
    monkeypatch.setattr(trying, "MOST_KIB", 32 << 10)
    with scratch() as folder, pytest.raises(trying.Finding, match=what):
        trying.tried(Parser(list, read, 1), {"x": b"not a number"}, folder)


def test_what_an_input_may_do_is_no_finding() -> None:
    def writes(given: Path, output: Path) -> None:
        (output / "page").write_bytes((given / "x").read_bytes())
        if (given / "x").read_bytes() == b"bad":
            raise UsageError("bad")

    parser = Parser(list, writes, 1)
    with scratch() as folder:
        assert trying.tried(parser, {"x": b"good"}, folder)
        assert not trying.tried(parser, {"x": b"bad"}, folder)


def test_a_seed_that_is_refused_is_no_seed() -> None:
    def refuses(_: Path, __: Path) -> None:
        raise UsageError("no")

    with scratch() as folder, pytest.raises(AssertionError, match="a seed of x is refused: no"):
        fuzz("x", Parser(lambda: [{"x": b""}], refuses, 1), folder, range(1))


def test_a_finding_is_saved_and_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def planted(given: Path, _: Path) -> None:
        text = (given / "x").read_bytes()
        if b"1" not in text:
            raise LookupError("planted")

    monkeypatch.setattr(
        command, "PARSERS", {"planted": Parser(lambda: [{"x": b"a 1"}], planted, 10)}
    )
    assert command.main(["planted", "--inputs", "200", "--save", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "200 inputs" in said and "LookupError in planted" in said
    (again, saved, *_) = [line for line in said.splitlines() if line.startswith("  ")]
    arguments = again.split()[3:]
    assert command.main([*arguments, "--save", str(tmp_path / "again")]) == 1
    assert "LookupError in planted" in capsys.readouterr().out
    assert command.main(["planted", "--show", saved.split()[1]]) == 1
    assert "Traceback" in capsys.readouterr().out


def test_the_command_starts() -> None:
    call = [sys.executable, "-m", "tests.hostile.fuzz", "note", "--inputs", "50"]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(call, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("50 inputs") == 2
