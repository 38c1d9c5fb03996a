// SPDX-License-Identifier: Apache-2.0
//! Embassy's time driver on the kernel's tick: SysTick interrupts once a tick, as under FreeRTOS.

use core::cell::RefCell;

use critical_section::Mutex;
use embassy_time_driver::Driver;
use embassy_time_queue_utils::Queue;

struct Ticks {
    now: u64,
    /// The first tick that a timer waits for.
    next: u64,
    timers: Queue,
}

struct TickDriver(Mutex<RefCell<Ticks>>);

embassy_time_driver::time_driver_impl!(static DRIVER: TickDriver = TickDriver(Mutex::new(
    RefCell::new(Ticks {
        now: 0,
        next: u64::MAX,
        timers: Queue::new(),
    })
)));

impl Driver for TickDriver {
    fn now(&self) -> u64 {
        critical_section::with(|cs| self.0.borrow_ref(cs).now)
    }

    fn schedule_wake(&self, at: u64, waker: &core::task::Waker) {
        critical_section::with(|cs| {
            let mut ticks = self.0.borrow_ref_mut(cs);
            if ticks.timers.schedule_wake(at, waker) {
                let now = ticks.now;
                ticks.next = ticks.timers.next_expiration(now);
            }
        });
    }
}

/// Counts a tick and wakes what waited for it.
pub fn tick() {
    critical_section::with(|cs| {
        let mut ticks = DRIVER.0.borrow_ref_mut(cs);
        ticks.now += 1;
        if ticks.now >= ticks.next {
            let now = ticks.now;
            ticks.next = ticks.timers.next_expiration(now);
        }
    });
}

/// The low 32 bits of the tick count.
pub fn now() -> u32 {
    DRIVER.now() as u32
}
