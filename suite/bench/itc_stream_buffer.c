/* SPDX-License-Identifier: Apache-2.0
 *
 * itc/stream-buffer: bytes without borders. yoo2024, sections 3.1.1 to 3.1.3, algorithm 1 (see exchange.h).
 */
#include "exchange.h"

KDZ_EXCHANGE_BENCHES(stream_buffer, "stream-buffer", KDZ_CHANNEL_STREAM_BUFFER);
