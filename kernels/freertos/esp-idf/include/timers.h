/* SPDX-License-Identifier: Apache-2.0 */
#include <freertos/timers.h> /* where ESP-IDF has it */
