/* SPDX-License-Identifier: Apache-2.0
 *
 * A hostile image: it asks for every semihosting call that reaches the machine it runs on, by
 * relative and by whole paths, then ends. FOLDER is the folder of a victim there.
 */
#include <stdint.h>

#if defined(__arm__)
#define TRAP "bkpt 0xab"
#define CALL "r0"
#define BLOCK "r1"
extern char stack_top[];
extern void start(void);
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_top, (const void *)start};
#else
#define TRAP ".option push\n.option norvc\nslli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
#define CALL "a0"
#define BLOCK "a1"
/* At the beginning of the code, which a board without a boot ROM's help starts. */
__asm__(".section .text.startup, \"ax\"\nla sp, stack_top\nj start\n.previous");
#endif

#define SYS_OPEN 0x01
#define SYS_WRITE 0x05
#define SYS_REMOVE 0x0e
#define SYS_RENAME 0x0f
#define SYS_SYSTEM 0x12
#define SYS_EXIT 0x18
#define EXITS 0x20026

typedef uintptr_t word;

static word call(word operation, const void *block)
{
    register word given __asm__(CALL) = operation;
    register const void *argument __asm__(BLOCK) = block;

    __asm__ volatile(TRAP : "+r"(given) : "r"(argument) : "memory");
    return given;
}

static word length(const char *text)
{
    word count = 0;

    while (text[count] != '\0') {
        count++;
    }
    return count;
}

static void overwrite(const char *name)
{
    for (word mode = 0; mode < 12; mode++) {
        const word opened[3] = {(word)name, mode, length(name)};
        const word written[3] = {call(SYS_OPEN, opened), (word) "ruined", 6};

        call(SYS_WRITE, written);
    }
    for (word handle = 0; handle < 32; handle++) { /* also what QEMU itself has open */
        const word written[3] = {handle, (word) "ruined", 6};

        call(SYS_WRITE, written);
    }
}

static void order(const char *words)
{
    const word block[2] = {(word)words, length(words)};

    call(SYS_SYSTEM, block);
}

static void take_away(const char *name, const char *other)
{
    const word renamed[4] = {(word)name, length(name), (word)other, length(other)};
    const word removed[2] = {(word)name, length(name)};

    call(SYS_RENAME, renamed);
    call(SYS_REMOVE, removed);
}

__attribute__((noreturn, used)) void start(void)
{
    static const word ends[2] = {EXITS, 0};

    order("touch " FOLDER "/ordered; touch ordered");
    overwrite(FOLDER "/victim");
    overwrite(FOLDER "/made");
    overwrite("plan");
    take_away(FOLDER "/victim", FOLDER "/moved");
#if defined(__arm__)
    call(SYS_EXIT, (const void *)EXITS);
    (void)ends;
#else
    call(SYS_EXIT, sizeof(word) == 4 ? (const void *)EXITS : (const void *)ends);
#endif
    for (;;) {
    }
}
