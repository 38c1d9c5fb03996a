/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_FS_H
#define NUTTX_FS_H

struct file;

int file_get(int descriptor, struct file **file);
int file_put(struct file *file);

#endif
