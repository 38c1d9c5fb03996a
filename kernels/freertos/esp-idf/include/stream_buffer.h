/* SPDX-License-Identifier: Apache-2.0 */
#include <freertos/stream_buffer.h> /* where ESP-IDF has it */
