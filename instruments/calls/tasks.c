/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks.h"

#include "flows.h"
#include "rows.h"

#include <glib.h>

#define LONGEST_INSTRUCTION 16u
#define NO_SYSTEM_CALL UINT64_MAX /* also the number of faults in the table */

struct call {
    uint32_t function;
    uint64_t link, frame;
    /* At its begin: the count, and its thread's. */
    uint64_t begin, user, kernel, interrupts, inner_user, inner_kernel;
    struct kdz_flow *flow; /* NULL: nothing is kept */
};

/* The thread itself, or a signal's handler above it. */
struct level {
    GArray *calls; /* the innermost last */
    GArray *spans;
    uint64_t inner_user, inner_kernel; /* instructions of levels above this one */
    uint64_t pc, sp;                   /* where it goes on */
    uint64_t handler_sp;               /* of the level above, at its begin */
    uint64_t user, kernel;             /* of the thread, when it was left */
};

struct thread {
    GPtrArray *levels; /* struct level; the handler that runs last */
    uint64_t user, kernel, interrupts;
    enum { IN_PROGRAM, IN_KERNEL, IN_INTERRUPT } where;
    bool nested;             /* the interrupt came in the kernel */
    uint64_t pc, sp;         /* where that interrupt goes back to */
    uint64_t number, before; /* of the system call, and the kernel's instructions at its begin */
    enum kdz_cause cause;
    bool resumed; /* no block of it began since the kernel went back to it */
    uint64_t last_pc;
    enum kdz_ending last, ending;
};

struct tally {
    uint64_t began, returned, unwound;
    GHashTable *system_calls; /* number -> struct system_call */
};

struct system_call {
    uint64_t number, count, kernel;
};

static GHashTable *threads; /* task -> struct thread */
static struct thread *running;
static uint64_t running_task, since;
static uint32_t executing; /* the symbol of the program's code that runs */
static struct tally *tallies;
static size_t function_count;
static uint64_t open_calls;
static void (*follow)(bool on);
static struct kdz_program_facts facts;
static uint64_t system_call = NO_SYSTEM_CALL; /* that is next */
static bool sigreturns;
static uint64_t number_of_sigreturn;

void kdz_tasks_start(size_t functions, void (*following)(bool on), uint64_t sigreturn)
{
    threads = g_hash_table_new(NULL, NULL);
    tallies = g_new0(struct tally, functions + 1u);
    for (size_t i = 0; i < functions; i++) {
        tallies[i].system_calls = g_hash_table_new(g_int64_hash, g_int64_equal);
    }
    function_count = functions;
    follow = following;
    number_of_sigreturn = sigreturn;
}

/* ---- counts ----------------------------------------------------------------------------------
 */
static struct call *at(GArray *calls, guint i)
{
    return &g_array_index(calls, struct call, i);
}

static struct level *level_of(struct thread *thread)
{
    return g_ptr_array_index(thread->levels, thread->levels->len - 1u);
}

/* NULL without a call. */
static struct kdz_flow *innermost(GArray *calls)
{
    return calls->len > 0 ? at(calls, calls->len - 1u)->flow : NULL;
}

/* Instructions of the program, which are the innermost call's and every span's. */
static void charge_flows(uint64_t instructions)
{
    const struct level *level = level_of(running);

    kdz_flow_charge(innermost(level->calls), executing, instructions);
    for (guint i = 0; i < level->spans->len; i++) {
        kdz_flow_charge(at(level->spans, i)->flow, executing, instructions);
    }
}

/* What was executed since the last charge belongs to the thread that runs, if it is the
 * program's. */
static void charge(uint64_t now)
{
    if (running != NULL) {
        uint64_t *const count = running->where == IN_PROGRAM  ? &running->user
                                : running->where == IN_KERNEL ? &running->kernel
                                                              : &running->interrupts;
        *count += now - since;
        if (running->where == IN_PROGRAM && now != since) {
            charge_flows(now - since);
        }
    }
    since = now;
}

static void add_level(struct thread *thread)
{
    struct level *level = g_new0(struct level, 1);

    level->calls = g_array_new(FALSE, FALSE, sizeof(struct call));
    level->spans = g_array_new(FALSE, FALSE, sizeof(struct call));
    g_ptr_array_add(thread->levels, level);
    thread->last = thread->ending = KDZ_ENDS_PLAINLY;
}

static struct thread *new_thread(uint64_t task)
{
    struct thread *thread = g_new0(struct thread, 1);

    thread->levels = g_ptr_array_new();
    thread->number = NO_SYSTEM_CALL;
    add_level(thread);
    g_hash_table_insert(threads, (gpointer)(uintptr_t)task, thread);
    facts.threads++;
    return thread;
}

