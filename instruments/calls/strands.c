/* SPDX-License-Identifier: Apache-2.0 */
#include "strands.h"

#include "flows.h"
#include "processor.h"
#include "rows.h"
#include "strand.h"

/* A handler may go on behind the instruction that it handled: `ecall`, or one that faulted. */
#define LONGEST_INSTRUCTION 4u
#define STRANDS_MOST 4096u /* left and never gone on with: the oldest is given up */

struct tally {
    uint64_t began, returned, unwound;
};

static struct strand *current;
static struct strand *left[STRANDS_MOST]; /* the oldest first */
static size_t left_count;
static const struct kdz_code *code;
static struct tally *tallies;
static size_t function_count;
static void (*follow)(bool on);
static uint64_t open_calls;
static uint64_t in_handlers, since; /* instructions of handlers, up to the count `since` */
static uint64_t stack_before;
static bool sets_stack; /* the instruction before this one may have */
static bool leaving_trap;
static uint32_t executing; /* the symbol, from the count `charged` on */
static uint64_t charged;
static uint64_t doubtful;  /* a stack pointer with which the innermost call was left, or 0 */
static bool behind_return; /* the block before this one may have ended an exception */

void kdz_strands_start(const struct kdz_code *functions, size_t count, void (*following)(bool on))
{
    code = functions;
    tallies = (struct tally *)kdz_allocated(calloc(count + 1u, sizeof *tallies));
    function_count = count;
    follow = following;
}

static struct strand *taken_from_left(size_t place)
{
    struct strand *strand = left[place];

    left_count--;
    memmove(&left[place], &left[place + 1u], (left_count - place) * sizeof left[0]);
    return strand;
}

static void charge(uint64_t now)
{
    if (current != NULL && now != charged) {
        kdz_strand_charge(current, executing, now - charged);
    }
    charged = now;
}

void kdz_strands_at(uint32_t symbol, uint64_t now)
{
    charge(now);
    executing = symbol;
}

static void account(uint64_t now)
{
    if (current->handles) {
        in_handlers += now - since;
    }
    since = now;
}

/* ---- calls that end --------------------------------------------------------------------------
 */
static void give_up(const struct kdz_call *call)
{
    tallies[call->function].unwound++;
    open_calls--;
}

static void give_back(struct strand *strand, const struct kdz_call *call, uint64_t now)
{
    const uint64_t handlers = strand->handlers - call->handlers;
    const uint64_t others = strand->others - call->others;
    const uint64_t value = now - call->begin - handlers - others;

    kdz_rows_append(KDZ_ROW_CALL, call->function, value, handlers, others);
    kdz_flow_keep(call->flow, call->function, tallies[call->function].returned, value);
    tallies[call->function].returned++;
    open_calls--;
}

/* The innermost calls end first: what they executed is the outer ones' as well. */
static void close_call(struct strand *strand, size_t i, bool returns, uint64_t now)
{
    const struct kdz_call *call = call_at(strand, i);

    if (returns) {
        give_back(strand, call, now);
    } else {
        give_up(call);
    }
    kdz_flow_end(call->flow, i > 0 ? call_at(strand, i - 1u)->flow : NULL);
}

static void close_span(struct strand *strand, size_t i, bool ends, uint64_t now)
{
    const struct kdz_call *span = span_at(strand, i);

    if (ends) {
        give_back(strand, span, now);
    } else {
        give_up(span);
    }
    kdz_flow_end(span->flow, NULL);
    kdz_calls_remove(&strand->spans, i);
}

static void give_up_spans(struct strand *strand)
{
    while (strand->spans.count > 0) {
        close_span(strand, strand->spans.count - 1u, false, 0);
    }
}

static void give_up_all(struct strand *strand)
{
    for (size_t i = strand->calls.count; i > 0; i--) {
        close_call(strand, i - 1u, false, 0);
    }
    give_up_spans(strand);
    kdz_strand_forget(strand);
}

/* The current strand is over: a handler's own call returns with it. So does one that was entered
 * behind a vector that nobody followed, and ends the exception with the stack of its entry. */
