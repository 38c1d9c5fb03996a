// SPDX-License-Identifier: Apache-2.0
//! micro/task-switch and micro/preemption: mazzi2021, sections 4.1.1 and 4.1.2.
//!
//! A task hands over by resuming another one through its waker. In task-switch both have one rank,
//! and the first then suspends itself: an executor promises no order among equals that yield. In
//! preemption the resumed task is more urgent, and runs at once.
//!
//! As in C, a batch times `iterations` of the operation as one, and the same loops without it. The
//! counters are atomic: the loops survive optimisation and cost the same in both.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::abi::{self, About, Benchmark, Lanes, Nature, Param, Point, Refusal, Word};
use crate::framework::{rank, run, Framework, Gate, Role, Seat};

static TURN_FIRST: AtomicU32 = AtomicU32::new(0);
static TURN_SECOND: AtomicU32 = AtomicU32::new(0);
static TURN_EMPTY: AtomicU32 = AtomicU32::new(0);
static RESUMED: AtomicU32 = AtomicU32::new(0);
static END: AtomicU32 = AtomicU32::new(0);

const ITERATIONS: usize = 0;
const BATCH: usize = 0;
const EMPTY_LOOP: usize = 1;
static BATCH_LANES: [Word; 2] = [Word::new(c"batch"), Word::new(c"empty-loop")];

/// Counts one turn of a loop.
#[inline(always)]
fn next(turn: &AtomicU32) {
    turn.store(turn.load(Relaxed) + 1, Relaxed);
}

/// Times two empty loops of `turns` turns, as the study's figure 7 does for its two tasks.
fn empty(point: Point, turns: u32) {
    let begin = abi::begin();
    for _ in 0..2 {
        TURN_EMPTY.store(0, Relaxed);
        while TURN_EMPTY.load(Relaxed) < turns {
            next(&TURN_EMPTY);
        }
    }
    let end = abi::end();

    point.keep_batch(EMPTY_LOOP, begin, end);
}

// ---- task switch --------------------------------------------------------------------------------
pub async fn switch_batch_a<G: Gate>(point: Point, own: &G, other: &G) {
    let turns = point.param(ITERATIONS) / 2;

    point.start_batches();
    for n in 0..point.samples() {
        let last = n + 1 == point.samples();

        let begin = abi::begin();
        TURN_FIRST.store(0, Relaxed);
        while TURN_FIRST.load(Relaxed) < turns {
            other.open();
            own.pass().await;
            next(&TURN_FIRST);
        }
        let end = abi::end();

        // B has left its loop and waits in the next one, or has ended.
        point.prove(
            TURN_SECOND.load(Relaxed) == if last { turns } else { 0 },
            c"the other task did not run as often as this one",
        );
        point.keep_batch(BATCH, begin, end);
        empty(point, turns);
    }
}

pub async fn switch_batch_b<G: Gate>(point: Point, other: &G, own: &G) {
    let turns = point.param(ITERATIONS) / 2;

    for _ in 0..point.samples() {
        TURN_SECOND.store(0, Relaxed);
        while TURN_SECOND.load(Relaxed) < turns {
            own.pass().await;
            other.open();
            next(&TURN_SECOND);
        }
    }
}

pub async fn switch_a<G: Gate>(point: Point, own: &G, other: &G) {
    for n in 0..point.samples() {
        let begin = abi::begin();
        other.open();
        own.pass().await;

        point.prove(
            RESUMED.load(Relaxed) == n + 1,
            c"the other task did not run once",
        );
        point.keep(0, begin, END.load(Relaxed));
    }
}

pub async fn switch_b<G: Gate>(point: Point, other: &G, own: &G) {
    for _ in 0..point.samples() {
        own.pass().await;
        END.store(abi::end(), Relaxed);
        next(&RESUMED);
        other.open();
    }
}

// ---- preemption ---------------------------------------------------------------------------------
pub fn preemption_batch_low<G: Gate>(point: Point, high: &G) {
    let turns = point.param(ITERATIONS);

    point.start_batches();
    for n in 0..point.samples() {
        let last = n + 1 == point.samples();

        let begin = abi::begin();
        TURN_FIRST.store(0, Relaxed);
        while TURN_FIRST.load(Relaxed) < turns {
            high.open();
            next(&TURN_FIRST);
        }
        let end = abi::end();

        point.prove(
            TURN_SECOND.load(Relaxed) == if last { turns } else { 0 },
            c"the task of higher rank did not run as often as it was resumed",
        );
        point.keep_batch(BATCH, begin, end);
        empty(point, turns);
    }
}

pub async fn preemption_batch_high<G: Gate>(point: Point, own: &G) {
    let turns = point.param(ITERATIONS);

    for _ in 0..point.samples() {
        TURN_SECOND.store(0, Relaxed);
        while TURN_SECOND.load(Relaxed) < turns {
            own.pass().await;
            next(&TURN_SECOND);
        }
    }
}

pub fn preemption_low<G: Gate>(point: Point, high: &G) {
    for n in 0..point.samples() {
        let begin = abi::begin();
        high.open();

        point.prove(
            RESUMED.load(Relaxed) == n + 1,
            c"the task of higher rank did not run once",
        );
        point.keep(0, begin, END.load(Relaxed));
    }
}

