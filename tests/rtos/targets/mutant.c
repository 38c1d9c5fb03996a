/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel port with three defects, laid over the real one by the linker (--wrap): a mutex that
 * does not lend ranks, a delay that drifts, and a receive that forgets the last byte.
 */
#include "kadenz/kernel.h"

kdz_handle __wrap_kdz_mutex_create(void);
kdz_status __wrap_kdz_delay_until(uint32_t *wake, uint32_t period_ticks);
kdz_status __real_kdz_delay_until(uint32_t *wake, uint32_t period_ticks);
const struct kdz_channel_ops *__wrap_kdz_channel(kdz_channel_kind kind);
const struct kdz_channel_ops *__real_kdz_channel(kdz_channel_kind kind);

kdz_handle __wrap_kdz_mutex_create(void)
{
    return kdz_sem_create(KDZ_SEM_BINARY, 1, 1);
}

kdz_status __wrap_kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    *wake = kdz_tick_now();
    return __real_kdz_delay_until(wake, period_ticks);
}

static struct kdz_channel_ops forgetful;

static kdz_status receive(kdz_handle channel, void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    const kdz_status status = __real_kdz_channel(KDZ_CHANNEL_MESSAGE_BUFFER)
                                  ->receive(channel, data, bytes, timeout_ticks);

    ((uint8_t *)data)[bytes - 1] = 0;
    return status;
}

const struct kdz_channel_ops *__wrap_kdz_channel(kdz_channel_kind kind)
{
    if (kind != KDZ_CHANNEL_MESSAGE_BUFFER) {
        return __real_kdz_channel(kind);
    }
    forgetful = *__real_kdz_channel(kind);
    forgetful.receive = receive;
    return &forgetful;
}
