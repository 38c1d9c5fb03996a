/* SPDX-License-Identifier: Apache-2.0 */
#include <freertos/queue.h> /* where ESP-IDF has it */
