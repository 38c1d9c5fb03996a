// SPDX-License-Identifier: Apache-2.0
//! What an asynchronous framework offers, and how a benchmark runs on it.
//!
//! The suite's main thread is the thread that the framework interrupts: it starts tasks and sleeps
//! until all have ended. There are three places for a task: two at the level of rank 7, which take
//! turns, and one at the level of rank 8, which preempts both.

use core::ffi::CStr;
use core::future::{poll_fn, Future};
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::{Poll, Waker};

use crate::abi::{sleep, Param, Point, Refusal, Stack, Time};
use crate::{cyclic, irq, itc, micro, notify};

/// Suspends a task and resumes it, with the framework's waker and nothing else.
pub trait Gate: Sync {
    /// Resumes the task that waits in `pass`. Does nothing if there is none.
    fn open(&self);

    /// Suspends the calling task until the gate is opened.
    fn pass(&self) -> impl Future<Output = ()>;
}

/// How a [`Gate`] suspends its task: once, with the task's waker left where the framework finds it.
#[inline(always)]
pub fn suspend(mut leave: impl FnMut(&Waker)) -> impl Future<Output = ()> {
    let mut suspended = false;

    poll_fn(move |context| {
        if suspended {
            return Poll::Ready(());
        }
        suspended = true;
        leave(context.waker());
        Poll::Pending
    })
}

/// The framework's signal: it is kept for a task that waits later, and does not count.
pub trait Flag: Sync {
    type Waiter: Waiter;

    fn raise(&self);

    /// For the one task that waits.
    fn waiter(&'static self) -> Self::Waiter;
}

/// The waiting end of a [`Flag`].
pub trait Waiter {
    fn wait(&mut self) -> impl Future<Output = ()>;
}

/// The framework's channel for items of `N` bytes, in both directions.
pub trait Link<const N: usize>: Framework {
    type Sender: Sender<N>;
    type Receiver: Receiver<N>;

    /// The ends that a task has: it sends `way`, and receives the other way.
    fn ends(way: Way) -> (Self::Sender, Self::Receiver);

    /// Takes the ends back from a task that ends, for the next record.
    fn put_back(way: Way, sender: Self::Sender, receiver: Self::Receiver);
}

/// The sending end of a channel. Both ends give the framework's own future, not one around it: that
/// would copy the item once more.
pub trait Sender<const N: usize> {
    type Sent;

    fn send(&mut self, item: [u8; N]) -> impl Future<Output = Self::Sent>;
}

/// The receiving end of a channel.
pub trait Receiver<const N: usize> {
    type Received;

    fn receive(&mut self) -> impl Future<Output = Self::Received>;

    /// The item in what was received; none when the channel was closed.
    fn item(received: Self::Received) -> Option<[u8; N]>;
}

/// From task 1 to task 2, or back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    There,
    Back,
}

/// A place for a task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    Lower,
    Peer,
    Upper,
}

/// The work of a task: one list for all benchmarks, because each level of futures costs a jump whenever
/// the task is polled.
#[derive(Clone, Copy)]
pub enum Role {
    RaiseForHandler,
    RaiseForTask,
    WaitForHandler,
    SwitchBatchA,
    SwitchBatchB,
    SwitchA,
    SwitchB,
    PreemptionBatchLow,
    PreemptionBatchHigh,
    PreemptionLow,
    PreemptionHigh,
    NotifyOneWay,
    NotifyRoundTrip,
    AnswerOneWay,
    AnswerRoundTrip,
    Send(itc::Part),
    Reply(itc::Part),
    Cyclic,
}

/// What the benchmarks ask of a framework; the crate of its kernel implements it.
pub trait Framework: Sized + 'static {
    type Gate: Gate;
    type Flag: Flag;

    /// Why two tasks of one level cannot take turns for long; none if they can.
    const NO_TURNS: Option<&'static CStr> = None;

    /// Why no task preempts another; none if one of rank 8 preempts those of rank 7.
    const NO_PREEMPTION: Option<&'static CStr> = None;

    fn gates() -> &'static [Self::Gate; 2];
    fn flags() -> &'static [Self::Flag; 2];

    /// The current tick, which wraps after 2³².
    fn now() -> u32;

    /// Waits for a tick.
    fn until(tick: u32) -> impl Future<Output = ()>;

    /// Starts the task of a seat, which is free.
    fn start(seat: Seat, role: Role, point: Point);

    /// The raiser of irq/to-handler: of a framework whose handlers preempt its tasks.
    #[inline(always)]
    fn raise_for_handler(point: Point) -> impl Future<Output = ()> {
        irq::raise_for_handler::<Self>(point)
    }

    /// The raiser of irq/to-task: of a framework whose tasks preempt each other.
    #[inline(always)]
    fn raise_for_task(point: Point) -> impl Future<Output = ()> {
        irq::raise_for_task::<Self>(point)
    }

    /// Called by the suite's main thread: sleeps until a task may have ended.
    #[inline(always)]
    fn sleep() {
        sleep();
    }
}

/// Calls a macro with every message size that the images have: those of yoo2024, section 3.1, and a
/// word. A channel's item is a type.
#[macro_export]
macro_rules! for_each_size {
    ($then:ident) => {
        $then!(4, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600);
    };
}

macro_rules! links {
    ($($bytes:literal),+) => {
        /// A framework with channels for every message size.
        pub trait Links: $(Link<$bytes> +)+ {}

        impl<F: $(Link<$bytes> +)+> Links for F {}
    };
}
for_each_size!(links);

