/* SPDX-License-Identifier: Apache-2.0
 *
 * A message buffer there and one back: yoo2024, section 3.1.3.
 */
#include "itc_round_trip.h"

KDZ_ROUND_TRIP(itc_message_buffer, "itc/message-buffer", KDZ_CHANNEL_MESSAGE_BUFFER);
