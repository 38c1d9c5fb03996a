/* SPDX-License-Identifier: Apache-2.0
 *
 * A core with memory, SiFive's CLINT and test finisher, and a 16550: QEMU's machine `virt`, and the
 * bench of instruments/rtl. A board of such a core gives the addresses and a linker script. The
 * software interrupt and output are in one_core.c or cores.c.
 */
#include "kadenz/board.h"
#include "kadenz/console.h"

#include <kdz_core_hz.h>
#include <kdz_riscv.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define CLINT_MSIP REGISTER(KDZ_SOFTCORE_CLINT)
#define FINISHER REGISTER(KDZ_SOFTCORE_FINISHER)
#define FINISH_PASS 0x5555u
#define FINISH_FAIL 0x3333u
#define MIE_MSIE (1u << 3)

_Static_assert(KDZ_SOFTCORE_TIMER_DIVIDER == 0 ||
                   KDZ_SOFTCORE_TIMER_DIVIDER * KDZ_BOARD_TIMER_HZ == KDZ_CORE_HZ,
               "timer_divider of board.toml, KDZ_BOARD_TIMER_HZ and KDZ_CORE_HZ disagree: a tick "
               "would last longer or shorter than it says");

extern uint32_t kdz_storage[];
extern uint32_t kdz_storage_end[];
extern const char kdz_plan_page[];

const char *kdz_board_name(void)
{
    return KDZ_SOFTCORE_NAME;
}

void kdz_board_init(void)
{
    CLINT_MSIP = 0;
    __asm__ volatile("csrs mie, %0" : : "r"(MIE_MSIE));
    if (KDZ_SOFTCORE_DEBUGGER != 0) {
        kdz_console_open(0);
    }
}

uint32_t kdz_board_timer_hz(void)
{
    return KDZ_BOARD_TIMER_HZ;
}

/* Unless a debugger is the console: boards/console/. */
__attribute__((weak)) int kdz_console_read(void)
{
    return -1; /* the plan is in its page */
}

const char *kdz_board_plan(void)
{
    const uint8_t first = (uint8_t)kdz_plan_page[0];
    return first == 0xffu || first == 0u ? NULL : kdz_plan_page;
}

struct kdz_storage kdz_board_storage(void)
{
    return (struct kdz_storage){kdz_storage, (size_t)(kdz_storage_end - kdz_storage)};
}

_Noreturn void kdz_board_halt(int code)
{
    if (KDZ_SOFTCORE_DEBUGGER != 0) {
        kdz_console_close();
    }
    FINISHER = code == 0 ? FINISH_PASS : (uint32_t)code << 16 | FINISH_FAIL;
    kdz_arch_halt(code); /* where there is no finisher */
}
