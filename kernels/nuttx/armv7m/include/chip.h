/* SPDX-License-Identifier: Apache-2.0 */
#include <arch/chip/chip.h>
#include <arch/chip/irq.h>
