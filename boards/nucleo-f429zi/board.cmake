# SPDX-License-Identifier: Apache-2.0
# ST Nucleo-F429ZI (MB1137): 8 MHz from the ST-LINK at HSE, its virtual COM port on USART3, PD8 and
# PD9. UM1974 was not at hand: facts from Zephyr's device tree and ST's headers.
include(${kdz_root}/boards/stm32/stm32.cmake)
kdz_stm32(f4 91 ${stm32}/f4/timer.c) # RM0090 rev 19, table 62
target_compile_definitions(kadenz-suite PRIVATE
    KDZ_STM32_HSE_MHZ=8u
    KDZ_STM32_HSE_BYPASS=1
    KDZ_STM32_PLL_N=336u
    KDZ_STM32_PLL_P=2u
    KDZ_STM32_VOS=3u         # scale 1 (section 5.4.2)
    KDZ_STM32_WAIT_STATES=5u
    KDZ_STM32_APB1_BY=4u     # 42 MHz, APB2 84 MHz
    KDZ_STM32_APB2_BY=2u
    KDZ_STM32_USART=0x40004800u
    KDZ_STM32_USART_ENABLE=0x40u,18u
    KDZ_STM32_USART_HZ=42000000u
    KDZ_STM32_TX=3u,8u,7u
    KDZ_STM32_RX=3u,9u,7u)
target_compile_definitions(kadenz-board INTERFACE
    # The most without over-drive, and that of the STM32F405: figures of the two compare.
    KDZ_BOARD_TIMER_HZ=168000000u
    KDZ_BOARD_HEAP_BYTES=32768u
    KDZ_MESSAGE_BYTES_MAX=3072u)
