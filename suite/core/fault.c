/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include "msgpack.h"
#include "wire.h"

#include "kadenz/board.h"

#include <stdatomic.h>

struct fault_context {
    const char *kind;
    const char *message;
    const char *thread;
    const struct kdz_register *registers;
    size_t count;
};

static void fault_body(struct kdz_sink *sink, const void *context)
{
    const struct fault_context *told = context;

    kdz_pack_map(sink, 4);
    kdz_pack_text_at(sink, "kind", told->kind);
    kdz_pack_text_at(sink, "message", told->message);
    kdz_pack_text_at(sink, "thread", told->thread);
    kdz_pack_text(sink, "registers");
    kdz_pack_map(sink, (uint32_t)told->count);
    for (size_t i = 0; i < told->count; i++) {
        kdz_pack_uint_at(sink, told->registers[i].name, told->registers[i].value);
    }
}

void kdz_fault_frame(const char *kind, const char *message, const char *thread,
                     const struct kdz_register *registers, size_t count)
{
    const struct fault_context told = {kind, message, thread, registers, count};

    (void)kdz_wire_send(KDZ_FRAME_FAULT, fault_body, &told);
}

/* An exit code of docs/reference/exit-codes.md: a target failed. */
#define EXIT_FAILED 1

static atomic_flag dying = ATOMIC_FLAG_INIT;

_Noreturn void kdz_fault(const char *kind, const char *message,
                         const struct kdz_register *registers, size_t count)
{
    kdz_board_last_words();
    if (atomic_flag_test_and_set(&dying)) { /* a fault of the report */
        kdz_board_halt(EXIT_FAILED);
    }
    kdz_wire_break(); /* the fault may have come in the middle of another frame */
    kdz_fault_frame(kind, message, kdz_fault_thread(), registers, count);
    kdz_board_halt(EXIT_FAILED);
}
