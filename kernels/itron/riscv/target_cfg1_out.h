/* SPDX-License-Identifier: Apache-2.0
 *
 * What cfg1_out, the program that carries values to the configurator, needs to be linked.
 */
#include "core_cfg1_out.h"
