/* SPDX-License-Identifier: Apache-2.0 */
#include "arrivals.h"

#include "text.h"

#define INTERRUPT "interrupt"

static struct {
    kdz_handle sem;
    kdz_handle responder;
    bool connected;
    volatile bool over;
} arrivals = {KDZ_FAILED, KDZ_FAILED, false, false};

static void handle(struct kdz_isr *isr)
{
    (void)kdz_stamp(KDZ_HANDLED);
    (void)kdz_sem_give_from_isr(arrivals.sem, isr);
}

static void respond(void *unused)
{
    (void)unused;
    while (kdz_sem_take(arrivals.sem, KDZ_FOREVER) == KDZ_OK && !arrivals.over) {
        (void)kdz_stamp(KDZ_RESPONDED);
    }
}

/* Whether `word` is one of the names, which are parted by spaces. */
static bool is_among(const char *word, const char *names)
{
    while (names != NULL && *names != '\0') {
        const size_t length = kdz_text_word(names);

        if (kdz_text_is(names, length, word)) {
            return true;
        }
        names += names[length] == ' ' ? length + 1 : length;
    }
    return false;
}

kdz_status kdz_arrivals_begin(struct kdz_point *point)
{
    struct kdz_thread_spec responder = {
        .name = "responder",
        .entry = respond,
        .rank = KDZ_RANK_MAX,
        .core = KDZ_ANY_CORE,
    };
    const kdz_status status = kdz_need(&point->record, INTERRUPT " sem-counting threads");

    arrivals.over = false;
    if (status != KDZ_OK) {
        return status;
    }
    if (is_among(INTERRUPT, point->bench->needs)) {
        point->record.proof.reason = "it uses the interrupt itself that is to arrive";
        return KDZ_UNSUPPORTED;
    }
    arrivals.sem =
        kdz_sem_create(kdz_lack("sem-binary") == NULL ? KDZ_SEM_BINARY : KDZ_SEM_COUNTING, 1, 0);
    if (arrivals.sem < 0) {
        return (kdz_status)arrivals.sem;
    }
    arrivals.responder = kdz_thread_create(&responder);
    if (arrivals.responder < 0) {
        return (kdz_status)arrivals.responder;
    }
    arrivals.connected = true;
    return kdz_irq_connect(handle);
}

void kdz_arrivals_end(void)
{
    if (arrivals.connected) {
        (void)kdz_irq_connect(NULL);
        arrivals.connected = false;
    }
    if (arrivals.responder >= 0) {
        arrivals.over = true;
        (void)kdz_sem_give(arrivals.sem);
        (void)kdz_thread_join(arrivals.responder, KDZ_FOREVER);
        arrivals.responder = KDZ_FAILED;
    }
    if (arrivals.sem >= 0) {
        kdz_sem_destroy(arrivals.sem);
        arrivals.sem = KDZ_FAILED;
    }
}
