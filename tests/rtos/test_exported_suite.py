# SPDX-License-Identifier: Apache-2.0
"""`kadenz export-suite`: a foreign build of FreeRTOS with it measures the same samples."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.errors import KadenzError
from kadenz.images.suite_forms import form, names
from kadenz.tools import require
from tests.rtos.images import build, freertos, run

FOREIGN = Path(__file__).parent / "foreign"
BOARD = "stm32f4@emulated"
WORK = ("mazzi2021", "irq/to-task", "itc/message-buffer", "cyclic/wakeup-latency", "--quick")


def kadenz(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


def export(folder: Path, form_name: str, board: str = "stm32f4", *more: str) -> Path:
    answer = kadenz("export-suite", str(folder), "--as", form_name, "--board", board, *more)
    assert answer.exception is None, answer.output
    return folder


def built_by_cmake(suite: Path, folder: Path) -> Path:
    places = (f"-DFREERTOS={freertos()}", f"-DSUITE={suite}")
    cmake = str(require("cmake"))
    run(cmake, "-S", str(FOREIGN / "cmake"), "-B", str(folder), "-G", "Ninja", *places)
    run(cmake, "--build", str(folder), "--parallel", "2")
    return folder / "firmware.elf"


def built_by_make(suite: Path, folder: Path) -> Path:
    folder.mkdir()
    places = (f"FREERTOS={freertos()}", f"SUITE={suite}")
    makefile = str(FOREIGN / "make" / "Makefile")
    run("make", "-s", "-j2", "-C", str(folder), "-f", makefile, *places)
    return folder / "firmware.elf"


@pytest.mark.counted
@pytest.mark.long
@pytest.mark.parametrize(
    ("form_name", "build"), [("cmake", built_by_cmake), ("files", built_by_make)]
)
def test_a_foreign_build_of_freertos_gives_the_samples_of_kadenz(
    tmp_path: Path, form_name: str, build: Callable[[Path, Path], Path]
) -> None:
    image = build(export(tmp_path / "suite", form_name), tmp_path / "build")
    built_by_kadenz = ("--target", f"freertos/{BOARD}")
    given = ("--target", BOARD, "--image", str(image))
    output = ("--output", str(tmp_path / "runs"))
    answer = kadenz("run", *WORK, *built_by_kadenz, *given, *output)
    assert answer.exception is None and answer.return_value == 0, answer.output
    hashes: dict[tuple[str, bool], dict[str, str]] = {}
    settings = []
    for measured in find_runs([tmp_path / "runs"]):
        manifest = measured.manifest
        assert manifest.build is not None
        lanes = [lane for record in manifest.records for lane in record.lanes]
        hashes[manifest.campaign.name, bool(manifest.build.parts)] = {
            lane.file: lane.sha256 for lane in lanes if lane.taken
        }
        settings.append(manifest.target.settings)
        assert {record.status for record in manifest.records} == {"ok"}
    for campaign, count in (("mazzi2021", 15), ("single", 6)):
        assert hashes[campaign, False] == hashes[campaign, True]
        assert len(hashes[campaign, True]) == count
    assert all(entry == settings[0] for entry in settings)


@pytest.mark.counted
@pytest.mark.long
def test_the_exported_port_conforms_in_a_foreign_build(tmp_path: Path) -> None:
    image = built_by_make(export(tmp_path / "suite", "files"), tmp_path / "build")
    answer = kadenz("conformance", BOARD, "--image", str(image), "--json")
    assert answer.return_value == 0, answer.output
    (report,) = json.loads(answer.output)
    assert (report["failed"], report["passed"] > 20) == (0, True)


# ---- for the scope -------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A foreign image with the marks of the scope."""
    base = tmp_path_factory.mktemp("scoped")
    suite = export(base / "suite", "cmake", "stm32f4", "--instrument", "scope")
    for file in suite.rglob("*.[ch]"):
        assert "GPL" not in file.read_text(), file
    assert "kadenz trace itc/queue --target stm32f4@emulated" in (suite / "README.md").read_text()
    return built_by_cmake(suite, base / "build")


@pytest.mark.counted
@pytest.mark.long
def test_a_foreign_image_has_the_profile_of_kadenzs_own(scoped: Path, tmp_path: Path) -> None:
    options = ("--set", "samples=5", "--output", str(tmp_path), "--json")
    built_by_kadenz = ("--target", f"freertos/{BOARD}")
    given = ("--target", BOARD, "--image", str(scoped))
    answer = kadenz("profile", "itc/queue", *built_by_kadenz, *given, *options)
    assert answer.exception is None and answer.return_value == 0, answer.output
    profiles = [in_words(profile) for profile in printed(answer)]
    assert profiles[0] == profiles[1]
    assert {part for path, _ in profiles[0] for _, part in path} >= {"benchmarks", "port", "kernel"}


