/* SPDX-License-Identifier: Apache-2.0
 *
 * Each notification from one task to another.
 */
#include "notify.h"
#include "vocabulary.h"

#define ROW(ident, name) KDZ_NOTIFY(itc_##ident, name);
KDZ_NOTIFICATIONS(ROW)
