# SPDX-License-Identifier: Apache-2.0
# What the build has to know about the board.
set(KDZ_BOARD_ARCH armv7m)
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/board.c
    ${CMAKE_CURRENT_LIST_DIR}/vectors.S)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
target_link_options(kadenz-suite PRIVATE -nostartfiles -T${CMAKE_CURRENT_LIST_DIR}/link.ld)
set_property(TARGET kadenz-suite APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/link.ld)

target_compile_definitions(kadenz-board INTERFACE
    KDZ_BOARD_TIMER_HZ=16000000u   # the timer that the kernel's tick divides
    KDZ_BOARD_TICK_HZ=1000u        # must divide it: an inexact tick makes every period wrong
    KDZ_BOARD_PRIORITY_BITS=4      # Armv7-M: bits of an interrupt priority that the chip has
    KDZ_BOARD_KERNEL_PRIORITY_LIMIT=0x50 # handlers from here on (less urgent) may call the kernel
    KDZ_BOARD_IRQ=0                # the number of the software interrupt
    KDZ_BOARD_IRQ_PRIORITY=0x80    # it may call the kernel
    KDZ_BOARD_HEAP_BYTES=32768u    # for the threads and objects of a kernel that allocates
    KDZ_MESSAGE_BYTES_MAX=3072u)   # largest message of itc/: three buffers of it are reserved
