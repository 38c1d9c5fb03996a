/* SPDX-License-Identifier: Apache-2.0
 *
 * What NuttX calls of parts that the image leaves out: its drivers, its printf and its way to stop.
 */
#include "nuttx_port.h"

#include "kadenz/fault.h"

#include <nuttx/drivers/drivers.h>

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void drivers_early_initialize(void)
{
}

void drivers_initialize(void)
{
}

int nx_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_list again;

    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    *text = malloc((size_t)length + 1u);
    if (*text != NULL) {
        (void)vsnprintf(*text, (size_t)length + 1u, format, again);
    }
    va_end(again);
    va_end(arguments);
    return *text == NULL ? -1 : length;
}

/* In place of NuttX's own, which prints registers and every thread on its console. */
static _Noreturn void stop(const char *file, int line, const char *message)
{
    const struct kdz_register place[] = {{"line", (uint32_t)line}};

    kdz_fault(KDZ_FAULT_ASSERT, message != NULL ? message : file, place, 1);
}

void _assert(const char *file, int line, const char *message, void *registers)
{
    (void)registers;
    stop(file, line, message);
}

void __assert(const char *file, int line, const char *message)
{
    stop(file, line, message);
}
