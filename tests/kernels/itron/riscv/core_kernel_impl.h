/* SPDX-License-Identifier: Apache-2.0 */
void default_exc_handler(void *frame, EXCNO number);
void default_int_handler(INTNO number);
