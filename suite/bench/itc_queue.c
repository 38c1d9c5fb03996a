/* SPDX-License-Identifier: Apache-2.0
 *
 * A queue there and one back: yoo2024, section 3.1.1.
 */
#include "itc_round_trip.h"

KDZ_ROUND_TRIP(itc_queue, "itc/queue", KDZ_CHANNEL_QUEUE);
