/* SPDX-License-Identifier: Apache-2.0
 *
 * HELLO, the plan's lines in their order, DONE.
 */
#include "arrivals.h"
#include "kadenz/arming.h"
#include "kadenz/conformance.h"
#include "kadenz/suite.h"
#include "message.h"
#include "plan.h"
#include "recorder.h"

volatile bool kdz_stop_requested;

/* Borders of the table that the linker collects (KDZ_BENCH). Weak: an image may have none. */
extern const struct kdz_bench *const __start_kdz_bench[] __attribute__((weak));
extern const struct kdz_bench *const __stop_kdz_bench[] __attribute__((weak));

#define NOTES_MAX 4
/* A record whose plan line has no usable id. */
#define NO_ID UINT16_MAX

static struct {
    const char *notes[NOTES_MAX];
    uint8_t note_count;
    bool greeted;
    const char *explanation; /* of the port, for a set-up that fails; NULL: none */
    uint32_t records;
    const char *page; /* where the plan in memory is being read, NULL: from the console */
} session;

static char plan_line[KDZ_PLAN_LINE_BYTES];
static struct kdz_plan_line parsed;
static struct kdz_point point;

static struct kdz_benches benches(void)
{
    return (struct kdz_benches){__start_kdz_bench, __stop_kdz_bench};
}

void kdz_note(const char *text)
{
    if (session.greeted) {
        kdz_message_text(text);
    } else if (session.note_count < NOTES_MAX) {
        session.notes[session.note_count++] = text;
    }
}

void kdz_explain(const char *sentence)
{
    session.explanation = sentence;
}

/* ---- whether a benchmark can run here -------------------------------------------------------- */
/* "" when it can. */
static const char *why_not(const struct kdz_bench *bench)
{
    const char *sentence = bench->needs != NULL ? kdz_lack(bench->needs) : NULL;

    if (sentence != NULL) {
        return sentence;
    }
    if (bench->self_timed && !kdz_clock()->on_target) {
        return "computes its values from clock readings, and under the scope the target reads none";
    }
    return "";
}

/* ---- one point ------------------------------------------------------------------------------- */
static const char *status_in_words(kdz_status status)
{
    switch (status) {
    case KDZ_OK:
        return "";
    case KDZ_TIMEOUT:
        return "set-up timed out";
    case KDZ_UNSUPPORTED:
        return "this kernel does not support what the benchmark sets up";
    case KDZ_INVALID:
        return "the kernel's port refuses these parameters as invalid";
    case KDZ_NO_MEMORY:
        return "memory, a pool or a limit of the kernel is exhausted";
    case KDZ_DENIED:
        return "the system denies it: rights or scheduling policy";
    case KDZ_FAILED:
        break;
    }
    return "the kernel reported an error";
}

static void finish(const char *status, const char *reason)
{
    (void)kdz_record_close(&point.record);
    kdz_message_end(&point.record, status, reason);
    session.records++;
}

static void close_and_send_verdict(void)
{
    char words[160];
    const struct kdz_verdict verdict = kdz_record_verdict(
        &point.record, kdz_record_close(&point.record), kdz_stop_requested, KDZ_TEXT_IN(words));

    if (kdz_recorder()->drain_count > KDZ_DRAINS_MAX) {
        kdz_note("the storage was drained more often than the record's end can list");
    }
    kdz_message_end(&point.record, verdict.status, verdict.reason);
    session.records++;
    if (KDZ_STAMP_ARMS) {
        kdz_arming_close();
    }
}

/* Why set-up failed, from whoever knows most: the benchmark, which leaves it as the proof's reason,
 * the port, or the status alone. */
static const char *why_failed(kdz_status status)
{
    if (point.record.proof.reason[0] != '\0') {
        return point.record.proof.reason;
    }
    return session.explanation != NULL ? session.explanation : status_in_words(status);
}

static void measure(void)
{
    const struct kdz_bench *bench = point.bench;
    kdz_status status;

    session.explanation = NULL;
    status = bench->setup != NULL ? bench->setup(&point) : KDZ_OK;
    if (status == KDZ_OK && parsed.arrivals) {
        status = kdz_arrivals_begin(&point, parsed.threads);
    }
    if (status == KDZ_OK) {
        (void)kdz_stamp(KDZ_MARK_RECORD_OPEN | point.id);
        bench->measure(&point);
        (void)kdz_stamp(KDZ_MARK_RECORD_CLOSE | point.id);
    }
    if (parsed.arrivals) {
        const kdz_status ended = kdz_arrivals_end(&point);

        status = status == KDZ_OK ? ended : status;
    }
    if (bench->teardown != NULL) {
        bench->teardown(&point);
    }
    if (status == KDZ_OK) {
        close_and_send_verdict();
    } else {
        finish(status == KDZ_UNSUPPORTED ? "n/a" : "failed", why_failed(status));
    }
}