def printed(answer: Result) -> Any:
    """The JSON after the progress."""
    return json.loads(answer.output[answer.output.index("[\n") :])


def in_words(profile: dict[str, Any]) -> list[tuple[tuple[tuple[str, str], ...], int]]:
    """The call paths of all samples, each function with its part, and their instructions.

    A library is recognised by the linker's map alone, which an image of another build may lack.
    """
    functions = [
        (
            function["name"],
            "" if function["part"] in ("C library", "not attributed") else function["part"],
        )
        for function in profile["functions"]
    ]
    (lane,) = profile["lanes"]
    stacks = lane["views"][0]["stacks"]
    return sorted((tuple(functions[n] for n in s["path"]), s["instructions"]) for s in stacks)


@pytest.mark.counted
@pytest.mark.long
def test_a_foreign_image_has_a_timeline(scoped: Path, tmp_path: Path) -> None:
    options = ("--target", BOARD, "--image", str(scoped), "--set", "samples=5", "--json")
    answer = kadenz("trace", "itc/queue", *options, "--output", str(tmp_path))
    assert answer.exception is None and answer.return_value == 0, answer.output
    (timeline,) = printed(answer)
    tracks = {(track["kind"], track["name"]): track for track in timeline["tracks"]}
    threads = {name for kind, name in tracks if kind == "thread"}
    assert {"main", "task 1", "task 2", "IDLE"} == threads
    assert "xQueueReceive" in {name for name, _, _ in tracks["call", "task 1"]["slices"]}


@pytest.mark.counted
@pytest.mark.long
@pytest.mark.parametrize("command", ["profile", "trace"])
def test_an_image_without_the_marks_is_refused(command: str, tmp_path: Path) -> None:
    image = build("stm32f4") / "kadenz-suite.elf"
    error = kadenz(command, "itc/queue", "--target", BOARD, "--image", str(image)).exception
    assert isinstance(error, KadenzError) and error.exit_code == 2
    assert "not built for the scope" in error.message
    assert "export the suite with --instrument scope" in error.remedy.lower()


def test_a_board_without_the_scope_is_refused(tmp_path: Path) -> None:
    options = ("--as", "files", "--board", "nrf52840-dk", "--instrument", "scope")
    error = kadenz("export-suite", str(tmp_path / "suite"), *options).exception
    assert isinstance(error, KadenzError) and error.exit_code == 2
    assert "cannot be measured with the instrument `scope`" in error.message
    assert not (tmp_path / "suite").exists()


# ---- every form ----------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The suite in every form."""
    base = tmp_path_factory.mktemp("exports")
    return {name: export(base / name, name) for name in names()}


def test_every_form_is_kadenz_alone_and_complete(exports: dict[str, Path]) -> None:
    assert sorted(exports) == sorted(
        ["cmake", "files", "cmsis-pack", "zephyr-module", "esp-idf-component", "platformio"]
    )
    contents = []
    for folder in exports.values():
        files = {str(f.relative_to(folder)): f for f in folder.rglob("*") if f.is_file()}
        for name, file in files.items():
            if file.suffix in {".c", ".h", ".S", ".ld", ".mk", ".txt", ".yml"}:
                assert "SPDX-License-Identifier: Apache-2.0" in file.read_text()[:100], name
            assert str(inventory.root()) not in file.read_text(), name
        contents.append({n for n in files if Path(n).suffix in {".c", ".h", ".S"}})
    assert all(listing == contents[0] for listing in contents)
    benchmarks = {
        str(f.relative_to(inventory.root())) for f in inventory.root().glob("suite/bench/*.c")
    }
    assert benchmarks <= contents[0] and "lacks.c" in contents[0] and "main.c" in contents[0]
    assert "kernel-settings/FreeRTOSConfig.h" in contents[0]
    assert not any("scope" in name for name in contents[0])


def test_the_readme_leads_to_a_first_run_in_ten_lines(exports: dict[str, Path]) -> None:
    for name, folder in exports.items():
        lines = (folder / "README.md").read_text().splitlines()
        assert len(lines) == 10
        assert form(name).how.strip() in lines[3]
        assert "kadenz run mazzi2021 --target stm32f4@emulated --image" in lines[-1]


