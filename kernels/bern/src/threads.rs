// SPDX-License-Identifier: Apache-2.0
//! A pool of stacks for bern's threads. bern keeps the control block of a thread that has ended, and
//! has no call that waits for the end of one: the place of a thread has a semaphore for that.

use core::sync::atomic::{AtomicU32, AtomicU8, AtomicUsize, Ordering::Relaxed};

use bern_kernel::sync::Semaphore;

use crate::machine::{
    self, Handle, Job, Late, Status, FOREVER, INVALID, NO_MEMORY, OK, TIMEOUT, UNSUPPORTED,
};
use crate::semaphores;

/// Place 0 is the suite's main thread.
pub const THREADS: usize = 9;
pub const RANK_MAX: u8 = 12;
const RANK_MAIN: u8 = 11;

const FREE: u8 = 0;
const LIVES: u8 = 1;
const ENDED: u8 = 2;

struct Place {
    state: AtomicU8,
    rank: AtomicU8,
    ended: Late<Semaphore>,
}

static PLACES: [Place; THREADS] = [const {
    Place {
        state: AtomicU8::new(FREE),
        rank: AtomicU8::new(0),
        ended: Late::new(),
    }
}; THREADS];

/// bern's memory for control blocks, in threads; each creation takes one forever.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// Prepares the pool, before bern starts.
pub fn prepare(most: usize) {
    LEFT.store(most, Relaxed);
    for place in &PLACES {
        place.ended.set(semaphores::registered());
    }
}

/// Creates the suite's main thread, before bern starts.
pub fn create_main(job: Job) {
    let _ = create(RANK_MAIN, job);
}

/// The priority that bern counts down to 0, its most urgent.
pub fn priority(rank: u8) -> u8 {
    RANK_MAX - rank
}

fn claim() -> Option<usize> {
    PLACES.iter().position(|place| {
        place
            .state
            .compare_exchange(FREE, LIVES, Relaxed, Relaxed)
            .is_ok()
    })
}

pub fn create(rank: u8, job: Job) -> Handle {
    if !(1..=RANK_MAX).contains(&rank) {
        return INVALID as Handle;
    }
    let one_less = |left: usize| left.checked_sub(1);
    if LEFT.fetch_update(Relaxed, Relaxed, one_less).is_err() {
        return NO_MEMORY as Handle;
    }
    let Some(at) = claim() else {
        LEFT.fetch_add(1, Relaxed);
        return NO_MEMORY as Handle;
    };

    PLACES[at].rank.store(rank, Relaxed);
    machine::spawn(at, priority(rank), job);
    // bern does not look for a more urgent thread when one is created.
    if machine::this_thread().is_some_and(|own| PLACES[own].rank.load(Relaxed) < rank) {
        bern_kernel::yield_now();
    }
    at as Handle
}

/// Called in a handler, above which bern switches no threads, for the thread that was interrupted:
/// it does not run again, and then its place is free for another.
pub fn end(at: usize) {
    let place = &PLACES[at];

    place.state.store(ENDED, Relaxed);
    bern_kernel::task_exit();
    place.ended.get().add_permits(1);
}

// ---- join ---------------------------------------------------------------------------------------
/// A permit of `ended` says: look. The thread has ended, or the time has.
pub fn join(at: usize, timeout_ticks: u32) -> Status {
    let Some(place) = PLACES.get(at) else {
        return INVALID;
    };
    if place.state.load(Relaxed) == FREE {
        return INVALID;
    }
    let start = machine::now();

    while place.state.load(Relaxed) != ENDED {
        if timeout_ticks != FOREVER {
            if machine::now().wrapping_sub(start) >= timeout_ticks {
                return TIMEOUT;
            }
            if !WATCH.set(at, start.wrapping_add(timeout_ticks)) {
                return UNSUPPORTED;
            }
        }
        semaphores::take(place.ended.get(), FOREVER);
        WATCH.clear(at);
    }
    semaphores::drain(place.ended.get());
    place.state.store(FREE, Relaxed);
    OK
}

/// The one wait for a thread that has a time-out. bern's waits have none: the thread that runs when
/// no other can looks at the time.
struct Watch {
    place: AtomicUsize,
    deadline: AtomicU32,
}

const NOBODY: usize = usize::MAX;

static WATCH: Watch = Watch {
    place: AtomicUsize::new(NOBODY),
    deadline: AtomicU32::new(0),
};

impl Watch {
    /// False when another thread waits so.
    fn set(&self, at: usize, deadline: u32) -> bool {
        if self.place.load(Relaxed) != NOBODY {
            return false;
        }
        self.deadline.store(deadline, Relaxed);
        self.place.store(at, Relaxed);
        true
    }

    fn clear(&self, at: usize) {
        let _ = self.place.compare_exchange(at, NOBODY, Relaxed, Relaxed);
    }
}

/// Called after each interrupt that came while no thread could run.
pub fn watch() {
    let at = WATCH.place.load(Relaxed);

    if let Some(place) = PLACES.get(at) {
        let left = WATCH.deadline.load(Relaxed).wrapping_sub(machine::now());

        if left as i32 <= 0 {
            WATCH.clear(at);
            place.ended.get().add_permits(1);
        }
    }
}
