/* SPDX-License-Identifier: Apache-2.0 */
#define TSTEP_HRTCNT 1000u