/* ---- calls that end --------------------------------------------------------------------------
 */
static void closed(void)
{
    if (--open_calls == 0) {
        follow(false);
    }
}

static void give_up(const struct call *call)
{
    tallies[call->function].unwound++;
    closed();
}

/* The innermost call of a level is left without a return. */
static void give_up_innermost(GArray *calls)
{
    const struct call call = *at(calls, calls->len - 1u);

    g_array_set_size(calls, calls->len - 1u);
    give_up(&call);
    kdz_flow_end(call.flow, innermost(calls));
}

static void give_up_level(struct level *level)
{
    while (level->calls->len > 0) {
        give_up_innermost(level->calls);
    }
    for (guint i = level->spans->len; i > 0; i--) {
        give_up(at(level->spans, i - 1u));
        kdz_flow_end(at(level->spans, i - 1u)->flow, NULL);
    }
    g_array_set_size(level->spans, 0);
}

static void give_back(const struct call *call, uint64_t now)
{
    const struct level *level = level_of(running);
    const uint64_t inner_user = level->inner_user - call->inner_user;
    const uint64_t inner_kernel = level->inner_kernel - call->inner_kernel;
    const uint64_t user = running->user - call->user;
    const uint64_t kernel = running->kernel - call->kernel;
    const uint64_t interrupts = running->interrupts - call->interrupts;
    const uint64_t value = user - inner_user;

    kdz_rows_append(KDZ_ROW_CALL, call->function, value, interrupts,
                    now - call->begin - user - kernel - interrupts);
    kdz_flow_keep(call->flow, call->function, tallies[call->function].returned, value);
    kdz_rows_append(KDZ_ROW_MORE, call->function, kernel - inner_kernel, inner_user + inner_kernel,
                    0);
    tallies[call->function].returned++;
    closed();
}

static struct call opened(uint32_t function, uint64_t link, uint64_t frame, uint64_t now,
                          struct kdz_flow *flow)
{
    const struct level *level = level_of(running);

    charge(now);
    tallies[function].began++;
    if (open_calls++ == 0) {
        follow(true);
    }
    return (struct call){function,
                         link,
                         frame,
                         now,
                         running->user,
                         running->kernel,
                         running->interrupts,
                         level->inner_user,
                         level->inner_kernel,
                         flow};
}

/* ---- levels ----------------------------------------------------------------------------------
 */
static void end_level(struct thread *thread)
{
    struct level *over = level_of(thread);

    give_up_level(over);
    g_array_free(over->calls, TRUE);
    g_array_free(over->spans, TRUE);
    g_free(over);
    g_ptr_array_set_size(thread->levels, (gint)thread->levels->len - 1);
    struct level *level = level_of(thread);
    level->inner_user += thread->user - level->user;
    level->inner_kernel += thread->kernel - level->kernel;
}

static void begin_level(struct thread *thread, uint64_t sp)
{
    struct level *level = level_of(thread);

    level->handler_sp = sp;
    level->user = thread->user;
    level->kernel = thread->kernel;
    add_level(thread);
}

/* A siglongjmp leaves a handler without the kernel: the stack pointer is above that of what the
 * handler interrupted, and nearer to it than to the handler's. */
static void leave_handlers(struct thread *thread, uint64_t sp)
{
    while (thread->levels->len > 1u) {
        const struct level *below = g_ptr_array_index(thread->levels, thread->levels->len - 2u);
        const uint64_t to_handler =
            sp > below->handler_sp ? sp - below->handler_sp : below->handler_sp - sp;
        if (sp <= below->sp || sp - below->sp >= to_handler) {
            return;
        }
        end_level(thread);
    }
}

/* ---- the program's code ----------------------------------------------------------------------
 */
void kdz_tasks_at(uint32_t symbol, uint64_t now)
{
    charge(now);
    executing = symbol;
}

void kdz_tasks_called(uint32_t symbol, bool elsewhere)
{
    if (running == NULL || (!elsewhere && running->last != KDZ_ENDS_WITH_CALL)) {
        return;
    }
    const struct level *level = level_of(running);
    kdz_flow_called(innermost(level->calls), symbol);
    for (guint i = 0; i < level->spans->len; i++) {
        kdz_flow_called(at(level->spans, i)->flow, symbol);
    }
}

void kdz_tasks_block(uint64_t pc, enum kdz_ending ending)
{
    if (running == NULL) {
        return;
    }
    /* An instruction that faulted is executed again: nothing called it. */
    const bool again = running->resumed && running->cause == KDZ_BY_FAULT;
    running->resumed = false;
    running->last = again ? KDZ_ENDS_PLAINLY : running->ending;
    running->ending = ending;
    running->last_pc = pc;
}

