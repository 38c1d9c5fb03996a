# SPDX-License-Identifier: Apache-2.0
# FreeRTOS's SMP kernel on the cores of a board that implements cores.h.
set(smp ${CMAKE_CURRENT_LIST_DIR})
file(STRINGS ${freertos}/tasks.c knows_cores REGEX "configNUMBER_OF_CORES")
if(NOT knows_cores)
    message(FATAL_ERROR "the FreeRTOS kernel in '${freertos}' runs one core, and the board "
        "${KDZ_BOARD} has ${KDZ_BOARD_CORES}. Take V11.0.0 or later, or a board with one core.")
endif()

target_sources(freertos PRIVATE ${smp}/port.c ${smp}/portASM.S)
target_include_directories(freertos PUBLIC ${smp})
target_include_directories(freertos PRIVATE
    ${kdz_root}/suite/include ${kdz_root}/arch/${KDZ_BOARD_ARCH}/include)
target_compile_definitions(freertos PUBLIC
    KDZ_BOARD_CORES=${KDZ_BOARD_CORES}
    configMTIME_BASE_ADDRESS=${KDZ_BOARD_CLINT_ADDRESS}+0xbff8
    configMTIMECMP_BASE_ADDRESS=${KDZ_BOARD_CLINT_ADDRESS}+0x4000)
target_compile_definitions(kadenz-suite PRIVATE KDZ_FREERTOS_PORT="kadenz, riscv/smp")
target_link_options(kadenz-suite PRIVATE -Wl,--defsym=kdz_riscv_handler=kdz_smp_trap)
target_sources(kadenz-suite PRIVATE
    ${smp}/interrupt.c
    ${smp}/../exception.c
    ${KDZ_ARCH_TICK_DUE})
