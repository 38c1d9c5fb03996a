/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/cmsis-rtos2/rtx5 uses of RTX5 beyond CMSIS-RTOS2, declared from its published
 * interface. Of a thread's control block the place of the stack alone.
 */
#ifndef RTX_OS_H
#define RTX_OS_H

#include <cmsis_os2.h>

#define osRtxStackMagicWord 0xe25a2ea5u
#define osRtxErrorStackUnderflow 1u
#define osRtxErrorISRQueueOverflow 2u

typedef struct {
    void *stack_mem;
} osRtxThread_t;

void osRtxIdleThread(void *argument);
uint32_t osRtxErrorNotify(uint32_t code, void *object_id);

#endif
