# SPDX-License-Identifier: Apache-2.0
# BBC micro:bit V1 as QEMU has it: an nRF51822, Cortex-M0 at 16 MHz, its UART on P0.24 and P0.25.
set(KDZ_BOARD_ARCH armv6m)
include(${kdz_root}/boards/cortexm/cortexm.cmake)
set(nrf ${kdz_root}/boards/nrf)
kdz_cortexm(32 ${nrf}/console.c ${nrf}/chip.c ${cortexm}/no_timer.c)
target_compile_definitions(kadenz-suite PRIVATE
    KDZ_NRF_HAS_CACHE=0
    KDZ_NRF_TX=24u
    KDZ_NRF_RX=25u)
target_compile_definitions(kadenz-board INTERFACE
    # Priorities are 2 bits of the 8; the kernel masks them all. The software interrupt is that of
    # SWI0, which no device raises; those of SWI1 and SWI2 are for a kernel that dispatches its tasks
    # by interrupts.
    KDZ_BOARD_PRIORITY_BITS=2
    KDZ_BOARD_IRQ=20
    KDZ_BOARD_IRQ_PRIORITY=0x80
    KDZ_BOARD_DISPATCH_IRQ=21
    KDZ_BOARD_TIMER_HZ=16000000u
    KDZ_BOARD_TICK_HZ=1000u
    # Out of 16 KiB, as on the HiFive1.
    KDZ_BOARD_HEAP_BYTES=6560u
    KDZ_MESSAGE_BYTES_MAX=600u)
