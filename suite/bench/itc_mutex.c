/* SPDX-License-Identifier: Apache-2.0
 *
 * A mutex from its owner to a waiting task: yoo2024, section 3.1.4. A mutex has an owner, so each
 * period ends with task 1 taking it back and task 2 queueing up for it; none of that is timed.
 * In -to-higher the waiter had lent its rank to the owner, and the unlock takes it away again.
 */
#include "handover.h"

KDZ_HANDOVER(itc_mutex, "itc/mutex", "mutex sem-counting", KDZ_HANDOVER_MUTEX, "unlock", "lock");
