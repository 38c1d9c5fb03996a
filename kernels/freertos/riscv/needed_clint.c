/* SPDX-License-Identifier: Apache-2.0
 *
 * Where FreeRTOS's RISC-V port has to find the board's timer.
 */
#include "kadenz/needed.h"

#include <FreeRTOS.h>

#ifdef configCLINT_BASE_ADDRESS
KDZ_NEEDED(configCLINT_BASE_ADDRESS == KDZ_FREERTOS_CLINT,
           "configCLINT_BASE_ADDRESS KDZ_FREERTOS_CLINT", "before V10.3.0: as above");
#else
KDZ_NEEDED(configMTIME_BASE_ADDRESS == KDZ_FREERTOS_CLINT + 0xbff8,
           "configMTIME_BASE_ADDRESS KDZ_FREERTOS_CLINT + 0xbff8", "the tick is the board's timer");
KDZ_NEEDED(configMTIMECMP_BASE_ADDRESS == KDZ_FREERTOS_CLINT + 0x4000,
           "configMTIMECMP_BASE_ADDRESS KDZ_FREERTOS_CLINT + 0x4000",
           "the tick is the board's timer");
#endif
