/* SPDX-License-Identifier: Apache-2.0 */
#ifdef TOPPERS_TARGET_RENAME_H
#undef TOPPERS_TARGET_RENAME_H

#include "core_unrename.h"

#endif
