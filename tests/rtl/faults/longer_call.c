/* SPDX-License-Identifier: Apache-2.0
 *
 * A fault for the sweep of an offset to find: on core 1 a give begins about 200 cycles later.
 * Linked with --wrap=kdz_sem_give.
 */
#include "kadenz/board.h"
#include "kadenz/kernel.h"
#include "kadenz/thread_options.h"

#define TURNS 50u /* of four cycles */

kdz_status __real_kdz_sem_give(kdz_handle sem);
kdz_status __wrap_kdz_sem_give(kdz_handle sem);

kdz_status __wrap_kdz_sem_give(kdz_handle sem)
{
    if (kdz_thread_core() == 1) {
        kdz_arch_loop(TURNS);
    }
    return __real_kdz_sem_give(sem);
}
