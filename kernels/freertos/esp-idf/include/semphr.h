/* SPDX-License-Identifier: Apache-2.0 */
#include <freertos/semphr.h> /* where ESP-IDF has it */
