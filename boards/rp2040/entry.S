/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a debugger starts the image. A reset starts the boot ROM instead, which does not know the
 * image, so the stack pointer has not been loaded from its vectors.
 */
    .syntax unified
    .section .text.kdz_entry, "ax"
    .thumb
    .thumb_func
    .global kdz_entry
    .type   kdz_entry, %function
kdz_entry:
    ldr     r0, =kdz_stack_top
    mov     sp, r0
    ldr     r0, =kdz_reset
    bx      r0
    .pool
