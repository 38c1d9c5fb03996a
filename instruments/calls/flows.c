/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flows.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FEW 8u                /* parts that are searched one by one */
#define LENGTHS_MOST 4096u    /* of one function: of more, later ones are not kept */
#define PARTS_MOST (1u << 20) /* of all that is kept: 16 MiB */

struct symbol {
    uint64_t address, bytes;
};

struct step {
    uint32_t parent, symbol;
};

struct part {
    uint32_t path, calls;
    uint64_t instructions;
};

struct parts {
    GArray *rows;       /* struct part */
    GHashTable *places; /* path -> place in `rows`; NULL while they are few */
};

struct kdz_flow {
    uint32_t path, symbol;
    struct parts parts;
};

struct view {
    uint32_t function, path;
    uint64_t sample;
    struct parts parts;
};

/* The views of a function by the order of their calls, and the longest. */
struct kept {
    GHashTable *lengths; /* instructions */
    uint64_t most;
    struct view *longest; /* NULL while it is among the views */
};

static GArray *symbols, *steps;
static GHashTable *paths; /* parent and symbol -> path */
static GPtrArray *views, *sums, *spare;
static GHashTable *sum_of; /* path of a call -> its struct view in `sums` */
static struct kept *kept;
static size_t function_count;
static size_t parts_kept;

/* ---- functions of the image ------------------------------------------------------------------
 */
bool kdz_flows_read(const char *file, size_t functions)
{
    char *bytes = NULL, *rest = NULL;

    if (!g_file_get_contents(file, &bytes, NULL, NULL)) {
        return false;
    }
    symbols = g_array_new(FALSE, FALSE, sizeof(struct symbol));
    for (char *line = strtok_r(bytes, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        struct symbol symbol;
        if (sscanf(line, "%" SCNx64 " %" SCNx64, &symbol.address, &symbol.bytes) != 2) {
            g_free(bytes);
            return false;
        }
        g_array_append_val(symbols, symbol);
    }
    g_free(bytes);
    steps = g_array_new(FALSE, FALSE, sizeof(struct step));
    paths = g_hash_table_new(NULL, NULL);
    views = g_ptr_array_new();
    sums = g_ptr_array_new();
    spare = g_ptr_array_new();
    sum_of = g_hash_table_new(NULL, NULL);
    kept = g_new0(struct kept, functions + 1u);
    function_count = functions;
    return true;
}

uint32_t kdz_flows_symbol(uint64_t address)
{
    guint low = 0, high = symbols != NULL ? symbols->len : 0;

    while (low < high) {
        const guint middle = low + (high - low) / 2u;
        if (g_array_index(symbols, struct symbol, middle).address <= address) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return 0;
    }
    const struct symbol *symbol = &g_array_index(symbols, struct symbol, low - 1u);
    return address - symbol->address < symbol->bytes ? low : 0;
}

bool kdz_flows_is_begin(uint32_t symbol, uint64_t address)
{
    return symbol != 0 && g_array_index(symbols, struct symbol, symbol - 1u).address == address;
}

/* ---- paths and parts -------------------------------------------------------------------------
 */
static uint32_t path_to(uint32_t parent, uint32_t symbol)
{
    const gpointer key = (gpointer)(uintptr_t)((uint64_t)parent << 32 | symbol);
    uint32_t path = GPOINTER_TO_UINT(g_hash_table_lookup(paths, key));

    if (path == 0) {
        const struct step step = {parent, symbol};
        g_array_append_val(steps, step);
        path = steps->len;
        g_hash_table_insert(paths, key, GUINT_TO_POINTER(path));
    }
    return path;
}

static struct parts new_parts(void)
{
    return (struct parts){g_array_new(FALSE, FALSE, sizeof(struct part)), NULL};
}

static struct part *row_at(const struct parts *parts, guint place)
{
    return &g_array_index(parts->rows, struct part, place);
}

static void index_rows(struct parts *parts)
{
    parts->places = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < parts->rows->len; i++) {
        g_hash_table_insert(parts->places, GUINT_TO_POINTER(row_at(parts, i)->path),
                            GUINT_TO_POINTER(i + 1u));
    }
}

static struct part *part_of(struct parts *parts, uint32_t path)
{
    GArray *rows = parts->rows;
    guint place = 0;

    if (parts->places != NULL) {
        place = GPOINTER_TO_UINT(g_hash_table_lookup(parts->places, GUINT_TO_POINTER(path)));
    } else {
        for (guint i = rows->len; i > 0 && place == 0; i--) {
            place = row_at(parts, i - 1u)->path == path ? i : 0;
        }
    }
    if (place == 0) {
        const struct part part = {path, 0, 0};
        g_array_append_val(rows, part);
        place = rows->len;
        if (parts->places != NULL) {
            g_hash_table_insert(parts->places, GUINT_TO_POINTER(path), GUINT_TO_POINTER(place));
        } else if (place > FEW) {
            index_rows(parts);
        }
    }
    return row_at(parts, place - 1u);
}

static void add(struct parts *to, const struct parts *from)
{
    for (guint i = 0; i < from->rows->len; i++) {
        const struct part *row = row_at(from, i);
        struct part *sum = part_of(to, row->path);
        sum->instructions += row->instructions;
        sum->calls += row->calls;
    }
}

static void empty(struct parts *parts)
{
    g_array_set_size(parts->rows, 0);
    g_clear_pointer(&parts->places, g_hash_table_destroy);
}

/* ---- open calls ------------------------------------------------------------------------------
 */
static struct kdz_flow *begin(uint32_t parent, uint32_t symbol)
{
    struct kdz_flow *flow = NULL;

