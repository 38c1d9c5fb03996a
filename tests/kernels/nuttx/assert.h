/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_ASSERT_H
#define NUTTX_ASSERT_H

void _assert(const char *file, int line, const char *message, void *registers);
_Noreturn void __assert(const char *file, int line, const char *message);

#endif
