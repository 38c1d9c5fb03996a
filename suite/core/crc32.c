/* SPDX-License-Identifier: Apache-2.0
 *
 * Four bits at a time: a table of 64 bytes instead of 1024, for targets with 16 KiB of memory.
 */
#include "crc32.h"

/* Entry i is the remainder of i under the reflected polynomial 0xedb88320. */
static const uint32_t remainder_of[16] = {
    0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
    0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
    0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu,
};

uint32_t kdz_crc32_byte(uint32_t state, uint8_t byte)
{
    state ^= byte;
    state = (state >> 4) ^ remainder_of[state & 0xfu];
    return (state >> 4) ^ remainder_of[state & 0xfu];
}
