/* SPDX-License-Identifier: Apache-2.0
 *
 * A System V semaphore from one task to another.
 */
#include "wake.h"

KDZ_WAKE(itc_semaphore_sysv, "itc/semaphore-sysv", KDZ_NOTIFY_SEMAPHORE_SYSV);
