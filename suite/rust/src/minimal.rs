// SPDX-License-Identifier: Apache-2.0
//! What stands for the suite in a minimal application: one task that wakes at every tick.
//! `suite/minimal/minimal.c` is the same for kernels in C.

use crate::abi::sleep;
use crate::framework::{Framework, Role, Seat};
use crate::Point;

/// Starts the task, and sleeps.
pub fn main<F: Framework>() -> ! {
    F::start(Seat::Lower, Role::Cyclic, Point::of_nothing());
    loop {
        sleep();
    }
}

/// Defines the suite's main thread for a framework.
#[macro_export]
macro_rules! minimal {
    ($framework:ty) => {
        #[allow(unsafe_code)] // SAFETY: no other object of the image has this name.
        #[no_mangle]
        extern "C" fn kdz_suite_main(_: *mut ()) {
            $crate::minimal::main::<$framework>()
        }
    };
}
