/* SPDX-License-Identifier: Apache-2.0
 *
 * The tick's vector, for frameworks that name its handler as cortex-m-rt does: RTIC's SysTick
 * monotonic, and lilos.
 */
void SysTick(void);
void SysTick_Handler(void);

void SysTick_Handler(void)
{
    SysTick();
}
