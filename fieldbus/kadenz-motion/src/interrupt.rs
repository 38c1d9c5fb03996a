// SPDX-License-Identifier: Apache-2.0
//! SIGINT and SIGTERM become stop requests: the first of the category asked for, the second of category 0.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::Arc;

use crate::task::{Shared, StopCategory};

static TARGET: AtomicPtr<Shared> = AtomicPtr::new(std::ptr::null_mut());
static CATEGORY: AtomicU32 = AtomicU32::new(1);

extern "C" fn on_signal(_: libc::c_int) {
    // Only atomics: a signal may come anywhere.
    let target = TARGET.load(Ordering::Acquire);
    // SAFETY: null, or an Arc that `stops` keeps alive for ever.
    let Some(shared) = (unsafe { target.as_ref() }) else { return };
    let first = match CATEGORY.load(Ordering::Relaxed) {
        0 => StopCategory::Zero,
        1 => StopCategory::One,
        _ => StopCategory::Two,
    };
    let again = shared.stop_requested().is_some();
    shared.request_stop(if again { StopCategory::Zero } else { first });
}

/// From now on a signal stops the run behind `shared`, and no earlier run. Each call keeps its `shared` alive for ever,
/// because a signal handler may be looking at it.
pub fn stops(shared: &Arc<Shared>, category: StopCategory) {
    CATEGORY.store(category as u32, Ordering::Relaxed);
    TARGET.store(Arc::into_raw(Arc::clone(shared)).cast_mut(), Ordering::Release);
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
