// SPDX-License-Identifier: Apache-2.0
//! The NVIC and SysTick.

use core::ffi::CStr;

use cortex_m::interrupt::InterruptNumber;
use kadenz_suite::number::number;
use rtic_monotonics::systick::prelude::systick_monotonic;

use super::TICK_HZ;

/// Two tasks of one priority take turns as long as they like.
pub const NO_TURNS: Option<&CStr> = None;

const SOFTWARE_IRQ: u16 = number(env!("KDZ_BOARD_IRQ")) as u16;
const DISPATCH_IRQ: u16 = number(env!("KDZ_BOARD_DISPATCH_IRQ")) as u16;

const TIMER_HZ: u32 = number(env!("KDZ_BOARD_TIMER_HZ"));

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

/// Starts SysTick as RTIC's monotonic; called once.
pub fn start_tick() {
    // SAFETY: called once, and nothing else in the image uses SysTick.
    let core = unsafe { cortex_m::Peripherals::steal() };
    Mono::start(core.SYST, TIMER_HZ);
}