static BUSY: AtomicU32 = AtomicU32::new(0);

/// The body of every seat's task.
#[cfg(not(feature = "minimal"))]
pub async fn perform<F: Links>(role: Role, point: Point) {
    let [first, second] = F::gates();

    match role {
        Role::RaiseForHandler => F::raise_for_handler(point).await,
        Role::RaiseForTask => F::raise_for_task(point).await,
        Role::WaitForHandler => irq::wait::<F>(point).await,
        Role::SwitchBatchA => micro::switch_batch_a(point, first, second).await,
        Role::SwitchBatchB => micro::switch_batch_b(point, first, second).await,
        Role::SwitchA => micro::switch_a(point, first, second).await,
        Role::SwitchB => micro::switch_b(point, first, second).await,
        Role::PreemptionBatchLow => micro::preemption_batch_low(point, second),
        Role::PreemptionBatchHigh => micro::preemption_batch_high(point, second).await,
        Role::PreemptionLow => micro::preemption_low(point, second),
        Role::PreemptionHigh => micro::preemption_high(point, second).await,
        Role::NotifyOneWay => notify::first::<F, true>(point).await,
        Role::NotifyRoundTrip => notify::first::<F, false>(point).await,
        Role::AnswerOneWay => notify::second::<F, true>(point).await,
        Role::AnswerRoundTrip => notify::second::<F, false>(point).await,
        Role::Send(part) => itc::send::<F>(point, part).await,
        Role::Reply(part) => itc::reply::<F>(point, part).await,
        Role::Cyclic => cyclic::periodic::<F>(point).await,
    }
    // In a critical section, for cores without atomic read-modify-write instructions.
    critical_section::with(|_| BUSY.store(BUSY.load(Ordering::Relaxed) - 1, Ordering::Release));
}

/// The body of a minimal application's task.
#[cfg(feature = "minimal")]
pub async fn perform<F: Links>(_: Role, _: Point) {
    loop {
        F::until(F::now().wrapping_add(1)).await;
    }
}

/// Starts the tasks, each when the one before waits or has ended, and returns when all have ended.
pub fn run<F: Framework>(point: Point, tasks: &[(Seat, Role)]) {
    let stack = Stack::mark();

    BUSY.store(tasks.len() as u32, Ordering::Relaxed);
    for (seat, role) in tasks {
        F::start(*seat, *role, point);
    }
    while BUSY.load(Ordering::Acquire) != 0 {
        F::sleep();
    }
    stack.check();
}

// ---- ranks --------------------------------------------------------------------------------------
/// The two levels: the studies' 8 and 7.
pub const RANK_LOW: u32 = 7;
pub const RANK_HIGH: u32 = 8;

/// A parameter for the rank of a task.
pub const fn rank(name: &'static CStr, initial: u32) -> Param {
    Param::new(name, initial, RANK_LOW, RANK_HIGH)
}

/// The last parameters of two tasks that answer each other; they begin with their ranks.
pub const PAIR: [Param; 5] = [
    rank(c"rank_a", RANK_HIGH),
    rank(c"rank_b", RANK_LOW),
    Param::fixed(c"core_a", 0),
    Param::fixed(c"core_b", 0),
    Param::fixed(c"processes", 0),
];

/// The seat of a rank.
pub fn seat(rank: u32) -> Seat {
    if rank >= RANK_HIGH {
        Seat::Upper
    } else {
        Seat::Lower
    }
}

/// The seats of two tasks.
pub fn seats(first: u32, second: u32) -> Result<(Seat, Seat), Refusal> {
    match (seat(first), seat(second)) {
        (Seat::Upper, Seat::Upper) => Err(Refusal::Invalid(
            c"one task has a place at rank 8: give the other rank 7",
        )),
        (Seat::Lower, Seat::Lower) => Ok((Seat::Lower, Seat::Peer)),
        both => Ok(both),
    }
}

/// Sleeps from period to period: `kdz_delay_until`.
pub struct Period<F: Framework> {
    wake: u32,
    ticks: u32,
    framework: core::marker::PhantomData<F>,
}

impl<F: Framework> Period<F> {
    /// From now on; with 0 ticks there is no pause.
    pub fn new(ticks: u32) -> Self {
        Self {
            wake: F::now(),
            ticks,
            framework: core::marker::PhantomData,
        }
    }

    /// Begins anew, because the work before it took time.
    pub fn restart(&mut self) {
        self.wake = F::now();
    }

    /// Keeps the sample of this period.
    #[inline(always)]
    pub fn keep(&mut self, point: Point, begin: Time, end: Time) {
        if point.keep(0, begin, end) {
            self.restart();
        }
    }

    /// Counts a period that was past before its end was waited for. Not in `next`: benchmarks without
    /// periods of their own would get a longer future.
    #[inline(always)]
    pub fn overrun(&mut self, point: Point) {
        point.overrun();
        self.restart();
    }

    /// Waits for the end of the period. False when it is past already.
    pub async fn next(&mut self) -> bool {
        self.wake = self.wake.wrapping_add(self.ticks);
        if self.ticks != 0 {
            let ahead = self.wake.wrapping_sub(F::now()) as i32;
            if ahead <= 0 {
                return false;
            }
            F::until(self.wake).await;
        }
        true
    }
}
