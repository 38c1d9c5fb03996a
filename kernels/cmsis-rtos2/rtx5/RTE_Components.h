/* SPDX-License-Identifier: Apache-2.0
 *
 * RTX5 looks here for the chip's header.
 */
#ifndef RTE_COMPONENTS_H
#define RTE_COMPONENTS_H

#define CMSIS_device_header "kdz_rtx5_device.h"

#endif