static void end_current(uint64_t now)
{
    const uint64_t sp = leaving_trap && current->calls.count > 0 ? kdz_processor_sp() : 0;

    for (size_t i = current->calls.count; i > 0; i--) {
        const struct kdz_call *call = call_at(current, i - 1u);
        const bool own = call->handles || (current->handles && call->sp == current->entry) ||
                         (leaving_trap && call->sp == sp);
        close_call(current, i - 1u, own, now);
    }
    give_up_spans(current);
    kdz_strand_forget(current);
    current = NULL;
}

/* Calls whose return address is reached, with the calls inside them. */
static void look_for_return(uint64_t pc, uint64_t now)
{
    struct kdz_calls *calls = &current->calls;
    uint64_t sp = 0;
    size_t outermost = calls->count;
    bool knows_stack = false;

    for (size_t i = calls->count; i > 0; i--) {
        const struct kdz_call *call = call_at(current, i - 1u);
        if (call->handles || call->link != pc) {
            continue;
        }
        sp = knows_stack ? sp : kdz_processor_sp();
        knows_stack = true;
        if (call->sp > sp) {
            break;
        }
        outermost = i - 1u;
    }
    for (size_t i = calls->count; i > outermost; i--) {
        const struct kdz_call *call = call_at(current, i - 1u);
        close_call(current, i - 1u, i - 1u == outermost || (call->link == pc && call->sp == sp),
                   now);
    }
    calls->count = outermost;
}

/* ---- strands that are left, and go on --------------------------------------------------------
 */
/* The current strand is left; `current` has to be set behind it. */
static void leave_current(bool trapped, uint64_t pc, uint64_t sp, uint64_t now)
{
    struct strand *strand = current;

    current = NULL;
    if (kdz_strand_is_idle(strand) && !(trapped && strand->handles)) {
        kdz_strand_forget(strand);
        return;
    }
    strand->trapped = trapped;
    strand->pc = pc;
    strand->sp = sp;
    strand->left = now;
    strand->in_handlers = in_handlers;
    for (size_t i = 0; i < left_count; i++) {
        const struct strand *other = left[i];
        if (other->trapped == trapped && other->sp == sp && other->exception == strand->exception) {
            give_up_all(taken_from_left(i)); /* its place is another's now */
            break;
        }
    }
    if (left_count == STRANDS_MOST) {
        give_up_all(taken_from_left(0));
    }
    left[left_count++] = strand;
}

static bool go_on(size_t place, uint64_t now)
{
    struct strand *strand = taken_from_left(place);
    const uint64_t handlers = in_handlers - strand->in_handlers;

    strand->handlers += handlers;
    strand->others += now - strand->left - handlers;
    current = strand;
    return true;
}

/* The strand that an exception interrupted here, if there is any. */
static bool go_on_after_trap(uint64_t pc, uint32_t exception, uint64_t now)
{
    const uint64_t sp = left_count > 0 ? kdz_processor_sp() : 0;

    for (size_t i = left_count; i > 0; i--) {
        const struct strand *strand = left[i - 1u];
        if (strand->trapped && strand->exception == exception && strand->sp == sp &&
            pc - strand->pc <= LONGEST_INSTRUCTION) {
            end_current(now);
            return go_on(i - 1u, now);
        }
    }
    return false;
}

static void begin_handler(uint32_t exception)
{
    current = kdz_strand_new(exception, true);
    current->entry = kdz_processor_sp();
}

static void look_for_exception(uint64_t pc, uint64_t now)
{
    const uint32_t exception = kdz_processor_exception();

    if (exception == current->exception) {
        return;
    }
    account(now);
    if (go_on_after_trap(pc, exception, now)) {
        return;
    }
    if (exception == 0) {
        end_current(now);
        current = kdz_strand_new(0, false);
        return;
    }
    /* Behind the end of one handler, the next one begins with the same frame. */
    const struct kdz_interrupted interrupted = kdz_processor_interrupted();
    if (interrupted.exception == current->exception) {
        leave_current(true, interrupted.pc, interrupted.sp, now);
    } else {
        end_current(now);
    }
    begin_handler(exception);
}

