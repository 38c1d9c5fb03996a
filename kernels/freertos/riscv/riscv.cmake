# SPDX-License-Identifier: Apache-2.0
# FreeRTOS's port for RISC-V. Its names moved over the versions: each is looked up in the tree.
set(freertos_port ${freertos}/portable/GCC/RISC-V)
target_sources(freertos PRIVATE ${freertos_port}/port.c ${freertos_port}/portASM.S)
target_include_directories(freertos SYSTEM PUBLIC ${freertos_port})
target_compile_definitions(kadenz-suite PRIVATE
    KDZ_FREERTOS_PORT="GCC/RISC-V"
    KDZ_FREERTOS_CLINT=${KDZ_BOARD_CLINT_ADDRESS})
target_link_options(kadenz-suite PRIVATE
    -Wl,--defsym=kdz_riscv_handler=freertos_risc_v_trap_handler)

# Registers of the chip beyond the standard ones: none.
foreach(extension RISCV_MTIME_CLINT_no_extensions RV32I_CLINT_no_extensions)
    if(EXISTS ${freertos_port}/chip_specific_extensions/${extension})
        target_include_directories(freertos SYSTEM PUBLIC
            ${freertos_port}/chip_specific_extensions/${extension})
        break()
    endif()
endforeach()

# mtime and mtimecmp: two addresses from V10.3.0 on, the CLINT's base before.
file(STRINGS ${freertos_port}/port.c knows_mtime REGEX "configMTIME_BASE_ADDRESS")
if(knows_mtime)
    target_compile_definitions(freertos PUBLIC
        configMTIME_BASE_ADDRESS=${KDZ_BOARD_CLINT_ADDRESS}+0xbff8
        configMTIMECMP_BASE_ADDRESS=${KDZ_BOARD_CLINT_ADDRESS}+0x4000)
else()
    target_compile_definitions(freertos PUBLIC
        configCLINT_BASE_ADDRESS=${KDZ_BOARD_CLINT_ADDRESS})
endif()

# The hook for interrupts other than the tick, and for exceptions, came with V10.5.0. Before, the
# port knows the timer's and the external interrupt only, so the software interrupt is n/a.
file(STRINGS ${freertos_port}/portASM.S has_hooks REGEX "freertos_risc_v_application_interrupt_handler")
if(has_hooks)
    target_sources(kadenz-suite PRIVATE
        ${CMAKE_CURRENT_LIST_DIR}/interrupt.c
        ${CMAKE_CURRENT_LIST_DIR}/exception.c)
else()
    target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/interrupt_before_v10_5.c)
    target_compile_definitions(freertos PRIVATE
        portasmHANDLE_INTERRUPT=kdz_freertos_external_interrupt)
endif()
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/needed_clint.c ${KDZ_ARCH_TICK_DUE})
