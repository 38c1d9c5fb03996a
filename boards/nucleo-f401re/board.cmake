# SPDX-License-Identifier: Apache-2.0
# ST Nucleo-F401RE (MB1136): 8 MHz from the ST-LINK at HSE, its virtual COM port on USART2, PA2 and
# PA3. UM1724 and RM0368 were not at hand: facts from Zephyr's device tree and ST's headers.
include(${kdz_root}/boards/stm32/stm32.cmake)
kdz_stm32(f4 85 ${stm32}/f4/timer.c) # SPI4 is position 84, the last
target_compile_definitions(kadenz-suite PRIVATE
    KDZ_STM32_HSE_MHZ=8u
    KDZ_STM32_HSE_BYPASS=1
    KDZ_STM32_PLL_N=336u
    KDZ_STM32_PLL_P=4u
    KDZ_STM32_VOS=2u         # scale 2, up to 84 MHz
    KDZ_STM32_WAIT_STATES=2u
    KDZ_STM32_APB1_BY=2u     # 42 MHz at most, APB2 84 MHz
    KDZ_STM32_APB2_BY=1u
    KDZ_STM32_USART=0x40004400u
    KDZ_STM32_USART_ENABLE=0x40u,17u
    KDZ_STM32_USART_HZ=42000000u
    KDZ_STM32_TX=0u,2u,7u
    KDZ_STM32_RX=0u,3u,7u)
target_compile_definitions(kadenz-board INTERFACE
    KDZ_BOARD_TIMER_HZ=84000000u # kioxia2019 gives none; the chip's highest
    KDZ_BOARD_HEAP_BYTES=32768u
    KDZ_MESSAGE_BYTES_MAX=3072u)
