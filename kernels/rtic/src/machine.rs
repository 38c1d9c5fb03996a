// SPDX-License-Identifier: Apache-2.0
//! The board under RTIC: the part of a device crate that RTIC asks for, the tick, and the suite's C
//! side. All `unsafe` code of this crate is here.
#![allow(unsafe_code)]

use kadenz_suite::number::number;
use rtic_monotonics::Timebase;

use crate::app::{LOWER_PRIORITY, UPPER_PRIORITY};

#[cfg(target_arch = "arm")]
mod armv7m;
#[cfg(target_arch = "arm")]
pub use armv7m::*;
#[cfg(target_arch = "riscv32")]
mod riscv32;
#[cfg(target_arch = "riscv32")]
pub use riscv32::*;

const TICK_HZ: u32 = number(env!("KDZ_BOARD_TICK_HZ"));

pub fn now() -> u32 {
    Mono::now().as_ticks()
}

/// A channel that is split once: its two ends.
macro_rules! channel {
    ($bytes:literal) => {{
        #[allow(unsafe_code)] // of rtic_sync's macro, which guards against a second call
        {
            rtic_sync::make_channel!([u8; $bytes], 1)
        }
    }};
}
pub(crate) use channel;

unsafe extern "C" {
    fn kdz_board_init();
    fn kdz_clock_init();
    fn kdz_suite_main(unused: *mut ());
}

/// The work of `suite/core/main.c` before the kernel starts, and the tick.
pub fn start_board() {
    // SAFETY: called once, by init, with interrupts masked.
    unsafe {
        kdz_board_init();
        kdz_clock_init();
    }
    start_tick();
}

/// The suite's main thread.
pub fn run_suite() -> ! {
    // SAFETY: called once, by idle; it halts the board.
    unsafe { kdz_suite_main(core::ptr::null_mut()) };
    panic!("the suite returned");
}

#[no_mangle]
extern "C" fn kdz_tick_now() -> u32 {
    now()
}

/// RTIC's priority of a rank.
#[no_mangle]
extern "C" fn kdz_rank_native(rank: u8) -> i32 {
    i32::from(match u32::from(rank) {
        kadenz_suite::framework::RANK_HIGH.. => UPPER_PRIORITY,
        _ => LOWER_PRIORITY,
    })
}
