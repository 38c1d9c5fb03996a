/* SPDX-License-Identifier: Apache-2.0
 *
 * Linux eventfd(2), counting down by one, as a notification.
 */
#include "wake.h"

KDZ_WAKE(itc_eventfd, "itc/eventfd", KDZ_NOTIFY_EVENTFD);
