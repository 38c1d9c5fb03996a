/* SPDX-License-Identifier: Apache-2.0
 *
 * A console of two files in the debug server's working folder: frames go to one, the plan comes
 * from the other. The server, not the target, opens them.
 */
#include <stddef.h>

#include "kadenz/board.h"
#include "kadenz/console.h"
#include "kadenz/semihosting.h"

#define SYS_OPEN 0x01u
#define SYS_CLOSE 0x02u
#define SYS_WRITE 0x05u
#define SYS_READ 0x06u
#define MODE_READ 1u  /* "rb" */
#define MODE_WRITE 5u /* "wb" */
#define PIECE 8u

static const char frames_name[] = "kadenz-frames";
static const char plan_name[] = "kadenz-plan";
static int32_t frames;
static int32_t plan;

static uint32_t address(const void *bytes)
{
    return (uint32_t)(uintptr_t)bytes;
}

static int32_t open_file(const char *name, uint32_t length, uint32_t mode)
{
    const uint32_t block[3] = {address(name), mode, length};

    return kdz_arch_semihost(SYS_OPEN, block);
}

void kdz_console_open(uint32_t bus_hz)
{
    (void)bus_hz;
    frames = open_file(frames_name, sizeof frames_name - 1u, MODE_WRITE);
    plan = open_file(plan_name, sizeof plan_name - 1u, MODE_READ);
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    const uint32_t block[3] = {(uint32_t)frames, address(bytes), (uint32_t)count};

    (void)kdz_arch_semihost(SYS_WRITE, block);
}

int kdz_console_read(void)
{
    static uint8_t piece[PIECE];
    static uint32_t used;
    static uint32_t held;

    if (used == held) {
        const uint32_t block[3] = {(uint32_t)plan, address(piece), PIECE};
        const int32_t missing = kdz_arch_semihost(SYS_READ, block);

        used = 0;
        held = missing >= 0 && missing < (int32_t)PIECE ? PIECE - (uint32_t)missing : 0;
        if (held == 0) {
            return -1;
        }
    }
    return piece[used++];
}

void kdz_console_close(void)
{
    const uint32_t block[1] = {(uint32_t)frames};

    (void)kdz_arch_semihost(SYS_CLOSE, block);
}
