# SPDX-License-Identifier: Apache-2.0
# A RISC-V core in the SoC of instruments/rtl. A board sets KDZ_BOARD_CLINT_ADDRESS and calls
# kdz_softcore(NAME UART FINISHER [CORES N LOCKS ADDRESS]). KDZ_BOARD_MAP names another map: link-<map>.ld.
set(KDZ_BOARD_ARCH riscv)
set(softcore ${CMAKE_CURRENT_LIST_DIR})
include(${kdz_root}/boards/console/console.cmake)

function(kdz_softcore name uart finisher)
    cmake_parse_arguments(PARSE_ARGV 3 board "" "CORES;LOCKS" "")
    target_sources(kadenz-suite PRIVATE ${softcore}/board.c ${softcore}/jump.S)
    if(board_CORES)
        target_sources(kadenz-suite PRIVATE ${softcore}/cores.c ${softcore}/cores.S)
        target_compile_definitions(kadenz-suite PRIVATE
            KDZ_SOFTCORE_LOCKS=${board_LOCKS}u
            KDZ_SOFTCORE_CORES=${board_CORES}u)
        # A lane a core, and three companions beside each: the cycle, and where it began and ended.
        math(EXPR lanes "4 * ${board_CORES}")
        target_compile_definitions(kadenz-board INTERFACE KDZ_LANES_MAX=${lanes})
        set(KDZ_BOARD_CORES ${board_CORES} PARENT_SCOPE) # a kernel for several cores: cores.h
    else()
        target_sources(kadenz-suite PRIVATE ${softcore}/one_core.c ${softcore}/device.c)
        # Of a port's pool: those of a benchmark, and two states of `kadenz worst`.
        target_compile_definitions(kadenz-board INTERFACE KDZ_THREADS_MAX=20)
    endif()
    if(NOT KDZ_CONSOLE STREQUAL "uart")
        kdz_console("") # through a debugger
    endif()
    target_include_directories(kadenz-suite PRIVATE ${softcore}/include)
    set(script ${KDZ_BOARD_DIR}/link$<$<BOOL:${KDZ_BOARD_MAP}>:-${KDZ_BOARD_MAP}>.ld)
    target_link_options(kadenz-suite PRIVATE -nostartfiles -T${script} -L${softcore})
    set_property(TARGET kadenz-suite APPEND PROPERTY LINK_DEPENDS ${script} ${softcore}/sections.ld)
    target_compile_definitions(kadenz-suite PRIVATE
        KDZ_SOFTCORE_NAME="${name}"
        KDZ_SOFTCORE_DEBUGGER=$<NOT:$<STREQUAL:${KDZ_CONSOLE},uart>>
        KDZ_SOFTCORE_CLINT=${KDZ_BOARD_CLINT_ADDRESS}u
        KDZ_SOFTCORE_UART=${uart}u
        KDZ_SOFTCORE_FINISHER=${finisher}u
        # Of [tier.rtl] in board.toml, by the lab; 0 in a build that knows nothing of it.
        KDZ_SOFTCORE_TIMER_DIVIDER=$<IF:$<BOOL:${KDZ_TIMER_DIVIDER}>,${KDZ_TIMER_DIVIDER},0>u)
    target_compile_definitions(kadenz-board INTERFACE
        # mtime counts 10 MHz, a tenth of the core's nominal clock.
        KDZ_BOARD_TIMER_HZ=10000000u
        KDZ_BOARD_TICK_HZ=1000u
        # Memory for the threads and objects of a kernel that allocates.
        KDZ_BOARD_HEAP_BYTES=32768u
        # Largest message of itc/.
        KDZ_MESSAGE_BYTES_MAX=3072u)
endfunction()
