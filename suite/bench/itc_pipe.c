/* SPDX-License-Identifier: Apache-2.0
 *
 * A POSIX pipe there and one back: yoo2024, section 4.1.1.
 */
#include "itc_round_trip.h"

KDZ_ROUND_TRIP(itc_pipe, "itc/pipe", KDZ_CHANNEL_PIPE);
