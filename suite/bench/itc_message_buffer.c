/* SPDX-License-Identifier: Apache-2.0
 *
 * itc/message-buffer: messages of any length, each behind its length. yoo2024, sections 3.1.1 to 3.1.3, algorithm 1 (see exchange.h).
 */
#include "exchange.h"

KDZ_EXCHANGE_BENCHES(message_buffer, "message-buffer", KDZ_CHANNEL_MESSAGE_BUFFER);
