/* SPDX-License-Identifier: Apache-2.0
 *
 * All cores begin here. Core 0 starts the image; each other core waits for its software interrupt,
 * by which kdz_core_start calls it. Until then it reads no memory, so that core 0 may set it up.
 */
    .section .text.kdz_cores_start, "ax"
    .global kdz_cores_start
kdz_cores_start:
    csrr    t0, mhartid
    bnez    t0, 1f
    j       _start

1:  csrci   mstatus, 8              /* taken by nobody: it only ends the wait */
    li      t0, 8                   /* MSIE, MSIP */
    csrw    mie, t0
2:  wfi
    csrr    t1, mip
    and     t1, t1, t0
    beqz    t1, 2b

    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      t0, kdz_trap            /* until the kernel takes the vector over */
    csrw    mtvec, t0
    lw      sp, kdz_cores_stack_top
    call    kdz_cores_begin
3:  wfi
    j       3b