static void look_for_trap(uint64_t pc, uint64_t now)
{
    if (leaving_trap) {
        account(now);
        if (!go_on_after_trap(pc, 0, now)) {
            end_current(now);
            current = kdz_strand_new(0, false);
        }
        leaving_trap = false;
    }
    if (kdz_processor_is_vector(pc)) {
        const struct kdz_interrupted interrupted = kdz_processor_interrupted();
        account(now);
        leave_current(true, interrupted.pc, interrupted.sp, now);
        begin_handler(0);
    }
}

static void stop_if_none_is_open(void)
{
    if (open_calls > 0) {
        return;
    }
    for (size_t i = 0; i < left_count; i++) {
        kdz_strand_forget(left[i]);
    }
    left_count = 0;
    kdz_strand_forget(current);
    current = NULL;
    leaving_trap = false;
    follow(false);
}

/* ---- calls that begin ------------------------------------------------------------------------
 */
/* Strands with frames where this call has its own are over: a longjmp left them. */
static void give_up_overwritten(uint64_t sp)
{
    for (size_t i = left_count; i > 0; i--) {
        struct strand *strand = left[i - 1u];
        if (!kdz_strand_is_idle(strand) && strand->sp < sp && sp <= kdz_strand_top(strand)) {
            give_up_all(taken_from_left(i - 1u));
        }
    }
}

/* Whether the function's first instruction is only reached again: by a jump back, by a call at its
 * own end, or because it faulted. */
static bool is_again(uint32_t function, uint64_t link, uint64_t sp)
{
    for (size_t i = current->calls.count; i > 0; i--) {
        const struct kdz_call *call = call_at(current, i - 1u);
        if (call->sp > sp) {
            return false;
        }
        if (call->function == function && call->link == link && call->sp == sp) {
            return true;
        }
    }
    return false;
}

static void begin_following(uint64_t sp, bool handles, uint64_t now)
{
    if (current == NULL) {
        const uint32_t exception = kdz_processor_exception();
        current = kdz_strand_new(exception, exception != 0 || handles);
        current->entry = sp;
        since = now;
    }
    account(now);
}

static void opened(uint32_t number)
{
    tallies[number].began++;
    if (open_calls++ == 0) {
        follow(true);
    }
}

void kdz_strands_enter(uint32_t function, uint64_t pc, uint64_t now)
{
    const uint64_t sp = kdz_processor_sp();
    const uint64_t link = kdz_processor_link();
    const bool handles = kdz_processor_is_exception_return(link) || kdz_processor_is_vector(pc);

    begin_following(sp, handles, now);
    const uint64_t address = kdz_processor_is_arm() && !handles ? link & ~UINT64_C(1) : link;
    if (is_again(function, address, sp)) {
        if (!handles || !behind_return) {
            return;
        }
        end_current(now); /* the same exception once more, directly behind its end */
        begin_handler(kdz_processor_exception());
    }
    give_up_overwritten(sp);
    const size_t depth = current->calls.count;
    struct kdz_flow *around = depth > 0 ? call_at(current, depth - 1u)->flow : NULL;
    const struct kdz_call call = {
        function, handles,           address,         sp,
        now,      current->handlers, current->others, kdz_flow_of_call(around, kdz_symbols_at(pc))};
    kdz_calls_append(&current->calls, call);
    opened(function);
}

/* ---- spans -----------------------------------------------------------------------------------
 */
/* The place of a span that is open here; as many as there are if it is not. */
static size_t place_of_span(uint32_t span)
{
    size_t place = 0;

    while (place < current->spans.count && span_at(current, place)->function != span) {
        place++;
    }
    return place;
}

void kdz_strands_begin_span(uint32_t span, uint64_t pc, uint64_t now)
{
    const uint64_t sp = kdz_processor_sp();

    begin_following(sp, kdz_processor_is_vector(pc), now);
    const size_t place = place_of_span(span);
    if (place < current->spans.count) {
        close_span(current, place, false, now);
    }
    give_up_overwritten(sp);
    const struct kdz_call begun = {
        span, false, 0, sp, now, current->handlers, current->others, kdz_flow_of_span(span)};
    kdz_calls_append(&current->spans, begun);
    opened(span);
}

void kdz_strands_end_span(uint32_t span, uint64_t now)
{
    const size_t place = current != NULL ? place_of_span(span) : 0;

    if (current == NULL || place == current->spans.count) {
        return;
    }
    account(now);
    close_span(current, place, true, now);
    stop_if_none_is_open();
}

