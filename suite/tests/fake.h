/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel and a board that hold still: what they say is written down in tests/golden.
 */
#ifndef FAKE_H
#define FAKE_H

#include "kadenz/board.h"
#include "kadenz/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct fake_console {
    uint8_t bytes[1 << 16];
    size_t count;
};

extern struct fake_console fake_console; /* what was written */
extern const char *fake_page;            /* kdz_board_plan */
extern const char *fake_typed;           /* what kdz_console_read gives */
extern struct kdz_clock fake_clock;
extern const char *fake_denied; /* why the mechanism "flags" cannot be had; NULL: it can */
extern size_t fake_capacity;    /* of the storage, at most 8 */
extern uint32_t fake_tick;      /* kdz_tick_now */

/* Silent console, the golden frames' identity, storage of 8 values. */
void fake_reset(void);

/* Runs `call`; the code with which it halted the board, or -1 when it returned. */
int fake_halts(void (*call)(void));

/* The content of a file of tests/golden. Fails the test when it is not there. */
size_t fake_golden(const char *name, uint8_t *bytes, size_t size);

/* ---- frames that were written -----------------------------------------------------------------
 */
struct fake_frame {
    uint8_t type;
    uint32_t sequence;
    size_t length;
    uint8_t body[4096];
};

/* Decodes the next frame from *at on; false at the end. Fails the test on a bad frame. */
bool fake_next_frame(size_t *at, struct fake_frame *frame);

/* Whether a MessagePack text stands in the body. */
bool fake_says(const struct fake_frame *frame, const char *text);

#endif
