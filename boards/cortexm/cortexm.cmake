# SPDX-License-Identifier: Apache-2.0
# A microcontroller with a Cortex-M core. The chip's file calls kdz_cortexm(IRQS CONSOLE SOURCE...):
# positions of its vector table, its UART (kadenz/console.h), and files with kdz_chip_init and
# kdz_board_fallback_counter. The board's link.ld has the memories flash, plan and sram.
# A board with a Cortex-M0 sets KDZ_BOARD_ARCH to armv6m before it includes this file.
if(NOT KDZ_BOARD_ARCH)
    set(KDZ_BOARD_ARCH armv7m)
endif()
set(cortexm ${CMAKE_CURRENT_LIST_DIR})
include(${kdz_root}/boards/console/console.cmake)

function(kdz_cortexm irqs console)
    target_sources(kadenz-suite PRIVATE ${cortexm}/board.c ${cortexm}/vectors.S ${ARGN})
    kdz_console(${console})
    target_include_directories(kadenz-suite PRIVATE ${cortexm}/include)
    target_compile_definitions(kadenz-suite PRIVATE
        KDZ_BOARD_NAME="${KDZ_BOARD}"
        KDZ_CORTEXM_IRQS=${irqs})
    set(script ${KDZ_BOARD_DIR}/link.ld)
    target_link_options(kadenz-suite PRIVATE -nostartfiles -T${script} -L${cortexm})
    set_property(TARGET kadenz-suite APPEND PROPERTY LINK_DEPENDS ${script} ${cortexm}/sections.ld
        ${cortexm}/kernel_sections.ld)
endfunction()
