/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls whose instructions can be counted by reading (RV32). An instruction
 * counts once, also the one that returns; handlers count apart.
 */
    .ifndef MORE
    .equ MORE, 0 /* instructions more in `six` */
    .endif

    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    la   sp, stack_end
    la   t0, traps
    csrw mtvec, t0
    li   t0, 8
    csrw mie, t0
    csrsi mstatus, 8
    jal  six
    jal  six
    li   a0, 4
    jal  down
    jal  tail
    jal  raises
    la   a0, buffer
    jal  saves
    .ifdef FAULTS
    la   t0, dead + 1
    csrw mtvec, t0
    .word 0xffffffff
    .endif
    .ifdef SLEEPS
    csrw mie, zero
    wfi
    .endif
    .ifdef SPINS
1:  j    1b
    .endif
    j    finish
    .size _start, . - _start
    /* 7 = 1 + 2 x 2 + 2 */
    .type six, @function
six:
    .rept MORE
    nop
    .endr
    li t1, 2
1:  addi t1, t1, -1
    bnez t1, 1b
    addi t1, t1, 0
    ret
    .size six, . - six
    /* Of itself, a0 deep: 6 for the innermost, 8 more for each around it */
    .type down, @function
down:
    addi sp, sp, -16
    sw   ra, 0(sp)
    beqz a0, 1f
    addi a0, a0, -1
    jal  down
1:  lw   ra, 0(sp)
    addi sp, sp, 16
    ret
    .size down, . - down
    /* 9 = 2 + six, which returns for it */
    .type tail, @function
tail:
    nop
    j    six
    .size tail, . - tail
    /* 14 = 7 + 4 of jumps, which does not return + 3 */
    .type saves, @function
saves:
    addi sp, sp, -16
    sw   ra, 0(sp)
    sw   sp, 0(a0)
    la   t0, 1f
    sw   t0, 4(a0)
    jal  jumps
    nop
1:  lw   ra, 0(sp)
    addi sp, sp, 16
    ret
    .size saves, . - saves
    .type jumps, @function
jumps:
    addi sp, sp, -16
    lw   sp, 0(a0)
    lw   t0, 4(a0)
    jr   t0
    .size jumps, . - jumps
    .include "common.riscv.S"
    .section .vectors, "ax"
    .balign 256
    .type dead, @function
dead:
    j    dead
    .size dead, . - dead
    .bss
    .balign 16
buffer: .space 16
    .space 512
stack_end:
