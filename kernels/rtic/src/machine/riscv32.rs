// SPDX-License-Identifier: Apache-2.0
//! Traps, SiFive's CLINT and the tick. RTIC's own interrupt controller in software (`riscv-slic`) has
//! the priorities: it raises the core's only software interrupt, which is the board's as well.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use kadenz_suite::number::number;
use riscv::register::{mcause, mie};
use rtic_monotonics::rtic_time::timer_queue::{TimerQueue, TimerQueueBackend};
use rtic_monotonics::{fugit, TimerQueueBasedMonotonic};

use super::TICK_HZ;
use crate::app::raise_handler;

/// A dispatcher that is pended while it runs starts anew inside its own trap, before that returns
/// (`riscv-slic` 0.2.0): each turn of two equals takes stack that is free only when both wait.
pub const NO_TURNS: Option<&CStr> =
    Some(c"RTIC's dispatcher nests a trap in the trap for each turn of two equals here: no stack holds many");

// ---- what RTIC asks of a device crate -----------------------------------------------------------
/// The numbers that RTIC knows.
pub mod interrupt {
    /// The one interrupt of the core that RTIC uses, by its number in `mcause`.
    #[derive(Clone, Copy)]
    #[repr(usize)]
    pub enum CoreInterrupt {
        MachineSoft = 3,
    }

    // SAFETY: the number is the architecture's.
    unsafe impl riscv_types::InterruptNumber for CoreInterrupt {
        const MAX_INTERRUPT_NUMBER: usize = 3;

        fn number(self) -> usize {
            self as usize
        }

        fn from_number(value: usize) -> riscv_types::result::Result<Self> {
            match value {
                3 => Ok(Self::MachineSoft),
                _ => Err(riscv_types::result::Error::InvalidVariant(value)),
            }
        }
    }

    // SAFETY: as above.
    unsafe impl riscv_types::CoreInterruptNumber for CoreInterrupt {}

    /// The only core, which RTIC names when it raises the software interrupt.
    pub enum Hart {
        H0,
    }
}

const CLINT_ADDRESS: usize = number(env!("KDZ_BOARD_CLINT_ADDRESS")) as usize;
const MSIP: *mut u32 = CLINT_ADDRESS as *mut u32;
const MTIMECMP: *mut u32 = (CLINT_ADDRESS + 0x4000) as *mut u32;
const MTIME: *const u32 = (CLINT_ADDRESS + 0xbff8) as *const u32;

/// RTIC has raised the software interrupt; if not, the board has.
static OF_RTIC: AtomicBool = AtomicBool::new(false);

/// The interrupt controller, by RTIC's name for it.
#[allow(clippy::upper_case_acronyms)]
pub struct CLINT;

impl CLINT {
    pub const fn mswi() -> Self {
        Self
    }

    pub fn msip(self, _hart: interrupt::Hart) -> Self {
        self
    }

    pub fn pend(self) {
        OF_RTIC.store(true, Ordering::Relaxed);
        // SAFETY: the register; read back, so that the interrupt comes before the return.
        unsafe {
            MSIP.write_volatile(1);
            let _ = MSIP.read_volatile();
        }
    }

    pub fn unpend(self) {
        OF_RTIC.store(false, Ordering::Relaxed);
        // SAFETY: as above: else the interrupt could be taken twice.
        unsafe {
            MSIP.write_volatile(0);
            let _ = MSIP.read_volatile();
        }
    }
}

// ---- traps --------------------------------------------------------------------------------------
// The entry of riscv-rt, which saves what a function may change. Its start-up is not used: the board
// has its own.
riscv_macros::rvrt_default_start_trap!();

unsafe extern "C" {
    fn kdz_riscv_take_traps();
    fn kdz_trap() -> !;
    fn MachineSoft();
}

#[no_mangle]
unsafe extern "C" fn _start_trap_rust() {
    const INTERRUPT: usize = 1 << 31;
    const SOFTWARE: usize = INTERRUPT | 3;
    const TIMER: usize = INTERRUPT | 7;

    match mcause::read().bits() {
        SOFTWARE => {
            if !OF_RTIC.load(Ordering::Relaxed) {
                raise_handler();
            }
            // SAFETY: RTIC's handler of the software interrupt, called by nobody else.
            unsafe { MachineSoft() }
        }
        TIMER => on_timer(),
        // SAFETY: ends the run with a report.
        _ => unsafe { kdz_trap() },
    }
}

// ---- the tick -----------------------------------------------------------------------------------
const PERIOD: u32 = number(env!("KDZ_BOARD_TIMER_HZ")) / TICK_HZ;

static TICKS: AtomicU32 = AtomicU32::new(0);
static TIMERS: TimerQueue<Tick> = TimerQueue::new();

/// The count of the next tick. 32 bits of `mtime` last longer than any run of an image.
static NEXT: AtomicU32 = AtomicU32::new(0);

fn count() -> u32 {
    // SAFETY: reads a counter.
    unsafe { MTIME.read_volatile() }
}

fn interrupt_at(count: u32) {
    // SAFETY: the low word of mtimecmp; the high one stays 0.
    unsafe { MTIMECMP.write_volatile(count) };
}

/// Starts the tick, and takes all traps.
pub fn start_tick() {
    NEXT.store(count().wrapping_add(PERIOD), Ordering::Relaxed);
    interrupt_at(NEXT.load(Ordering::Relaxed));
    TIMERS.initialize(Tick);
    // SAFETY: called once, with interrupts masked; nothing else uses these registers.
    unsafe {
        MTIMECMP.add(1).write_volatile(0);
        kdz_riscv_take_traps();
        mie::set_mtimer();
    }
}

fn on_timer() {
    let due = NEXT.load(Ordering::Relaxed);

    if count().wrapping_sub(due) as i32 >= 0 {
        TICKS.store(
            TICKS.load(Ordering::Relaxed).wrapping_add(1),
            Ordering::Relaxed,
        );
        NEXT.store(due.wrapping_add(PERIOD), Ordering::Relaxed);
    }
    interrupt_at(NEXT.load(Ordering::Relaxed));
    // SAFETY: called by the timer's interrupt.
    unsafe { TIMERS.on_monotonic_interrupt() };
}

/// A monotonic that counts ticks, as RTIC's own for SysTick.
pub struct Tick;

impl TimerQueueBackend for Tick {
    type Ticks = u32;

    fn now() -> u32 {
        TICKS.load(Ordering::Relaxed)
    }

    fn set_compare(_: u32) {} // an interrupt comes at each tick

    fn clear_compare_flag() {}

    fn pend_interrupt() {
        interrupt_at(count()); // at once: a new timer is the first
    }

    fn timer_queue() -> &'static TimerQueue<Self> {
        &TIMERS
    }
}

/// The monotonic that tasks wait by: [`Tick`] with a rate.
pub struct Mono;

impl TimerQueueBasedMonotonic for Mono {
    type Backend = Tick;
    type Instant = fugit::MonotonicTimerInstant<u32, { TICK_HZ as u64 }>;
    type Duration = fugit::TimerDuration<u32, { TICK_HZ as u64 }>;
}
