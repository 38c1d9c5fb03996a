# SPDX-License-Identifier: Apache-2.0
# ST Nucleo-L432KC (MB1180): 32768 Hz at LSE, the ST-LINK's virtual COM port on USART2, PA2 and PA15.
# UM1956 and RM0394 were not at hand: facts from Zephyr's device tree and public headers.
include(${kdz_root}/boards/stm32/stm32.cmake)
kdz_stm32(l4 83 ${cortexm}/no_timer.c) # CRS is position 82, the last
target_compile_definitions(kadenz-suite PRIVATE
    KDZ_STM32_PLL_N=40u
    KDZ_STM32_WAIT_STATES=4u
    KDZ_STM32_USART=0x40004400u
    KDZ_STM32_USART_ENABLE=0x58u,17u
    KDZ_STM32_USART_HZ=80000000u
    KDZ_STM32_TX=0u,2u,7u
    KDZ_STM32_RX=0u,15u,3u)
target_compile_definitions(kadenz-board INTERFACE
    KDZ_BOARD_TIMER_HZ=80000000u # the chip's highest
    KDZ_BOARD_HEAP_BYTES=16384u
    KDZ_MESSAGE_BYTES_MAX=3072u)
