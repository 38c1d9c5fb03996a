/* SPDX-License-Identifier: Apache-2.0
 *
 * What of this system changes figures, told in HELLO.
 */
#include "posix_port.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

static struct utsname system_name;

static const struct utsname *uts(void)
{
    if (system_name.release[0] == '\0') {
        (void)uname(&system_name);
    }
    return &system_name;
}

const char *kdz_kernel_name(void)
{
    return "Linux";
}

const char *kdz_kernel_version(void)
{
    return uts()->release;
}

/* The first line of a file of /proc or /sys; "not available" when it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");

    (void)snprintf(line, size, "not available");
    if (file != NULL) {
        if (fgets(line, (int)size, file) != NULL) {
            line[strcspn(line, "\n")] = '\0';
        }
        (void)fclose(file);
    }
}

/* The kind of preemption is in the version's text: "#1 SMP PREEMPT_RT Debian …". */
static const char *preempt_kind(void)
{
    static const char *const kinds[] = {"PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT_LAZY", "PREEMPT"};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strstr(uts()->version, kinds[i]) != NULL) {
            return kinds[i];
        }
    }
    return "none or voluntary";
}

static void rank_table(char *text, size_t size)
{
    size_t used = 0;

    for (uint8_t rank = 1; rank <= KDZ_RANK_MAX && used < size; rank++) {
        used += (size_t)snprintf(text + used, size - used, rank == 1 ? "%d" : " %d",
                                 (int)kdz_rank_native(rank));
    }
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static char ranks[64];
    static char throttle_runtime[32];
    static char throttle_period[32];
    static char slack[24];
    static char cpus[256];
    static char isolated[128];
    static char source[64];
    static char queue_messages[32];
    static char queue_bytes[32];
    static char socket_bytes[32];
    static struct kdz_setting settings[] = {
        {"policy", NULL},
        {"priorities_of_ranks_1_to_12", ranks},
        {"preempt", NULL},
        {"kernel_build", NULL},
        {"libc", NULL},
        {"memory_locked", NULL},
        {"idle_states", NULL},
        {"timer_slack_ns", slack},
        {"sched_rt_runtime_us", throttle_runtime},
        {"sched_rt_period_us", throttle_period},
        {"cpus_of_cores", cpus},
        {"cpus_isolated", isolated},
        {"clock_source", source},
        {"mqueue_msg_max", queue_messages},
        {"mqueue_msgsize_max", queue_bytes},
        {"unix_socket", "SOCK_SEQPACKET"},
        {"net_core_wmem_max", socket_bytes},
        {"mutex_protocol", "PTHREAD_PRIO_INHERIT"},
        {"tick", "1 us of CLOCK_MONOTONIC, absolute sleeps"},
    };

    if (settings[0].value == NULL) {
        settings[0].value = posix_rights.realtime ? "SCHED_FIFO" : "SCHED_OTHER";
        settings[2].value = preempt_kind();
        settings[3].value = uts()->version;
        settings[4].value = gnu_get_libc_version();
        settings[5].value = posix_rights.memory_locked ? "yes" : "no";
        settings[6].value = posix_rights.idle_states_off ? "off: /dev/cpu_dma_latency held at 0"
                                                         : "as the system has them";
        rank_table(ranks, sizeof ranks);
        (void)snprintf(slack, sizeof slack, "%d", prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL));
        read_line("/proc/sys/kernel/sched_rt_runtime_us", throttle_runtime,
                  sizeof throttle_runtime);
        read_line("/proc/sys/kernel/sched_rt_period_us", throttle_period, sizeof throttle_period);
        posix_cpus(cpus, sizeof cpus);
        read_line("/sys/devices/system/cpu/isolated", isolated, sizeof isolated);
        read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                  sizeof source);
        read_line("/proc/sys/fs/mqueue/msg_max", queue_messages, sizeof queue_messages);
        read_line("/proc/sys/fs/mqueue/msgsize_max", queue_bytes, sizeof queue_bytes);
        read_line("/proc/sys/net/core/wmem_max", socket_bytes, sizeof socket_bytes);
    }
    *count = sizeof settings / sizeof settings[0];
    return settings;
}
