/* SPDX-License-Identifier: Apache-2.0 */
#include <freertos/task.h> /* where ESP-IDF has it */
