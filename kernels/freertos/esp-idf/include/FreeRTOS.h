/* SPDX-License-Identifier: Apache-2.0 */
#include <freertos/FreeRTOS.h> /* where ESP-IDF has it */
