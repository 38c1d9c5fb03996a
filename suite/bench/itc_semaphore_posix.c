/* SPDX-License-Identifier: Apache-2.0
 *
 * A POSIX semaphore from one task to another, in any order of ranks, on any cores, between
 * processes. itc/semaphore-counting is the study's own way of timing it.
 */
#include "wake.h"

KDZ_WAKE(itc_semaphore_posix, "itc/semaphore-posix", KDZ_NOTIFY_SEMAPHORE);
