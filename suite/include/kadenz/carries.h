/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes that a channel carries.
 */
#ifndef KADENZ_CARRIES_H
#define KADENZ_CARRIES_H

#include "kadenz/mechanism.h"
#include "kadenz/record.h"

/* Whether a channel carries items of that size; where it does not the record is n/a. The reason
 * goes where the runner looks for it. */
static inline kdz_status kdz_carries(const struct kdz_mechanism *channel, uint32_t bytes,
                                     struct kdz_record *record)
{
    const char *sentence = kdz_too_large(channel, bytes);

    if (sentence == NULL) {
        return KDZ_OK;
    }
    record->proof.reason = sentence;
    return KDZ_UNSUPPORTED;
}

#endif
