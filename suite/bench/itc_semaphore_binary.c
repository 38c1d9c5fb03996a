/* SPDX-License-Identifier: Apache-2.0
 *
 * A binary semaphore from one task to another: yoo2024, section 3.1.4.
 */
#include "handover.h"

KDZ_HANDOVER(itc_semaphore_binary, "itc/semaphore-binary", "sem-binary", KDZ_HANDOVER_BINARY,
             "give", "take");
