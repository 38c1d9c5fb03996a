/* SPDX-License-Identifier: Apache-2.0 */
#include "freertos_port.h"

KDZ_NEEDED(INCLUDE_xTaskDelayUntil == 1, "INCLUDE_xTaskDelayUntil 1",
           "periodic benchmarks sleep until a moment");

kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    TickType_t moment = *wake;
    const BaseType_t slept = xTaskDelayUntil(&moment, period_ticks);

    *wake = moment;
    return slept != pdFALSE ? KDZ_OK : KDZ_TIMEOUT;
}
