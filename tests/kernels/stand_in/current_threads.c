/* SPDX-License-Identifier: Apache-2.0
 *
 * An image of FreeRTOS that shows its current thread as other kernels show theirs: in variables and
 * members with the names of their kernel.toml. The members around them are arbitrary. The linker
 * passes FreeRTOS's switch and the kernel's name through this file (--wrap), and the test writes
 * the kernel's name into the image.
 */
#include <FreeRTOS.h>
#include <stdbool.h>
#include <string.h>
#include <task.h>

#define TASKS 12 /* of one boot, at once */
#define NAME_BYTES 16

void __real_vTaskSwitchContext(void);
void __wrap_vTaskSwitchContext(void);
void __real_vTaskSuspendAll(void);
void __wrap_vTaskSuspendAll(void);
BaseType_t __real_xTaskResumeAll(void);
BaseType_t __wrap_xTaskResumeAll(void);
const char *__wrap_kdz_kernel_name(void);

char stand_in_kernel[NAME_BYTES] = "stand-in";

/* RTX5: a member of a member; the name is a pointer. */
typedef struct osRtxThread_s {
    uint8_t id, state;
    const char *name;
} osRtxThread_t;
struct {
    const char *os_id;
    struct {
        struct {
            osRtxThread_t *curr, *next;
        } run;
    } thread;
} osRtxInfo;
static osRtxThread_t of_rtx[TASKS];

/* ThreadX: a pointer, and it is null while no thread is ready. Preemption is counted off. */
typedef struct TX_THREAD_STRUCT {
    unsigned long tx_thread_id, tx_thread_run_count;
    char *tx_thread_name;
} TX_THREAD;
TX_THREAD *_tx_thread_current_ptr;
volatile unsigned _tx_thread_preempt_disable;
static TX_THREAD of_threadx[TASKS];

/* ASP3: a pointer into a table; tasks have no names. */
typedef struct task_control_block {
    void *next;
    uint8_t tstat, priority;
} TCB;
TCB *_kernel_p_runtsk;
TCB _kernel_tcb_table[TASKS];

/* Zephyr: in the structure of a core; the name is an array. */
struct k_thread {
    void *base[3];
    char name[NAME_BYTES];
};
struct _cpu {
    uint32_t nested;
    struct k_thread *current;
};
struct z_kernel {
    uint32_t ticks;
    struct _cpu cpus[1];
} _kernel;
static struct k_thread of_zephyr[TASKS];

static TaskHandle_t tasks[TASKS];

const char *__wrap_kdz_kernel_name(void)
{
    return stand_in_kernel;
}

static unsigned place_of(TaskHandle_t task)
{
    unsigned place = 0;

    while (tasks[place] != NULL && tasks[place] != task && place < TASKS - 1) {
        place++;
    }
    tasks[place] = task;
    return place;
}

void __wrap_vTaskSwitchContext(void)
{
    __real_vTaskSwitchContext();
    const TaskHandle_t task = xTaskGetCurrentTaskHandle();
    char *const name = pcTaskGetName(task);
    const unsigned place = place_of(task);
    const bool idle = strcmp(name, "IDLE") == 0;

    of_rtx[place].name = name;
    of_threadx[place].tx_thread_name = name;
    (void)strncpy(of_zephyr[place].name, name, NAME_BYTES - 1);
    osRtxInfo.thread.run.curr = &of_rtx[place];
    _tx_thread_current_ptr = idle ? NULL : &of_threadx[place];
    _kernel_p_runtsk = idle ? NULL : &_kernel_tcb_table[place];
    _kernel.cpus[0].current = &of_zephyr[place];
}

void __wrap_vTaskSuspendAll(void)
{
    _tx_thread_preempt_disable++;
    __real_vTaskSuspendAll();
}

BaseType_t __wrap_xTaskResumeAll(void)
{
    _tx_thread_preempt_disable--;
    return __real_xTaskResumeAll();
}
