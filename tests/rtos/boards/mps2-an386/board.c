/* SPDX-License-Identifier: Apache-2.0
 *
 * Arm MPS2 with image AN386, as far as the suite needs it. Numbers: Arm DAI 0386 (memory map,
 * FPGA system control) and DDI 0479, chapter 4 (UART).
 */
#include "kadenz/board.h"

#include <kdz_armv7m.h>

#define SOFTWARE_IRQ 31u
#define UART_DATA KDZ_REGISTER(0x40004000u)
#define UART_STATE KDZ_REGISTER(0x40004004u)
#define UART_CTRL KDZ_REGISTER(0x40004008u)
#define UART_BAUDDIV KDZ_REGISTER(0x40004010u)
#define UART_TX_FULL 1u
#define UART_RX_FULL 2u
#define FPGAIO_COUNTER_ADDRESS 0x40028018u
#define FPGAIO_PRESCALE KDZ_REGISTER(0x4002801cu)

extern uint32_t kdz_storage[];
extern uint32_t kdz_storage_end[];
extern const char kdz_plan_page[];

const char *kdz_board_name(void)
{
    return "mps2-an386";
}

void kdz_board_init(void)
{
    UART_BAUDDIV = 25000000u / 115200u;
    UART_CTRL = 3u;
    NVIC_IPR8(SOFTWARE_IRQ) = KDZ_BOARD_IRQ_PRIORITY;
    NVIC_ISER(0) = 1u << SOFTWARE_IRQ;
}

uint32_t kdz_board_timer_hz(void)
{
    return KDZ_BOARD_TIMER_HZ;
}

struct kdz_fallback_counter kdz_board_fallback_counter(void)
{
    FPGAIO_PRESCALE = 0;
    return (struct kdz_fallback_counter){
        .name = "fpgaio",
        .address = (const volatile uint32_t *)FPGAIO_COUNTER_ADDRESS,
        .hz = 20000000u,
    };
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while ((UART_STATE & UART_TX_FULL) != 0) {
        }
        UART_DATA = bytes[i];
    }
}

int kdz_console_read(void)
{
    return (UART_STATE & UART_RX_FULL) != 0 ? (int)(UART_DATA & 0xffu) : -1;
}

const char *kdz_board_plan(void)
{
    return kdz_plan_page[0] == '\0' ? NULL : kdz_plan_page;
}

void kdz_board_irq_raise(void)
{
    NVIC_ISPR(0) = 1u << SOFTWARE_IRQ;
    __asm__ volatile("dsb\n isb" : : : "memory");
}

void kdz_board_irq_acknowledge(void)
{
}

struct kdz_storage kdz_board_storage(void)
{
    return (struct kdz_storage){kdz_storage, (size_t)(kdz_storage_end - kdz_storage)};
}

size_t kdz_board_cores(void)
{
    return 1;
}

_Noreturn void kdz_board_halt(int code)
{
    while ((UART_STATE & UART_TX_FULL) != 0) {
    }
    kdz_arch_halt(code);
}
