// SPDX-License-Identifier: Apache-2.0
//! The Cortex-M under Embassy: two interrupts that nothing raises but the executors, the tick, and
//! the software interrupt. All `unsafe` code of this crate is here.
#![allow(unsafe_code)]

use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::scb::SystemHandler;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::Peripherals;
use embassy_executor::{InterruptExecutor, SendSpawner};
use kadenz_suite::number::number;

use crate::framework::Embassy;
use crate::time;

/// Two interrupts of the board for dispatching: the vectors kdz_dispatch_1_entry and …_2_entry.
const DISPATCH_IRQ: u16 = number(env!("KDZ_BOARD_DISPATCH_IRQ")) as u16;
const TICK_HZ: u32 = number(env!("KDZ_BOARD_TICK_HZ"));
const TIMER_HZ: u32 = number(env!("KDZ_BOARD_TIMER_HZ"));

/// NVIC priorities: a larger number is less urgent. Both are below the software interrupt's.
const UPPER_PRIORITY: u8 = 0xa0;
const LOWER_PRIORITY: u8 = 0xc0;
/// The tick interrupts everything, as in Embassy's own time drivers, which leave it at reset's value.
const TICK_PRIORITY: u8 = 0;

const _: () = assert!(number(env!("KDZ_BOARD_IRQ_PRIORITY")) < UPPER_PRIORITY as u32);
const _: () = assert!(embassy_time_driver::TICK_HZ == TICK_HZ as u64);

static UPPER: InterruptExecutor = InterruptExecutor::new();
static LOWER: InterruptExecutor = InterruptExecutor::new();

#[derive(Clone, Copy)]
struct Irq(u16);

// SAFETY: the board's table has a vector for both numbers, and each value is one of them.
unsafe impl InterruptNumber for Irq {
    fn number(self) -> u16 {
        self.0
    }
}

/// Where tasks of rank 8 are started.
pub fn upper() -> SendSpawner {
    UPPER.spawner()
}

/// Where tasks of rank 7 are started.
pub fn lower() -> SendSpawner {
    LOWER.spawner()
}

/// Starts the executors and the tick. The port's C part calls it once, before the suite.
#[no_mangle]
extern "C" fn kdz_embassy_start() {
    // SAFETY: called once, and nothing else in the image uses these registers through cortex-m.
    // Priorities are set before the interrupts are enabled, and hold up no critical section: those
    // mask all interrupts.
    unsafe {
        let mut core = Peripherals::steal();
        core.NVIC.set_priority(Irq(DISPATCH_IRQ), LOWER_PRIORITY);
        core.NVIC
            .set_priority(Irq(DISPATCH_IRQ + 1), UPPER_PRIORITY);
        core.SCB.set_priority(SystemHandler::SysTick, TICK_PRIORITY);
        LOWER.start(Irq(DISPATCH_IRQ));
        UPPER.start(Irq(DISPATCH_IRQ + 1));
        core.SYST.set_clock_source(SystClkSource::Core);
        core.SYST.set_reload(TIMER_HZ / TICK_HZ - 1);
        core.SYST.clear_current();
        core.SYST.enable_interrupt();
        core.SYST.enable_counter();
    }
}

#[no_mangle]
extern "C" fn kdz_dispatch_1_entry() {
    // SAFETY: the vector of the interrupt that LOWER was started with; it is enabled by that start.
    unsafe { LOWER.on_interrupt() }
}

#[no_mangle]
extern "C" fn kdz_dispatch_2_entry() {
    // SAFETY: as above, of UPPER.
    unsafe { UPPER.on_interrupt() }
}

#[no_mangle]
extern "C" fn SysTick_Handler() {
    time::tick();
}

#[no_mangle]
extern "C" fn kdz_irq_entry() {
    kadenz_suite::irq::handle::<Embassy>();
}

#[no_mangle]
extern "C" fn kdz_tick_now() -> u32 {
    time::now()
}

/// The NVIC priority of a rank.
#[no_mangle]
extern "C" fn kdz_rank_native(rank: u8) -> i32 {
    i32::from(match u32::from(rank) {
        kadenz_suite::framework::RANK_HIGH.. => UPPER_PRIORITY,
        _ => LOWER_PRIORITY,
    })
}
