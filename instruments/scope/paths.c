/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece ends where the path comes again to the token that the piece began with, so that each turn
 * of a loop is one piece; a shorter turn is not worth one. */
#define PIECE_LEAST 16u
#define PIECE_MOST 1024u
#define PATH_BUFFERED 4096u
/* Tokens that are remembered, to recognise a piece. Beyond it, pieces are written each time. */
#define REMEMBERED_MOST (64u << 20)

struct token {
    uint32_t kind;
    uint32_t instructions;
    uint64_t clock;
    uint64_t value;
};

/* Numbers found by hash: open addressing, a power of two, never more than half full. */
struct index {
    uint32_t *slots; /* a number and 1, or 0 */
    uint32_t size, used;
};

static FILE *file;
static struct token *tokens;
static uint32_t token_count, token_room;
static struct index token_index, piece_index;
static uint32_t *remembered; /* the tokens of all remembered pieces */
static size_t remembered_count, remembered_room;
static struct {
    size_t first;
    uint32_t count, hash, number;
} * pieces;
static uint32_t piece_count, piece_room, written_pieces;
static uint32_t piece[PIECE_MOST], piece_length;
static uint32_t path[PATH_BUFFERED], path_length;
static bool in_region;

static void *grown(void *memory, size_t bytes)
{
    void *larger = realloc(memory, bytes);
    if (larger == NULL) {
        fprintf(stderr, "kadenz-scope: no memory for the paths. Measure fewer samples\n");
        _Exit(EXIT_FAILURE);
    }
    return larger;
}

static void put(const void *bytes, size_t count)
{
    if (count > 0 && fwrite(bytes, 1, count, file) != count) {
        fprintf(stderr,
                "kadenz-scope: the paths could not be written: %s. "
                "Free some space and run again\n",
                strerror(errno));
        _Exit(EXIT_FAILURE);
    }
}

/* This machine is little-endian like the file: kadenz runs on x86-64, arm64 and riscv64. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little-endian");

static void put_chunk(enum kdz_chunk kind, const void *bytes, size_t count)
{
    const uint32_t head[2] = {(uint32_t)kind, (uint32_t)count};
    put(head, sizeof head);
    put(bytes, count);
}

/* FNV-1a over words of 32 bits. */
static uint32_t hash_of(const uint32_t *words, size_t count)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ words[i]) * 16777619u;
        hash ^= hash >> 15;
    }
    return hash;
}

static void enter(struct index *index, uint32_t hash, uint32_t number)
{
    uint32_t at = hash & (index->size - 1u);
    while (index->slots[at] != 0) {
        at = (at + 1u) & (index->size - 1u);
    }
    index->slots[at] = number + 1u;
    index->used++;
}

static void make_room(struct index *index, uint32_t (*hash)(uint32_t))
{
    if (index->used * 2u < index->size) {
        return;
    }
    const uint32_t count = index->used;
    index->size = index->size == 0 ? 1024u : index->size * 2u;
    free(index->slots);
    index->slots = grown(NULL, index->size * sizeof *index->slots);
    memset(index->slots, 0, index->size * sizeof *index->slots);
    index->used = 0;
    for (uint32_t number = 0; number < count; number++) {
        enter(index, hash(number), number);
    }
}

static uint32_t token_hash(uint32_t number)
{
    return hash_of((const uint32_t *)&tokens[number], sizeof(struct token) / 4u);
}

static uint32_t number_of_token(const struct token *wanted)
{
    const uint32_t hash = hash_of((const uint32_t *)wanted, sizeof *wanted / 4u);

    make_room(&token_index, token_hash);
    for (uint32_t at = hash & (token_index.size - 1u); token_index.slots[at] != 0;
         at = (at + 1u) & (token_index.size - 1u)) {
        const uint32_t number = token_index.slots[at] - 1u;
        if (memcmp(&tokens[number], wanted, sizeof *wanted) == 0) {
            return number;
        }
    }
    if (token_count == token_room) {
        token_room = token_room == 0 ? 1024u : token_room * 2u;
        tokens = grown(tokens, token_room * sizeof *tokens);
    }
    tokens[token_count] = *wanted;
    enter(&token_index, hash, token_count);
    put_chunk(KDZ_CHUNK_TOKEN, wanted, sizeof *wanted);
    return token_count++;
}

