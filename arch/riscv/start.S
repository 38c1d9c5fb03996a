/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset: global pointer, stack, .data from flash, .bss cleared, main.
 * Symbols kdz_data_load, kdz_data, kdz_data_end, kdz_bss, kdz_bss_end, kdz_stack_top come from the
 * board's linker script.
 */
    .section .text.kdz_start, "ax"
    .global _start
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    csrci   mstatus, 8              /* MIE off until the kernel starts */
    csrw    mie, zero
    la      sp, kdz_stack_top
    la      t0, kdz_trap            /* until the kernel takes the vector over */
    csrw    mtvec, t0

    la      t0, kdz_data_load
    la      t1, kdz_data
    la      t2, kdz_data_end
1:  bgeu    t1, t2, 2f
    lw      t3, 0(t0)
    sw      t3, 0(t1)
    addi    t0, t0, 4
    addi    t1, t1, 4
    j       1b
2:  la      t1, kdz_bss
    la      t2, kdz_bss_end
3:  bgeu    t1, t2, 4f
    sw      zero, 0(t1)
    addi    t1, t1, 4
    j       3b
4:  call    main
5:  wfi
    j       5b
