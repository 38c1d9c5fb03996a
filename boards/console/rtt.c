/* SPDX-License-Identifier: Apache-2.0
 *
 * A console in memory, which a debugger reads and writes: SEGGER's layout of RTT, so that their
 * tools, OpenOCD, pyOCD and probe-rs find it as well. No pin is needed.
 *
 * A debugger that stops the core meets it in kdz_rtt_service, never in a timed region: nothing is
 * written there. One that reads while the core runs needs no stop, and finds the same rings.
 */
#include <stdbool.h>
#include <stddef.h>

#include "kadenz/board.h"
#include "kadenz/console.h"

#define UP_BYTES 512u
#define DOWN_BYTES 128u
#define ID_BYTES 16u
#define MODE_WAIT 2u /* the writer waits while the ring is full: nothing is lost */

/* A ring. Its owner moves `write`, the other side `read`; it is empty where they are equal. */
struct channel {
    const char *name;
    volatile uint8_t *bytes;
    uint32_t size;
    volatile uint32_t write;
    volatile uint32_t read;
    uint32_t mode;
};

struct control_block {
    volatile char id[ID_BYTES];
    int32_t up_count;
    int32_t down_count;
    struct channel up;   /* to the debugger */
    struct channel down; /* from it */
};

/* The name by which debuggers look for it; C keeps such names for itself. */
struct control_block kdz_rtt __asm__("_SEGGER_RTT");

static volatile uint8_t up_bytes[UP_BYTES];
static volatile uint8_t down_bytes[DOWN_BYTES];

/* Where kadenz sets a breakpoint: rings may be emptied and filled now. */
void kdz_rtt_service(void);

__attribute__((noinline)) void kdz_rtt_service(void)
{
    __asm__ volatile("nop" : : : "memory");
}

void kdz_console_open(uint32_t bus_hz)
{
    /* Written at run time and backwards: whoever searches memory finds no half of a block, and no
     * copy of it in flash. */
    static const char reversed[ID_BYTES] = "\0\0\0\0\0\0TTR REGGES";

    (void)bus_hz;
    kdz_rtt.up_count = 1;
    kdz_rtt.down_count = 1;
    kdz_rtt.up = (struct channel){"kadenz", up_bytes, UP_BYTES, 0, 0, MODE_WAIT};
    kdz_rtt.down = (struct channel){"kadenz", down_bytes, DOWN_BYTES, 0, 0, MODE_WAIT};
    for (size_t i = 0; i < ID_BYTES; i++) {
        kdz_rtt.id[ID_BYTES - 1u - i] = reversed[i];
    }
}

static uint32_t after(uint32_t place, uint32_t size)
{
    return place + 1u == size ? 0 : place + 1u;
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    struct channel *const up = &kdz_rtt.up;

    for (size_t i = 0; i < count; i++) {
        const uint32_t next = after(up->write, UP_BYTES);

        while (next == up->read) {
            kdz_rtt_service();
        }
        up->bytes[up->write] = bytes[i];
        up->write = next;
    }
    /* A frame comes in pieces, and only its end is a zero. Each stop takes a debugger long. */
    if (count != 0 && bytes[count - 1u] == 0) {
        kdz_rtt_service();
    }
}

int kdz_console_read(void)
{
    struct channel *const down = &kdz_rtt.down;
    int byte;

    if (down->read == down->write) {
        kdz_rtt_service();
        return -1;
    }
    byte = down->bytes[down->read];
    down->read = after(down->read, DOWN_BYTES);
    return byte;
}

void kdz_console_close(void)
{
    while (kdz_rtt.up.read != kdz_rtt.up.write) {
        kdz_rtt_service();
    }
}
