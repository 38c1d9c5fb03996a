/* SPDX-License-Identifier: Apache-2.0 */
#include "flows.h"

#include "memory.h"
#include "table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW 8u                /* parts that are searched one by one */
#define LENGTHS_MOST 4096u    /* of one function: of more, later ones are not kept */
#define PARTS_MOST (1u << 20) /* of all that is kept: 16 MiB */

struct step {
    uint32_t parent, symbol;
};

struct part {
    uint32_t path, calls;
    uint64_t instructions;
};

struct parts {
    struct part *rows;
    size_t count, room;
    struct kdz_table places; /* path -> 1 + its place in `rows`; empty while they are few */
};

struct kdz_flow {
    uint32_t path, symbol;
    struct parts parts;
    struct kdz_flow *next; /* of those that are not used */
};

struct view {
    uint32_t function, path;
    uint64_t sample;
    struct parts parts;
};

struct views {
    struct view *items;
    size_t count, room;
};

/* The views of a function by the order of their calls, and the longest. */
struct kept {
    struct kdz_table lengths; /* count -> 1 */
    uint64_t most;
    struct view *longest; /* NULL while it is among the views */
};

static struct step *steps;
static size_t step_count, step_room;
static struct kdz_table paths; /* parent and symbol -> path */
static struct views views, sums;
static struct kdz_table sum_of; /* path of a call -> 1 + its place in `sums` */
static struct kdz_flow *spare;
static struct kept *kept;
static size_t function_count;
static size_t parts_kept;

void kdz_flows_start(size_t functions)
{
    kept = (struct kept *)kdz_allocated(calloc(functions + 1u, sizeof(struct kept)));
    function_count = functions;
}

/* ---- paths and parts -------------------------------------------------------------------------
 */
static uint32_t path_to(uint32_t parent, uint32_t symbol)
{
    const uint64_t key = (uint64_t)parent << 32u | symbol;
    uint32_t path = kdz_table_get(&paths, key);

    if (path == 0) {
        const struct step step = {parent, symbol};
        steps = (struct step *)kdz_with_room(steps, step_count, &step_room, sizeof step);
        steps[step_count++] = step;
        path = (uint32_t)step_count;
        kdz_table_put(&paths, key, path);
    }
    return path;
}

static void index_rows(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        kdz_table_put(&parts->places, parts->rows[i].path, (uint32_t)i + 1u);
    }
}

static struct part *part_of(struct parts *parts, uint32_t path)
{
    size_t place = 0;

    if (parts->places.room != 0) {
        place = kdz_table_get(&parts->places, path);
    } else {
        for (size_t i = parts->count; i > 0 && place == 0; i--) {
            place = parts->rows[i - 1u].path == path ? i : 0;
        }
    }
    if (place == 0) {
        const struct part part = {path, 0, 0};
        parts->rows =
            (struct part *)kdz_with_room(parts->rows, parts->count, &parts->room, sizeof part);
        parts->rows[parts->count++] = part;
        place = parts->count;
        if (parts->places.room != 0) {
            kdz_table_put(&parts->places, path, (uint32_t)place);
        } else if (place > FEW) {
            index_rows(parts);
        }
    }
    return &parts->rows[place - 1u];
}

static void add(struct parts *to, const struct parts *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct part *row = &from->rows[i];
        struct part *sum = part_of(to, row->path);
        sum->instructions += row->instructions;
        sum->calls += row->calls;
    }
}

static void empty(struct parts *parts)
{
    parts->count = 0;
    kdz_table_clear(&parts->places);
}

/* ---- open calls ------------------------------------------------------------------------------
 */
static struct kdz_flow *begin(uint32_t parent, uint32_t symbol)
{
    struct kdz_flow *flow = spare;

    if (flow != NULL) {
        spare = flow->next;
    } else {
        flow = (struct kdz_flow *)kdz_allocated(calloc(1, sizeof(struct kdz_flow)));
    }
    flow->path = path_to(parent, symbol);
    flow->symbol = symbol;
    part_of(&flow->parts, flow->path)->calls = 1;
    return flow;
}

struct kdz_flow *kdz_flow_of_call(struct kdz_flow *around, uint32_t symbol)
{
    return kept == NULL ? NULL : begin(around != NULL ? around->path : 0, symbol);
}

