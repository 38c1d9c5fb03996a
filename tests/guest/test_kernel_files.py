# SPDX-License-Identifier: Apache-2.0
"""The file of a kernel says what it is, and what it lacks is named before anything boots."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.campaign import GuestSettings
from kadenz.config.target_name import parse_target
from kadenz.errors import UsageError
from kadenz.lab.conditions.guest import GuestChoice
from kadenz.targets.guest_kernel import GivenKernel, files_of, given
from kadenz.targets.kernel_image import built_in_config, read_image
from kadenz.targets.kernel_settings import settings_of
from tests.guest.kernel_files import bzimage, config, image

RT = parse_target("linux-rt/x86_64@guest")
PLAIN = parse_target("linux/x86_64@guest")
ARM = parse_target("linux-rt/aarch64@guest")
RISCV = b"RSC\x05"


def write(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


def kernel(name: str, board: str = "x86_64") -> GivenKernel:
    tier = inventory.board(board).tier.guest
    assert tier is not None
    return given(read_image(Path(name)), tier, inventory.board(board).arch)


@pytest.mark.parametrize(
    ("content", "form", "isa"),
    [
        (bzimage(), "bzImage", "x86_64"),
        (bzimage(is_64=False), "bzImage", "i386"),
        (image(), "Image", "aarch64"),
        (image(RISCV), "Image", "riscv64"),
        (gzip.compress(image(), mtime=0), "Image.gz", "aarch64"),
    ],
    ids=["x86-64", "i386", "arm64", "riscv64", "gz"],
)
def test_an_image_says_its_isa_and_its_version(
    tmp_path: Path, content: bytes, form: str, isa: str
) -> None:
    read = read_image(Path(write(tmp_path, "kernel", content)))
    assert (read.form, read.isa, read.release) == (form, isa, "6.9.1-test")
    assert read.build.startswith("#1 SMP PREEMPT_RT") and read.preempt_rt
    assert read.number == "6.9.1"


@pytest.mark.parametrize(
    ("build", "is_rt"),
    [
        ("#1 SMP PREEMPT_RT Wed", True),
        ("#1 SMP PREEMPT RT Wed", True),  # until 5.x
        ("#1 SMP PREEMPT_DYNAMIC Wed", False),
        ("#1 SMP PREEMPT Wed", False),
        ("#1 SMP IRQPIPE Wed", False),
    ],
)
def test_preempt_rt_is_read_from_the_kernel(tmp_path: Path, build: str, is_rt: bool) -> None:
    assert read_image(Path(write(tmp_path, "a", bzimage(build=build)))).preempt_rt is is_rt


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"#!/bin/sh\necho no kernel\n", "neither a bzImage nor an Image"),
        (b"", "neither a bzImage nor an Image"),
        (b"\x7fELF" + bytes(4000), "an ELF file"),
        (b"\x27\x05\x19\x56" + bytes(4000), "a uImage"),
        (b"MZ\0\0zimg" + bytes(4000), "only EFI unpacks"),
        (bzimage()[:-100], "cut short: 5,020 bytes of 5,120"),
        (bzimage()[:0x220], "cut short"),
        (image()[:-100], "cut short: 4,252 bytes of 4,352"),
        (gzip.compress(image(), mtime=0)[:-30], "cut short"),
        (gzip.compress(image(), mtime=0)[:20] + b"\xff" * 40, "damaged|cut short"),
    ],
    ids=["script", "empty", "elf", "uimage", "efi", "bzimage", "header", "image", "gz", "damage"],
)
def test_a_file_that_is_not_a_whole_kernel_is_refused_by_name(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = write(tmp_path, "kernel", content)
    with pytest.raises(UsageError, match=message) as told:
        read_image(Path(file))
    assert file in told.value.message and told.value.remedy


def test_a_folder_a_pipe_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    for name in (".", "pipe", "missing"):
        with pytest.raises(UsageError, match="the kernel "):
            read_image(tmp_path / name)


def test_no_bytes_of_a_header_are_an_error_of_kadenz(tmp_path: Path) -> None:
    chance = random.Random(7)
    for start in (
        bzimage(settings=config()),
        image(settings=config()),
        gzip.compress(image(), mtime=0),
    ):
        for number in range(150):
            content = bytearray(start)
            for _ in range(chance.randrange(1, 9)):
                content[chance.randrange(min(1100, len(content)))] = chance.randrange(256)
            file = Path(write(tmp_path, f"{len(start)}-{number}", bytes(content)))
            try:
                settings_of(read_image(file))
            except UsageError as error:
                assert error.remedy


def test_a_kernel_goes_to_the_targets_that_it_fits(tmp_path: Path) -> None:
    settings = config()
    x86 = write(tmp_path, "bzImage", bzimage(settings=settings))
    arm = write(tmp_path, "Image", image(settings=settings))
    choice = GuestChoice((x86, arm))
    choice.check([RT, ARM])
    assert [str(guest.kernel.image) for guest in choice.variants(RT)] == [x86]
    assert [str(guest.kernel.image) for guest in choice.variants(ARM)] == [arm]


def test_a_kernel_that_no_target_boots_is_refused_with_one_that_does(tmp_path: Path) -> None:
    plain = write(tmp_path, "bzImage", bzimage(build="#1 SMP PREEMPT_DYNAMIC"))
    with pytest.raises(UsageError, match="has no PREEMPT_RT .*linux-rt/x86_64@guest") as told:
        GuestChoice((plain,)).check([RT])
    assert "6.9.1-test" in told.value.message and plain in told.value.message
    assert "--target linux/x86_64@guest" in told.value.remedy
    rt = write(tmp_path, "rt", bzimage())
    with pytest.raises(UsageError, match="has PREEMPT_RT .*linux/x86_64@guest"):
        GuestChoice((rt,)).check([PLAIN])
    riscv = write(tmp_path, "Image", image(RISCV))
    with pytest.raises(UsageError, match="is for riscv64, and linux-rt/x86_64@guest is x86_64"):
        GuestChoice((riscv,)).check([RT])
    with pytest.raises(UsageError, match="linux-rt/aarch64@guest has none to boot"):
        GuestChoice((rt,)).variants(ARM)
    old = write(tmp_path, "old", bzimage(is_64=False))
    with pytest.raises(UsageError, match="is for i386"):
        GuestChoice((old,)).check([RT])


def test_what_a_kernel_lacks_is_named_before_it_boots(tmp_path: Path) -> None:
    settings = config("DEVTMPFS", SERIAL_8250_CONSOLE="m")
    file = write(tmp_path, "bzImage", bzimage(settings=settings))
    with pytest.raises(UsageError) as told:
        GuestChoice((file,)).variants(RT)
    assert "CONFIG_DEVTMPFS=y: its lines are devices of /dev" in told.value.message
    assert "CONFIG_SERIAL_8250_CONSOLE=y (it is a module" in told.value.message
    assert f"the configuration inside {file}" in told.value.message
    assert "CONFIG_TMPFS" not in told.value.message
    # Another board has another line.
    arm = write(tmp_path, "Image", image(settings=config("SERIAL_AMBA_PL011")))
    with pytest.raises(UsageError, match="CONFIG_SERIAL_AMBA_PL011=y: the console is ttyAMA0"):
        kernel(arm, "aarch64")
    assert kernel(write(tmp_path, "other", bzimage(settings=config("PACKET")))).notes == ()
    with pytest.raises(UsageError, match="CONFIG_PACKET=y: its program sends frames"):
        kernel(str(tmp_path / "other"), "indy7-x86_64")


def test_what_benchmarks_will_lack_is_a_warning_of_the_run(tmp_path: Path) -> None:
    file = write(tmp_path, "bzImage", bzimage(settings=config("POSIX_MQUEUE")))
    (guest,) = GuestChoice((file,)).variants(RT)
    (warning,) = guest.warnings
    assert "no CONFIG_POSIX_MQUEUE (POSIX message queues): " in warning.message
    unknown = write(tmp_path, "unknown", bzimage())
    (guest,) = GuestChoice((unknown,)).variants(RT)
    assert [w.code for w in guest.warnings] == ["guest-kernel"]
    assert "no configuration is inside the kernel" in guest.warnings[0].message


def test_a_configuration_beside_is_used_if_it_is_of_this_kernel(tmp_path: Path) -> None:
    read = read_image(Path(write(tmp_path, "vmlinuz-6.9.1-test", bzimage())))
    assert settings_of(read) is None
    (tmp_path / "config").write_text(config().replace("6.9.1", "6.8.0"))
    assert settings_of(read) is None  # of another version
    (tmp_path / "config").write_text(config(rt=False))
    assert settings_of(read) is None  # of another kind of preemption
    (tmp_path / "config").write_text(config().replace("Linux/x86", "Linux/arm64"))
    assert settings_of(read) is None  # of another architecture
    (tmp_path / "config").write_text(config())
    settings = settings_of(read)
    assert settings is not None and settings.where == str(tmp_path / "config")
    (tmp_path / "config-6.9.1-test").write_text(config("FUTEX"))
    with pytest.raises(UsageError, match="CONFIG_FUTEX=y.*config-6.9.1-test says"):
        kernel(str(tmp_path / "vmlinuz-6.9.1-test"))
    # That inside the image is of this build; a file may be older.
    inside = read_image(Path(write(tmp_path, "b", bzimage(settings=config("TTY")))))
    (tmp_path / "b.config").write_text(config())
    settings = settings_of(inside)
    assert settings is not None and settings.where.startswith("the configuration inside")


def test_the_configuration_of_a_build_tree_is_used(tmp_path: Path) -> None:
    boot = tmp_path / "linux/arch/x86/boot"
    boot.mkdir(parents=True)
    (tmp_path / "linux/.config").write_text(config())
    settings = settings_of(read_image(Path(write(boot, "bzImage", bzimage()))))
    assert settings is not None and settings.where == str(tmp_path / "linux/.config")


@pytest.mark.parametrize("program", ["xz", "bzip2", "zstd", "lz4"])
def test_a_configuration_is_found_in_each_packed_kernel(tmp_path: Path, program: str) -> None:
    import shutil
    import struct
    import subprocess

    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    from tests.guest.kernel_files import inside

    flag = ["-l"] if program == "lz4" else []  # as the kernel's build calls it
    command = [program, *flag, "-c"]
    packed = subprocess.run(command, input=inside(config()), capture_output=True, check=True).stdout
    content = bytearray(bzimage()[:1024] + packed + struct.pack("<I", 12345))
    struct.pack_into("<I", content, 0x1F4, (len(content) - 1024) // 16)
    struct.pack_into("<II", content, 0x248, 0, len(packed) + 4)
    text = built_in_config(Path(write(tmp_path, "kernel", bytes(content))))
    assert text is not None and "CONFIG_DEVTMPFS=y" in text


def test_two_kernels_of_one_version_are_two_conditions(tmp_path: Path) -> None:
    names = [write(tmp_path, name, bzimage(settings=config(X=name))) for name in ("a", "b")]
    guests = GuestChoice(tuple(names)).variants(RT)
    assert len({guest.suffix for guest in guests}) == 2
    values = [guest.entries[0].value for guest in guests]
    assert len({*values}) == 2 and all(value.startswith("6.9.1-test, SHA-256 ") for value in values)
    assert guests[0].labels[0].startswith("kernel a (6.9.1-")
    # The same file under another name is the same condition.
    again = write(tmp_path, "c", Path(names[0]).read_bytes())
    (copy,) = GuestChoice((again,)).variants(RT)
    assert copy.entries[0].value == values[0] and copy.suffix == guests[0].suffix


def test_a_pattern_names_the_kernels_of_a_folder_and_not_what_is_beside(tmp_path: Path) -> None:
    for name in ("vmlinuz-b", "vmlinuz-a", "config-a", "System.map-a", "initrd.img-a", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "modules").mkdir()
    assert [file.name for file in files_of(f"{tmp_path}/*")] == ["vmlinuz-a", "vmlinuz-b"]
    assert files_of("no/pattern") == [Path("no/pattern")]
    with pytest.raises(UsageError, match="no file matches"):
        files_of(f"{tmp_path}/z*")


def test_a_lab_names_kernels_in_its_folder() -> None:
    (option,) = GuestChoice.options
    assert option.notation is not None
    value = option.notation.parse("kernel=6.12,./bzImage,k/*", Path("/lab"))
    assert value.keys == {"kernel": ("6.12", "/lab/bzImage", "/lab/k/*")}


def test_a_campaign_names_kernels_beside_its_file(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    file = write(tmp_path / "kernels", "bzImage", bzimage(settings=config()))
    campaign = tmp_path / "mine.toml"
    campaign.write_text(
        'name = "mine"\ntitle = "t"\ntargets = ["linux-rt/x86_64@guest"]\n'
        '[guest]\nkernels = ["6.12", "kernels/bzImage"]\n'
        '[[benchmark]]\nname = "cyclic/wakeup-latency"\nsamples = 10\n'
    )
    kernels = inventory.read_campaign(campaign).guest.kernels
    assert kernels == ("6.12", file)
    # A file that does not fit a target is left out, as a version is.
    plain = write(tmp_path, "plain", bzimage(build="#1 SMP", settings=config(rt=False)))
    (guest,) = GuestChoice(wanted=GuestSettings(kernels=(plain, file))).variants(RT)
    assert str(guest.kernel.image) == file


def test_modules_are_beside_or_built_in_or_named(tmp_path: Path) -> None:
    file = write(tmp_path, "bzImage", bzimage(settings=config(VETH="y")))
    it = kernel(file)
    assert it.module_files(["veth"]) == [] and it.loaded(["veth", "null_blk"]) == ("null_blk",)
    with pytest.raises(UsageError, match="no module `null_blk`") as told:
        it.module_files(["veth", "null_blk"])
    assert "`modules` beside the kernel" in told.value.remedy
    tree = tmp_path / "lib/modules/6.9.1-test/kernel/drivers/block"
    tree.mkdir(parents=True)
    (tree / "null_blk.ko.xz").touch()
    with pytest.raises(UsageError, match=r"null_blk\.ko\.xz, which is packed") as told:
        it.module_files(["null_blk"])
    assert "Unpack it into `modules`" in told.value.remedy
    (tree / "null_blk.ko").touch()
    assert it.module_files(["null_blk"]) == [tree / "null_blk.ko"]
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/null_blk.ko").touch()
    assert it.module_files(["null_blk"]) == [tmp_path / "modules/null_blk.ko"]


def test_a_disturbance_needs_its_module_beside(tmp_path: Path) -> None:
    file = write(tmp_path, "bzImage", bzimage(settings=config()))
    choice = GuestChoice((file,), disturbance="50us/1001us")
    with pytest.raises(UsageError, match="no module for the kernel") as told:
        choice.variants(RT)
    assert "disturbance.ko" in told.value.remedy
    (tmp_path / "disturbance.ko").touch()
    assert choice.variants(RT)


def test_a_module_that_was_built_for_another_kernel_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "bzImage", bzimage(settings=config()))
    (tmp_path / "modules").mkdir()
    module = tmp_path / "modules/null_blk.ko"
    module.write_bytes(b"\x7fELF\0vermagic=6.9.1-test SMP preempt mod_unload \0")
    assert kernel(file).module_files(["null_blk"]) == [module]
    module.write_bytes(b"\x7fELF\0vermagic=6.12.95 SMP preempt mod_unload \0")
    with pytest.raises(UsageError, match=r"built for Linux 6\.12\.95, and .* is 6\.9\.1-test"):
        kernel(file).module_files(["null_blk"])
    module.rename(tmp_path / "modules/disturbance.ko")
    with pytest.raises(UsageError, match=r"disturbance\.ko: built for Linux 6\.12\.95"):
        GuestChoice((file,), disturbance="50us/1001us").variants(RT)


def test_an_image_gz_that_qemu_does_not_unpack_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "Image.gz", gzip.compress(image(RISCV, settings=config())))
    with pytest.raises(UsageError, match="unpacks no Image.gz for riscv64") as told:
        kernel(file, "riscv64")
    assert "gunzip --keep" in told.value.remedy
    arm = write(tmp_path, "arm.gz", gzip.compress(image(settings=config())))
    assert kernel(arm, "aarch64").release == "6.9.1-test"
