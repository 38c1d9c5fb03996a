/* SPDX-License-Identifier: Apache-2.0
 *
 * What cfg1_out, the program that carries values to the configurator, needs to be linked.
 */
void _kernel_start(void)
{
}

STK_T *const _kernel_istkpt = NULL;