pub async fn preemption_high<G: Gate>(point: Point, own: &G) {
    for _ in 0..point.samples() {
        own.pass().await;
        END.store(abi::end(), Relaxed);
        next(&RESUMED);
    }
}

// ---- the benchmarks -----------------------------------------------------------------------------
fn run_pair<F: Framework>(point: Point, first: (Seat, Role), second: (Seat, Role)) {
    RESUMED.store(0, Relaxed);
    run::<F>(point, &[first, second]);
}

const ITERATIONS_PARAM: (u32, u32) = (50_000, 10_000_000); // the study's number; most

fn check_turns<F: Framework>() -> Result<(), Refusal> {
    F::NO_TURNS.map_or(Ok(()), |reason| Err(Refusal::Unsupported(reason)))
}

pub struct TaskSwitch<F>(PhantomData<F>);

impl<F: Framework> Benchmark for TaskSwitch<F> {
    const ABOUT: About = About {
        name: c"micro/task-switch",
        begins: c"before the first hand-over",
        ends: c"after `iterations` switches between two tasks of one rank",
        source: c"mazzi2021 section 4.1.1",
        needs: c"",
        params: &[
            Param::new(c"iterations", ITERATIONS_PARAM.0, 2, ITERATIONS_PARAM.1),
            Param::new(c"rank", 7, 7, 7),
        ],
        lanes: Lanes::Named(&BATCH_LANES),
        self_timed: false,
        nature: Nature::Span,
    };

    fn setup(point: Point) -> Result<(), Refusal> {
        if !point.param(ITERATIONS).is_multiple_of(2) {
            return Err(Refusal::Invalid(
                c"iterations must be even: the two tasks take turns",
            ));
        }
        check_turns::<F>()
    }

    fn measure(point: Point) {
        run_pair::<F>(
            point,
            (Seat::Peer, Role::SwitchBatchB),
            (Seat::Lower, Role::SwitchBatchA),
        );
    }
}

pub struct TaskSwitchSampled<F>(PhantomData<F>);

impl<F: Framework> Benchmark for TaskSwitchSampled<F> {
    const ABOUT: About = About {
        name: c"micro/task-switch-sampled",
        begins: c"before a task resumes the other one of its rank and suspends itself",
        ends: c"return of that task's suspend",
        source: c"mazzi2021 section 4.1.1, sample by sample",
        needs: c"",
        params: &[Param::new(c"rank", 7, 7, 7)],
        lanes: Lanes::One,
        self_timed: false,
        nature: Nature::Span,
    };

    fn setup(_point: Point) -> Result<(), Refusal> {
        check_turns::<F>()
    }

    fn measure(point: Point) {
        run_pair::<F>(
            point,
            (Seat::Peer, Role::SwitchB),
            (Seat::Lower, Role::SwitchA),
        );
    }
}

const RANKS_AND_CORES: [Param; 4] = [
    rank(c"rank_low", 7),
    rank(c"rank_high", 8),
    Param::fixed(c"core_low", 0),
    Param::fixed(c"core_high", 0),
];

fn check_ranks<F: Framework>(low: u32, high: u32) -> Result<(), Refusal> {
    if let Some(reason) = F::NO_PREEMPTION {
        return Err(Refusal::Unsupported(reason));
    }
    if high <= low {
        return Err(Refusal::Invalid(
            c"preemption asks for rank_high above rank_low",
        ));
    }
    Ok(())
}

pub struct Preemption<F>(PhantomData<F>);

impl<F: Framework> Benchmark for Preemption<F> {
    const ABOUT: About = About {
        name: c"micro/preemption",
        begins: c"before the first resume of the task of higher rank",
        ends: c"after `iterations` turns: resume, the higher task runs and suspends itself again",
        source: c"mazzi2021 section 4.1.2",
        needs: c"",
        params: &[
            Param::new(c"iterations", ITERATIONS_PARAM.0, 1, ITERATIONS_PARAM.1),
            RANKS_AND_CORES[0],
            RANKS_AND_CORES[1],
            RANKS_AND_CORES[2],
            RANKS_AND_CORES[3],
        ],
        lanes: Lanes::Named(&BATCH_LANES),
        self_timed: false,
        nature: Nature::Span,
    };

    fn setup(point: Point) -> Result<(), Refusal> {
        check_ranks::<F>(point.param(1), point.param(2))
    }

    fn measure(point: Point) {
        run_pair::<F>(
            point,
            (Seat::Upper, Role::PreemptionBatchHigh),
            (Seat::Lower, Role::PreemptionBatchLow),
        );
    }
}

pub struct PreemptionSampled<F>(PhantomData<F>);

impl<F: Framework> Benchmark for PreemptionSampled<F> {
    const ABOUT: About = About {
        name: c"micro/preemption-sampled",
        begins: c"before the resume of the task of higher rank",
        ends: c"return of that task's suspend",
        source: c"mazzi2021 section 4.1.2, sample by sample",
        needs: c"",
        params: &RANKS_AND_CORES,
        lanes: Lanes::One,
        self_timed: false,
        nature: Nature::Span,
    };

    fn setup(point: Point) -> Result<(), Refusal> {
        check_ranks::<F>(point.param(0), point.param(1))
    }

    fn measure(point: Point) {
        run_pair::<F>(
            point,
            (Seat::Upper, Role::PreemptionHigh),
            (Seat::Lower, Role::PreemptionLow),
        );
    }
}
