/* SPDX-License-Identifier: Apache-2.0
 *
 * A queued real-time signal, taken by sigwaitinfo(2).
 */
#include "wake.h"

KDZ_WAKE(itc_signal, "itc/signal", KDZ_NOTIFY_SIGNAL);
