/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/fault.h"
#include "message.h"

#include <stdatomic.h>

/* An exit code of docs/reference/exit-codes.md: a target failed. */
#define EXIT_FAILED 1

static atomic_flag dying = ATOMIC_FLAG_INIT;

_Noreturn void kdz_fault(const char *kind, const char *message,
                         const struct kdz_register *registers, size_t count)
{
    if (atomic_flag_test_and_set(&dying)) {
        kdz_board_halt(EXIT_FAILED);
    }
    kdz_wire_break(); /* the fault may have come in the middle of another frame */
    kdz_message_fault(kind, message, kdz_fault_thread(), registers, count);
    kdz_board_halt(EXIT_FAILED);
}
