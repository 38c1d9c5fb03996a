// SPDX-License-Identifier: Apache-2.0
//! Marks the part of a thread in which nothing may be allocated, so that a test's allocator can count.

use std::cell::Cell;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread is in its cyclic path.
pub fn in_cyclic_path() -> bool {
    // A thread that is being torn down has left it.
    INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// While it lives, the thread is in its cyclic path.
#[derive(Debug)]
pub struct CyclicPath(());

impl CyclicPath {
    /// Enters the cyclic path, until the value is dropped.
    pub fn enter() -> Self {
        INSIDE.with(|inside| inside.set(true));
        Self(())
    }
}

impl Drop for CyclicPath {
    fn drop(&mut self) {
        INSIDE.with(|inside| inside.set(false));
    }
}

/// Runs `work` outside the cyclic path: for simulated hardware, which is not part of the application.
pub fn outside_cyclic_path<T>(work: impl FnOnce() -> T) -> T {
    let inside = INSIDE.with(|inside| inside.replace(false));
    let result = work();
    INSIDE.with(|cell| cell.set(inside));
    result
}
