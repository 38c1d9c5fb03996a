// SPDX-License-Identifier: Apache-2.0
//! SIGINT and SIGTERM become stop requests: the first of the category asked for, the second of category 0.

use std::sync::{Arc, OnceLock};

use crate::task::{Shared, StopCategory};

static TARGET: OnceLock<(Arc<Shared>, StopCategory)> = OnceLock::new();

extern "C" fn on_signal(_: libc::c_int) {
    // Only atomics: a signal may come anywhere.
    if let Some((shared, category)) = TARGET.get() {
        let again = shared.stop_requested().is_some();
        shared.request_stop(if again { StopCategory::Zero } else { *category });
    }
}

/// From now on a signal stops the run behind `shared`. For one run a process.
pub fn stops(shared: &Arc<Shared>, category: StopCategory) {
    if TARGET.set((Arc::clone(shared), category)).is_err() {
        return;
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only touches atomics; an all-zero sigaction is valid and its mask empty.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
