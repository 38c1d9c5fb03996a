/* SPDX-License-Identifier: Apache-2.0
 *
 * Each channel there and one back.
 */
#include "itc_round_trip.h"
#include "vocabulary.h"

#define ROW(ident, name) KDZ_ROUND_TRIP(itc_##ident, name);
KDZ_CHANNELS(ROW)
