# SPDX-License-Identifier: Apache-2.0
"""`kadenz count --functions-from`: names of what other runners timed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz.counting.functions import Functions
from kadenz.counting.runner_names import read_names
from kadenz.elf import Elf
from kadenz.errors import UsageError

from .firmware import ARM, HERE, count

# Lines as each runner prints them, with other names.
OUTPUTS = {
    "Zephyr's ztest benchmark": """
*** Booting Zephyr OS build v4.4.0 ***
maths ############################################
[00:00:00.160,000] <dbg> maths: suite_setup: Setting up
   gate =========================================
      Sample size:100, total cycles: 28800
      Mean(\u03bc\u0302): 288.000
      Min: 288 (run #1)
   lost =========================================
      Sample size:100, total cycles: 3200
""",
    "Zephyr's ztest": """
Running TESTSUITE maths
===================================================================
START - gate
 PASS - gate in 0.001 seconds
===================================================================
START - lost
 SKIP - lost in 0.001 seconds
""",
    "Google Benchmark": """
Run on (2 X 2000 MHz CPU s)
-----------------------------------------------------
Benchmark           Time             CPU   Iterations
-----------------------------------------------------
gate/8           32.1 ns         32.1 ns     21850000
gate/64          1.2e+03 ns      1.2e+03 ns     10000
lost             12.0 ns         12.0 ns     58000000
""",
    "Criterion": """
group/gate/20           time:   [26.029 \u00b5s 26.251 \u00b5s 26.505 \u00b5s]
                        change: [-38.292% -37.342% -36.524%] (p = 0.00 < 0.05)
a name that is longer than its column/lost
                        time:   [1.0290 ns 1.0510 ns 1.0650 ns]
""",
    "Rust's test": """
running 2 tests
test maths::gate ... bench:       1,234.56 ns/iter (+/- 12.00)
test maths::lost ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 1 measured; 0 filtered out
""",
    "pytest-benchmark": """
------------------------ benchmark: 2 tests -----------------------
Name (time in ns)         Min                 Max            Mean
-------------------------------------------------------------------
test_gate[8]         201.2002 (1.0)      904.7 (1.12)    300.7 (1.0)
test_lost            444.9001 (2.21)     939.6 (1.0)     512.6 (2.1)
-------------------------------------------------------------------

Legend:
  Outliers: 1 Standard Deviation from Mean
""",
    "Unity": """
test/test_maths.c:12:gate:PASS
test/test_maths.c:19:lost:FAIL: Expected 3 Was 4
-----------------------
2 Tests 1 Failures 0 Ignored
FAIL
""",
}
SYMBOLS = {
    "Zephyr's ztest benchmark": "z_ztest_benchmark_maths_gate_fn",
    "Zephyr's ztest": "_maths_gate_wrapper",
    "Google Benchmark": "_Z4gatei",  # gate(int)
    "Criterion": "gate",
    "Rust's test": "_ZN4user5maths4gate17h0123456789abcdefE",
    "pytest-benchmark": "gate",
    "Unity": "gate",
}
# What each runner printed for benchmarks of ours: outputs/README.md.
PRINTED = {
    "google-benchmark": [
        *("BM_parse", "BM_checksum", "BM_sum<int>", "parse renamed", "Ring/push"),
        "BM_parse_again",
    ],
    "criterion": [
        *("parse_numbers", "a name that is longer than the column"),
        *("sums/checksum/8", "sums/checksum/64"),
    ],
    "pytest-benchmark": ["test_short", "test_checksum", "test_parse_numbers"],
    "rust-bench": ["bench_parse", "sums::bench_checksum"],
}


def image(folder: Path, symbol: str) -> Path:
    """programs/gate.arm.S with another name for `gate`."""
    source, elf = folder / "named.S", folder / "firmware.elf"
    text = (HERE / "programs" / "gate.arm.S").read_text()
    for place in (".type gate", "\ngate:", "bl   gate", ".size gate, . - gate"):
        assert place in text
        text = text.replace(place, place.replace("gate", symbol))
    source.write_text(text)
    command = [ARM.compiler, "-nostdlib", *ARM.flags, str(source), "-o", str(elf)]
    subprocess.run(command, check=True)
    return elf


@pytest.mark.counted
@pytest.mark.parametrize("runner", OUTPUTS)
def test_the_names_of_a_runner_are_counted_and_the_others_said(runner: str, tmp_path: Path) -> None:
    elf, output = image(tmp_path, SYMBOLS[runner]), tmp_path / "output.txt"
    output.write_text(OUTPUTS[runner])
    names = read_names(output)
    assert names.format == runner
    assert len(names.timed) == 2
    answer = count(elf, ARM, "--functions-from", str(output))
    assert answer.exception is None and answer.return_value == 0, answer.output
    row = next(line.split() for line in answer.stdout.splitlines() if SYMBOLS[runner] in line)
    assert row[:5] == [SYMBOLS[runner], "5", "9", "9", "9"]
    assert f"output of {runner}: 1 of 2 names are functions" in answer.stderr
    assert "lost: no function has this name" in answer.stderr


@pytest.mark.parametrize("runner", PRINTED)
def test_names_are_those_that_the_runner_printed(runner: str) -> None:
    names = read_names(HERE / "outputs" / f"{runner}.txt")
    assert [timed.name for timed in names.timed] == PRINTED[runner]


@pytest.mark.parametrize(
    ("runner", "symbol"),
    [
        ("google-benchmark", "_ZN19Ring_push_Benchmark13BenchmarkCaseERN9benchmark5StateE"),
        ("google-benchmark", "_Z6BM_sumIiEvRN9benchmark5StateE"),  # void BM_sum<int>(State&)
        ("google-benchmark", "_ZL11BM_checksumRN9benchmark5StateE"),
        ("criterion", "checksum"),
        ("pytest-benchmark", "parse_numbers"),
        # The closure of `sums::bench_checksum`, into which the compiler inlined the function.
        (
            "rust-bench",
            "_RNvYNCNvNtCs8Qz3WbYxNEj_2nb4sums14bench_checksum0INtNtNtCsgEmfK2I1SDS_4core3ops"
            "8function6FnOnceTQNtNtCs3mSbOeLENLV_4test5bench7BencherEE9call_onceB8_",
        ),
    ],
)
def test_a_name_stands_for_what_the_runners_macro_makes_of_it(
    runner: str, symbol: str, tmp_path: Path
) -> None:
    """Symbols as the compilers made them of the benchmarks whose output this is."""
    functions = Functions(Elf(image(tmp_path, symbol)))
    timed, _ = functions.timed(read_names(HERE / "outputs" / f"{runner}.txt"), "stm32f4")
    assert [function.name for function in timed] == [symbol]


def test_a_function_of_a_generic_or_a_namespace_is_matched(tmp_path: Path) -> None:
    elf, output = (
        image(tmp_path, "_ZN4math4gateEib"),
        tmp_path / "output.txt",
    )  # math::gate(int, bool)
    output.write_text(OUTPUTS["Unity"])
    functions, missing = Functions(Elf(elf)).timed(read_names(output), "stm32f4")
    assert [function.name for function in functions] == ["_ZN4math4gateEib"]
    assert missing == ["lost"]


@pytest.mark.parametrize("text", ["", "hello\n", "BM_x 3 ns 3 ns 3\n", "\0" * 100])
def test_another_text_is_refused(text: str, tmp_path: Path) -> None:
    output = tmp_path / "output.txt"
    output.write_text(text)
    with pytest.raises(UsageError, match="no runner's output is recognised"):
        read_names(output)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_names(tmp_path / "none.txt")
    with pytest.raises(UsageError, match="a folder in the place of a file"):
        read_names(tmp_path)


def test_an_output_without_a_function_of_the_image_is_refused(tmp_path: Path) -> None:
    elf, output = image(tmp_path, "other"), tmp_path / "output.txt"
    output.write_text(OUTPUTS["Unity"])
    with pytest.raises(UsageError, match="no name of Unity is a function of"):
        Functions(Elf(elf)).timed(read_names(output), "stm32f4")


PIECES = ("a:1:", "time: [ ", " time: [", "x ", "1.0 ns ", "= ", "\x1b[", "\n ", "\ntest a ")


def test_long_lines_and_many_lines_are_read_in_linear_time(tmp_path: Path) -> None:
    """A quadratic pattern would take hours for these."""
    output = tmp_path / "output.txt"
    for piece in PIECES:
        output.write_text(piece * 200_000)
        with pytest.raises(UsageError):
            read_names(output)
