# SPDX-License-Identifier: Apache-2.0
# A board with an STM32. It calls kdz_stm32(SERIES IRQS COUNTER):
#   SERIES    folder beside this file with the registers and the clocks
#   IRQS      positions of the vector table
#   COUNTER   file with a counter, for cores that have none
# Its values are definitions KDZ_STM32_…:
#   USART, USART_ENABLE   address; offset in the RCC and bit
#   USART_HZ              rate of its bus
#   TX, RX                port (0 is A), pin, alternate function
#   PLL_N                 multiplier of the PLL
#   WAIT_STATES           of the flash at full speed
# SERIES/clocks.c uses the others.
set(stm32 ${CMAKE_CURRENT_LIST_DIR})
include(${kdz_root}/boards/cortexm/cortexm.cmake)

function(kdz_stm32 series irqs)
    kdz_cortexm(${irqs} ${stm32}/console.c ${stm32}/chip.c ${stm32}/${series}/clocks.c ${ARGN})
    target_include_directories(kadenz-suite PRIVATE ${stm32}/${series})
    if(KDZ_INSTRUMENT STREQUAL "pins")
        target_sources(kadenz-suite PRIVATE ${stm32}/marks.c)
    endif()
    target_compile_definitions(kadenz-board INTERFACE
        # Priorities are 4 bits of the 8 (RM0090, section 12.1); a larger number is less urgent.
        # Handlers from the limit on may call the kernel, the software interrupt's is one: EXTI line
        # 0's, whose pin interrupt stays disabled. Plain numbers, for kernels that put them in
        # assembler.
        KDZ_BOARD_PRIORITY_BITS=4
        KDZ_BOARD_KERNEL_PRIORITY_LIMIT=0x50
        KDZ_BOARD_IRQ=6
        KDZ_BOARD_IRQ_PRIORITY=0x80
        # EXTI lines 1 and 2: for a kernel that dispatches its tasks by interrupts.
        KDZ_BOARD_DISPATCH_IRQ=7
        # The studies' tick is 1 ms (mazzi2021, section 4.3).
        KDZ_BOARD_TICK_HZ=1000u)
endfunction()
