/* SPDX-License-Identifier: Apache-2.0
 *
 * The compiler's words in TOPPERS's headers.
 */
#define Inline static inline
#define Asm __asm__ volatile
#define NoReturn __attribute__((noreturn))