static void run_point(void)
{
    const struct kdz_bench *bench = point.bench;
    static const char *const only[] = {"all"};
    const char *const *names = bench->lanes == NULL && bench->lane_count == 1 ? only : bench->lanes;
    struct kdz_shape shape = {
        .lanes = bench->lane_count != 0 ? bench->lane_count : kdz_board_cores(),
        .names = names,
    };
    const char *reason;
    const char *no_room;

    if (bench->shape != NULL) {
        bench->shape(&point, &shape);
    }
    if (!kdz_clock()->on_target && !shape.counts) {
        shape.companion_count = 0; /* no sample is sent, and nothing that goes with one */
    }
    if (KDZ_STAMP_ARMS && parsed.arrivals) {
        kdz_arming_shape(&shape);
    }
    no_room = kdz_record_open(&point.record, point.id, &shape, point.samples, kdz_board_storage());
    kdz_message_begin(&point, bench->name);
    reason = why_not(bench);
    if (reason[0] != '\0') {
        finish("n/a", reason);
    } else if (no_room != NULL) {
        finish("failed", no_room);
    } else {
        measure();
    }
}

/* A line that is no point still becomes a record, so that nobody waits for it in vain. */
static void refuse_point(uint16_t id)
{
    char name[48];
    struct kdz_text text = KDZ_TEXT_IN(name);

    kdz_text_add_part(&text, parsed.name, parsed.name_length);
    (void)kdz_record_open(&point.record, id, &(struct kdz_shape){0}, 0, kdz_board_storage());
    point.bench = NULL;
    kdz_message_begin(&point, name);
    finish("failed", parsed.reason);
}

/* ---- list and conformance -------------------------------------------------------------------- */
static void list(void)
{
    const struct kdz_benches all = benches();

    for (const struct kdz_bench *const *each = all.first; each != all.end; each++) {
        if (!kdz_bench_replaced(&all, *each)) {
            kdz_message_bench(*each, why_not(*each));
        }
    }
}

static void conform(const char *name, kdz_conform_result result, const char *reason)
{
    static const char *const words[] = {
        [KDZ_CONFORM_PASS] = "pass",
        [KDZ_CONFORM_FAIL] = "fail",
        [KDZ_CONFORM_NOT_APPLICABLE] = "n/a",
    };

    if (result == KDZ_CONFORM_BEGINS) {
        kdz_message_case(name);
    } else {
        kdz_message_conform(name, words[result], reason);
    }
}

/* ---- the plan -------------------------------------------------------------------------------- */
/* The next character of the plan. A page without `end` ends with its zero. */
static char next_character(void)
{
    int byte;

    if (session.page != NULL) {
        return *session.page == '\0' ? '\0' : *session.page++;
    }
    do {
        byte = kdz_console_read();
    } while (byte < 0 && !kdz_stop_requested);
    return byte < 0 ? '\0' : (char)byte;
}

/* Reads a line; false at the end of a page. What is too long is cut and marked in `too_long`. */
static bool next_line(bool *too_long)
{
    size_t length = 0;
    char c;

    *too_long = false;
    if (session.page == NULL) {
        /* An empty frame asks for the line: a UART holds few bytes, and nobody reads them during a
         * measurement. */
        kdz_wire_break();
    }
    for (c = next_character(); c != '\n' && c != '\0'; c = next_character()) {
        if (length + 1 < sizeof plan_line) {
            plan_line[length++] = c;
        } else {
            *too_long = true;
        }
    }
    plan_line[length] = '\0';
    return c != '\0' || length != 0;
}

static bool run_line(bool too_long)
{
    const struct kdz_benches all = benches();

    point.id = NO_ID;
    kdz_plan_read(plan_line, &all, &point, &parsed);
    if (too_long && parsed.kind != KDZ_PLAN_EMPTY) {
        struct kdz_text text = KDZ_TEXT_IN(parsed.reason);

        kdz_text_add(&text, "the plan's line is longer than 255 characters");
        parsed.kind = KDZ_PLAN_ERROR;
    }
    switch (parsed.kind) {
    case KDZ_PLAN_EMPTY:
        break;
    case KDZ_PLAN_POINT:
        run_point();
        break;
    case KDZ_PLAN_LIST:
        list();
        break;
    case KDZ_PLAN_CONFORMANCE:
        kdz_conformance(conform);
        break;
    case KDZ_PLAN_END:
        return false;
    case KDZ_PLAN_ERROR:
        refuse_point(point.id);
        break;
    }
    return true;
}

void kdz_suite_main(void *unused)
{
    bool too_long;

    (void)unused;
    kdz_wire_reset();
    kdz_wire_break();
    kdz_message_hello();
    session.greeted = true;
    session.records = 0;
    for (uint8_t i = 0; i < session.note_count; i++) {
        kdz_message_text(session.notes[i]);
    }
    session.note_count = 0;
    session.page = kdz_board_plan();
    while (!kdz_stop_requested && next_line(&too_long) && run_line(too_long)) {
    }
    kdz_message_done(session.records);
    kdz_board_halt(0);
}
