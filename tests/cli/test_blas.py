# SPDX-License-Identifier: Apache-2.0
"""The program has one thread for linear algebra, and what it measures has the user's setting."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

NAMES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")

PRODUCT = """
import os, sys
sys.argv = ["kadenz", "--version"]
from kadenz.cli import main
try:
    main()
except SystemExit:
    pass
import kadenz.analysis, scipy.linalg
import numpy as np
square = np.ones((600, 600))
(square @ square) @ np.ones(600) @ scipy.linalg.solve(square + np.eye(600), np.ones(600))
print(len(os.listdir("/proc/self/task")))
"""
MEASURED = """
import sys
sys.argv = ["kadenz", "--version"]
from kadenz.cli import main
try:
    main()
except SystemExit:
    pass
from kadenz.targets.process import ProcessTarget
target = ProcessTarget(["env"])
target.open("")
said = b""
while (part := target.read(1.0)) is not None:
    said += part
target.close()
print(said.decode())
"""


def said(code: str, **environment: str) -> str:
    bare = {name: value for name, value in os.environ.items() if name not in NAMES}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=bare | environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_product_starts_no_thread() -> None:
    assert said(PRODUCT).split()[-1] == "1"


@pytest.mark.parametrize("name", NAMES)
def test_the_users_own_setting_wins(name: str) -> None:
    code = "from kadenz.blas import bound_to_one_thread as bound; bound(); import os; "
    code += f"print(*(os.environ.get(name) for name in {NAMES}))"
    wanted = ["3" if variable == name else "None" for variable in NAMES]
    assert said(code, **{name: "3"}).split() == wanted


def test_importing_kadenz_leaves_the_threads_of_the_users_own_work() -> None:
    code = "import kadenz, kadenz.analysis, os; "
    code += f"print(*(os.environ.get(name) for name in {NAMES}))"
    assert said(code).split() == ["None"] * len(NAMES)


def test_a_measured_program_has_the_environment_of_the_user() -> None:
    assert "NUM_THREADS" not in said(MEASURED)
    assert "OMP_NUM_THREADS=3" in said(MEASURED, OMP_NUM_THREADS="3")
