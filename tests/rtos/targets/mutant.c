/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel port with three defects, laid over the real one by the linker (--wrap): a mutex that
 * does not lend ranks, a delay that drifts, and a receive that forgets the last byte.
 */
#include "kadenz/mechanism.h"

kdz_handle __wrap_kdz_mutex_create(void);
kdz_status __wrap_kdz_delay_until(uint32_t *wake, uint32_t period_ticks);
kdz_status __real_kdz_delay_until(uint32_t *wake, uint32_t period_ticks);
const struct kdz_mechanism *__wrap_kdz_mechanism_at(size_t index);
const struct kdz_mechanism *__real_kdz_mechanism_at(size_t index);

kdz_handle __wrap_kdz_mutex_create(void)
{
    return kdz_sem_create(KDZ_SEM_BINARY, 1, 1);
}

kdz_status __wrap_kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    *wake = kdz_tick_now();
    return __real_kdz_delay_until(wake, period_ticks);
}

static kdz_status receive(kdz_handle channel, void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    const kdz_status status =
        kdz_mechanism("message-buffer")->channel->receive(channel, data, bytes, timeout_ticks);

    ((uint8_t *)data)[bytes - 1] = 0;
    return status;
}

const struct kdz_mechanism *__wrap_kdz_mechanism_at(size_t index)
{
    static struct kdz_channel_ops forgetful;
    static struct kdz_mechanism changed;
    const struct kdz_mechanism *mechanism = __real_kdz_mechanism_at(index);

    if (mechanism == NULL || mechanism != kdz_mechanism("message-buffer")) {
        return mechanism;
    }
    changed = *mechanism;
    forgetful = *mechanism->channel;
    forgetful.receive = receive;
    changed.channel = &forgetful;
    return &changed;
}
