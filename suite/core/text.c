/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

struct kdz_text kdz_text_in(char *room, size_t size)
{
    room[0] = '\0';
    return (struct kdz_text){room, size, 0};
}

void kdz_text_add_part(struct kdz_text *text, const char *characters, size_t count)
{
    for (size_t i = 0; i < count && text->length + 1 < text->size; i++) {
        text->characters[text->length++] = characters[i];
    }
    text->characters[text->length] = '\0';
}

void kdz_text_add(struct kdz_text *text, const char *characters)
{
    size_t count = 0;

    while (characters[count] != '\0') {
        count++;
    }
    kdz_text_add_part(text, characters, count);
}

void kdz_text_add_number(struct kdz_text *text, uint32_t number)
{
    char digits[10]; /* of 4294967295 */
    size_t first = sizeof digits;

    do {
        digits[--first] = (char)('0' + number % 10u);
        number /= 10u;
    } while (number != 0);
    kdz_text_add_part(text, digits + first, sizeof digits - first);
}

bool kdz_text_is(const char *part, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (word[i] == '\0' || part[i] != word[i]) {
            return false;
        }
    }
    return word[count] == '\0';
}

size_t kdz_text_word(const char *names)
{
    size_t length = 0;

    while (names[length] != '\0' && names[length] != ' ') {
        length++;
    }
    return length;
}
