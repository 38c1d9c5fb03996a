# SPDX-License-Identifier: Apache-2.0
# Arm MPS2 with image AN386 (Arm DAI 0386): a Cortex-M4F at 25 MHz, UART0.
include(${kdz_root}/boards/cortexm/cortexm.cmake)
set(irq 31)
set(device "")
if(NOT KDZ_INSTRUMENT STREQUAL "scope") # whose stamps tell no time
    set(irq 8) # of timer 0
    set(device ${CMAKE_CURRENT_LIST_DIR}/device.c)
endif()
kdz_cortexm(32 ${CMAKE_CURRENT_LIST_DIR}/console.c ${CMAKE_CURRENT_LIST_DIR}/chip.c ${device})
target_compile_definitions(kadenz-board INTERFACE
    # Priorities are 3 bits of the 8. Interrupts 16 to 31 are those of pins, which stay disabled; 31 is
    # the software interrupt, or 8, which timer 0 can raise, too; 29 and 30 are for a kernel that
    # dispatches its tasks by interrupts.
    KDZ_BOARD_PRIORITY_BITS=3
    KDZ_BOARD_KERNEL_PRIORITY_LIMIT=0x40
    KDZ_BOARD_IRQ=${irq}
    KDZ_BOARD_IRQ_PRIORITY=0x80
    KDZ_BOARD_DISPATCH_IRQ=29
    KDZ_BOARD_TIMER_HZ=25000000u # SYSCLK (section 3.4)
    KDZ_BOARD_TICK_HZ=1000u
    KDZ_BOARD_HEAP_BYTES=32768u
    KDZ_MESSAGE_BYTES_MAX=3072u)
