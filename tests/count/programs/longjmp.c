/* SPDX-License-Identifier: Apache-2.0
 *
 * A longjmp of the C library out of a frame of variable size, into a function that then goes on
 * where the call that was left would have returned to.
 */
#include <setjmp.h>
#include <string.h>

void inner(int number);
int guarded(int number);

static jmp_buf place;
static volatile int sink;

__attribute__((noinline)) void inner(int number)
{
    char buffer[number + 1];

    memset(buffer, number, sizeof buffer);
    sink += buffer[number / 2];
    if (number == 7) {
        longjmp(place, 1);
    }
}

__attribute__((noinline)) int guarded(int number)
{
    if (setjmp(place) != 0) {
        return -1;
    }
    inner(number);
    return number;
}

int main(void)
{
    for (int i = 0; i < 20; i++) {
        sink += guarded(i);
    }
    return 0;
}
