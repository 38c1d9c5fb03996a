/* SPDX-License-Identifier: Apache-2.0
 *
 * A pair of AF_UNIX sockets there and one back, as yoo2024 does with pipes.
 */
#include "itc_round_trip.h"

KDZ_ROUND_TRIP(itc_unix_socket, "itc/unix-socket", KDZ_CHANNEL_UNIX_SOCKET);
