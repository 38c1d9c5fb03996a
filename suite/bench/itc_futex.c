/* SPDX-License-Identifier: Apache-2.0
 *
 * A word in memory and futex(2): what the C library's own locks are made of.
 */
#include "wake.h"

KDZ_WAKE(itc_futex, "itc/futex", KDZ_NOTIFY_FUTEX);
