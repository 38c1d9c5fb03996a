/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint32_t kind, function;
    uint64_t a, b, c;
};
static_assert(sizeof(struct row) == 32, "the file's row");
/* kadenz runs on x86-64, arm64 and riscv64. */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little-endian");

static FILE *file;

static void fail(void)
{
    fprintf(stderr,
            "kadenz-calls: the calls could not be written: %s. Free some space, or name "
            "fewer functions\n",
            strerror(errno));
    _Exit(EXIT_FAILURE);
}

bool kdz_rows_open(const char *path)
{
    struct row head = {(uint32_t)KDZ_ROW_HEAD, 0, 0, KDZ_ROWS_VERSION, 0};

    file = fopen(path, "wbe");
    if (file == NULL) {
        return false;
    }
    memcpy(&head.a, KDZ_ROWS_MAGIC, sizeof head.a);
    return fwrite(&head, sizeof head, 1, file) == 1 && fflush(file) == 0;
}

void kdz_rows_append(enum kdz_row kind, uint32_t function, uint64_t a, uint64_t b, uint64_t c)
{
    const struct row row = {(uint32_t)kind, function, a, b, c};

    if (fwrite(&row, sizeof row, 1, file) != 1) {
        fail();
    }
}

void kdz_rows_close(void)
{
    if (fclose(file) != 0) {
        fail();
    }
}
