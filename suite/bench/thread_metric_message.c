/* SPDX-License-Identifier: Apache-2.0
 *
 * thread-metric/message: one thread sends a message of 16 bytes to a queue and receives it from
 * there. Nobody waits.
 */
#include "thread_metric.h"

#include "kadenz/suite.h"

#include "kadenz/carries.h"
#include "vocabulary.h"

#define WORDS 4u
#define BYTES (WORDS * sizeof(uint32_t))
#define RANK 7u
#define DEPTH 10u

#define ROW(ident, name) name,
static const char *const channels[] = {KDZ_CHANNELS(ROW)};

enum { CHANNEL = KDZ_TM_OWN, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [KDZ_TM_WINDOW_US] = KDZ_TM_PARAMS,
    [CHANNEL] = {"channel", 0, 0, sizeof channels / sizeof channels[0] - 1u, channels},
};

static struct {
    const struct kdz_channel_ops *ops;
    kdz_handle channel;
    uint32_t sent[WORDS];
    uint32_t received[WORDS];
} m;

/* Whether the message arrived; the next one differs. */
static bool arrived(void)
{
    bool same = true;

    for (uint32_t i = 0; i < WORDS; i++) {
        same = same && m.received[i] == m.sent[i];
        m.sent[i] += i + 1u;
    }
    return same;
}

KDZ_TM_LEADER(const struct kdz_channel_ops *const ops = m.ops; const kdz_handle channel = m.channel;
              , (void)ops->send(channel, m.sent, BYTES, KDZ_FOREVER);
              (void)ops->receive(channel, m.received, BYTES, KDZ_FOREVER);, arrived())

static void windows(struct kdz_point *point)
{
    const struct kdz_party parties[] = {{"leader", lead_windows, RANK, 0}, {0}};

    kdz_tm_windows(point, parties, NULL);
}

static void samples(struct kdz_point *point)
{
    const struct kdz_party parties[] = {{"leader", lead_samples, RANK, 0}, {0}};

    kdz_tm_samples(point, parties, NULL);
}

static kdz_status set_up(struct kdz_point *point, uint32_t channel)
{
    const char *const name = channels[channel];
    kdz_status status = kdz_need(&point->record, name);

    kdz_tm_clear(1);
    m.channel = KDZ_FAILED;
    for (uint32_t i = 0; i < WORDS; i++) {
        m.sent[i] = i;
        m.received[i] = 0;
    }
    if (status == KDZ_OK) {
        status = kdz_carries(kdz_mechanism(name), BYTES, &point->record);
    }
    if (status != KDZ_OK) {
        return status;
    }
    m.ops = kdz_mechanism(name)->channel;
    m.channel = m.ops->create(BYTES, DEPTH);
    return m.channel < 0 ? (kdz_status)m.channel : KDZ_OK;
}

static kdz_status setup(struct kdz_point *point)
{
    return set_up(point, KDZ_PARAM(point, CHANNEL));
}

static kdz_status setup_sampled(struct kdz_point *point)
{
    return set_up(point, KDZ_PARAM(point, CHANNEL - KDZ_TM_OWN));
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (m.channel >= 0) {
        m.ops->destroy(m.channel);
    }
}

KDZ_TM_BENCHES(message, "thread-metric/message", "threads",
               "messages of 16 bytes that a thread sends to a channel and receives from it",
               "before a thread sends 16 bytes to a channel", "it has received them from there",
               setup_sampled, teardown);
