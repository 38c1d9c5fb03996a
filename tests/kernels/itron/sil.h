/* SPDX-License-Identifier: Apache-2.0 */
#include "target_sil.h"
