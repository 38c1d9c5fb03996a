/* SPDX-License-Identifier: Apache-2.0
 *
 * Sentences put together without a formatter. What does not fit is cut, the end is always there.
 */
#ifndef KDZ_TEXT_H
#define KDZ_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kdz_text {
    char *characters;
    size_t size; /* room, with the ending zero */
    size_t length;
};

/* An empty text in `room`, an array. */
#define KDZ_TEXT_IN(room) kdz_text_in((room), sizeof(room))

struct kdz_text kdz_text_in(char *room, size_t size);
void kdz_text_add(struct kdz_text *text, const char *characters);
void kdz_text_add_part(struct kdz_text *text, const char *characters, size_t count);
void kdz_text_add_number(struct kdz_text *text, uint32_t number);

/* Characters of the first word of names that are parted by spaces. */
size_t kdz_text_word(const char *names);

/* Whether the `count` characters at `part` are exactly `word`. */
bool kdz_text_is(const char *part, size_t count, const char *word);

#endif
