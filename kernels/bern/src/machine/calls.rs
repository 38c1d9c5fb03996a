// SPDX-License-Identifier: Apache-2.0
//! The calls of `kernel.h`.

use core::ffi::{c_char, c_void};
use core::ptr::null;
use core::sync::atomic::Ordering::Relaxed;

use bern_kernel::sync::Semaphore;

use super::{
    now, this_thread, Handle, Job, Spec, Status, INVALID, NAMES, NO_MEMORY, OK, STACK_BYTES,
    TIMEOUT, UNSUPPORTED,
};
use crate::{semaphores, threads};

#[no_mangle]
extern "C" fn kdz_tick_now() -> u32 {
    now()
}

/// bern sleeps for a number of ticks, not until one: a tick between the two calls makes the sleep
/// end a tick late. The moment after does not move.
#[no_mangle]
extern "C" fn kdz_delay_until(wake: &mut u32, period_ticks: u32) -> Status {
    *wake = wake.wrapping_add(period_ticks);
    let left = wake.wrapping_sub(now());

    if left as i32 <= 0 {
        return TIMEOUT;
    }
    bern_kernel::sleep(left);
    OK
}

#[no_mangle]
extern "C" fn kdz_thread_create(spec: &Spec) -> Handle {
    if !spec.options.is_null() {
        return UNSUPPORTED as Handle;
    }
    if spec.stack_bytes as usize > STACK_BYTES {
        return NO_MEMORY as Handle;
    }
    let _ = spec.core; // there is one
    threads::create(
        spec.rank,
        Job {
            entry: spec.entry,
            arg: spec.arg,
            name: spec.name,
        },
    )
}

#[no_mangle]
extern "C" fn kdz_thread_join(thread: Handle, timeout_ticks: u32) -> Status {
    threads::join(thread as usize, timeout_ticks)
}

#[no_mangle]
extern "C" fn kdz_thread_self() -> Handle {
    this_thread().map_or(INVALID as Handle, |at| at as Handle)
}

#[no_mangle]
extern "C" fn kdz_thread_yield() {
    bern_kernel::yield_now();
}

#[no_mangle]
extern "C" fn kdz_rank_native(rank: u8) -> i32 {
    i32::from(threads::priority(rank))
}

#[no_mangle]
extern "C" fn kdz_fault_thread() -> *const c_char {
    let name = this_thread().map_or(null(), |at| NAMES[at].load(Relaxed).cast_const());

    if name.is_null() {
        c"".as_ptr()
    } else {
        name
    }
}

fn place(sem: Handle) -> &'static semaphores::Place {
    // SAFETY: a handle that kdz_sem_create returned.
    unsafe { semaphores::PLACES.get_unchecked(sem as usize) }
}

#[inline(always)]
fn semaphore(sem: Handle) -> &'static Semaphore {
    place(sem).semaphore.get()
}

/// `kind` 0 counts; bern has no other, and no maximum.
#[no_mangle]
extern "C" fn kdz_sem_create(kind: u32, _max: u32, initial: u32) -> Handle {
    if kind != 0 {
        return UNSUPPORTED as Handle;
    }
    semaphores::create(initial)
}

#[no_mangle]
extern "C" fn kdz_sem_take(sem: Handle, timeout_ticks: u32) -> Status {
    semaphores::take(semaphore(sem), timeout_ticks)
}

#[no_mangle]
extern "C" fn kdz_sem_give(sem: Handle) -> Status {
    semaphore(sem).add_permits(1);
    OK
}

/// bern's calls know that they are in a handler, and ask for the switch themselves.
#[no_mangle]
extern "C" fn kdz_sem_give_from_isr(sem: Handle, _isr: *mut c_void) -> Status {
    semaphore(sem).add_permits(1);
    OK
}

#[no_mangle]
extern "C" fn kdz_sem_destroy(sem: Handle) {
    semaphores::destroy(place(sem));
}
