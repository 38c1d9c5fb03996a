/* SPDX-License-Identifier: Apache-2.0
 *
 * The data queue, whose items are one word. Threads that wait for room are served by priority,
 * threads that wait for data by their arrival.
 */
#include "itron_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/suite.h"

#include <string.h>

#define WORD_BYTES sizeof(intptr_t)

_Static_assert(DTQ_3 == DTQ_0 + KDZ_ITRON_QUEUES - 1, "queues are numbered in their order");

static bool used[KDZ_ITRON_QUEUES];

static ID queue_of(kdz_handle channel)
{
    return (ID)(DTQ_0 + channel);
}

static kdz_handle create(uint32_t item_bytes, uint32_t depth)
{
    const int half = KDZ_ITRON_QUEUES / 2;
    kdz_handle handle = KDZ_UNSUPPORTED;

    if (item_bytes != WORD_BYTES) {
        return KDZ_UNSUPPORTED;
    }
    if (depth == KDZ_ITRON_SHALLOW) {
        handle = kdz_itron_place(used, 0, half);
    } else if (depth == KDZ_ITRON_DEEP) {
        handle = kdz_itron_place(used, half, KDZ_ITRON_QUEUES);
    } else {
        kdz_explain("a data queue's depth is fixed in kernels/itron/objects.cfg: 1 or 3");
    }
    if (handle >= 0) {
        (void)ini_dtq(queue_of(handle));
    }
    return handle;
}

static kdz_status send(kdz_handle channel, const void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    intptr_t word;

    (void)bytes;
    (void)memcpy(&word, data, sizeof word);
    return tsnd_dtq(queue_of(channel), word, timeout_ticks) == E_OK ? KDZ_OK : KDZ_TIMEOUT;
}

static kdz_status receive(kdz_handle channel, void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    intptr_t word;

    (void)bytes;
    if (trcv_dtq(queue_of(channel), &word, timeout_ticks) != E_OK) {
        return KDZ_TIMEOUT;
    }
    (void)memcpy(data, &word, sizeof word);
    return KDZ_OK;
}

static void destroy(kdz_handle channel)
{
    if (channel >= 0) {
        used[channel] = false;
    }
}

static kdz_status send_from_isr(kdz_handle channel, const void *data, uint32_t bytes,
                                struct kdz_isr *isr)
{
    intptr_t word;

    (void)bytes;
    (void)isr;
    (void)memcpy(&word, data, sizeof word);
    return psnd_dtq(queue_of(channel), word) == E_OK ? KDZ_OK : KDZ_TIMEOUT;
}

static const struct kdz_channel_ops ops = {create, send, receive, destroy, send_from_isr};
static const struct kdz_mechanism queue = {.name = "queue",
                                           .channel = &ops,
                                           .limits = {.max_bytes = WORD_BYTES,
                                                      .unit_bytes = WORD_BYTES,
                                                      .waiters = KDZ_WAITERS_BY_ARRIVAL}};
KDZ_MECHANISM(queue);
