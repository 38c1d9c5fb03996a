/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols.h"

#include "memory.h"

#include <inttypes.h>
#include <string.h>

#define LINE_MOST 8192u /* bytes: two numbers and a path */

struct symbol {
    uint64_t address, bytes;
    char *object; /* NULL: it is where its address says */
    bool placed;
};

static struct symbol *symbols; /* by line */
static size_t count, room;
static uint32_t *placed; /* their places in `symbols`, by address */
static size_t placed_count;

static bool take(const char *line)
{
    struct symbol symbol = {0, 0, NULL, true};
    int end = 0;

    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &symbol.address, &symbol.bytes, &end) != 2) {
        return false;
    }
    if (end > 0 && line[end] != '\0') {
        symbol.object = (char *)kdz_allocated(strdup(line + end));
        symbol.placed = false;
    }
    symbols = (struct symbol *)kdz_with_room(symbols, count, &room, sizeof symbol);
    symbols[count++] = symbol;
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct symbol *first = &symbols[*(const uint32_t *)a];
    const struct symbol *second = &symbols[*(const uint32_t *)b];

    return (first->address > second->address) - (first->address < second->address);
}

static void sort(void)
{
    placed = (uint32_t *)kdz_allocated(realloc(placed, (count + 1u) * sizeof *placed));
    placed_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (symbols[i].placed) {
            placed[placed_count++] = (uint32_t)i;
        }
    }
    qsort(placed, placed_count, sizeof *placed, by_address);
}

bool kdz_symbols_read(const char *file)
{
    static char line[LINE_MOST];
    FILE *open = fopen(file, "re");
    bool whole = open != NULL;

    while (whole && fgets(line, (int)sizeof line, open) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        whole = take(line);
    }
    if (open != NULL) {
        whole = ferror(open) == 0 && whole;
        (void)fclose(open);
    }
    sort();
    return whole;
}

void kdz_symbols_place(const char *object, uint64_t offset)
{
    for (size_t i = 0; i < count; i++) {
        if (symbols[i].object != NULL && !symbols[i].placed &&
            strcmp(symbols[i].object, object) == 0) {
            symbols[i].address += offset;
            symbols[i].placed = true;
        }
    }
    sort();
}

uint32_t kdz_symbols_at(uint64_t address)
{
    size_t low = 0, high = placed_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2u;
        if (symbols[placed[middle]].address <= address) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return 0;
    }
    const struct symbol *symbol = &symbols[placed[low - 1u]];
    return address - symbol->address < symbol->bytes ? placed[low - 1u] + 1u : 0;
}

bool kdz_symbols_is_begin(uint32_t symbol, uint64_t address)
{
    return symbol != 0 && symbols[symbol - 1u].address == address;
}

uint32_t kdz_symbols_count(void)
{
    return (uint32_t)count;
}
