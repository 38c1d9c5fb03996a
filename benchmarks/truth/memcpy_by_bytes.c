/* SPDX-License-Identifier: Apache-2.0
 *
 * A memcpy that moves one byte in each turn of its loop, instead of the library's. `volatile` keeps
 * the compiler from calling memcpy for the loop.
 */
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    volatile unsigned char *target = to;
    const unsigned char *source = from;

    while (bytes-- > 0) {
        *target++ = *source++;
    }
    return to;
}
