/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_CRC32_H
#define KDZ_CRC32_H

#include <stdint.h>

#define KDZ_CRC32_START 0xffffffffu

/* CRC-32/ISO-HDLC (the one of zlib): start with KDZ_CRC32_START, one call a byte, then finish. */
uint32_t kdz_crc32_byte(uint32_t state, uint8_t byte);

static inline uint32_t kdz_crc32_finish(uint32_t state)
{
    return ~state;
}

#endif
