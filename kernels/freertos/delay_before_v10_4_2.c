/* SPDX-License-Identifier: Apache-2.0
 *
 * vTaskDelayUntil does not say whether it slept, so the question is asked first. A tick between
 * question and call can only turn a sleep of one tick into none, which is counted as on time.
 */
#include "freertos_port.h"

KDZ_NEEDED(INCLUDE_vTaskDelayUntil == 1, "INCLUDE_vTaskDelayUntil 1",
           "before V10.4.2: periodic benchmarks sleep until a moment");

kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    const bool ahead = (int32_t)(*wake + period_ticks - xTaskGetTickCount()) > 0;
    TickType_t moment = *wake;

    vTaskDelayUntil(&moment, period_ticks);
    *wake = moment;
    return ahead ? KDZ_OK : KDZ_TIMEOUT;
}
