# SPDX-License-Identifier: Apache-2.0
# Nordic nRF52840 DK (PCA10056): 64 MHz, the J-Link's virtual COM port on P0.06 and P0.08.
include(${kdz_root}/boards/cortexm/cortexm.cmake)
set(nrf ${kdz_root}/boards/nrf)
kdz_cortexm(48 ${nrf}/console.c ${nrf}/chip.c ${cortexm}/no_timer.c) # SPIM3 is position 47, the last
target_compile_definitions(kadenz-suite PRIVATE
    KDZ_NRF_HAS_CACHE=1
    KDZ_NRF_TX=6u
    KDZ_NRF_RX=8u)
target_compile_definitions(kadenz-board INTERFACE
    # Priorities are 3 bits of the 8. The software interrupt is that of SWI0, which no device
    # raises; those of SWI1 and SWI2 are for a kernel that dispatches its tasks by interrupts.
    KDZ_BOARD_PRIORITY_BITS=3
    KDZ_BOARD_KERNEL_PRIORITY_LIMIT=0x40
    KDZ_BOARD_IRQ=20
    KDZ_BOARD_IRQ_PRIORITY=0x80
    KDZ_BOARD_DISPATCH_IRQ=21
    KDZ_BOARD_TIMER_HZ=64000000u
    KDZ_BOARD_TICK_HZ=1000u
    KDZ_BOARD_HEAP_BYTES=32768u
    KDZ_MESSAGE_BYTES_MAX=3072u)
