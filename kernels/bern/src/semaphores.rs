// SPDX-License-Identifier: Apache-2.0
//! A pool of bern's semaphores. bern frees none, so each is used again.
//!
//! bern finds the event of a semaphore by a search through all events, from the first one on: the
//! lowest free place is the one that is taken, so that a plan gets the same events each time.

use core::mem::forget;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bern_kernel::sync::Semaphore;

use crate::machine::{Handle, Late, Status, NO_MEMORY, OK, TIMEOUT};

pub const SEMAPHORES: usize = 24;

pub struct Place {
    taken: AtomicBool,
    pub semaphore: Late<Semaphore>,
}

pub static PLACES: [Place; SEMAPHORES] = [const {
    Place {
        taken: AtomicBool::new(false),
        semaphore: Late::new(),
    }
}; SEMAPHORES];

/// Creates all, before bern starts.
pub fn prepare() {
    for place in &PLACES {
        place.semaphore.set(registered());
    }
}

/// A semaphore without permits. bern ignores that its memory does not suffice for the event.
pub fn registered() -> Semaphore {
    Semaphore::new(0)
}

pub fn create(initial: u32) -> Handle {
    let free = |place: &Place| {
        place
            .taken
            .compare_exchange(false, true, Relaxed, Relaxed)
            .is_ok()
    };
    let Some(at) = PLACES.iter().position(free) else {
        return NO_MEMORY as Handle;
    };

    if initial > 0 {
        PLACES[at].semaphore.get().add_permits(initial as usize);
    }
    at as Handle
}

pub fn destroy(place: &Place) {
    drain(place.semaphore.get());
    place.taken.store(false, Relaxed);
}

pub fn drain(semaphore: &Semaphore) {
    while take(semaphore, 0) == OK {}
}

/// Takes a permit for good. A permit that is dropped goes back to its semaphore, and one that is
/// forgotten by its own method stays counted as issued.
#[inline(always)]
pub fn take(semaphore: &Semaphore, timeout_ticks: u32) -> Status {
    let permit = if timeout_ticks == 0 {
        semaphore.try_acquire()
    } else {
        semaphore.acquire(timeout_ticks) // bern waits forever
    };

    match permit {
        Ok(permit) => {
            forget(permit);
            OK
        }
        Err(_) => TIMEOUT,
    }
}
