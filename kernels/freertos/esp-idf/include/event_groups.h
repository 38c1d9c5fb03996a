/* SPDX-License-Identifier: Apache-2.0 */
#include <freertos/event_groups.h> /* where ESP-IDF has it */
