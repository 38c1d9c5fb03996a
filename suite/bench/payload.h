/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages that can be told apart: a sequence number in the first four bytes, and after it bytes
 * that depend on it and on their place, so that an old, a shifted and a short message all differ.
 */
#ifndef KDZ_BENCH_PAYLOAD_H
#define KDZ_BENCH_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

#define KDZ_PAYLOAD_MIN 4u

/* Largest message of a benchmark: the board's build says what its memory allows. */
#ifndef KDZ_MESSAGE_BYTES_MAX
#define KDZ_MESSAGE_BYTES_MAX 3072u /* largest message of yoo2024, section 4.1 */
#endif

static inline uint8_t kdz_payload_byte(uint32_t sequence, uint32_t place)
{
    if (place < KDZ_PAYLOAD_MIN) {
        return (uint8_t)(sequence >> (8u * place));
    }
    return (uint8_t)(sequence * 29u + place * 7u + (place >> 8));
}

static inline void kdz_payload_fill(uint8_t *bytes, uint32_t count, uint32_t sequence)
{
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = kdz_payload_byte(sequence, i);
    }
}

static inline bool kdz_payload_holds(const uint8_t *bytes, uint32_t count, uint32_t sequence)
{
    for (uint32_t i = 0; i < count; i++) {
        if (bytes[i] != kdz_payload_byte(sequence, i)) {
            return false;
        }
    }
    return true;
}

#endif
