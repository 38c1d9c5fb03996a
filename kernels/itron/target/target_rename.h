/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel puts a prefix before its internal names. The target has none to add.
 */
#ifndef TOPPERS_TARGET_RENAME_H
#define TOPPERS_TARGET_RENAME_H

#include "core_rename.h"

#endif
