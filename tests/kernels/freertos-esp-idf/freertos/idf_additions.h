/* SPDX-License-Identifier: Apache-2.0
 *
 * What ESP-IDF adds: tasks pinned to a core.
 */
#ifndef IDF_ADDITIONS_H
#define IDF_ADDITIONS_H

#include "task.h"

BaseType_t xTaskCreatePinnedToCore(TaskFunction_t code, const char *const name,
                                   const uint32_t stack_bytes, void *const parameters,
                                   UBaseType_t priority, TaskHandle_t *const created,
                                   const BaseType_t core);

#endif
