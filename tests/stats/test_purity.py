# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import kadenz.stats

MODULES = sorted(path.stem for path in Path(kadenz.stats.__path__[0]).glob("[a-z]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_stats_imports_no_other_part(name: str) -> None:
    module = import_module(f"kadenz.stats.{name}")
    assert module.__file__ is not None
    for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for imported in names:
            if imported.startswith("kadenz"):
                assert imported.startswith("kadenz.stats.")


@pytest.mark.parametrize("name", MODULES)
def test_every_result_is_frozen(name: str) -> None:
    for thing in vars(import_module(f"kadenz.stats.{name}")).values():
        if isinstance(thing, type) and is_dataclass(thing):
            assert thing.__dataclass_params__.frozen, thing  # type: ignore[attr-defined]


def test_samples_are_never_changed() -> None:
    from kadenz.stats.autocorrelation import autocorrelation
    from kadenz.stats.cold import cold_effect, suggest_cold
    from kadenz.stats.compare import compare
    from kadenz.stats.envelope import envelope
    from kadenz.stats.mean_interval import mean_interval
    from kadenz.stats.percentiles import percentiles
    from kadenz.stats.periodic import find_periodic

    samples = np.random.default_rng(1).integers(0, 100, 2000, dtype=np.uint32)
    samples.flags.writeable = False  # as the store maps them
    before = samples.copy()
    autocorrelation(samples)
    cold_effect(samples, 4)
    suggest_cold(samples)
    compare([samples], [samples])
    envelope(samples)
    mean_interval(samples)
    percentiles(samples)
    find_periodic(samples, sample_period=1.0, tick_period=7.0)
    assert (samples == before).all()
