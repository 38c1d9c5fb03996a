/* SPDX-License-Identifier: Apache-2.0
 *
 * A POSIX message queue there and one back: yoo2024, section 4.1.3.
 */
#include "itc_round_trip.h"

KDZ_ROUND_TRIP(itc_message_queue, "itc/message-queue", KDZ_CHANNEL_MESSAGE_QUEUE);
