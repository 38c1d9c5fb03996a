/* SPDX-License-Identifier: Apache-2.0
 *
 * What every microcontroller with a RISC-V core and SiFive's CLINT has as a board: the CLINT raises
 * the software interrupt, the linker script names the memory. The chip adds kdz_chip_init and its
 * console.
 */
#include "kadenz/board.h"
#include "kadenz/console.h"

#include <kdz_riscv.h>

#define CLINT_MSIP (*(volatile uint32_t *)KDZ_BOARD_CLINT)
#define MIE_MSIE (1u << 3)

extern uint32_t kdz_storage[];
extern uint32_t kdz_storage_end[];
extern const char kdz_plan_page[];

const char *kdz_board_name(void)
{
    return KDZ_BOARD_NAME;
}

void kdz_board_init(void)
{
    kdz_chip_init();
    CLINT_MSIP = 0;
    __asm__ volatile("csrs mie, %0" : : "r"(MIE_MSIE));
}

uint32_t kdz_board_timer_hz(void)
{
    return KDZ_BOARD_TIMER_HZ;
}

const char *kdz_board_plan(void)
{
    /* Erased flash reads 0xff, an emulator's untouched memory 0x00. */
    const uint8_t first = (uint8_t)kdz_plan_page[0];
    return first == 0xffu || first == 0u ? NULL : kdz_plan_page;
}

void kdz_board_irq_raise(void)
{
    CLINT_MSIP = 1;
    /* The store crosses the bus to the CLINT while the core runs on: reading the register back
     * waits until it has arrived, so the interrupt comes before this function returns. */
    (void)CLINT_MSIP;
}

void kdz_board_irq_acknowledge(void)
{
    CLINT_MSIP = 0;
    (void)CLINT_MSIP; /* as above: else the interrupt could be taken twice */
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
    kdz_console_close(); /* an emulator ends at once and forgets what the FIFO still holds */
    kdz_arch_halt(code);
}
