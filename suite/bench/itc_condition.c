/* SPDX-License-Identifier: Apache-2.0
 *
 * A condition variable with its mutex and a count, from one task to another.
 */
#include "wake.h"

KDZ_WAKE(itc_condition, "itc/condition", KDZ_NOTIFY_CONDITION);