static uint32_t piece_hash(uint32_t number)
{
    return pieces[number].hash;
}

static void remember(uint32_t hash)
{
    if (remembered_count + piece_length > REMEMBERED_MOST) {
        return;
    }
    if (remembered_count + piece_length > remembered_room) {
        remembered_room = remembered_room == 0 ? 65536u : remembered_room * 2u;
        remembered = grown(remembered, remembered_room * sizeof *remembered);
    }
    if (piece_count == piece_room) {
        piece_room = piece_room == 0 ? 1024u : piece_room * 2u;
        pieces = grown(pieces, piece_room * sizeof *pieces);
    }
    memcpy(remembered + remembered_count, piece, piece_length * sizeof *piece);
    pieces[piece_count].first = remembered_count;
    pieces[piece_count].count = piece_length;
    pieces[piece_count].hash = hash;
    pieces[piece_count].number = written_pieces;
    remembered_count += piece_length;
    enter(&piece_index, hash, piece_count++);
}

/* The number of the current piece; written if it is new. */
static uint32_t number_of_piece(void)
{
    const uint32_t hash = hash_of(piece, piece_length);

    make_room(&piece_index, piece_hash);
    for (uint32_t at = hash & (piece_index.size - 1u); piece_index.slots[at] != 0;
         at = (at + 1u) & (piece_index.size - 1u)) {
        const uint32_t known = piece_index.slots[at] - 1u;
        if (pieces[known].count == piece_length &&
            memcmp(remembered + pieces[known].first, piece, piece_length * sizeof *piece) == 0) {
            return pieces[known].number;
        }
    }
    put_chunk(KDZ_CHUNK_PIECE, piece, piece_length * sizeof *piece);
    remember(hash);
    return written_pieces++;
}

static void flush_path(void)
{
    if (path_length > 0) {
        put_chunk(KDZ_CHUNK_PATH, path, path_length * sizeof *path);
    }
    path_length = 0;
}

static void end_piece(void)
{
    if (piece_length == 0) {
        return;
    }
    path[path_length++] = number_of_piece();
    piece_length = 0;
    if (path_length == PATH_BUFFERED) {
        flush_path();
    }
}

static void put_end(enum kdz_chunk kind, uint64_t instructions, uint64_t clock, uint32_t mark)
{
    const uint64_t words[3] = {instructions, clock, mark};
    put_chunk(kind, words, sizeof words);
}

bool kdz_paths_open(const char *name, bool whole_records)
{
    uint8_t header[KDZ_PATHS_HEADER_BYTES] = KDZ_PATHS_MAGIC;
    const uint32_t words[3] = {KDZ_PATHS_VERSION, KDZ_PATHS_HEADER_BYTES, whole_records};

    file = fopen(name, "wbe");
    if (file == NULL) {
        return false;
    }
    memcpy(header + 8, words, sizeof words);
    return fwrite(header, 1, sizeof header, file) == sizeof header && fflush(file) == 0;
}

void kdz_paths_begin(uint64_t instructions, uint64_t clock, uint32_t mark)
{
    in_region = true;
    put_end(KDZ_CHUNK_BEGIN, instructions, clock, mark);
}

void kdz_paths_end(uint64_t instructions, uint64_t clock, uint32_t mark)
{
    end_piece();
    flush_path();
    in_region = false;
    put_end(KDZ_CHUNK_END, instructions, clock, mark);
}

void kdz_paths_append(uint32_t kind, uint32_t instructions, uint64_t clock, uint64_t value)
{
    const struct token token = {kind, instructions, clock, value};
    const uint32_t number = number_of_token(&token);

    if (piece_length == PIECE_MOST || (piece_length >= PIECE_LEAST && piece[0] == number)) {
        end_piece();
    }
    piece[piece_length++] = number;
}

void kdz_paths_close(void)
{
    if (file == NULL) {
        return;
    }
    if (in_region) {
        end_piece();
        flush_path();
    }
    put_chunk(KDZ_CHUNK_LAST, NULL, 0);
    if (fclose(file) != 0) {
        fprintf(stderr, "kadenz-scope: the paths could not be written: %s\n", strerror(errno));
        _Exit(EXIT_FAILURE);
    }
    file = NULL;
}
