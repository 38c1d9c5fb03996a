/* SPDX-License-Identifier: Apache-2.0
 *
 * A counting semaphore from one task to another: yoo2024, section 3.1.4.
 */
#include "handover.h"

KDZ_HANDOVER(itc_semaphore_counting, "itc/semaphore-counting", "sem-counting",
             KDZ_HANDOVER_COUNTING, "give", "take");
