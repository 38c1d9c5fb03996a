// SPDX-License-Identifier: Apache-2.0
//! irq/to-handler and irq/to-task: `suite/bench/irq_to_handler.c` and `irq_to_task.c`.

use core::future::Future;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicU8, Ordering::Relaxed};

use crate::abi::{self, About, Benchmark, Lanes, Nature, Param, Point, Refusal};
use crate::framework::{rank, run, seat, Flag, Framework, Period, Role, Seat, Waiter};

const NOTHING: u8 = 0;
const STAMP: u8 = 1;
const SIGNAL: u8 = 2;

static CONNECTED: AtomicU8 = AtomicU8::new(NOTHING);
static END: AtomicU32 = AtomicU32::new(0);
static ENTERED: AtomicU32 = AtomicU32::new(0);
static WOKEN: AtomicU32 = AtomicU32::new(0);

/// What the framework's handler of the software interrupt calls, and nothing else.
#[inline(always)]
pub fn handle<F: Framework>() {
    abi::acknowledge_interrupt();
    match CONNECTED.load(Relaxed) {
        STAMP => END.store(abi::end(), Relaxed),
        SIGNAL => F::flags()[0].raise(),
        _ => return,
    }
    ENTERED.store(ENTERED.load(Relaxed) + 1, Relaxed);
}

const PERIOD_US: usize = 0;
const RANK: usize = 1;
const RANK_RAISER: usize = 1;
const RANK_WAITER: usize = 2;

/// The raiser of irq/to-handler.
pub async fn raise_for_handler<F: Framework>(point: Point) {
    let mut period = Period::<F>::new(point.ticks(PERIOD_US));

    for n in 0..point.samples() {
        let begin = abi::begin();
        abi::raise_interrupt();

        point.prove(
            ENTERED.load(Relaxed) == n + 1,
            c"the handler did not run exactly once",
        );
        point.keep(0, begin, END.load(Relaxed));
        period.next().await;
    }
}

/// The raiser of irq/to-task.
pub async fn raise_for_task<F: Framework>(point: Point) {
    let mut period = Period::<F>::new(point.ticks(PERIOD_US));

    period.next().await;
    for n in 0..point.samples() {
        let begin = abi::begin();
        abi::raise_interrupt();

        point.prove(
            ENTERED.load(Relaxed) == n + 1,
            c"the handler did not run once",
        );
        point.prove(
            WOKEN.load(Relaxed) == n + 1,
            c"the task was not running when raise returned",
        );
        point.keep(0, begin, END.load(Relaxed));
        period.next().await;
    }
}

/// The raiser of both where neither a handler nor a task preempts a task: it awaits `give_way`, the
/// framework's yield. A function of its own: an await that is ready at once would cost the raisers
/// above an instruction.
pub async fn raise_and_yield<F: Framework, Y: Future>(
    point: Point,
    task_waits: bool,
    give_way: impl Fn() -> Y,
) {
    let mut period = Period::<F>::new(point.ticks(PERIOD_US));

    period.next().await;
    for n in 0..point.samples() {
        let begin = abi::begin();
        abi::raise_interrupt();
        give_way().await;

        point.prove(
            ENTERED.load(Relaxed) == n + 1,
            c"the handler did not run exactly once",
        );
        point.prove(
            !task_waits || WOKEN.load(Relaxed) == n + 1,
            c"the task did not run before the raiser again",
        );
        point.keep(0, begin, END.load(Relaxed));
        period.next().await;
    }
}

/// The task that the handler signals.
pub async fn wait<F: Framework>(point: Point) {
    let mut waiter = F::flags()[0].waiter();

    for _ in 0..point.samples() {
        waiter.wait().await;
        END.store(abi::end(), Relaxed);
        WOKEN.store(WOKEN.load(Relaxed) + 1, Relaxed);
    }
}

fn connect(what: u8) {
    ENTERED.store(0, Relaxed);
    WOKEN.store(0, Relaxed);
    CONNECTED.store(what, Relaxed);
}

pub struct ToHandler<F>(PhantomData<F>);

impl<F: Framework> Benchmark for ToHandler<F> {
    const ABOUT: About = About {
        name: c"irq/to-handler",
        begins: c"before the software interrupt is raised",
        ends: c"first statement of the handler that the kernel's port calls",
        source: c"kadenz",
        needs: c"",
        params: &[
            Param::new(c"period_us", 1000, 0, 10_000_000),
            rank(c"rank", 7),
        ],
        lanes: Lanes::One,
        self_timed: false,
        nature: Nature::Span,
    };

    fn measure(point: Point) {
        connect(STAMP);
        run::<F>(point, &[(seat(point.param(RANK)), Role::RaiseForHandler)]);
        connect(NOTHING);
    }
}

pub struct ToTask<F>(PhantomData<F>);

impl<F: Framework> Benchmark for ToTask<F> {
    const ABOUT: About = About {
        name: c"irq/to-task",
        begins: c"before the software interrupt is raised",
        ends: c"return of the wait of the more urgent task that the handler signalled",
        source: c"kadenz",
        needs: c"",
        params: &[
            Param::new(c"period_us", 1000, 1, 10_000_000),
            rank(c"rank_raiser", 7),
            rank(c"rank_waiter", 8),
        ],
        lanes: Lanes::One,
        self_timed: false,
        nature: Nature::Span,
    };

    fn setup(point: Point) -> Result<(), Refusal> {
        if point.param(RANK_WAITER) <= point.param(RANK_RAISER) {
            return Err(Refusal::Invalid(
                c"the end points require rank_waiter above rank_raiser",
            ));
        }
        Ok(())
    }

    fn measure(point: Point) {
        connect(SIGNAL);
        run::<F>(
            point,
            &[
                (Seat::Upper, Role::WaitForHandler),
                (Seat::Lower, Role::RaiseForTask),
            ],
        );
        connect(NOTHING);
    }
}
