/* SPDX-License-Identifier: Apache-2.0
 *
 * Services that some kernels have beside threads, messages and locks. A port registers each by name
 * (mechanism.h) and keeps the promises of kernels/conformance. The table is fetched before the
 * timed region.
 */
#ifndef KADENZ_SERVICES_H
#define KADENZ_SERVICES_H

#include "kadenz/kernel.h"

/* ---- memory: "heap" (blocks of any size), "block-pool" (blocks of one size) -------------------
 */
struct kdz_memory_ops {
    /* Room for `blocks` blocks of at most `block_bytes` each. A heap that the whole system shares
     * has one handle only, and may refuse a block later. */
    kdz_handle (*create)(uint32_t block_bytes, uint32_t blocks);
    /* NULL when there is no room; never waits. `bytes` is at most create's. Aligned for any type.
     */
    void *(*allocate)(kdz_handle memory, uint32_t bytes);
    kdz_status (*release)(kdz_handle memory, void *block);
    void (*destroy)(kdz_handle memory); /* when every block was released */
};

#endif