def test_the_readme_has_the_settings_that_the_board_needs(exports: dict[str, Path]) -> None:
    for folder in exports.values():
        text = (folder / "README.md").read_text()
        for setting in ("configUSE_TIME_SLICING 0", "configUSE_IDLE_HOOK 1"):
            assert f"`{setting}`" in text
        assert "`INCLUDE_uxTaskGetStackHighWaterMark 1`" in text
        assert "configUSE_CORE_AFFINITY" not in text  # of boards with several cores
        assert "configMTIME_BASE_ADDRESS" not in text  # of RISC-V


def sources_of(folder: Path, text: str) -> list[str]:
    """The C and assembler files that a form names; all exist."""
    paths = re.findall(r"[\w./${}()-]+\.[cS]\b", text)
    prefixes = ("$(KADENZ_DIR)/", "${KADENZ}/")
    plain = [next((n.removeprefix(p) for p in prefixes if n.startswith(p)), n) for n in paths]
    for name in plain:
        assert (folder / name).is_file(), name
    return plain


def test_every_form_compiles_the_same_sources(exports: dict[str, Path]) -> None:
    lists = {
        "cmake": "CMakeLists.txt",
        "files": "kadenz.mk",
        "cmsis-pack": "kadenz.suite.pdsc",
        "zephyr-module": "zephyr/CMakeLists.txt",
        "esp-idf-component": "CMakeLists.txt",
        "platformio": "library.json",
    }
    start = {"boards/cortexm/vectors.S", "arch/cortexm/start.c", "arch/cortexm/vectors.S"}
    by_form = {
        name: sources_of(exports[name], (exports[name] / file).read_text())
        for name, file in lists.items()
    }
    suite = [name for name in by_form["cmake"] if name not in start]
    assert len(suite) > 60
    for name, sources in by_form.items():
        assert len(set(sources)) == len(sources)
        assert [s for s in sources if s not in {*start, "main.c"}] == suite, name
        # Frameworks have a start-up and a main of their own.
        framework = name in {"zephyr-module", "esp-idf-component", "platformio"}
        assert (start <= set(sources)) is not framework
        assert not framework or "main.c" not in sources


def test_the_pack_keeps_the_rules_of_its_schema(exports: dict[str, Path]) -> None:
    """Rules of PACK.xsd 1.7: order of elements, categories, patterns."""
    folder = exports["cmsis-pack"]
    package = ET.parse(folder / "kadenz.suite.pdsc").getroot()
    order = ["vendor", "name", "description", "url", "license", "releases", "components"]
    assert [child.tag for child in package] == order
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?", package.attrib["schemaVersion"])
    assert (folder / (package.findtext("license") or "")).is_file()
    vendor, name = package.findtext("vendor"), package.findtext("name")
    assert (folder / f"{vendor}.{name}.pdsc").is_file()
    categories = {"doc", "include", "linkerScript", "preIncludeLocal", "source"}
    for component in package.iter("component"):
        assert {"Cclass", "Cgroup", "Cversion"} == set(component.attrib)
        assert re.fullmatch(r"[\w. -]{1,128}", component.attrib["Cgroup"])
        assert [child.tag for child in component] == ["description", "files"]
        for file in component.iter("file"):
            assert file.attrib["category"] in categories
            assert (folder / file.attrib["name"]).exists()
            assert file.attrib["name"].endswith("/") == (file.attrib["category"] == "include")
            if "attr" in file.attrib:
                assert file.attrib["attr"] == "template" and file.attrib["select"]


def test_manifests_of_modules_and_components_name_what_exists(exports: dict[str, Path]) -> None:
    module = exports["zephyr-module"]
    text = (module / "zephyr" / "module.yml").read_text()
    keys = dict(re.findall(r"^ *(\w+): *(\S*)$", text, re.MULTILINE))
    assert keys == {"name": "kadenz", "build": "", "cmake": "zephyr", "kconfig": "zephyr/Kconfig"}
    assert (module / keys["cmake"] / "CMakeLists.txt").is_file()
    assert "config KADENZ\n\tbool " in (module / keys["kconfig"]).read_text()

    component = (exports["esp-idf-component"] / "idf_component.yml").read_text()
    assert re.search(r'^version: "\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?"$', component, re.MULTILINE)
    assert '\ndependencies:\n  idf: ">=5.0"\n' in component

    library = json.loads((exports["platformio"] / "library.json").read_text())
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", library["version"])
    assert library["build"]["libArchive"] is False
    for flag in library["build"]["flags"]:
        if flag.startswith("-I "):
            assert (exports["platformio"] / flag[3:]).is_dir()


