// SPDX-License-Identifier: Apache-2.0
//! itc/event-flags-one-way and -round-trip by the framework's signal: `suite/bench/notify.c`.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::abi::{self, About, Benchmark, Lanes, Nature, Param, Point, Refusal};
use crate::framework::{run, seats, Flag, Framework, Period, Role, Seat, Waiter, PAIR};

// The proof: task 2 notes what it saw of SENT when it woke.
static SENT: AtomicU32 = AtomicU32::new(0);
static SEEN: AtomicU32 = AtomicU32::new(0);
static WOKEN: AtomicU32 = AtomicU32::new(0);
static ARRIVED: AtomicU32 = AtomicU32::new(0);

const PERIOD_US: usize = 0;
const RANK_A: usize = 1;
const RANK_B: usize = 2;
const PARAMS: &[Param] = &[
    Param::new(c"period_us", 10_000, 0, 1_000_000),
    PAIR[0],
    PAIR[1],
    PAIR[2],
    PAIR[3],
    PAIR[4],
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
    period.keep(point, begin, end);
    if !period.next().await {
        period.overrun(point);
    }
}

/// Task 1. One way, its sample ends where task 2 woke.
pub async fn first<F: Framework, const ONE_WAY: bool>(point: Point) {
    let [there, back] = F::flags();
    let mut answer = back.waiter();
    let mut period = Period::<F>::new(point.ticks(PERIOD_US));

    for n in 0..point.samples() {
        SENT.store(n + 1, Relaxed);
        let begin = abi::begin();
        there.raise();
        answer.wait().await;
        let end = if ONE_WAY {
            ARRIVED.load(Relaxed)
        } else {
            abi::end()
        };

        keep(point, n, begin, end, &mut period).await;
    }
}

/// Task 2: notes what it saw when it woke, and answers.
pub async fn second<F: Framework, const ONE_WAY: bool>(point: Point) {
    let [there, back] = F::flags();
    let mut waiter = there.waiter();

    for _ in 0..point.samples() {
        waiter.wait().await;
        if ONE_WAY {
            ARRIVED.store(abi::end(), Relaxed);
        }
        SEEN.store(SENT.load(Relaxed), Relaxed);
        WOKEN.store(WOKEN.load(Relaxed) + 1, Relaxed);
        back.raise();
    }
}

// ---- the benchmarks -----------------------------------------------------------------------------
fn wanted(point: Point) -> Result<(Seat, Seat), Refusal> {
    seats(point.param(RANK_A), point.param(RANK_B))
}

/// Either of the two.
pub struct Notification<F, const ONE_WAY: bool>(PhantomData<F>);
pub type OneWay<F> = Notification<F, true>;
pub type RoundTrip<F> = Notification<F, false>;

impl<F: Framework, const ONE_WAY: bool> Benchmark for Notification<F, ONE_WAY> {
    const ABOUT: About = About {
        name: if ONE_WAY {
            c"itc/event-flags-one-way"
        } else {
            c"itc/event-flags-round-trip"
        },
        begins: c"before task 1's notify",
        ends: if ONE_WAY {
            c"return of task 2's wait"
        } else {
            c"return of task 1's wait for the answer"
        },
        source: c"yoo2024 algorithm 1, without bytes",
        needs: c"",
        params: PARAMS,
        lanes: Lanes::One,
        self_timed: false,
        nature: Nature::Span,
    };

    fn setup(point: Point) -> Result<(), Refusal> {
        wanted(point).map(|_| ())
    }

    fn measure(point: Point) {
        SEEN.store(0, Relaxed);
        WOKEN.store(0, Relaxed);
        if let Ok((a, b)) = wanted(point) {
            let (first, second) = if ONE_WAY {
                (Role::NotifyOneWay, Role::AnswerOneWay)
            } else {
                (Role::NotifyRoundTrip, Role::AnswerRoundTrip)
            };
            run::<F>(point, &[(b, second), (a, first)]);
        }
    }
}