/* ---- another stack ---------------------------------------------------------------------------
 */
void kdz_strands_before_stack(void)
{
    stack_before = kdz_processor_sp();
    sets_stack = true;
}

static bool go_on_with_stack(uint64_t sp, uint64_t now)
{
    for (size_t i = left_count; i > 0; i--) {
        const struct strand *strand = left[i - 1u];
        if (!strand->trapped && strand->sp == sp) {
            leave_current(false, 0, stack_before, now);
            /* Leaving may have removed one before it. */
            for (size_t k = left_count; k > 0; k--) {
                if (left[k - 1u] == strand) {
                    return go_on(k - 1u, now);
                }
            }
            current = kdz_strand_new(0, false);
            return true;
        }
    }
    return false;
}

/* Whether the new value lies in the stack of the current strand: a frame of variable size ends, or
 * a longjmp leaves inner calls. */
static bool stays(uint64_t sp)
{
    struct kdz_calls *calls = &current->calls;
    size_t kept = calls->count;

    if (kdz_strand_is_idle(current) || sp < stack_before) {
        return kdz_strand_is_idle(current);
    }
    while (kept > 0 && call_at(current, kept - 1u)->sp < sp) {
        kept--;
    }
    if (kept == 0 && sp > kdz_strand_top_of_spans(current)) {
        return false;
    }
    doubtful = kept > 0 && call_at(current, kept - 1u)->sp == sp ? sp : 0;
    for (size_t i = calls->count; i > kept; i--) {
        close_call(current, i - 1u, false, 0);
    }
    calls->count = kept;
    return true;
}

void kdz_strands_after_stack(uint64_t now)
{
    const uint64_t sp = kdz_processor_sp();

    if (!sets_stack || current == NULL || sp == stack_before) {
        sets_stack = false;
        return;
    }
    sets_stack = false;
    charge(now);
    account(now);
    if (go_on_with_stack(sp, now) || stays(sp)) {
        return;
    }
    const bool handles = current->handles;
    const uint32_t exception = current->exception;
    leave_current(false, 0, stack_before, now);
    current = kdz_strand_new(exception, handles);
}

/* Whether this block is a handler's first, or behind its end. */
static bool interrupted_at(uint64_t pc)
{
    return kdz_processor_is_arm() ? kdz_processor_exception() != current->exception
                                  : leaving_trap || kdz_processor_is_vector(pc);
}

/* A call has its stack pointer of the entry again, which no instruction but a return or the end of
 * its only frame brings back: a longjmp left it, if it goes on elsewhere. */
static void look_for_longjmp(uint64_t pc)
{
    for (size_t i = current->calls.count; i > 0; i--) {
        const struct kdz_call *call = call_at(current, i - 1u);
        const struct kdz_code *own = &code[call->function];
        if (call->sp != doubtful || call->link == pc || pc - own->address < own->bytes) {
            break;
        }
        close_call(current, i - 1u, false, 0);
        current->calls.count = i - 1u;
    }
    doubtful = 0;
}

void kdz_strands_block(const struct kdz_block *block, bool after_return, uint64_t now)
{
    const uint64_t pc = block->address;

    behind_return = after_return;
    kdz_strands_at(block->symbol, now);
    if (!interrupted_at(pc)) {
        kdz_strands_after_stack(now);
        if (doubtful != 0) {
            look_for_longjmp(pc);
        }
    }
    sets_stack = false;
    if (kdz_processor_is_arm()) {
        look_for_exception(pc, now);
    } else {
        look_for_trap(pc, now);
    }
    look_for_return(pc, now);
    if (block->calls) {
        kdz_strand_called(current, executing);
    }
    stop_if_none_is_open();
}

void kdz_strands_leave_trap(void)
{
    leaving_trap = true;
}

void kdz_strands_end(void)
{
    for (size_t i = 0; i < function_count; i++) {
        const struct tally *tally = &tallies[i];
        kdz_rows_append(KDZ_ROW_TALLY, (uint32_t)i, tally->began, tally->returned, tally->unwound);
    }
}
