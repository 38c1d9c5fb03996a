/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "registers.h"

#include <string.h>

struct qemu_plugin_register *kdz_register_of(GArray *offered, const char *name)
{
    for (guint i = 0; name != NULL && i < offered->len; i++) {
        const qemu_plugin_reg_descriptor *entry =
            &g_array_index(offered, qemu_plugin_reg_descriptor, i);
        if (strcmp(entry->name, name) == 0) {
            return entry->handle;
        }
    }
    return NULL;
}
