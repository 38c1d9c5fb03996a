/* SPDX-License-Identifier: Apache-2.0
 *
 * The one test every kernel port passes (kernels/conformance). The runner calls it for the plan
 * line `conformance`. For each case it sends a CASE frame before the case runs, so that one that
 * never ends is known, and a CONFORM frame with its result.
 */
#ifndef KADENZ_CONFORMANCE_H
#define KADENZ_CONFORMANCE_H

typedef enum {
    KDZ_CONFORM_BEGINS, /* the case runs now; its result follows */
    KDZ_CONFORM_PASS,
    KDZ_CONFORM_FAIL,
    KDZ_CONFORM_NOT_APPLICABLE
} kdz_conform_result;

typedef void (*kdz_conform_report)(const char *name, kdz_conform_result result, const char *reason);

/* Runs every case in the calling thread, which has rank KDZ_RANK_MAIN. `reason` is "" at the
 * beginning and on a pass. */
void kdz_conformance(kdz_conform_report report);

#endif
