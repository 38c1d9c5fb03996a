# SPDX-License-Identifier: Apache-2.0
# Olimex STM32-H405 and alike: STM32F405, 8 MHz crystal, USART1 on PA9 and PA10.
include(${kdz_root}/boards/stm32/stm32.cmake)
kdz_stm32(f4 82 ${stm32}/f4/timer.c) # RM0090 rev 19, table 61
target_compile_definitions(kadenz-suite PRIVATE
    KDZ_STM32_HSE_MHZ=8u
    KDZ_STM32_HSE_BYPASS=0
    KDZ_STM32_PLL_N=336u
    KDZ_STM32_PLL_P=2u
    KDZ_STM32_VOS=1u         # scale 1, one bit on this chip (section 5.4.1)
    KDZ_STM32_WAIT_STATES=5u
    KDZ_STM32_APB1_BY=4u     # 42 MHz at most, APB2 84 MHz
    KDZ_STM32_APB2_BY=2u
    KDZ_STM32_USART=0x40011000u
    KDZ_STM32_USART_ENABLE=0x44u,4u
    KDZ_STM32_USART_HZ=84000000u
    KDZ_STM32_TX=0u,9u,7u
    KDZ_STM32_RX=0u,10u,7u)
target_compile_definitions(kadenz-board INTERFACE
    # SysTick counts the core clock: the chip's highest, also yoo2024's (section 3).
    KDZ_BOARD_TIMER_HZ=168000000u
    # Memory for the threads and objects of a kernel that allocates.
    KDZ_BOARD_HEAP_BYTES=32768u
    # Largest message of itc/.
    KDZ_MESSAGE_BYTES_MAX=3072u)
