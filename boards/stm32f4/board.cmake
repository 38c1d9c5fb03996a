# SPDX-License-Identifier: Apache-2.0
# STM32F405 board: what the build has to know about it.
set(KDZ_BOARD_ARCH armv7m)
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/board.c
    ${CMAKE_CURRENT_LIST_DIR}/clocks.c
    ${CMAKE_CURRENT_LIST_DIR}/vectors.S)
include(${kdz_root}/boards/console/console.cmake)
kdz_console(${CMAKE_CURRENT_LIST_DIR}/console.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
target_link_options(kadenz-suite PRIVATE -nostartfiles -T${CMAKE_CURRENT_LIST_DIR}/link.ld)
set_property(TARGET kadenz-suite APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/link.ld)

target_compile_definitions(kadenz-board INTERFACE
    # SysTick counts the core clock; the studies' tick is 1 ms (mazzi2021, section 4.3).
    KDZ_BOARD_TIMER_HZ=168000000u
    KDZ_BOARD_TICK_HZ=1000u
    # Interrupt priorities are 4 bits of the 8 (RM0090, section 12.1); a larger number is less
    # urgent. Handlers from the limit on may call the kernel, the software interrupt's is one: EXTI
    # line 0's, position 6 of table 61. Plain numbers, for kernels that put them in assembler.
    KDZ_BOARD_PRIORITY_BITS=4
    KDZ_BOARD_KERNEL_PRIORITY_LIMIT=0x50
    KDZ_BOARD_IRQ=6
    KDZ_BOARD_IRQ_PRIORITY=0x80
    # The first of two interrupts for a kernel that dispatches its tasks by them (vectors.S).
    KDZ_BOARD_DISPATCH_IRQ=7
    # Memory for the threads and objects of a kernel that allocates.
    KDZ_BOARD_HEAP_BYTES=32768u
    # Largest message of itc/.
    KDZ_MESSAGE_BYTES_MAX=3072u)
