/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The paths file: what the target executed in a region, little-endian. Read by
 * kadenz/targets/paths.py; described in instruments/scope/README.md. A change of layout raises
 * KDZ_PATHS_VERSION.
 *
 * A path is a sequence of tokens. A token that occurred before is written as its number, and so is
 * a piece of a path: a loop or a benchmark that repeats itself takes four bytes a turn.
 */
#ifndef KDZ_PATHS_H
#define KDZ_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#define KDZ_PATHS_MAGIC "KDZPATHS" /* 8 bytes, no terminator */
#define KDZ_PATHS_VERSION 1u
#define KDZ_PATHS_HEADER_BYTES 32u

/* Every chunk: kind and bytes that follow, 32 bits each. */
enum kdz_chunk {
    KDZ_CHUNK_TOKEN = 1, /* defines the next token: kind, instructions, clock, value */
    KDZ_CHUNK_PIECE = 2, /* defines the next piece: numbers of tokens */
    KDZ_CHUNK_BEGIN = 3, /* a region begins: instructions, clock, mark, 0 */
    KDZ_CHUNK_PATH = 4,  /* numbers of its next pieces */
    KDZ_CHUNK_END = 5,   /* it ends: like BEGIN */
    KDZ_CHUNK_LAST = 6,  /* the file is complete */
};

enum kdz_token {
    KDZ_TOKEN_RUN = 1,      /* instructions one after another; value: address of the first */
    KDZ_TOKEN_MARK = 2,     /* a mark inside a region; value: the mark */
    KDZ_TOKEN_STORE = 0x10, /* plus the number of the watched word; value: its new contents */
    KDZ_TOKEN_STATE = 0x20, /* plus the number of the register; value: what it holds from now on */
    KDZ_TOKEN_NAME = 0x30,  /* plus n; value: bytes 8 n to 8 n + 7 of the current thread's name */
};

/* Opens the file and writes the header. False with errno set on failure. */
bool kdz_paths_open(const char *path, bool whole_records);

/* A region begins or ends with `mark`, at these counts. */
void kdz_paths_begin(uint64_t instructions, uint64_t clock, uint32_t mark);
void kdz_paths_end(uint64_t instructions, uint64_t clock, uint32_t mark);

/* Appends a token to the path of the open region. */
void kdz_paths_append(uint32_t kind, uint32_t instructions, uint64_t clock, uint64_t value);

/* Ends the path of an open region, writes LAST and everything else. Later calls do nothing. */
void kdz_paths_close(void);

#endif
