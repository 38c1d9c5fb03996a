/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZEPHYR_IRQ_H
#define ZEPHYR_IRQ_H

/* Zephyr makes an entry of a table in the image; here the types are checked. */
#define IRQ_CONNECT(irq, priority, isr, isr_parameter, flags)                                      \
    do {                                                                                           \
        _Static_assert((irq) >= 0 && (priority) >= 0 && (flags) >= 0, "constants");                \
        void (*const entry)(const void *) = (isr);                                                 \
        const void *const parameter = (isr_parameter);                                             \
        (void)entry;                                                                               \
        (void)parameter;                                                                           \
    } while (0)

void irq_enable(unsigned int irq);

#endif
