/* SPDX-License-Identifier: Apache-2.0
 *
 * Data memory behind the FSMC of an STM32F4, asynchronous: an access takes as many transfers as the
 * bus needs, and each of them waits. The core goes on beside a store at best: then the next access
 * waits for the rest of it. At worst the store itself waits. So a load's least may hold cycles that
 * the most had at the store before, and be above its most.
 */
#include "external.h"

#define BEGIN 0x10000000u /* all data memory; what is below is the flash */
#define END 0x40000000u   /* devices never wait */

struct kdz_cycles kdz_external_wait, kdz_external_bits;

static uint32_t pending; /* cycles of the last store, from when it began */

static bool is_outside(const struct kdz_access *access)
{
    return access->address >= BEGIN && access->address < END;
}

static struct kdz_cycles all(const struct kdz_access *access)
{
    const uint32_t bus = kdz_external_bits.low / 8u;
    const uint32_t transfers = (kdz_bytes(access) + bus - 1u) / bus;

    return (struct kdz_cycles){transfers * kdz_external_wait.low,
                               transfers * kdz_external_wait.high};
}

static uint32_t rest(const struct kdz_access *access)
{
    return access->since < pending ? pending - (uint32_t)access->since : 0u;
}

struct kdz_cycles kdz_external_load(const struct kdz_access *access)
{
    if (kdz_external_wait.high == 0 || !is_outside(access)) {
        return kdz_exactly(0);
    }
    const struct kdz_cycles waits = all(access);
    const struct kdz_cycles cost = {waits.low + rest(access), waits.high};
    pending = 0;
    return cost;
}

struct kdz_cycles kdz_external_store(const struct kdz_access *access)
{
    if (kdz_external_wait.high == 0 || !is_outside(access)) {
        return kdz_exactly(0);
    }
    const struct kdz_cycles waits = all(access);
    const struct kdz_cycles cost = {rest(access), waits.high};
    pending = waits.low;
    return cost;
}
