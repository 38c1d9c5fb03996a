# SPDX-License-Identifier: Apache-2.0
"""A kernel configured otherwise than its port needs is refused by the compiler, by name."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.images.needed_settings import needed_settings
from kadenz.tools import require
from kadenz.wire.messages import Conform, End, Hello
from tests.kernels.test_declarations import ARMV7M, PORTS, RISCV, board_values, compiled
from tests.rtos.images import boot, build, freertos

FREERTOS = inventory.root() / "kernels/freertos"
PAGES = {
    "freertos": "how-to/measure-your-own-image.md",
    "cmsis-rtos2": "kernels/cmsis-rtos2.md",
    "threadx": "kernels/threadx.md",
    "zephyr": "kernels/zephyr.md",
}
# Wrong values, where they are not 0 for 1 and 1 for 0.
WRONG = {
    "configMAX_PRIORITIES": "12",
    "configTICK_RATE_HZ": "100",
    "configTIMER_TASK_PRIORITY": "11",
    "configCPU_CLOCK_HZ": "1000000u",
    "configSYSTICK_CLOCK_HZ": "21000000u",
    "configMAX_SYSCALL_INTERRUPT_PRIORITY": "0x90",
    "configKERNEL_INTERRUPT_PRIORITY": "0x70",
    "configMTIME_BASE_ADDRESS": "0x0200bff0",
    "configMTIMECMP_BASE_ADDRESS": "0x02004008",
    "configCLINT_BASE_ADDRESS": "0x02010000",
    "configNUMBER_OF_CORES": "3",
    "vPortSVCHandler": "",  # not defined
    "xPortPendSVHandler": "",
    "xPortSysTickHandler": "",
    "OS_TIMER_THREAD_PRIO": "39",
    "OS_TICK_FREQ": "100",
    "OS_TIMER_CB_QUEUE": "31",
    "OS_ISR_FIFO_QUEUE": "32",
    "TX_MAX_PRIORITIES": "12",
    "CONFIG_MULTITHREADING": "",
    "CONFIG_NUM_PREEMPT_PRIORITIES": "11",
    "CONFIG_PRIORITY_CEILING": "1",
    "CONFIG_SYS_CLOCK_TICKS_PER_SEC": "100",
}
# Settings that need another one beside them to matter.
BESIDE = {
    "CONFIG_TIMESLICING": "#define CONFIG_TIMESLICE_SIZE 10\n",
    "configENABLE_MPU": "#define portUSING_MPU_WRAPPERS 1\n",  # as portmacro.h has it then
}
# FreeRTOS's settings that a user may choose, each with another value than kadenz's.
FREE = {
    "configCHECK_FOR_STACK_OVERFLOW": "2",
    "configENABLE_BACKWARD_COMPATIBILITY": "1",
    "configGENERATE_RUN_TIME_STATS": "1",
    "configIDLE_SHOULD_YIELD": "0",
    "configMAX_TASK_NAME_LEN": "16",
    "configMINIMAL_STACK_SIZE": "140",
    "configPRIO_BITS": "4",  # of the chip
    "configQUEUE_REGISTRY_SIZE": "4",
    "configSUPPORT_STATIC_ALLOCATION": "1",
    "configTIMER_QUEUE_LENGTH": "8",
    "configTIMER_TASK_STACK_DEPTH": "200",
    "configTOTAL_HEAP_SIZE": "((size_t)40000)",
    "configUSE_MALLOC_FAILED_HOOK": "1",
    "configUSE_PORT_OPTIMISED_TASK_SELECTION": "1",
    "configUSE_QUEUE_SETS": "1",
    "configUSE_RECURSIVE_MUTEXES": "1",
    "configUSE_TICKLESS_IDLE": "1",
    "configUSE_TICK_HOOK": "1",
    "configUSE_TIMERS": "0",
    "configUSE_TRACE_FACILITY": "1",
    "INCLUDE_vTaskDelay": "0",
    "INCLUDE_xTaskGetSchedulerState": "0",
}


def needed(kernel: str) -> dict[str, str]:
    """The settings that a port needs, by the texts of its sources."""
    return needed_settings(f.read_text() for f in (FREERTOS.parent / kernel).rglob("*.[ch]"))


def name_of(setting: str) -> str:
    """ "configMAX_PRIORITIES" of "configMAX_PRIORITIES 13 or more"."""
    return re.split(r"[ =]", setting)[0]


def wrong(setting: str) -> str:
    """What a configuration has that sets it otherwise."""
    name = name_of(setting)
    value = WRONG.get(name, "0" if re.search(r"[ =]1$", setting) else "1")
    define = f"#define {name} {value}\n" if value else ""
    return f"#undef {name}\n{define}{BESIDE.get(name, '')}"


@pytest.mark.parametrize("kernel", PAGES)
def test_the_page_lists_the_settings_that_the_port_needs(kernel: str) -> None:
    page = (inventory.root() / "docs" / PAGES[kernel]).read_text()
    section = page.partition("## Settings that the suite needs\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", section, re.M))
    assert rows == needed(kernel)
    assert len(rows) >= 3


# ---- FreeRTOS ------------------------------------------------------------------------------------
# Files of the port in which something is needed, by the kind of board.
ONE_CORE = ("start.c", "threads.c", "one_core.c", "cortexm/interrupt.c", "delay.c")
OLD = ("delay_before_v10_4_2.c",)
TIMER = ("riscv/needed_clint.c",)
SEVERAL_CORES = ("several_cores.c", "start.c")
CLINT = "0x02000000"
MORE = {
    TIMER: (
        f"-DKDZ_FREERTOS_CLINT={CLINT}",
        f"-DconfigMTIME_BASE_ADDRESS={CLINT}+0xbff8",
        f"-DconfigMTIMECMP_BASE_ADDRESS={CLINT}+0x4000",
    ),
    SEVERAL_CORES: ("-DKDZ_BOARD_CORES=2",),
    OLD: ("-DINCLUDE_vTaskDelayUntil=1",),
}


def files_of(setting: str) -> tuple[str, ...]:
    """The files that a wrong value is compiled with."""
    for files in (ONE_CORE, OLD, TIMER, SEVERAL_CORES):
        texts = (FREERTOS / file for file in files)
        if setting in needed_settings(file.read_text() for file in texts):
            return files
    return ONE_CORE  # of a header that each file of the port includes


def refusals(files: tuple[str, ...], folder: Path, change: str = "") -> str:
    """Messages of the compiler for these files of the port; `change` ends FreeRTOSConfig.h."""
    root, core = inventory.root(), RISCV if files in (TIMER, SEVERAL_CORES) else ARMV7M
    config = FREERTOS / "include/FreeRTOSConfig.h"
    (folder / "FreeRTOSConfig.h").write_text(f'#include "{config}"\n{change}')
    include = [folder, FREERTOS, freertos() / "include", root / "suite/include"]
    include += [root / "instruments/scope", *arch_folders(files)]
    command = [str(require(core.compiler)), *core.flags, "--specs=picolibc.specs", "-std=c11"]
    command += ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", *board_values(core.board)]
    command += [*MORE.get(files, ()), "-DKDZ_FREERTOS_CHECKS=0"]
    if files not in (OLD,):
        command += ["-DINCLUDE_xTaskDelayUntil=1"]
    command += [f"-I{path}" for path in include]
    command += [str(FREERTOS / file) for file in files]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert bool(answer.returncode) == bool(answer.stderr), answer.stderr
    return answer.stderr


def arch_folders(files: tuple[str, ...]) -> list[Path]:
    """Of the kernel's port and of kadenz's, for the architecture of these files."""
    portable, root = freertos() / "portable/GCC", inventory.root()
    if files == SEVERAL_CORES:
        return [FREERTOS / "riscv/smp", root / "arch/riscv/include"]
    if files == TIMER:
        chip = portable / "RISC-V/chip_specific_extensions/RISCV_MTIME_CLINT_no_extensions"
        return [FREERTOS / "riscv", portable / "RISC-V", chip, root / "arch/riscv/include"]
    return [FREERTOS / "armv7m", portable / "ARM_CM4F"]


@pytest.mark.counted
@pytest.mark.parametrize("files", [ONE_CORE, TIMER, SEVERAL_CORES], ids=lambda files: files[0])
def test_kadenzs_own_configuration_is_what_the_port_needs(
    files: tuple[str, ...], tmp_path: Path
) -> None:
    assert refusals(files, tmp_path) == ""


@pytest.mark.counted
@pytest.mark.parametrize("setting", needed("freertos"))
def test_a_wrong_setting_of_freertos_is_refused_by_its_name(setting: str, tmp_path: Path) -> None:
    assert f"needed: {setting}: " in refusals(files_of(setting), tmp_path, wrong(setting))


@pytest.mark.counted
@pytest.mark.parametrize(
    "change",
    [
        "extern uint32_t clock;\n#undef configCPU_CLOCK_HZ\n#define configCPU_CLOCK_HZ (clock)\n",
        "#undef configMAX_SYSCALL_INTERRUPT_PRIORITY\n"
        "#define configMAX_SYSCALL_INTERRUPT_PRIORITY (5 << (8 - configPRIO_BITS))\n",
        "#undef configTICK_RATE_HZ\n#define configTICK_RATE_HZ ((TickType_t)1000)\n",
        "#undef configUSE_16_BIT_TICKS\n"
        "#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS\n",
        "#undef vPortSVCHandler\n#define KDZ_OWN_VECTORS\n",
    ],
)
def test_the_same_in_another_notation_is_taken(change: str, tmp_path: Path) -> None:
    assert refusals(ONE_CORE, tmp_path, change) == ""


def test_every_setting_of_kadenzs_configuration_is_needed_or_free() -> None:
    texts = [file.read_text() for file in FREERTOS.rglob("*[cC]onfig.h")]
    names = {
        name for text in texts for name in re.findall(r"#define (config\w+|INCLUDE_\w+)", text)
    }
    assert len(names) > 40
    required = {name_of(setting) for setting in needed("freertos")}
    assert not required & FREE.keys()
    unknown = names - required - FREE.keys()
    # Without effect: the macro of an assertion, and features whose files are not compiled.
    assert unknown == {
        "configASSERT",
        "configUSE_CO_ROUTINES",
        "configUSE_TASK_PREEMPTION_DISABLE",
        "configTIMER_SERVICE_TASK_CORE_AFFINITY",
        "configTICK_CORE",
    }


# What a project adds that has these settings.
WITH_FREE = """\
#undef configTICK_RATE_HZ
#define configTICK_RATE_HZ 2000
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define portCONFIGURE_TIMER_FOR_RUN_TIME_STATS()
#define portGET_RUN_TIME_COUNTER_VALUE() 0
"""
HOOKS = """\
void vApplicationTickHook(void) {}
void vApplicationMallocFailedHook(void) {}
"""


@pytest.mark.counted
def test_free_settings_may_have_other_values() -> None:
    """All of them at once: the port keeps its promises, and periodic benchmarks their periods."""
    port = inventory.root() / "build/tests/free-settings"
    shutil.copytree(FREERTOS, port, dirs_exist_ok=True)
    lines = [f"#undef {name}\n#define {name} {value}\n" for name, value in FREE.items()]
    head, end, tail = (FREERTOS / "include/FreeRTOSConfig.h").read_text().rpartition("#endif")
    config = head + "".join(lines) + WITH_FREE + end + tail
    rules = (FREERTOS / "kernel.cmake").read_text()
    rules += "target_sources(freertos PRIVATE ${CMAKE_CURRENT_LIST_DIR}/hooks.c)\n"
    texts = {"include/FreeRTOSConfig.h": config, "kernel.cmake": rules, "hooks.c": HOOKS}
    for name, text in texts.items():
        (port / name).write_text(text)
    folder = build("stm32f4", "free-settings", options=(("KDZ_KERNEL_DIR", str(port)),))
    said = boot(folder, "stm32f4", "conformance\ncyclic/wakeup-latency id=1 samples=20\nend\n")
    assert [case for case in said.all(Conform) if case.result == "fail"] == []
    assert said.only(End).status == "ok", said.only(End)
    settings = said.only(Hello).settings
    assert {settings["tickless_idle"], settings["queue_sets"]} == {"on"}


# ---- kernels that are in no registry -------------------------------------------------------------
HEADERS = {"cmsis-rtos2": "RTX_Config.h", "threadx": "tx_api.h", "zephyr": "zephyr/kernel.h"}


@pytest.mark.counted
@pytest.mark.parametrize(
    ("kernel", "setting"), [(kernel, setting) for kernel in HEADERS for setting in needed(kernel)]
)
def test_a_wrong_setting_of_another_kernel_is_refused_by_its_name(
    kernel: str, setting: str, tmp_path: Path
) -> None:
    (port,) = [
        candidate
        for candidate in PORTS
        if candidate.kernel == kernel and (candidate.core == ARMV7M or kernel == "zephyr")
    ]
    changed = tmp_path / "changed.h"
    changed.write_text(f"#include <{HEADERS[kernel]}>\n{wrong(setting)}")
    said = compiled(port, tmp_path, "-include", str(changed))
    assert any(f"needed: {setting}: " in line for line in said), said
