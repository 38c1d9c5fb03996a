// SPDX-License-Identifier: Apache-2.0
//! The board under RTIC: the part of a device crate that RTIC asks for, the tick, and the suite's C
//! side. All `unsafe` code of this crate is here.
#![allow(unsafe_code)]

use cortex_m::interrupt::InterruptNumber;
use kadenz_suite::number::number;
use rtic_monotonics::systick::prelude::systick_monotonic;
use rtic_monotonics::Timebase;

use crate::app::{LOWER_PRIORITY, UPPER_PRIORITY};

const SOFTWARE_IRQ: u16 = number(env!("KDZ_BOARD_IRQ")) as u16;
const DISPATCH_IRQ: u16 = number(env!("KDZ_BOARD_DISPATCH_IRQ")) as u16;
const TICK_HZ: u32 = number(env!("KDZ_BOARD_TICK_HZ"));

/// Rate of SysTick.
pub const TIMER_HZ: u32 = number(env!("KDZ_BOARD_TIMER_HZ"));

/// Bits of a priority, for RTIC.
pub const NVIC_PRIO_BITS: u8 = number(env!("KDZ_BOARD_PRIORITY_BITS")) as u8;

// RTIC's priority 8 of the software interrupt is the one that the board sets.
const _: () = assert!(
    number(env!("KDZ_BOARD_IRQ_PRIORITY")) as usize
        == ((1 << NVIC_PRIO_BITS) - 8) << (8 - NVIC_PRIO_BITS)
);

/// The interrupts that RTIC knows, by the names of their vectors.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(u16)]
pub enum Interrupt {
    kdz_irq_entry = SOFTWARE_IRQ,
    kdz_dispatch_1_entry = DISPATCH_IRQ,
    kdz_dispatch_2_entry = DISPATCH_IRQ + 1,
}

/// The name under which RTIC looks them up.
pub use Interrupt as interrupt;

// SAFETY: the board's table has a vector for each number.
unsafe impl InterruptNumber for Interrupt {
    fn number(self) -> u16 {
        self as u16
    }
}

systick_monotonic!(Mono, 1_000); // the macro takes a literal only
const _: () = assert!(TICK_HZ == 1_000);

/// The current tick.
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

/// What `suite/core/main.c` does before the kernel starts.
pub fn start_board() {
    // SAFETY: called once, by init, with interrupts masked.
    unsafe {
        kdz_board_init();
        kdz_clock_init();
    }
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
        kadenz_suite::framework::RANK_HIGH => UPPER_PRIORITY,
        _ => LOWER_PRIORITY,
    })
}
