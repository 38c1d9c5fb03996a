/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream buffer there and one back: yoo2024, section 3.1.2.
 */
#include "itc_round_trip.h"

KDZ_ROUND_TRIP(itc_stream_buffer, "itc/stream-buffer", KDZ_CHANNEL_STREAM_BUFFER);
