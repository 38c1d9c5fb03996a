// SPDX-License-Identifier: Apache-2.0
//! itc/event-flags-one-way and -round-trip by the framework's signal: `suite/bench/notify.c`.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::abi::{self, About, Benchmark, Lanes, Param, Point, Refusal};
use crate::framework::{rank, run, seats, Flag, Framework, Period, Role, Waiter};

// The proof: task 2 notes what it saw of SENT when it woke.
static SENT: AtomicU32 = AtomicU32::new(0);
static SEEN: AtomicU32 = AtomicU32::new(0);
static WOKEN: AtomicU32 = AtomicU32::new(0);
static ARRIVED: AtomicU32 = AtomicU32::new(0);

const PERIOD_US: usize = 0;
const PARAMS: &[Param] = &[
    Param::new(c"period_us", 10_000, 0, 1_000_000),
    rank(c"rank_a", 8),
    rank(c"rank_b", 7),
    Param::fixed(c"core_a", 0),
    Param::fixed(c"core_b", 0),
    Param::fixed(c"processes", 0),
];

/// Task 1's work after a sample. The next one begins with its period.
async fn keep<F: Framework>(
    point: Point,
    n: u32,
    begin: abi::Time,
    end: abi::Time,
    period: &mut Period<F>,
) {
    point.prove(
        WOKEN.load(Relaxed) == n + 1,
        c"task 2 did not wake once for one notification",
    );
    point.prove(
        SEEN.load(Relaxed) == n + 1,
        c"task 2 woke before it was notified",
    );
    if point.keep(0, begin, end) {
        period.restart();
    }
    if !period.next().await {
        point.overrun();
        period.restart();
    }
}

pub async fn first<F: Framework>(point: Point) {
    let [there, back] = F::flags();
    let mut answer = back.waiter();
    let mut period = Period::<F>::new(point.ticks(PERIOD_US));

    for n in 0..point.samples() {
        SENT.store(n + 1, Relaxed);
        let begin = abi::begin();
        there.raise();
        answer.wait().await;
        let end = abi::end();

        keep(point, n, begin, end, &mut period).await;
    }
}

pub async fn first_one_way<F: Framework>(point: Point) {
    let [there, back] = F::flags();
    let mut answer = back.waiter();
    let mut period = Period::<F>::new(point.ticks(PERIOD_US));

    for n in 0..point.samples() {
        SENT.store(n + 1, Relaxed);
        let begin = abi::begin();
        there.raise();
        answer.wait().await;

        keep(point, n, begin, ARRIVED.load(Relaxed), &mut period).await;
    }
}

fn note_wake_up() {
    SEEN.store(SENT.load(Relaxed), Relaxed);
    WOKEN.store(WOKEN.load(Relaxed) + 1, Relaxed);
}

pub async fn second<F: Framework>(point: Point) {
    let [there, back] = F::flags();
    let mut waiter = there.waiter();

    for _ in 0..point.samples() {
        waiter.wait().await;
        note_wake_up();
        back.raise();
    }
}

pub async fn second_one_way<F: Framework>(point: Point) {
    let [there, back] = F::flags();
    let mut waiter = there.waiter();

    for _ in 0..point.samples() {
        waiter.wait().await;
        ARRIVED.store(abi::end(), Relaxed);
        note_wake_up();
        back.raise();
    }
}

// ---- the benchmarks -----------------------------------------------------------------------------
fn check(point: Point) -> Result<(), Refusal> {
    seats(point.param(1), point.param(2)).map(|_| ())
}

fn measure<F: Framework>(point: Point, first: Role, second: Role) {
    SEEN.store(0, Relaxed);
    WOKEN.store(0, Relaxed);
    if let Ok((a, b)) = seats(point.param(1), point.param(2)) {
        run::<F>(point, &[(b, second), (a, first)]);
    }
}

/// itc/event-flags-one-way.
pub struct OneWay<F>(PhantomData<F>);

impl<F: Framework> Benchmark for OneWay<F> {
    const ABOUT: About = About {
        name: c"itc/event-flags-one-way",
        begins: c"before task 1's notify",
        ends: c"return of task 2's wait",
        source: c"yoo2024 algorithm 1, without bytes",
        needs: c"",
        params: PARAMS,
        lanes: Lanes::One,
        self_timed: false,
    };

    fn setup(point: Point) -> Result<(), Refusal> {
        check(point)
    }

    fn measure(point: Point) {
        measure::<F>(point, Role::NotifyOneWay, Role::AnswerOneWay);
    }
}

/// itc/event-flags-round-trip.
pub struct RoundTrip<F>(PhantomData<F>);

impl<F: Framework> Benchmark for RoundTrip<F> {
    const ABOUT: About = About {
        name: c"itc/event-flags-round-trip",
        ends: c"return of task 1's wait for the answer",
        ..OneWay::<F>::ABOUT
    };

    fn setup(point: Point) -> Result<(), Refusal> {
        check(point)
    }

    fn measure(point: Point) {
        measure::<F>(point, Role::NotifyRoundTrip, Role::AnswerRoundTrip);
    }
}
