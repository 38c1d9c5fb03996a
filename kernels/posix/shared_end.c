/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of the section kdz_shared: a page of nothing, so that mapping the section shared does not
 * take a neighbour along. Its alignment is the section's, and so the section begins with a page.
 */
#include "kadenz/kernel.h"

#include <stdint.h>

/* The largest page of a Linux that the suite runs on: 64 KiB on Arm. */
#define PAGE_BYTES_MAX 65536

KDZ_SHARED __attribute__((used, aligned(PAGE_BYTES_MAX)))
uint8_t posix_shared_end[PAGE_BYTES_MAX] = {0};
