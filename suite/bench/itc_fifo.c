/* SPDX-License-Identifier: Apache-2.0
 *
 * A POSIX FIFO there and one back: yoo2024, section 4.1.2.
 */
#include "itc_round_trip.h"

KDZ_ROUND_TRIP(itc_fifo, "itc/fifo", KDZ_CHANNEL_FIFO);
