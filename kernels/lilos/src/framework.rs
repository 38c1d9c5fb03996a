// SPDX-License-Identifier: Apache-2.0
//! What the benchmarks use of lilos: its tasks, its wakers by way of `Notify`, `spsc::Queue` and
//! `time::sleep_until`.

use core::cell::Cell;
use core::convert::Infallible;
use core::ffi::CStr;
use core::future::Future;
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use critical_section::Mutex;
use kadenz_suite::framework::{
    perform, Flag, Framework, Gate, Receiver, Role, Seat, Sender, Waiter,
};
use kadenz_suite::{for_each_size, irq, resting_link, Point};
use lilos::exec::{run_tasks_with_idle, yield_cpu, Notify, ALL_TASKS};
use lilos::spsc::{Popper, Pusher, Queue};
use lilos::time::{sleep_until, TickTime};

use crate::machine::{self, Until};

pub struct Lilos;

impl Framework for Lilos {
    type Gate = NotifyGate;
    type Flag = NotifyFlag;

    const NO_PREEMPTION: Option<&'static CStr> = Some(
        c"lilos's tasks do not preempt each other; micro/task-switch measures the change between two",
    );

    fn gates() -> &'static [NotifyGate; 2] {
        static GATES: [NotifyGate; 2] = [const { NotifyGate(Notify::new()) }; 2];
        &GATES
    }

    fn flags() -> &'static [NotifyFlag; 2] {
        static FLAGS: [NotifyFlag; 2] = [const { NotifyFlag::new() }; 2];
        &FLAGS
    }

    fn now() -> u32 {
        now()
    }

    fn until(tick: u32) -> impl Future<Output = ()> {
        sleep_until(TickTime::from_millis_since_boot(u64::from(tick)))
    }

    fn start(seat: Seat, role: Role, point: Point) {
        SEATS[seat as usize].give(role, point);
        machine::run_tasks(Until::AllWait);
    }

    fn raise_for_handler(point: Point) -> impl Future<Output = ()> {
        irq::raise_and_yield::<Self, _>(point, false, yield_cpu)
    }

    fn raise_for_task(point: Point) -> impl Future<Output = ()> {
        irq::raise_and_yield::<Self, _>(point, true, yield_cpu)
    }

    fn sleep() {
        machine::run_tasks(Until::SomeEnds);
    }
}

/// The low 32 bits of lilos's time, ms since boot.
pub fn now() -> u32 {
    u64::from(TickTime::now()) as u32
}

// ---- tasks --------------------------------------------------------------------------------------
/// lilos's tasks are fixed when it starts, and none ends: each waits for work.
struct Place {
    work: Mutex<Cell<Option<(Role, Point)>>>,
    given: Notify,
}

impl Place {
    const fn new() -> Self {
        Self {
            work: Mutex::new(Cell::new(None)),
            given: Notify::new(),
        }
    }

    fn give(&self, role: Role, point: Point) {
        let before = critical_section::with(|cs| self.work.borrow(cs).replace(Some((role, point))));

        assert!(before.is_none(), "a task is started twice");
        self.given.notify();
    }

    fn take(&self) -> Option<(Role, Point)> {
        critical_section::with(|cs| self.work.borrow(cs).take())
    }
}

static SEATS: [Place; 3] = [const { Place::new() }; 3];

async fn work(seat: Seat) -> Infallible {
    let place = &SEATS[seat as usize];

    loop {
        let (role, point) = place.given.until(|| place.take()).await;
        perform::<Lilos>(role, point).await;
        machine::wake_main();
    }
}

/// Runs lilos. A round polls the tasks in this order: that of rank 8 before its equals of rank 7.
pub fn run(idle: fn()) -> ! {
    let upper = pin!(work(Seat::Upper));
    let lower = pin!(work(Seat::Lower));
    let peer = pin!(work(Seat::Peer));

    run_tasks_with_idle(&mut [upper, lower, peer], ALL_TASKS, idle)
}

// ---- what tasks wait for ------------------------------------------------------------------------
/// The waker of a suspended task.
pub struct NotifyGate(Notify);

impl Gate for NotifyGate {
    #[inline(always)]
    fn open(&self) {
        self.0.notify();
    }

    #[inline(always)]
    fn pass(&self) -> impl Future<Output = ()> {
        self.0.until_next()
    }
}

/// lilos's notification with the condition that it stands for.
pub struct NotifyFlag {
    raised: AtomicBool,
    notify: Notify,
}

impl NotifyFlag {
    const fn new() -> Self {
        Self {
            raised: AtomicBool::new(false),
            notify: Notify::new(),
        }
    }
}

impl Flag for NotifyFlag {
    type Waiter = &'static NotifyFlag;

    #[inline(always)]
    fn raise(&self) {
        self.raised.store(true, Relaxed);
        self.notify.notify();
    }

    fn waiter(&'static self) -> Self::Waiter {
        self
    }
}

impl Waiter for &'static NotifyFlag {
    #[inline(always)]
    fn wait(&mut self) -> impl Future<Output = ()> {
        let flag = *self;

        flag.notify.until(|| flag.raised.swap(false, Relaxed))
    }
}

/// The sending end of a queue.
pub struct SendEnd<const N: usize>(Pusher<'static, [u8; N]>);

impl<const N: usize> Sender<N> for SendEnd<N> {
    type Sent = ();

    #[inline(always)]
    async fn send(&mut self, item: [u8; N]) {
        self.0.reserve().await.push(item);
    }
}

/// The receiving end of a queue.
pub struct ReceiveEnd<const N: usize>(Popper<'static, [u8; N]>);

impl<const N: usize> Receiver<N> for ReceiveEnd<N> {
    type Received = [u8; N];

    #[inline(always)]
    fn receive(&mut self) -> impl Future<Output = [u8; N]> {
        self.0.pop()
    }

    fn item(received: [u8; N]) -> Option<[u8; N]> {
        Some(received)
    }
}

macro_rules! links {
    ($($bytes:literal),+) => { $(resting_link!(Lilos, $bytes, machine::queue!($bytes));)+ };
}
for_each_size!(links);
