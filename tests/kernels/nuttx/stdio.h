/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_STDIO_H
#define NUTTX_STDIO_H

#include_next <stdio.h>

int nx_asprintf(char **text, const char *format, ...);

#endif
