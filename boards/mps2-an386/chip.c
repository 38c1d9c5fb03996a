/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of the FPGA's core: its clock runs. Its counter for cores that count no cycles (DAI 0386,
 * FPGA system control): 32 bits, counting up at the rate of SYSCLK.
 */
#include "kadenz/console.h"

#include <kdz_cortexm.h>

#define FPGAIO_COUNTER_ADDRESS 0x40028018u
#define FPGAIO_PRESCALE KDZ_REGISTER(0x4002801cu)

void kdz_chip_init(void)
{
    kdz_console_open(KDZ_BOARD_TIMER_HZ);
}

struct kdz_cortexm_counter kdz_board_fallback_counter(void)
{
    FPGAIO_PRESCALE = 0;
    return (struct kdz_cortexm_counter){
        .name = "fpgaio",
        .address = (const volatile uint32_t *)FPGAIO_COUNTER_ADDRESS,
        .hz = KDZ_BOARD_TIMER_HZ,
    };
}
