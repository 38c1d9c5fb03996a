/* SPDX-License-Identifier: Apache-2.0
 *
 * One span with calls whose frames a compiler may leave out: `hop` ends in the call of `leaf`
 * (RV32, QEMU machine `virt`).
 */
enum { OPEN = 0x10007, CLOSE = 0x20007, BEGIN = 1, END = 2, PASS = 0x5555 };

volatile unsigned kdz_scope_marker;
static volatile unsigned *const syscon = (volatile unsigned *)0x100000;

int leaf(int value);
int hop(int value);
int body(int value);
void measured(void);

__attribute__((noipa)) int leaf(int value)
{
    return value * 3 + 1;
}

__attribute__((noipa)) int hop(int value)
{
    return leaf(value + 1);
}

__attribute__((noipa)) int body(int value)
{
    return hop(value) + hop(value + 2);
}

__attribute__((noipa, used)) void measured(void)
{
    kdz_scope_marker = OPEN;
    kdz_scope_marker = BEGIN;
    (void)body(3);
    kdz_scope_marker = END;
    kdz_scope_marker = CLOSE;
    *syscon = PASS;
}

__asm__(".section .text.startup, \"ax\"\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start: la sp, stack_end\n"
        "call measured\n"
        "1: j 1b\n"
        ".size _start, . - _start\n"
        ".bss\n"
        ".balign 16\n"
        ".space 512\n"
        "stack_end:\n"
        ".text\n");
