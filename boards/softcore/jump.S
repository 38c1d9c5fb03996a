/* SPDX-License-Identifier: Apache-2.0
 *
 * QEMU's machine `virt` starts at the first word of memory.
 */
    .section .text.kdz_jump, "ax"
    .option norvc
    j       _start
