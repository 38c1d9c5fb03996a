/* SPDX-License-Identifier: Apache-2.0
 *
 * itc/queue: items of one size, copied in and out. yoo2024, sections 3.1.1 to 3.1.3, algorithm 1 (see exchange.h).
 */
#include "exchange.h"

KDZ_EXCHANGE_BENCHES(queue, "queue", KDZ_CHANNEL_QUEUE);
