/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Registers of a core in QEMU, by their names.
 */
#ifndef KDZ_REGISTERS_H
#define KDZ_REGISTERS_H

#include <glib.h>
#include <qemu-plugin.h>

/* One of `offered`, of qemu_plugin_get_registers; NULL for another name, and for none. */
struct qemu_plugin_register *kdz_register_of(GArray *offered, const char *name);

#endif