    if (spare->len > 0) {
        flow = g_ptr_array_remove_index_fast(spare, spare->len - 1u);
    } else {
        flow = g_new0(struct kdz_flow, 1);
        flow->parts = new_parts();
    }
    flow->path = path_to(parent, symbol);
    flow->symbol = symbol;
    part_of(&flow->parts, flow->path)->calls = 1;
    return flow;
}

struct kdz_flow *kdz_flow_of_call(struct kdz_flow *around, uint32_t symbol)
{
    return symbols == NULL ? NULL : begin(around != NULL ? around->path : 0, symbol);
}

struct kdz_flow *kdz_flow_of_span(uint32_t span)
{
    return symbols == NULL ? NULL : begin(0, symbols->len + 1u + span);
}

static struct part *executing(struct kdz_flow *flow, uint32_t symbol)
{
    return part_of(&flow->parts, symbol == flow->symbol ? flow->path : path_to(flow->path, symbol));
}

void kdz_flow_charge(struct kdz_flow *flow, uint32_t symbol, uint64_t instructions)
{
    if (flow != NULL) {
        executing(flow, symbol)->instructions += instructions;
    }
}

void kdz_flow_called(struct kdz_flow *flow, uint32_t symbol)
{
    if (flow != NULL) {
        executing(flow, symbol)->calls++;
    }
}

void kdz_flow_end(struct kdz_flow *flow, struct kdz_flow *around)
{
    if (flow == NULL) {
        return;
    }
    if (around != NULL) {
        add(&around->parts, &flow->parts);
    }
    empty(&flow->parts);
    g_ptr_array_add(spare, flow);
}

/* ---- kept views -------------------------------------------------------------------------------
 */
static struct view *new_view(const struct kdz_flow *flow, uint32_t function, uint64_t sample)
{
    struct view *view = g_new0(struct view, 1);

    *view = (struct view){function, flow->path, sample, new_parts()};
    return view;
}

static void sum_up(const struct kdz_flow *flow, uint32_t function)
{
    const gpointer key = GUINT_TO_POINTER(flow->path);
    struct view *sum = g_hash_table_lookup(sum_of, key);

    if (sum == NULL) {
        sum = new_view(flow, function, KDZ_FLOWS_ALL);
        g_hash_table_insert(sum_of, key, sum);
        g_ptr_array_add(sums, sum);
    }
    add(&sum->parts, &flow->parts);
}

void kdz_flow_keep(const struct kdz_flow *flow, uint32_t function, uint64_t sample, uint64_t value)
{
    if (flow == NULL || function >= function_count) {
        return;
    }
    struct kept *mine = &kept[function];
    const gpointer key = (gpointer)(uintptr_t)value;
    sum_up(flow, function);
    if (mine->lengths == NULL) {
        mine->lengths = g_hash_table_new(NULL, NULL);
    } else if (g_hash_table_contains(mine->lengths, key)) {
        return;
    }
    const bool has_room = g_hash_table_size(mine->lengths) < LENGTHS_MOST &&
                          parts_kept + flow->parts.rows->len <= PARTS_MOST;
    if (has_room) {
        struct view *view = new_view(flow, function, sample);
        add(&view->parts, &flow->parts);
        parts_kept += flow->parts.rows->len;
        g_hash_table_add(mine->lengths, key);
        g_ptr_array_add(views, view);
    } else if (value > mine->most) {
        if (mine->longest == NULL) {
            mine->longest = new_view(flow, function, sample);
        }
        mine->longest->path = flow->path;
        mine->longest->sample = sample;
        empty(&mine->longest->parts);
        add(&mine->longest->parts, &flow->parts);
    }
    mine->most = MAX(mine->most, value);
}

/* ---- the file --------------------------------------------------------------------------------
 */
struct row {
    uint32_t kind, number;
    uint64_t a, b;
};
_Static_assert(sizeof(struct row) == 24, "the file's row");

static void write_row(FILE *file, struct row row)
{
    (void)fwrite(&row, sizeof row, 1, file); /* ferror and fclose tell */
}

static void write_view(FILE *file, const struct view *view)
{
    write_row(file, (struct row){KDZ_FLOW_VIEW, view->function, view->sample, view->path});
    for (guint i = 0; i < view->parts.rows->len; i++) {
        const struct part *part = row_at(&view->parts, i);
        write_row(file, (struct row){KDZ_FLOW_PART, part->path, part->instructions, part->calls});
    }
}

bool kdz_flows_write(const char *path)
{
    FILE *file = fopen(path, "wbe");
    struct row head = {KDZ_FLOW_HEAD, KDZ_FLOWS_VERSION, 0, 0};

    if (file == NULL) {
        return false;
    }
    memcpy(&head.a, KDZ_FLOWS_MAGIC, sizeof head.a);
    write_row(file, head);
    for (guint i = 0; i < steps->len; i++) {
        const struct step *step = &g_array_index(steps, struct step, i);
        write_row(file, (struct row){KDZ_FLOW_PATH, step->parent, step->symbol, 0});
    }
    for (guint i = 0; i < views->len; i++) {
        write_view(file, g_ptr_array_index(views, i));
    }
    for (guint i = 0; i < sums->len; i++) {
        write_view(file, g_ptr_array_index(sums, i));
    }
    for (size_t i = 0; i < function_count; i++) {
        if (kept[i].longest != NULL) {
            write_view(file, kept[i].longest);
        }
    }
    write_row(file, (struct row){KDZ_FLOW_END, 0, 0, 0});
    const bool whole = ferror(file) == 0;
    return fclose(file) == 0 && whole;
}
