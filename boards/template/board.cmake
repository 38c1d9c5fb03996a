# SPDX-License-Identifier: Apache-2.0
# What the build has to know about the board. 82: positions of the chip's vector table.
include(${kdz_root}/boards/cortexm/cortexm.cmake)
kdz_cortexm(82 ${CMAKE_CURRENT_LIST_DIR}/console.c ${CMAKE_CURRENT_LIST_DIR}/chip.c)

target_compile_definitions(kadenz-board INTERFACE
    KDZ_BOARD_TIMER_HZ=16000000u   # the core clock, which SysTick counts
    KDZ_BOARD_TICK_HZ=1000u        # must divide it: an inexact tick makes every period wrong
    KDZ_BOARD_PRIORITY_BITS=4      # bits of an interrupt priority that the chip has
    KDZ_BOARD_KERNEL_PRIORITY_LIMIT=0x50 # handlers from here on (less urgent) may call the kernel
    KDZ_BOARD_IRQ=0                # position of the software interrupt: of a device that stays off
    KDZ_BOARD_IRQ_PRIORITY=0x80    # it may call the kernel
    KDZ_BOARD_DISPATCH_IRQ=1       # the first of two more, for a kernel that dispatches by interrupts
    KDZ_BOARD_HEAP_BYTES=32768u    # for the threads and objects of a kernel that allocates
    KDZ_MESSAGE_BYTES_MAX=3072u)   # largest message of itc/: three buffers of it are reserved
