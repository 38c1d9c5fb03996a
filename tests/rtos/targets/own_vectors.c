/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that brings a vector table of its own: in the section that boards keep for one, aligned
 * as it asks, with the fault entry of arch/cortexm. Then a fault.
 */
#include "kadenz/bench.h"

#define SCB_VTOR (*(volatile uint32_t *)0xe000ed08u)
#define SYSTEM_VECTORS 16
#define ALIGNMENT 512u
#define UNDEFINED_PLACE 0x12345678u

void kdz_cortexm_fault_entry(void);
void SysTick_Handler(void);
void PendSV_Handler(void);
void SVC_Handler(void);

typedef void (*vector)(void);

__attribute__((section(".vectors.kernel"), used,
               aligned(ALIGNMENT))) static const vector own[SYSTEM_VECTORS] = {
    [2] = kdz_cortexm_fault_entry,  [3] = kdz_cortexm_fault_entry, [4] = kdz_cortexm_fault_entry,
    [5] = kdz_cortexm_fault_entry,  [6] = kdz_cortexm_fault_entry, [11] = SVC_Handler,
    [12] = kdz_cortexm_fault_entry, [14] = PendSV_Handler,         [15] = SysTick_Handler,
};

static void measure(struct kdz_point *point)
{
    kdz_prove(&point->record, (uintptr_t)own % ALIGNMENT == 0, "the table is not aligned");
    SCB_VTOR = (uint32_t)(uintptr_t)own;
    __asm__ volatile("dsb\n isb\n mov r3, %0\n udf #0" : : "r"(UNDEFINED_PLACE) : "r3", "memory");
}

static const struct kdz_bench fault_own_vectors = {
    .name = "fault/own-vectors",
    .begins = "never",
    .ends = "never",
    .source = "kadenz tests",
    .lane_count = 1,
    .measure = measure,
};
KDZ_BENCH(fault_own_vectors);
