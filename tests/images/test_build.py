# SPDX-License-Identifier: Apache-2.0
"""Source to ELF: sources are found or refused with a reason; images are built once and
described."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.kernel import Kernel, KernelSource, VersionMark
from kadenz.config.target_name import TargetName
from kadenz.config.toml import parse_toml
from kadenz.elf import Elf
from kadenz.errors import BuildFailed, ConfigError, ToolMissing, UsageError
from kadenz.images import image
from kadenz.images.image import build_image
from kadenz.images.source import Source, kernel_source
from tests.forked import kadenz

STM32 = TargetName("freertos", "stm32f4", "emulated")
LINUX = TargetName("posix", "linux", "host")


@pytest.fixture(scope="module")
def crate() -> Source:
    source = kernel_source("freertos", inventory.kernel("freertos"), None)
    assert source is not None
    return source


def test_the_kernel_comes_from_its_pinned_crate(crate: Source) -> None:
    assert crate.title == "freertos-next 0.12.0 (crates.io)"
    assert (crate.folder / "tasks.c").is_file()


def test_the_pin_of_the_crate_is_exact_and_has_a_digest() -> None:
    folder = inventory.root() / "kernels" / "freertos" / "source"
    source = inventory.kernel("freertos").source
    assert source is not None
    assert f'version = "={source.version}"' in (folder / "Cargo.toml").read_text()
    lock = (folder / "Cargo.lock").read_text()
    entry = lock[lock.index(f'name = "{source.crate}"') :].split("[[package]]")[0]
    assert f'version = "{source.version}"' in entry and "checksum" in entry


def test_a_kernel_without_source_needs_none() -> None:
    assert kernel_source("posix", inventory.kernel("posix"), None) is None


def test_a_tree_is_used_with_its_version(crate: Source, tmp_path: Path) -> None:
    tree = tmp_path / "FreeRTOS"
    shutil.copytree(crate.folder, tree)
    source = kernel_source("freertos", inventory.kernel("freertos"), tree)
    assert source is not None and source.folder == tree
    assert source.title == f"tree {tree}, V11.2.0"


def test_the_old_layout_of_a_tree_is_found(crate: Source, tmp_path: Path) -> None:
    """V10.2 has its files under FreeRTOS/Source."""
    shutil.copytree(crate.folder, tmp_path / "FreeRTOS" / "Source")
    source = kernel_source("freertos", inventory.kernel("freertos"), tmp_path)
    assert source is not None and source.folder == tmp_path / "FreeRTOS" / "Source"


def test_an_incomplete_tree_is_refused_with_the_missing_file(crate: Source, tmp_path: Path) -> None:
    tree = tmp_path / "FreeRTOS"
    shutil.copytree(crate.folder, tree)
    (tree / "stream_buffer.c").unlink()
    with pytest.raises(UsageError) as caught:
        kernel_source("freertos", inventory.kernel("freertos"), tree)
    assert f"{tree / 'stream_buffer.c'} is missing" in caught.value.message
    assert "tasks.c" in caught.value.remedy


def test_a_tree_for_one_core_is_refused_on_a_board_with_several(
    crate: Source, tmp_path: Path
) -> None:
    """Before anything is compiled, and with the exit code of a wrong call."""
    tree = tmp_path / "FreeRTOS"
    shutil.copytree(crate.folder, tree)
    kernel = inventory.kernel("freertos")
    assert kernel_source("freertos", kernel, tree, cores=2) is not None
    tasks = (tree / "tasks.c").read_text(errors="replace")
    (tree / "tasks.c").write_text(tasks.replace("configNUMBER_OF_CORES", "configCORES"))
    assert kernel_source("freertos", kernel, tree, cores=1) is not None
    command = ["run", "clock/read-cost", "--target", "freertos/ibex2@rtl"]
    answer = kadenz(*command, "--kernel-source", str(tree), "--output", str(tmp_path / "runs"))
    assert answer.returncode == 2
    assert "runs one core, and the board has 2" in answer.stderr
    assert "Take V11.0.0 or later" in answer.stderr
    assert not (tmp_path / "runs").exists()


def test_a_missing_tool_is_refused_as_a_wrong_call(tmp_path: Path) -> None:
    """Nothing is built or measured, and no run folder begins."""
    runs = tmp_path / "runs"
    answer = kadenz(
        *("run", "clock/read-cost", "--target", "freertos/stm32f4@emulated", "--output", runs),
        env={"PATH": "/nowhere", "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert answer.returncode == 2
    assert "is not installed" in answer.stderr and "kadenz setup" in answer.stderr
    assert not runs.exists()


def test_a_missing_tree_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        kernel_source("freertos", inventory.kernel("freertos"), tmp_path / "none")


def test_a_version_of_several_macros_is_joined(tmp_path: Path) -> None:
    header = "#define MAJOR 6\n#define MINOR 4\n#define PATCH 2\n"
    (tmp_path / "api.h").write_text(header)
    mark = VersionMark(file="api.h", pattern=r"(?s)MAJOR (\d+).*MINOR (\d+).*PATCH (\d+)")
    kernel = Kernel(title="K", boards=[], source=KernelSource(tree="", version_mark=mark))
    source = kernel_source("freertos", kernel, tmp_path)
    assert source is not None and source.title == f"tree {tmp_path}, 6.4.2"


def test_a_folder_without_a_cmake_project_is_refused(tmp_path: Path) -> None:
    kernel = Kernel(title="K", boards=[], source=KernelSource(cmake="", target="k"))
    with pytest.raises(UsageError, match=r"CMakeLists\.txt is missing") as caught:
        kernel_source("freertos", kernel, tmp_path)
    assert "`k`" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "exactly one of"),
        ('tree = "a"\ncrate = "b"', "exactly one of"),
        ('crate = "b"', "an exact `version`"),
        ('tree = "a"\nversion = "1"', "`version` belongs to `crate`, not to `tree`"),
        ('cmake = "a"', "needs `target`"),
        ('tree = "a"\nimage = "zephyr-module"', "exactly one of"),
        ('image = ""', "needs a form of `kadenz export-suite`"),
        ('tree = "a"\ntarget = "t"', "`target` belongs to `cmake`, not to `tree`"),
    ],
)
def test_a_source_that_makes_no_sense_is_refused(text: str, problem: str) -> None:
    toml = f'title = "K"\nboards = []\n[source]\n{text}\n'
    with pytest.raises(ConfigError, match=problem):
        parse_toml(toml, Kernel, "kernel.toml")


def test_a_tree_for_a_kernel_that_is_not_built_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not built with the image"):
        kernel_source("posix", inventory.kernel("posix"), tmp_path)


def test_a_crate_without_cargo_is_refused_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="cargo is not installed") as caught:
        kernel_source("freertos", inventory.kernel("freertos"), None)
    assert "--kernel-source" in caught.value.remedy


def test_an_image_is_described_correctly() -> None:
    built = build_image(STM32, "counter")
    entry = built.entry
    assert entry.elf_sha256 == hashlib.sha256(built.elf.path.read_bytes()).hexdigest()
    assert entry.compiler == "arm-none-eabi-gcc"
    assert "arm-none-eabi-gcc" in entry.compiler_version
    assert "-O2" in entry.flags and "-mcpu=cortex-m4" in entry.flags
    assert str(inventory.root()) not in entry.flags
    size = subprocess.run(
        ["arm-none-eabi-size", str(built.elf.path)], capture_output=True, text=True, check=True
    )
    text, data, bss = (int(word) for word in size.stdout.splitlines()[1].split()[:3])
    assert (entry.text_bytes, entry.data_bytes, entry.bss_bytes) == (text, data, bss)


def test_a_second_build_compiles_nothing() -> None:
    first = build_image(LINUX, "counter")
    before = first.elf.path.stat().st_mtime_ns
    second = build_image(LINUX, "counter")
    assert second.elf.path.stat().st_mtime_ns == before
    assert second.entry == first.entry


def test_a_benchmark_outside_the_suite_gets_its_own_image(tmp_path: Path) -> None:
    file = tmp_path / "mine.c"
    file.write_text(
        '#include "kadenz/bench.h"\n'
        "static void measure(struct kdz_point *point) { (void)point; }\n"
        'static const struct kdz_bench mine = {.name = "mine/one", .lane_count = 1,\n'
        '    .begins = "", .ends = "", .source = "", .measure = measure};\n'
        "KDZ_BENCH(mine);\n"
    )
    built = build_image(LINUX, "counter", extra_bench=[file])
    assert b"mine/one" in built.elf.path.read_bytes()
    assert built.folder != build_image(LINUX, "counter").folder
    shutil.rmtree(built.folder)


def test_a_benchmark_that_does_not_compile_shows_the_compiler(tmp_path: Path) -> None:
    file = tmp_path / "broken.c"
    file.write_text("this is no C\n")
    with pytest.raises(BuildFailed, match="does not compile") as caught:
        build_image(LINUX, "counter", extra_bench=[file])
    assert "broken.c:1" in caught.value.detail
    assert len(caught.value.detail.splitlines()) <= 60
    shutil.rmtree(image.image_folder(LINUX, "counter", None, [file]))


def test_a_missing_benchmark_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        build_image(LINUX, "counter", extra_bench=[tmp_path / "none.c"])


def test_addresses_are_named_by_their_function() -> None:
    elf: Elf = build_image(STM32, "counter").elf
    table = subprocess.run(
        ["arm-none-eabi-nm", str(elf.path)], capture_output=True, text=True, check=True
    ).stdout
    line = next(line for line in table.splitlines() if line.endswith(" T kdz_suite_main"))
    address = int(line.split()[0], 16)
    assert elf.symbol_at(address) == "kdz_suite_main+0x0"
    assert (
        elf.symbol_at(address + 5) == "kdz_suite_main+0x4"
    )  # the Thumb bit is not part of the address
    assert elf.symbol_at(0xFFFFFFF0) == ""


def test_a_program_of_the_workspace_is_built_by_cargo_and_described() -> None:
    from kadenz.images.program import build_program

    elf, entry = build_program("kadenz-segment")
    assert elf.path.is_file()
    assert entry.compiler == "rustc" and entry.compiler_version.startswith("rustc ")
    assert entry.text_bytes > 10_000
    with pytest.raises(BuildFailed, match="kadenz-nothing does not compile"):
        build_program("kadenz-nothing")
