/* SPDX-License-Identifier: Apache-2.0
 *
 * libFuzzer: any line is read without touching memory beyond it, and what comes out keeps its
 * promises.
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {"fifo", "round-robin", "deadline"};
static const struct kdz_param params[] = {
    {"size_bytes", 60, 4, 600, NULL}, {"rank_a", 8, 1, 10, NULL}, {"policy", 0, 0, 2, words}};
static const struct kdz_bench queue = {.name = "itc/queue", .params = params, .param_count = 3};
static const struct kdz_bench *const table[] = {&queue};

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct kdz_benches benches = {table, table + 1};
    struct kdz_plan_line read;
    struct kdz_point point;
    char *line = malloc(size + 1); /* exactly as long as the line: one byte further is noticed */

    (void)memcpy(line, data, size);
    line[size] = '\0';
    (void)memset(&point, 0xa5, sizeof point);
    kdz_plan_read(line, &benches, &point, &read);
    require(memchr(read.reason, '\0', sizeof read.reason) != NULL);
    require((read.kind == KDZ_PLAN_ERROR) == (read.reason[0] != '\0'));
    require(read.name >= line && read.name + read.name_length <= line + size);
    if (read.kind == KDZ_PLAN_POINT) {
        require(point.bench == &queue && point.samples >= 1 && point.id < UINT16_MAX);
        for (int i = 0; i < 2; i++) {
            require(point.value[i] >= params[i].low && point.value[i] <= params[i].high);
        }
    }
    free(line);
    return 0;
}
