/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls whose instructions can be counted by reading (Armv6-M and later). An instruction counts
 * once, also the one that returns; handlers count apart.
 */
    .syntax unified
    .thumb

    .ifndef MORE
    .equ MORE, 0 /* instructions more in `six` */
    .endif
    .ifndef STATUS
    .equ STATUS, 0
    .endif

    .section .vectors, "a"
    .word 0x20004000
    .word _start + 1
    .word hang + 1
    .word fault + 1
    .rept 7
    .word hang + 1
    .endr
    .word svc + 1 /* exception 11 */

    .section .text.start, "ax"
    .globl _start
    .type _start, %function
_start:
    bl   six
    bl   six
    movs r0, #4
    bl   down
    bl   tail
    bl   raises
    bl   saves
    bl   grows
    .ifdef FAULTS
    udf  #0
    .endif
    .ifdef SLEEPS
    cpsid i
    wfi
    .endif
    .ifdef SPINS
    bl   hang
    .endif
    bl   finish
    .size _start, . - _start

    .type hang, %function
hang:
    b    hang
    .size hang, . - hang

    .type fault, %function
fault:
    b    fault
    .size fault, . - fault

    /* 2 */
    .type svc, %function
svc:
    nop
    bx   lr
    .size svc, . - svc

    /* 6 = 1 + 2 x 2 + 1; the loop comes back behind the first instruction */
    .type six, %function
six:
    .rept MORE
    nop
    .endr
    movs r1, #2
1:  subs r1, #1
    bne  1b
    bx   lr
    .size six, . - six

    /* Of itself, r0 deep: 4 for the innermost, 6 more for each around it */
    .type down, %function
down:
    push {r4, lr}
    cmp  r0, #0
    beq  1f
    subs r0, #1
    bl   down
1:  pop  {r4, pc}
    .size down, . - down

    /* 8 = 2 + six, which returns for it */
    .type tail, %function
tail:
    nop
    b    six
    .size tail, . - tail

    /* 4, and the 2 of the handler apart */
    .type raises, %function
raises:
    nop
    svc  #0
    nop
    bx   lr
    .size raises, . - raises

    /* 17 = 8 + 6 of jumps, which does not return + 3 */
    .type saves, %function
saves:
    push {r4, lr}
    mov  r4, sp
    mov  r12, sp
    ldr  r5, =1f + 1
    nop
    nop
    nop
    bl   jumps
    nop
1:  nop
    nop
    pop  {r4, pc}
    .size saves, . - saves

    .type jumps, %function
jumps:
    push {r6, lr}
    push {r6, lr}
    nop
    nop
    mov  sp, r12
    bx   r5
    .size jumps, . - jumps

    /* 9: a frame of variable size ends in the middle */
    .type grows, %function
grows:
    push {r4, lr}
    mov  r12, sp
    sub  sp, #64
    nop
    mov  sp, r12
    nop
    nop
    nop
    pop  {r4, pc}
    .size grows, . - grows

    .type finish, %function
finish:
    /* Semihosting: SYS_EXIT_EXTENDED (0x20), ADP_Stopped_ApplicationExit */
    movs r0, #0x20
    ldr  r1, =goodbye
    bkpt #0xab
    b    finish
    .size finish, . - finish

    .pool
    .balign 4
goodbye:
    .word 0x20026, STATUS