bool kdz_tasks_may_have_returned(void)
{
    return running != NULL && running->last == KDZ_ENDS_WITH_JUMP &&
           (level_of(running)->calls->len > 0 || running->levels->len > 1u);
}

void kdz_tasks_look_for_return(uint64_t pc, uint64_t sp, uint64_t now)
{
    charge(now);
    leave_handlers(running, sp);
    GArray *const calls = level_of(running)->calls;
    guint outermost = calls->len;

    for (guint i = calls->len; i > 0 && at(calls, i - 1u)->frame <= sp; i--) {
        if (at(calls, i - 1u)->link == pc) {
            outermost = i - 1u;
        }
    }
    while (calls->len > outermost) {
        const struct call call = *at(calls, calls->len - 1u);
        const bool returns = calls->len - 1u == outermost || (call.link == pc && call.frame == sp);
        if (returns) {
            g_array_set_size(calls, calls->len - 1u);
            give_back(&call, now);
            kdz_flow_end(call.flow, innermost(calls));
        } else {
            give_up_innermost(calls);
        }
    }
    /* Their frames are no more, and they came to no return. */
    while (calls->len > 0 && at(calls, calls->len - 1u)->frame < sp) {
        give_up_innermost(calls);
    }
}

void kdz_tasks_enter(uint32_t function, uint64_t pc, uint64_t link, uint64_t frame, uint64_t now)
{
    if (running == NULL) {
        return;
    }
    charge(now);
    leave_handlers(running, frame);
    GArray *const calls = level_of(running)->calls;
    const bool called = pc == running->last_pc && running->last == KDZ_ENDS_WITH_CALL;

    while (calls->len > 0) {
        const struct call *call = at(calls, calls->len - 1u);
        const bool same = call->function == function && call->link == link && call->frame == frame;
        if (same && !called) {
            return; /* a jump back, or the first instruction faulted */
        }
        if (!same && call->frame >= frame) {
            break;
        }
        give_up_innermost(calls); /* a longjmp left it: its frame is another's now */
    }
    struct kdz_flow *const flow = kdz_flow_of_call(innermost(calls), kdz_symbols_at(pc));
    const struct call call = opened(function, link, frame, now, flow);
    g_array_append_val(calls, call);
}

static guint place_of_span(GArray *spans, uint32_t span)
{
    guint place = 0;

    while (place < spans->len && at(spans, place)->function != span) {
        place++;
    }
    return place;
}

void kdz_tasks_begin_span(uint32_t span, uint64_t now)
{
    if (running == NULL) {
        return;
    }
    GArray *const spans = level_of(running)->spans;
    const guint place = place_of_span(spans, span);
    const struct call begun = opened(span, 0, 0, now, kdz_flow_of_span(span));

    if (place < spans->len) {
        give_up(at(spans, place));
        kdz_flow_end(at(spans, place)->flow, NULL);
        g_array_remove_index(spans, place);
    }
    g_array_append_val(spans, begun);
}

void kdz_tasks_end_span(uint32_t span, uint64_t now)
{
    GArray *const spans = running != NULL ? level_of(running)->spans : NULL;
    const guint place = spans != NULL ? place_of_span(spans, span) : 0;

    if (spans == NULL || place == spans->len) {
        return;
    }
    charge(now);
    give_back(at(spans, place), now);
    kdz_flow_end(at(spans, place)->flow, NULL);
    g_array_remove_index(spans, place);
}

/* ---- the kernel ------------------------------------------------------------------------------
 */
void kdz_tasks_system_call(uint64_t number)
{
    system_call = number;
}

void kdz_tasks_name(uint64_t task)
{
    if (running != NULL && running_task == 0) {
        g_hash_table_remove(threads, NULL);
        g_hash_table_insert(threads, (gpointer)(uintptr_t)task, running);
        running_task = task;
    }
}

void kdz_tasks_enter_kernel(enum kdz_cause cause, uint64_t pc, uint64_t sp, uint64_t now)
{
    charge(now);
    if (running == NULL) {
        return;
    }
    struct level *level = level_of(running);
    if (cause == KDZ_BY_FAULT && running->user > 0) {
        running->user--; /* it is executed once more, and counts then */
        running->kernel++;
        charge_flows((uint64_t)-1);
    }
    running->where = cause == KDZ_BY_INTERRUPT ? IN_INTERRUPT : IN_KERNEL;
    running->nested = false;
    running->cause = cause;
    running->number = cause == KDZ_BY_SYSTEM_CALL ? system_call : NO_SYSTEM_CALL;
    running->before = running->kernel;
    sigreturns = cause == KDZ_BY_SYSTEM_CALL && system_call == number_of_sigreturn;
    system_call = NO_SYSTEM_CALL;
    if (!sigreturns) {
        level->pc = pc;
        level->sp = sp;
    }
}

