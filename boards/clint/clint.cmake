# SPDX-License-Identifier: Apache-2.0
# A microcontroller with a RISC-V core and SiFive's CLINT at KDZ_BOARD_CLINT_ADDRESS. The chip's file
# calls kdz_clint(CONSOLE SOURCE...): its UART (kadenz/console.h), and files with kdz_chip_init. The
# board's link.ld has the memories flash, plan and sram.
set(KDZ_BOARD_ARCH riscv)
set(clint ${CMAKE_CURRENT_LIST_DIR})
include(${kdz_root}/boards/console/console.cmake)

function(kdz_clint console)
    target_sources(kadenz-suite PRIVATE ${clint}/board.c ${ARGN})
    kdz_console(${console})
    target_compile_definitions(kadenz-suite PRIVATE
        KDZ_BOARD_NAME="${KDZ_BOARD}"
        KDZ_BOARD_CLINT=${KDZ_BOARD_CLINT_ADDRESS}u)
    set(script ${KDZ_BOARD_DIR}/link.ld)
    target_link_options(kadenz-suite PRIVATE -nostartfiles -T${script} -L${clint})
    set_property(TARGET kadenz-suite APPEND PROPERTY LINK_DEPENDS ${script} ${clint}/sections.ld)
endfunction()
