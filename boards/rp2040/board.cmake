# SPDX-License-Identifier: Apache-2.0
# Raspberry Pi Pico: an RP2040 with a Cortex-M0+ at 125 MHz, 12 MHz at XIN, UART0 on GPIO 0 and 1.
set(KDZ_BOARD_ARCH armv6m)
include(${kdz_root}/boards/cortexm/cortexm.cmake)
kdz_cortexm(32 ${CMAKE_CURRENT_LIST_DIR}/console.c ${CMAKE_CURRENT_LIST_DIR}/chip.c
    ${CMAKE_CURRENT_LIST_DIR}/entry.S)
target_compile_definitions(kadenz-board INTERFACE
    # Priorities are 2 bits of the 8; the kernel masks them all. Interrupts 26 to 31 are no device's
    # (data sheet, 2.3.2): 26 is the software interrupt, 27 and 28 are for a kernel that dispatches
    # its tasks by interrupts.
    KDZ_BOARD_PRIORITY_BITS=2
    KDZ_BOARD_IRQ=26
    KDZ_BOARD_IRQ_PRIORITY=0x80
    KDZ_BOARD_DISPATCH_IRQ=27
    KDZ_BOARD_TIMER_HZ=125000000u
    KDZ_BOARD_TICK_HZ=1000u
    KDZ_BOARD_HEAP_BYTES=32768u
    KDZ_MESSAGE_BYTES_MAX=3072u)
