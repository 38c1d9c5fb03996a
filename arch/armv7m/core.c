/* SPDX-License-Identifier: Apache-2.0
 *
 * What Armv7-M has and Armv6-M has not: an FPU, a cycle counter, faults with names (Armv7-M
 * Architecture Reference Manual, B3 and C1).
 */
#include "kdz_armv7m.h"

#include <kdz_core_hz.h>
#include <kdz_cortexm.h>

#include "kadenz/board.h"

#define SCB_SHCSR KDZ_REGISTER(0xe000ed24u)
#define SCB_CFSR KDZ_REGISTER(0xe000ed28u)
#define SCB_HFSR KDZ_REGISTER(0xe000ed2cu)
#define SCB_MMFAR KDZ_REGISTER(0xe000ed34u)
#define SCB_BFAR KDZ_REGISTER(0xe000ed38u)
#define SCB_CPACR KDZ_REGISTER(0xe000ed88u)
#define DCB_DEMCR KDZ_REGISTER(0xe000edfcu)
#define DWT_CTRL KDZ_REGISTER(0xe0001000u)
#define DWT_CYCCNT KDZ_REGISTER(0xe0001004u)

#define CPACR_FPU_FULL_ACCESS (0xfu << 20) /* CP10 and CP11 */
#define SHCSR_FAULTS_ENABLED (7u << 16)    /* MemManage, BusFault, UsageFault by their own names */
#define DEMCR_TRCENA (1u << 24)
#define CTRL_CYCCNTENA (1u << 0)

const char *kdz_arch_name(void)
{
    return "armv7m";
}

void kdz_cortexm_core_init(void)
{
    SCB_CPACR |= CPACR_FPU_FULL_ACCESS;
    __asm__ volatile("dsb\n isb" : : : "memory");
    SCB_SHCSR |= SHCSR_FAULTS_ENABLED;
}

/* ---- the data watchpoint and trace unit's cycle counter (C1.8) ---------------------------------
 * Optional in the architecture, present on STM32F4 silicon, reads zero in QEMU. */
bool kdz_armv7m_dwt_start(void)
{
    DCB_DEMCR |= DEMCR_TRCENA;
    DWT_CYCCNT = 0;
    DWT_CTRL |= CTRL_CYCCNTENA;
    const uint32_t first = DWT_CYCCNT;
    __asm__ volatile("nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop");
    return DWT_CYCCNT != first;
}

struct kdz_cortexm_counter kdz_cortexm_counter(void)
{
    if (kdz_armv7m_dwt_start()) {
        return (struct kdz_cortexm_counter){"dwt", &DWT_CYCCNT, KDZ_CORE_HZ};
    }
    return kdz_board_fallback_counter();
}

/* ---- faults ------------------------------------------------------------------------------------
 * Bits of CFSR (B3.2.15), the telling ones first. */
static const struct {
    uint32_t bit;
    const char *words;
} causes[] = {
    {1u << 25, "division by zero"},
    {1u << 24, "unaligned access"},
    {1u << 19, "coprocessor not enabled"},
    {1u << 18, "invalid exception return"},
    {1u << 17, "invalid processor state"},
    {1u << 16, "undefined instruction"},
    {1u << 12, "bus fault while pushing an exception frame"},
    {1u << 11, "bus fault while popping an exception frame"},
    {1u << 10, "imprecise bus fault"},
    {1u << 9, "bus fault on a data access"},
    {1u << 8, "bus fault on an instruction fetch"},
    {1u << 4, "memory fault while pushing an exception frame"},
    {1u << 3, "memory fault while popping an exception frame"},
    {1u << 1, "memory fault on a data access"},
    {1u << 0, "memory fault on an instruction fetch"},
};

const char *kdz_cortexm_cause(uint32_t exception)
{
    const uint32_t cfsr = SCB_CFSR;

    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        if ((cfsr & causes[i].bit) != 0) {
            return causes[i].words;
        }
    }
    return exception == 3 ? "hard fault" : "exception without a handler";
}

size_t kdz_cortexm_cause_registers(struct kdz_register *registers)
{
    registers[0] = (struct kdz_register){"cfsr", SCB_CFSR};
    registers[1] = (struct kdz_register){"hfsr", SCB_HFSR};
    registers[2] = (struct kdz_register){"mmfar", SCB_MMFAR};
    registers[3] = (struct kdz_register){"bfar", SCB_BFAR};
    return 4;
}
