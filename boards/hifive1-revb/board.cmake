# SPDX-License-Identifier: Apache-2.0
# SiFive HiFive1 Rev B: what the build has to know about the board.
set(KDZ_BOARD_ARCH riscv)
set(KDZ_BOARD_CLINT_ADDRESS 0x02000000) # FE310-G002 Manual v1p5, chapter 9
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/board.c
    ${CMAKE_CURRENT_LIST_DIR}/clocks.c)
include(${kdz_root}/boards/console/console.cmake)
kdz_console(${CMAKE_CURRENT_LIST_DIR}/console.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
target_link_options(kadenz-suite PRIVATE -nostartfiles -T${CMAKE_CURRENT_LIST_DIR}/link.ld)
set_property(TARGET kadenz-suite APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/link.ld)

target_compile_definitions(kadenz-board INTERFACE
    # mtime counts the 32768 Hz crystal. 1024 Hz divides it exactly; 1000 Hz would not.
    KDZ_BOARD_TIMER_HZ=32768u
    KDZ_BOARD_TICK_HZ=1024u
    # Memory for the threads and objects of a kernel that allocates, out of 16 KiB: the most that
    # the suite ever holds are the seven tasks of hartstone/ with 512 bytes of stack each.
    KDZ_BOARD_HEAP_BYTES=6656u
    # Largest message of itc/: the 600 bytes of yoo2024.
    KDZ_MESSAGE_BYTES_MAX=600u)
