// SPDX-License-Identifier: Apache-2.0
//! The suite of a minimal application: one task that wakes at every tick.
//! `suite/minimal/minimal.c` is the same for kernels in C.

use crate::framework::{Framework, Role, Seat};
use crate::Point;

/// Starts the task, and sleeps.
pub fn main<F: Framework>() -> ! {
    F::start(Seat::Lower, Role::Cyclic, Point::of_nothing());
    loop {
        F::sleep();
    }
}