static void tally_system_call(struct tally *tally, const struct thread *thread)
{
    struct system_call *known = g_hash_table_lookup(tally->system_calls, &thread->number);

    if (known == NULL) {
        known = g_new0(struct system_call, 1);
        known->number = thread->number;
        g_hash_table_insert(tally->system_calls, &known->number, known);
    }
    known->count++;
    known->kernel += thread->kernel - thread->before;
}

/* A system call or a fault is over: it is that of every call of its level, once a function. */
static void tally_all(struct thread *thread)
{
    const struct level *level = level_of(thread);
    GArray *const lists[] = {level->calls, level->spans};

    for (size_t list = 0; list < 2u; list++) {
        GArray *const calls = lists[list];
        for (guint i = 0; i < calls->len; i++) {
            guint before = 0;
            while (before < i && at(calls, before)->function != at(calls, i)->function) {
                before++;
            }
            if (before == i) {
                tally_system_call(&tallies[at(calls, i)->function], thread);
            }
        }
    }
}

/* Where the kernel went back to: behind the call, to the call once more, or elsewhere, which is a
 * signal's handler, or the end of one. */
static void go_on(struct thread *thread, uint64_t pc, uint64_t sp)
{
    const struct level *level = level_of(thread);

    if (!sigreturns) {
        if (level->sp != sp || pc - level->pc > LONGEST_INSTRUCTION) {
            begin_level(thread, sp);
        }
        return;
    }
    sigreturns = false;
    if (thread->levels->len > 1u) {
        const struct level *below = g_ptr_array_index(thread->levels, thread->levels->len - 2u);
        if (below->sp == sp) {
            end_level(thread);
        }
    }
}

void kdz_tasks_enter_program(uint64_t task, uint64_t pc, uint64_t sp, uint64_t now)
{
    charge(now);
    running = g_hash_table_lookup(threads, (gpointer)(uintptr_t)task);
    running_task = task;
    if (running == NULL) {
        running = new_thread(task);
    } else if (running->where != IN_PROGRAM) {
        if (open_calls > 0 && running->where == IN_KERNEL) {
            tally_all(running);
        }
        go_on(running, pc, sp);
    }
    running->where = IN_PROGRAM;
    running->resumed = true;
}

void kdz_tasks_enter_other(uint64_t now)
{
    charge(now);
    running = NULL;
    running_task = 0;
}

bool kdz_tasks_run(uint64_t task, uint64_t now)
{
    if (task != running_task) {
        charge(now);
        running_task = task;
        running = g_hash_table_lookup(threads, (gpointer)(uintptr_t)task);
    }
    return running != NULL;
}

bool kdz_tasks_in_kernel(void)
{
    return running->where == IN_KERNEL;
}

void kdz_tasks_interrupted(uint64_t pc, uint64_t sp, uint64_t now)
{
    charge(now);
    running->where = IN_INTERRUPT;
    running->nested = true;
    running->pc = pc;
    running->sp = sp;
}

bool kdz_tasks_awaits(uint64_t pc)
{
    return running->where == IN_INTERRUPT && running->nested && running->pc == pc;
}

void kdz_tasks_resume(uint64_t sp, uint64_t now)
{
    if (running->sp == sp) {
        charge(now);
        running->where = IN_KERNEL;
    }
}

/* ---- the end ---------------------------------------------------------------------------------
 */
struct kdz_program_facts *kdz_tasks_facts(void)
{
    return &facts;
}

void kdz_tasks_exit(uint64_t now)
{
    charge(now);
    if (running == NULL) {
        return;
    }
    while (running->levels->len > 1u) {
        end_level(running);
    }
    give_up_level(level_of(running));
    g_hash_table_remove(threads, (gpointer)(uintptr_t)running_task);
    running = NULL;
}

void kdz_tasks_end(void)
{
    for (size_t i = 0; i < function_count; i++) {
        const struct tally *tally = &tallies[i];
        g_autoptr(GList) numbers = g_hash_table_get_values(tally->system_calls);
        for (GList *place = numbers; place != NULL; place = place->next) {
            const struct system_call *call = place->data;
            kdz_rows_append(KDZ_ROW_SYSTEM_CALL, (uint32_t)i, call->number, call->count,
                            call->kernel);
        }
        kdz_rows_append(KDZ_ROW_TALLY, (uint32_t)i, tally->began, tally->returned, tally->unwound);
    }
    kdz_rows_append(KDZ_ROW_PROGRAM, 0, facts.forked, facts.replaced, facts.threads);
}