struct kdz_flow *kdz_flow_of_span(uint32_t span)
{
    return kept == NULL ? NULL : begin(0, kdz_symbols_count() + 1u + span);
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
    flow->next = spare;
    spare = flow;
}

/* ---- kept views -------------------------------------------------------------------------------
 */
static void set_view(struct view *view, const struct kdz_flow *flow, uint32_t function,
                     uint64_t sample)
{
    view->function = function;
    view->path = flow->path;
    view->sample = sample;
    empty(&view->parts);
    add(&view->parts, &flow->parts);
}

static struct view *new_view(struct views *to)
{
    to->items = (struct view *)kdz_with_room(to->items, to->count, &to->room, sizeof(struct view));
    struct view *view = &to->items[to->count++];
    memset(view, 0, sizeof *view);
    return view;
}

static void sum_up(const struct kdz_flow *flow, uint32_t function)
{
    const uint32_t place = kdz_table_get(&sum_of, flow->path);

    if (place == 0) {
        set_view(new_view(&sums), flow, function, KDZ_FLOWS_ALL);
        kdz_table_put(&sum_of, flow->path, (uint32_t)sums.count);
    } else {
        add(&sums.items[place - 1u].parts, &flow->parts);
    }
}

void kdz_flow_keep(const struct kdz_flow *flow, uint32_t function, uint64_t sample, uint64_t value)
{
    if (flow == NULL || function >= function_count) {
        return;
    }
    struct kept *mine = &kept[function];
    sum_up(flow, function);
    if (kdz_table_get(&mine->lengths, value) != 0) {
        return;
    }
    const bool has_room =
        mine->lengths.count < LENGTHS_MOST && parts_kept + flow->parts.count <= PARTS_MOST;
    if (has_room) {
        set_view(new_view(&views), flow, function, sample);
        parts_kept += flow->parts.count;
        kdz_table_put(&mine->lengths, value, 1);
    } else if (value > mine->most) {
        if (mine->longest == NULL) {
            mine->longest = (struct view *)kdz_allocated(calloc(1, sizeof(struct view)));
        }
        set_view(mine->longest, flow, function, sample);
    }
    mine->most = value > mine->most ? value : mine->most;
}

/* ---- the file --------------------------------------------------------------------------------
 */
struct flow_row {
    uint32_t kind, number;
    uint64_t a, b;
};
static_assert(sizeof(struct flow_row) == 24, "the file's row");

static void write_row(FILE *file, enum kdz_flow_row kind, uint32_t number, uint64_t a, uint64_t b)
{
    const struct flow_row row = {(uint32_t)kind, number, a, b};

    (void)fwrite(&row, sizeof row, 1, file); /* ferror and fclose tell */
}

static void write_view(FILE *file, const struct view *view)
{
    write_row(file, KDZ_FLOW_VIEW, view->function, view->sample, view->path);
    for (size_t i = 0; i < view->parts.count; i++) {
        const struct part *part = &view->parts.rows[i];
        write_row(file, KDZ_FLOW_PART, part->path, part->instructions, part->calls);
    }
}

bool kdz_flows_write(const char *path)
{
    FILE *file = fopen(path, "wbe");
    uint64_t magic;

    if (file == NULL) {
        return false;
    }
    memcpy(&magic, KDZ_FLOWS_MAGIC, sizeof magic);
    write_row(file, KDZ_FLOW_HEAD, KDZ_FLOWS_VERSION, magic, 0);
    for (size_t i = 0; i < step_count; i++) {
        write_row(file, KDZ_FLOW_PATH, steps[i].parent, steps[i].symbol, 0);
    }
    for (size_t i = 0; i < views.count; i++) {
        write_view(file, &views.items[i]);
    }
    for (size_t i = 0; i < sums.count; i++) {
        write_view(file, &sums.items[i]);
    }
    for (size_t i = 0; i < function_count; i++) {
        if (kept[i].longest != NULL) {
            write_view(file, kept[i].longest);
        }
    }
    write_row(file, KDZ_FLOW_END, 0, 0, 0);
    const bool whole = ferror(file) == 0;
    return fclose(file) == 0 && whole;
}