def test_a_board_with_another_core_gets_its_own_files(tmp_path: Path) -> None:
    folder = export(tmp_path / "suite", "cmake", "hifive1-revb")
    text = (folder / "CMakeLists.txt").read_text()
    assert "arch/riscv/start.S" in text and "boards/hifive1-revb/link.ld" in text
    assert [part.name for part in (folder / "arch").iterdir()] == ["riscv"]


# ---- a kernel whose own build makes the image ----------------------------------------------------
def test_a_zephyr_module_has_the_port_and_what_the_linker_needs(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    options = ("--as", "zephyr-module", "--kernel", "zephyr", "--board", "ibex")
    answer = kadenz("export-suite", str(folder), *options)
    assert answer.exception is None, answer.output
    lists = (folder / "zephyr" / "CMakeLists.txt").read_text()
    sources = sources_of(folder, lists)
    root = inventory.root()
    port = {str(f.relative_to(root)) for f in (root / "kernels/zephyr").rglob("*.c")}
    assert port and port <= set(sources)
    assert not any("start.S" in name or "FreeRTOS" in name for name in sources)
    scripts = re.findall(r"zephyr_linker_sources\((\w+) (\S+)\)", lists)
    assert dict(scripts) == {"RODATA": "tables.ld", "NOINIT": "storage.ld", "SECTIONS": "page.ld"}
    assert "KEEP(*(kdz_mechanisms))" in (folder / "zephyr" / "tables.ld").read_text()
    page = inventory.board("ibex").tier.emulated
    assert page is not None
    assert f"kdz_plan_page = {page.plan_address:#x};" in (folder / "zephyr/page.ld").read_text()
    assert "select EVENTS" in (folder / "zephyr" / "Kconfig").read_text()


def test_an_esp_idf_component_has_the_port_for_a_board_of_the_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = tmp_path / "boards" / "mine"
    shutil.copytree(inventory.root() / "boards" / "template", board)
    text = (board / "board.toml").read_text()
    (board / "board.toml").write_text(f'kernels = ["freertos-esp-idf"]\n{text}')
    (tmp_path / "kadenz.toml").write_text("")
    monkeypatch.setenv("KADENZ_LAB", str(tmp_path))
    folder = tmp_path / "suite"
    options = ("--as", "esp-idf-component", "--kernel", "freertos-esp-idf", "--board", "mine")
    answer = kadenz("export-suite", str(folder), *options)
    assert answer.exception is None, answer.output
    sources = sources_of(folder, (folder / "CMakeLists.txt").read_text())
    port = {name for name in sources if name.startswith("kernels/freertos")}
    assert {"kernels/freertos/esp-idf/cores.c", "kernels/freertos/threads.c"} <= port
    # One file each for start and cores: FreeRTOS's own are left out.
    assert not port & {f"kernels/freertos/{name}_cores.c" for name in ("one", "several")}
    assert "kernels/freertos/start.c" not in port
    assert (folder / "kernels/freertos/esp-idf/include/FreeRTOS.h").is_file()


@pytest.mark.parametrize(
    "arguments",
    [
        ("conformance", "zephyr/ibex@emulated"),
        ("run", "mazzi2021", "--target", "zephyr/ibex@emulated"),
        ("run", "mazzi2021", "--target", "zephyr/ibex@emulated", "--kernel-source", "."),
    ],
)
def test_kadenz_does_not_build_such_a_kernel(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    output = ("--output", str(tmp_path)) if arguments[0] == "run" else ()
    error = kadenz(*arguments, *output).exception
    assert isinstance(error, KadenzError) and error.exit_code == 2
    assert list(tmp_path.iterdir()) == []
    if "--kernel-source" not in arguments:
        assert "Zephyr has a build of its own" in error.message
        assert "--as zephyr-module --kernel zephyr" in error.remedy


# ---- a kernel that its own rules build -----------------------------------------------------------
RULES = """
project(asp3_core C)
set(ASP3_ROOT_DIR ${CMAKE_CURRENT_SOURCE_DIR})
set(PASS3_ARGS true)
include(${ASP3_TARGET_DIR}/target.cmake)
set(CFG_GEN_DIR ${CMAKE_BINARY_DIR}/generated)
add_custom_target(generate_cfg_gen_files DEPENDS ${ASP3_CFG_FILES})
add_executable(cfg1_out kernel/task.c)
add_library(asp3 STATIC kernel/task.c ${ASP3_TARGET_C_FILES})
target_include_directories(asp3 PUBLIC ${ASP3_INCLUDE_DIRS} ${ASP3_APPLDIR})
"""


def tree_with_rules(folder: Path) -> Path:
    """A tree with the files that kadenz asks of ASP3, and rules that read the port's files."""
    source = inventory.kernel("itron").source
    assert source is not None
    arch = "arch/arm_m_gcc/common"
    for name in (*source.files, f"{arch}/arch.cmake", f"{arch}/core_timer.c"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder / "include/kernel.h").write_text("#define TKERNEL_PRVER UINT_C(0x3072)\n")
    (folder / "CMakeLists.txt").write_text(RULES)
    return folder


def export_itron(tmp_path: Path, form_name: str) -> Result:
    options = ("--as", form_name, "--kernel", "itron", "--board", "stm32f4")
    tree = str(tree_with_rules(tmp_path / "tree"))
    return kadenz("export-suite", str(tmp_path / "suite"), *options, "--kernel-source", tree)


def test_what_the_kernels_own_rules_read_is_exported(tmp_path: Path) -> None:
    answer = export_itron(tmp_path, "cmake")
    assert answer.exception is None, answer.output
    folder = tmp_path / "suite"
    port = folder / "kernels/itron"
    texts = [file.read_text() for file in port.rglob("*.cmake")]
    named = {name for text in texts for name in re.findall(r"ASP3_TARGET_DIR\}/([\w./]+)", text)}
    for name in {*named, "../asp3.cmake", "../objects.cfg", "../itron_objects.h", "target.cmake"}:
        assert (port / "armv7m" / name).is_file(), name
    assert {"target_kernel.cfg", "target_kernel.py", "../target/common.cmake"} <= named
    # They are the files that a build by kadenz reads, and the rules compile theirs themselves.
    for file in port.rglob("*"):
        original = inventory.root() / file.relative_to(folder)
        assert file.is_dir() or file.read_bytes() == original.read_bytes()
    text = (folder / "CMakeLists.txt").read_text()
    assert "kernels/itron/threads.c" in text and "target_handlers.c" not in text
    assert "include(kernels/itron/asp3.cmake)\n" in text
    assert not (folder / "kernel-settings").exists()
    assert "kdz_kernel_program(YOUR-APP)" in (folder / "README.md").read_text()


def test_a_form_without_such_rules_is_refused(tmp_path: Path) -> None:
    error = export_itron(tmp_path, "files").exception
    assert isinstance(error, KadenzError) and error.exit_code == 2
    assert "CMake rules of its own" in error.message and "--as cmake" in error.remedy
    assert not (tmp_path / "suite").exists()


# ---- bad input -----------------------------------------------------------------------------------
def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "main.c").write_text("int main(void);\n")
    (tmp_path / "file").write_text("")
    for name in ("mine", "file"):
        folder = tmp_path / name
        error = kadenz("export-suite", str(folder), "--as", "cmake", "--board", "stm32f4").exception
        assert isinstance(error, KadenzError) and error.exit_code == 2
        assert str(folder) in error.message and "not an empty folder" in error.message
    assert [f.name for f in (tmp_path / "mine").iterdir()] == ["main.c"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--board", "stm32f5"), "no board `stm32f5`"),
        (("--board", "stm32f4", "--kernel", "freertoss"), "no kernel `freertoss`"),
        (("--board", "linux", "--kernel", "posix"), "no image of posix runs there"),
        (("--board", "stm32f4", "--kernel", "posix"), "no image of posix runs there"),
        (("--board", "stm32f4", "--kernel-source", "nowhere"), "--kernel-source nowhere"),
        (("--board", "stm32f4", "--kernel", "itron"), "needs a source tree"),
        (("--board", "stm32f4", "--kernel", "embassy"), "are a Rust crate"),
        (("--board", "stm32f4", "--kernel", "lilos"), "are a Rust crate"),
        (("--board", "stm32f4", "--kernel", "freertos-esp-idf"), "no image of freertos-esp-idf"),
        (("--board", "ibex", "--kernel", "zephyr", "--kernel-source", "."), "a build of its own"),
    ],
)
def test_a_wrong_request_is_refused_and_leaves_nothing(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    folder = tmp_path / "suite"
    error = kadenz("export-suite", str(folder), "--as", "cmake", *options).exception
    assert isinstance(error, KadenzError) and error.exit_code == 2 and error.remedy
    assert message in error.message
    assert list(tmp_path.iterdir()) == []
