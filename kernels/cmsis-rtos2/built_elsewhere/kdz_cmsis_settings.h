/* SPDX-License-Identifier: Apache-2.0
 *
 * An implementation that its own project configures. The manifest has the flags of that project.
 */
#ifndef KDZ_CMSIS_SETTINGS_H
#define KDZ_CMSIS_SETTINGS_H

#define KDZ_CMSIS_SETTINGS {"configuration", "of the kernel's own project"},

#endif
