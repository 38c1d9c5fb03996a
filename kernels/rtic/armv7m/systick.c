/* SPDX-License-Identifier: Apache-2.0
 *
 * The tick's vector under the name that RTIC's SysTick monotonic gives its handler.
 */
void SysTick(void);
void SysTick_Handler(void);

void SysTick_Handler(void)
{
    SysTick();
}
