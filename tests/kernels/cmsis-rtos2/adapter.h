/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the files of the adapter.
 */
#ifndef ADAPTER_H
#define ADAPTER_H

#include <FreeRTOS.h>
#include <task.h>

/* A thread that owned robust mutexes is no more. */
void adapter_free_mutexes_of(TaskHandle_t task);

#endif
