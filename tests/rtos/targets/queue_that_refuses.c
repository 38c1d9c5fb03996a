/* SPDX-License-Identifier: Apache-2.0
 *
 * A port, laid over the real one by the linker (--wrap), whose queue may refuse an item when it is
 * full instead of waiting for room, and may say so: --defsym sets kdz_refuses and kdz_admits.
 */
#include "kadenz/mechanism.h"

/* 0 or 1: the address is the value, which no object but a weak one may have. */
extern const char kdz_refuses[] __attribute__((weak));
extern const char kdz_admits[] __attribute__((weak));

const struct kdz_mechanism *__wrap_kdz_mechanism(const char *name);
const struct kdz_mechanism *__real_kdz_mechanism(const char *name);
const struct kdz_mechanism *__wrap_kdz_mechanism_at(size_t index);
const struct kdz_mechanism *__real_kdz_mechanism_at(size_t index);

static const struct kdz_mechanism *waiting;

static kdz_status send(kdz_handle channel, const void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    return waiting->channel->send(channel, data, bytes,
                                  (uintptr_t)kdz_refuses != 0 ? 0 : timeout_ticks);
}

static const struct kdz_mechanism *instead_of(const struct kdz_mechanism *mechanism)
{
    static struct kdz_channel_ops ops;
    static struct kdz_mechanism changed;

    if (mechanism == NULL || mechanism != __real_kdz_mechanism("queue")) {
        return mechanism;
    }
    waiting = mechanism;
    ops = *mechanism->channel;
    ops.send = send;
    changed = *mechanism;
    changed.channel = &ops;
    changed.limits.send_never_waits = (uintptr_t)kdz_admits != 0;
    return &changed;
}

const struct kdz_mechanism *__wrap_kdz_mechanism(const char *name)
{
    return instead_of(__real_kdz_mechanism(name));
}

const struct kdz_mechanism *__wrap_kdz_mechanism_at(size_t index)
{
    return instead_of(__real_kdz_mechanism_at(index));
}
