# SPDX-License-Identifier: Apache-2.0
# Arm MPS2, image AN386.
set(KDZ_BOARD_ARCH armv7m)
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/board.c
    ${CMAKE_CURRENT_LIST_DIR}/vectors.S)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
target_link_options(kadenz-suite PRIVATE -nostartfiles -T${CMAKE_CURRENT_LIST_DIR}/link.ld)
target_compile_definitions(kadenz-board INTERFACE
    KDZ_BOARD_TIMER_HZ=25000000u
    KDZ_BOARD_TICK_HZ=1000u
    KDZ_BOARD_PRIORITY_BITS=4
    KDZ_BOARD_KERNEL_PRIORITY_LIMIT=0x50u
    KDZ_BOARD_IRQ_PRIORITY=0x80u
    KDZ_BOARD_HEAP_BYTES=32768u
    KDZ_MESSAGE_BYTES_MAX=3072u)
