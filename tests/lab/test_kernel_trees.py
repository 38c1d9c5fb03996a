# SPDX-License-Identifier: Apache-2.0
"""--kernel-source: each tree goes to its kernel, and is that kernel before anything is built."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.kernel import Kernel, KernelSource
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.lab.condition import Setup
from kadenz.lab.conditions.kernel_tree import KernelTreeChoice

BOARD = TargetName("freertos", "stm32f4", "emulated")
OTHER = TargetName("other", "stm32f4", "emulated")
HOST = TargetName("posix", "linux", "host")


@pytest.fixture
def two_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second kernel that needs a tree of the user's."""
    real = inventory.kernel
    source = KernelSource(tree="", files=("other.c",))
    other = Kernel(title="Other", boards=["stm32f4"], source=source)
    monkeypatch.setattr(inventory, "kernel", lambda n: other if n == "other" else real(n))
    folder = inventory.root() / "kernels" / "freertos"
    monkeypatch.setattr(inventory, "kernel_folder", lambda name: folder)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "other.c").touch()
    return tmp_path / "other"


def trees(choice: KernelTreeChoice, target: TargetName) -> list[Path | None]:
    sources = []
    for variant in choice.variants(target):
        setup = Setup()
        variant.set_up(setup, target)
        sources.append(setup.kernel_source)
    return sources


def test_a_named_tree_goes_to_its_kernel_alone(two_kernels: None, tree: Path) -> None:
    choice = KernelTreeChoice.named([f"other={tree}", "freertos=pinned"])
    choice.check([BOARD, OTHER, HOST])
    assert trees(choice, OTHER) == [tree]
    assert trees(choice, BOARD) == [None]
    assert trees(choice, HOST) == []


def test_a_kernel_may_have_several_trees(two_kernels: None, tree: Path) -> None:
    second = tree.with_name("second")
    shutil.copytree(tree, second)
    choice = KernelTreeChoice.named([f"other={tree}", f"other={second}"])
    choice.check([OTHER])
    assert trees(choice, OTHER) == [tree, second]


def test_a_tree_without_a_name_belongs_to_the_only_kernel(two_kernels: None, tree: Path) -> None:
    choice = KernelTreeChoice.named([str(tree)])
    choice.check([OTHER, HOST])
    assert trees(choice, OTHER) == [tree]
    with pytest.raises(UsageError, match="builds 2 kernels") as caught:
        choice.check([BOARD, OTHER])
    assert f"--kernel-source freertos={tree}" in caught.value.remedy


def test_a_kernel_left_to_the_user_is_refused_without_its_tree(two_kernels: None) -> None:
    for texts in ([], ["other=pinned"]):
        with pytest.raises(UsageError, match="Other needs a source tree") as caught:
            KernelTreeChoice.named(texts).check([BOARD, OTHER])
        assert "--kernel-source other=DIR" in caught.value.remedy


def test_a_tree_that_is_not_that_kernel_is_refused(two_kernels: None, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"other\.c is missing"):
        KernelTreeChoice.named([f"other={tmp_path}"]).check([OTHER])


def test_a_folder_whose_name_has_an_equals_sign_is_no_name() -> None:
    assert KernelTreeChoice.named(["./a=b"]).sources == (("", "./a=b"),)
