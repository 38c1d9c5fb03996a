# SPDX-License-Identifier: Apache-2.0
# VexRiscv in an SoC that LiteX generated, in an FPGA: CPU `vexriscv_smp`, which has SiFive's CLINT. The
# numbers are those of Linux-on-LiteX on a Digilent Arty A7; another SoC's are in its csr.csv and
# csr.h, and a copy of this folder takes them. LiteX was not at hand: facts from generated headers in
# public repositories.
set(KDZ_BOARD_CLINT_ADDRESS 0xf0010000)
include(${kdz_root}/boards/clint/clint.cmake)
kdz_clint(${CMAKE_CURRENT_LIST_DIR}/console.c ${CMAKE_CURRENT_LIST_DIR}/chip.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/include)
target_compile_definitions(kadenz-suite PRIVATE
    KDZ_LITEX_UART=0xf0001000u)  # CSR_UART_BASE
target_compile_definitions(kadenz-board INTERFACE
    KDZ_BOARD_TIMER_HZ=100000000u # CONFIG_CLOCK_FREQUENCY: mtime counts the core clock
    KDZ_BOARD_TICK_HZ=1000u
    KDZ_BOARD_HEAP_BYTES=32768u
    KDZ_MESSAGE_BYTES_MAX=3072u)
