# SPDX-License-Identifier: Apache-2.0
"""`--image`: an image that another build made is checked, says what it is, and is measured."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.config.manifest import BuildEntry
from kadenz.config.target_name import IMAGE_TIERS, TargetName
from kadenz.elf import Elf
from kadenz.errors import ConfigError, KadenzError, TargetFailed, UsageError
from kadenz.images.given_image import MACHINES, GivenImage, given_folder, given_image, trees_of
from kadenz.images.provenance import Tree
from kadenz.store import Run
from tests.rtos.images import build

BOARD = "stm32f4@emulated"
WORK = ("itc/queue", "--set", "samples=200", "--set", "size_bytes=4,64")
PROGRAMS = Path(__file__).parent / "programs"


def kadenz(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


def refusal(*arguments: str) -> KadenzError:
    error = kadenz(*arguments).exception
    assert isinstance(error, KadenzError), error
    assert error.remedy
    return error


def the_run(folder: Path) -> Run:
    (run,) = find_runs([folder])
    return run


def digests(run: Run) -> dict[str, str]:
    lanes = [lane for record in run.manifest.records for lane in record.lanes]
    assert lanes
    return {lane.file: lane.sha256 for lane in lanes}


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An image for the stm32f4 in a folder of its own, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "app.elf"
    shutil.copy2(build("stm32f4") / "kadenz-suite.elf", file)
    return file


def compiled(source: str, folder: Path) -> Path:
    """One C file as an image for the stm32f4, without any part of kadenz."""
    elf = folder / f"{Path(source).stem}.elf"
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-Os", "-nostdlib"]
    script = ["-Wl,--section-start=.vectors=0x08000000", "-Wl,-Ttext=0x08000100", "-Wl,-ereset"]
    subprocess.run([*command, *script, str(PROGRAMS / source), "-o", str(elf)], check=True)
    return elf


@pytest.mark.parametrize(("place", "tree"), [("tree/kernel/init.c", "tree"), ("own/init.c", "own")])
def test_the_kernel_is_the_tree_around_the_file_with_its_current_thread(
    place: str, tree: str, tmp_path: Path
) -> None:
    source, program = tmp_path / place, tmp_path / "zephyr.elf"
    source.parent.mkdir(parents=True)
    source.write_text("struct { void *current; } _kernel;\nint main(void) { return 0; }\n")
    subprocess.run(["gcc", "-g", str(source), "-o", str(program)], check=True)
    entry = BuildEntry("gcc", "", "", "", 0, 0, 0, "built elsewhere")
    image = GivenImage(Elf(program), tmp_path, entry)
    assert trees_of(image, "zephyr") == (Tree("kernel", tmp_path / tree),)


@pytest.mark.counted
def test_a_given_image_measures_the_same_samples_and_claims_no_sources(app: Path) -> None:
    assert kadenz("run", *WORK, "--target", f"freertos/{BOARD}", "--output", "own").exit_code == 0
    answer = kadenz("run", *WORK, "--target", BOARD, "--image", "app.elf", "--output", "given")
    assert answer.exception is None and answer.return_value == 0, answer.output
    built, given = the_run(Path("own")), the_run(Path("given"))
    assert digests(given) == digests(built)
    target, entry = given.manifest.target, given.manifest.build
    assert target.name == f"freertos/{BOARD}"
    assert (target.kernel, target.kernel_name) == ("freertos", "FreeRTOS")
    (folder,) = Path("given").iterdir()
    assert folder.name.endswith("-freertos-stm32f4-image-app")
    assert entry is not None and entry.parts == []
    assert entry.kernel_source == "image app.elf, built elsewhere"
    assert entry.elf_sha256 == Elf(app).sha256
    assert entry.compiler.startswith("GCC: (")
    assert "-mcpu=cortex-m4" in entry.flags and "-O2" in entry.flags
    assert entry.text_bytes == Elf(app).sizes.text
    assert "built-elsewhere" in {warning.code for warning in given.manifest.warnings}
    assert "stripped" not in {warning.code for warning in given.manifest.warnings}


@pytest.mark.counted
def test_a_given_image_runs_beside_the_kernel_that_kadenz_builds(app: Path) -> None:
    targets = ("--target", f"freertos/{BOARD}", "--target", BOARD)
    answer = kadenz("run", *WORK, *targets, "--image", "app.elf", "--output", "both")
    assert answer.exception is None and answer.return_value == 0, answer.output
    built, given = find_runs([Path("both")])
    assert digests(built) == digests(given)
    assert built.manifest.build is not None and built.manifest.build.parts


@pytest.mark.counted
def test_a_kernel_unknown_to_the_lab_is_measured_under_its_own_name(app: Path) -> None:
    app.write_bytes(app.read_bytes().replace(b"FreeRTOS\0", b"Free OSX\0"))
    answer = kadenz("run", *WORK, "--target", BOARD, "--image", "app.elf")
    assert answer.exception is None and answer.return_value == 0, answer.output
    target = the_run(Path("runs")).manifest.target
    assert (target.kernel, target.kernel_name) == ("free-osx", "Free OSX")


@pytest.mark.counted
def test_a_given_image_takes_the_conformance_test(app: Path) -> None:
    answer = kadenz("conformance", BOARD, "--image", "app.elf", "--json")
    assert answer.exception is None and answer.return_value == 0, answer.output
    (report,) = json.loads(answer.output)
    assert report["kernel"] == "FreeRTOS" and report["failed"] == 0 and report["passed"] > 20


@pytest.mark.counted
def test_a_stripped_image_runs_and_its_run_names_the_loss(app: Path) -> None:
    subprocess.run(["arm-none-eabi-strip", "--strip-all", str(app)], check=True)
    answer = kadenz("run", *WORK, "--target", BOARD, "--image", "app.elf")
    assert answer.exception is None and answer.return_value == 0, answer.output
    run = the_run(Path("runs"))
    (warning,) = [w.message for w in run.manifest.warnings if w.code == "stripped"]
    assert "addresses alone" in warning and "scope" in warning
    scope = ("--instrument", "scope")
    error = refusal("run", *WORK, "--target", BOARD, "--image", "app.elf", *scope)
    assert error.exit_code == 2 and "stripped: the scope cannot find" in error.message


@pytest.mark.counted
def test_a_lab_names_an_image_as_a_target(app: Path) -> None:
    table = f'[target.firmware]\nimage = "{app.name}"\nboard = "stm32f4"\ntier = "emulated"\n'
    (app.parent / "kadenz.toml").write_text(table)
    before = {
        listed["name"]: listed for listed in json.loads(kadenz("list", "--json").output)["targets"]
    }
    assert before["firmware"]["image"] == "not asked yet"
    assert before["firmware"]["title"].startswith("image app.elf on STM32F405")
    answer = kadenz("run", *WORK, "--target", "firmware")
    assert answer.exception is None and answer.return_value == 0, answer.output
    target = the_run(Path("runs")).manifest.target
    assert (target.name, target.kernel) == ("firmware", "freertos")
    assert "firmware" in kadenz("doctor", "--json").output
    after = {
        listed["name"]: listed for listed in json.loads(kadenz("list", "--json").output)["targets"]
    }
    assert after["firmware"]["image"] == "built"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('image = "app.elf"\nkernel = "freertos"', "either `kernel` or `image`"),
        ("", "either `kernel` or `image`"),
        ('image = "app.elf"\nsource = "tree"', "`source` belongs to `kernel`"),
        ('image = "none.elf"', "`image`: "),
    ],
)
def test_a_wrong_image_table_is_refused_with_its_place(app: Path, table: str, message: str) -> None:
    head = '[target.firmware]\nboard = "stm32f4"\ntier = "emulated"\n'
    (app.parent / "kadenz.toml").write_text(head + table + "\n")
    error = refusal("run", *WORK, "--target", "firmware")
    assert isinstance(error, ConfigError) and error.exit_code == 2
    assert message in error.message and str(app.parent / "kadenz.toml") in error.message


# ---- bad input -----------------------------------------------------------------------------------
def _missing(app: Path) -> None:
    app.unlink()


def _text(app: Path) -> None:
    app.write_text("S0030000FC\n")


def _cut(app: Path) -> None:
    app.write_bytes(app.read_bytes()[:3000])


def _object(app: Path) -> None:
    source = app.with_suffix(".c")
    source.write_text("int x;\n")
    subprocess.run(["arm-none-eabi-gcc", "-c", str(source), "-o", str(app)], check=True)


def _other_machine(app: Path) -> None:
    shutil.copy2(build("hifive1-revb") / "kadenz-suite.elf", app)


def _without_suite(app: Path) -> None:
    compiled("no_suite.c", app.parent).replace(app)


def _elsewhere(app: Path) -> None:
    move = ["--change-section-address", ".storage=0x30000000"]
    subprocess.run(["arm-none-eabi-objcopy", *move, str(app)], check=True)


def _on_the_plan_page(app: Path) -> None:
    move = ["--change-section-address", ".storage=0x080e0800"]
    subprocess.run(["arm-none-eabi-objcopy", *move, str(app)], check=True)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_missing, "No such file"),
        (_text, "not an ELF file"),
        (_cut, "damaged ELF file"),
        (_object, "not a linked image (ET_REL)"),
        (_other_machine, "built for EM_RISCV, 32 bits; stm32f4 is EM_ARM"),
        (_without_suite, "the suite is not in this image: it has no symbol kdz_suite_main"),
        (_elsewhere, "are outside the memory of stm32f4"),
        (_on_the_plan_page, "overlap the plan page of stm32f4, 0x080e0000 to 0x080e1000"),
    ],
)
def test_an_image_that_cannot_be_one_is_refused_before_it_starts(
    app: Path, spoil: Callable[[Path], None], message: str
) -> None:
    spoil(app)
    before = sorted(app.parent.iterdir())
    for command in (("run", *WORK, "--target", BOARD), ("conformance", BOARD)):
        error = refusal(*command, "--image", "app.elf")
        assert isinstance(error, UsageError) and error.exit_code == 2
        assert message in error.message and error.message.startswith("app.elf: ")
    assert sorted(app.parent.iterdir()) == before


def test_every_damage_of_an_elf_file_is_a_clear_error(app: Path) -> None:
    target = TargetName("", "stm32f4", "emulated")
    whole = app.read_bytes()  # with symbols and debug information
    for size in (0, 4, 5, 16, 52, 60, 100, len(whole) // 2, len(whole) - 50, len(whole) - 1):
        app.write_bytes(whole[:size])
        with pytest.raises(UsageError, match="ELF file"):
            given_image(target, app)
    app.write_bytes(whole)
    subprocess.run(["arm-none-eabi-strip", "--strip-all", str(app)], check=True)
    whole = app.read_bytes()
    for at in range(4, 52):  # each byte of the file's header
        app.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            given_image(target, app)
        except UsageError as error:
            assert error.message.startswith(str(app))


@pytest.mark.counted
def test_an_image_of_another_board_or_instrument_is_refused_by_what_it_says(app: Path) -> None:
    whole = app.read_bytes()
    assert whole.count(b"stm32f4\0") >= 1
    app.write_bytes(whole.replace(b"stm32f4\0", b"stm32f9\0"))
    for command in (("run", *WORK, "--target", BOARD), ("conformance", BOARD)):
        error = refusal(*command, "--image", "app.elf")
        assert error.exit_code == 2
        assert "says that its board is `stm32f9`, not `stm32f4`" in error.message
    assert not given_folder(app).exists()
    scoped = build("stm32f4", instrument="scope") / "kadenz-suite.elf"
    app.write_bytes(scoped.read_bytes() + b"\0")  # nobody has asked this file before
    error = refusal("run", *WORK, "--target", BOARD, "--image", "app.elf")
    assert error.exit_code == 2 and "built for the instrument `scope`" in error.message
    assert not given_folder(app).exists()
    assert not Path("runs").exists()


@pytest.mark.counted
@pytest.mark.parametrize(
    ("source", "message", "command"),
    [
        ("never_calls_back.c", "scheduler started", ("run", *WORK, "--target", BOARD)),
        ("no_suite.c", "Hello, world", ("conformance", BOARD)),
    ],
)
def test_a_silent_image_is_stopped_with_its_last_output(
    app: Path, source: str, message: str, command: tuple[str, ...]
) -> None:
    """A kernel that never calls the suite; and a stripped program without any suite."""
    compiled(source, app.parent).replace(app)
    if source == "no_suite.c":
        subprocess.run(["arm-none-eabi-strip", "--strip-all", str(app)], check=True)
    before = sorted(app.parent.iterdir())
    answer = kadenz(*command, "--image", "app.elf", "--timeout", "5")
    if isinstance(answer.exception, TargetFailed):
        error = answer.exception
        code, said = error.exit_code, f"{error.detail}\n{error.message}\n{error.remedy}"
    else:
        code, said = answer.return_value, answer.output
    assert code == 1 and message in said
    assert "before its first message" in said and "The suite did not start" in said
    assert sorted(app.parent.iterdir()) == before


def test_a_target_without_a_kernel_needs_an_image_and_an_image_such_a_target(app: Path) -> None:
    bare = refusal("run", *WORK, "--target", BOARD)
    assert bare.exit_code == 2 and "names no kernel" in bare.message and "--image" in bare.remedy
    named = refusal("run", *WORK, "--target", f"freertos/{BOARD}", "--image", "app.elf")
    assert named.exit_code == 2 and f"--target {BOARD}" in named.remedy
    host = refusal("run", *WORK, "--target", "linux@host", "--image", "app.elf")
    assert host.exit_code == 2 and "takes no image of another build" in host.message
    bench = refusal("run", *WORK, "--target", BOARD, "--image", "app.elf", "--bench", "x.c")
    assert bench.exit_code == 2 and "--bench x.c" in bench.message
    tree = refusal("run", *WORK, "--target", BOARD, "--image", "app.elf", "--kernel-source", "x")
    assert tree.exit_code == 2 and "the kernel of --image is not built" in tree.message
    unknown = refusal("run", "itc/queues", "--target", BOARD, "--image", "app.elf")
    assert unknown.exit_code == 2 and "itc/queues" in unknown.message


def test_an_image_that_changes_after_its_check_is_not_measured(app: Path) -> None:
    image = given_image(TargetName("", "stm32f4", "emulated"), app)
    image.require_unchanged()
    app.write_bytes(app.read_bytes() + b"\0")
    with pytest.raises(TargetFailed, match="changed after its check"):
        image.require_unchanged()


def test_every_board_that_takes_images_states_machine_and_memory() -> None:
    for name, board in inventory.boards().items():
        if set(IMAGE_TIERS) & set(board.tier.names()):
            assert board.arch in MACHINES, name
            assert board.memory is not None and board.memory.ranges, name
