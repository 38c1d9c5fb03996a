/* SPDX-License-Identifier: Apache-2.0 */
#include <freertos/message_buffer.h> /* where ESP-IDF has it */
