/* SPDX-License-Identifier: Apache-2.0
 *
 * Nothing: the board's code is kadenz's.
 */
