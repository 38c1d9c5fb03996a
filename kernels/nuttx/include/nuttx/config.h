/* SPDX-License-Identifier: Apache-2.0
 *
 * NuttX's configuration, in place of the header that its own build makes from Kconfig. What is not
 * defined is off. Values are NuttX's own defaults, and where not, the comment says why. What
 * changes a figure is reported with each run (settings.c). nuttx.cmake reads the names, too: they
 * select the files of the tree.
 */
#ifndef NUTTX_CONFIG_H
#define NUTTX_CONFIG_H

/* ---- the build and the processor --------------------------------------------------------------
 */
#define CONFIG_BUILD_FLAT 1 /* kernel and application in one address space */
#define CONFIG_ARCH "arm"
#define CONFIG_ARCH_ARM 1
#define CONFIG_ARCH_ARMV7M 1
#define CONFIG_ARCH_CORTEXM4 1
#define CONFIG_ARCH_CHIP "kadenz"
#define CONFIG_ARCH_FPU 1
#define CONFIG_ARCH_HAVE_IRQTRIGGER 1
#define CONFIG_ARCH_HAVE_THREAD_LOCAL 1
#define CONFIG_ARCH_TOOLCHAIN_GNU 1
#define CONFIG_ARCH_INTERRUPTSTACK 2048 /* NuttX's own is 0: interrupts use the thread's stack */
#define CONFIG_DEFAULT_TASK_STACKSIZE 2048
#define CONFIG_IDLETHREAD_STACKSIZE 1024
#define CONFIG_LIBC_ARCH_ATOMIC 1

/* ---- start ------------------------------------------------------------------------------------
 */
#define CONFIG_INIT_ENTRY 1
#define CONFIG_INIT_ENTRYPOINT kdz_nuttx_main
#define CONFIG_INIT_ENTRYNAME "main"
#define CONFIG_INIT_PRIORITY 111   /* KDZ_RANK_MAIN */
#define CONFIG_INIT_STACKSIZE 3072 /* NuttX's own is 2048 */
#define CONFIG_BINFMT_DISABLE 1

/* ---- time -------------------------------------------------------------------------------------
 */
#define CONFIG_USEC_PER_TICK 1000 /* NuttX's own is 10000; periods are whole milliseconds */
#define CONFIG_SYSTEM_TIME64 1    /* NuttX's own is off: the tick wraps after 50 days */
#define CONFIG_START_YEAR 2018
#define CONFIG_START_MONTH 1
#define CONFIG_START_DAY 1
#define CONFIG_PREALLOC_TIMERS 8

/* ---- threads ----------------------------------------------------------------------------------
 */
#define CONFIG_SMP_NCPUS 1
#define CONFIG_RR_INTERVAL 0 /* equals take turns by their own calls alone */
#define CONFIG_TASK_NAME_SIZE 31
#define CONFIG_PID_INITIAL_COUNT 16
#define CONFIG_PTHREAD_STACK_MIN 256
#define CONFIG_PTHREAD_STACK_DEFAULT 2048
#define CONFIG_PTHREAD_GUARDSIZE_DEFAULT 0
#define CONFIG_PTHREAD_MUTEX_BOTH 1
#define CONFIG_PTHREAD_MUTEX_DEFAULT_UNSAFE 1
#define CONFIG_PTHREAD_MUTEX_DEFAULT_PRIO_INHERIT 1
#define CONFIG_DISABLE_ENVIRON 1 /* NuttX's own is off: no benchmark has an environment */
#define CONFIG_TLS_NELEM 0
#define CONFIG_TLS_TASK_NELEM 0
#define CONFIG_TLS_NCLEANUP 0
#define CONFIG_TLS_LOG2_MAXSTACK 13
#define CONFIG_LIBC_MAX_EXITFUNS 0
#define CONFIG_SCHED_CPULOAD_NONE 1
#define CONFIG_SCHED_STACK_RECORD 0

/* ---- semaphores, mutexes, events ---------------------------------------------------------------
 */
#define CONFIG_PRIORITY_INHERITANCE 1 /* NuttX's own is off: inversion/ needs it */
#define CONFIG_SEM_PREALLOCHOLDERS 8
#define CONFIG_PRIORITY_PROTECT 1 /* NuttX's own is off: the ceilings of itc/mutex-ceiling */
#define CONFIG_SCHED_EVENTS 1     /* NuttX's own is off: itc/event-flags */

/* ---- signals ----------------------------------------------------------------------------------
 */
#define CONFIG_ENABLE_ALL_SIGNALS 1
#define CONFIG_SIG_PREALLOC_ACTIONS 4
#define CONFIG_SIG_ALLOC_ACTIONS 1
#define CONFIG_SIG_PREALLOC_IRQ_ACTIONS 8

/* ---- message queues ----------------------------------------------------------------------------
 */
#define CONFIG_PREALLOC_MQ_MSGS 8
#define CONFIG_PREALLOC_MQ_IRQ_MSGS 8
#define CONFIG_MQ_MAXMSGSIZE 64 /* NuttX's own is 32: the largest item of itc/message-queue */
#define CONFIG_DISABLE_MQUEUE_NOTIFICATION 1 /* NuttX's own is off: no benchmark is notified */
#define CONFIG_DISABLE_MQUEUE_SYSV 1         /* NuttX's own is off: the suite does not use them */
#define CONFIG_FS_MQUEUE_NPOLLWAITERS 0
#define CONFIG_FS_MQUEUE_VFS_PATH "/var/mqueue"

/* ---- files: names of message queues are all that there is ---------------------------------------
 */
#define CONFIG_DISABLE_MOUNTPOINT 1
#define CONFIG_NFILE_DESCRIPTORS_PER_BLOCK 8
#define CONFIG_NAME_MAX 32
#define CONFIG_PATH_MAX 64
#define CONFIG_LINE_MAX 80
#define CONFIG_FS_LOCK_BUCKET_SIZE 0
#define CONFIG_FS_HEAPSIZE 0
#define CONFIG_LIBC_OPEN_MAX 256
#define CONFIG_STDIO_BUFFER_SIZE 64
#define CONFIG_NUNGET_CHARS 2
#define CONFIG_STREAM_OUT_BUFFER_SIZE 64
#define CONFIG_STREAM_HEXDUMP_BUFFER_SIZE 128
#define CONFIG_STREAM_BASE64_BUFFER_SIZE 128
#define CONFIG_LIBC_TMPDIR "/tmp"
#define CONFIG_LIBC_MAX_TMPFILE 32

/* ---- memory ------------------------------------------------------------------------------------
 */
#define CONFIG_MM_DEFAULT_MANAGER 1
#define CONFIG_MM_REGIONS 1
#define CONFIG_MM_MAP_COUNT_MAX 1024
#define CONFIG_MM_NODE_GUARDSIZE 0
#define CONFIG_MM_DEFAULT_ALIGNMENT 8
#define CONFIG_MM_HEAP_MEMPOOL_THRESHOLD -1
#define CONFIG_MM_BACKTRACE -1
#define CONFIG_MM_FREE_DELAYCOUNT_MAX 0
#define CONFIG_IOB_NBUFFERS 0
#define CONFIG_IOB_NCHAINS 0

#endif
