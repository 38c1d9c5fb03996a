// SPDX-License-Identifier: Apache-2.0
//! cyclic/wakeup-latency by the framework's timer: `suite/bench/cyclic_wakeup_latency.c`.

use core::marker::PhantomData;

use crate::abi::{self, About, Benchmark, Lanes, Nature, Param, Point, Word};
use crate::framework::{run, seat, Framework, Role, RANK_LOW};

const PERIOD_US: usize = 0;
const RANK: usize = 1;
/// The most urgent place that a framework has is that of every rank from `RANK_HIGH` to the rank of
/// the benchmark in C.
const RANK_OF_C: u32 = 10;
/// `KDZ_ANY_CORE`: the thread is bound to no core.
const ANY_CORE: u32 = 255;
/// From the start to the first period: the suite's main thread sleeps by then.
const LEAD_TICKS: u32 = 20;

/// Sleeps from period to period.
pub async fn periodic<F: Framework>(point: Point) {
    let period = point.ticks(PERIOD_US);
    let mut wake = F::now() + LEAD_TICKS;

    F::until(wake).await;
    for _ in 0..point.samples() {
        wake = wake.wrapping_add(period);
        if wake.wrapping_sub(F::now()) as i32 <= 0 {
            point.missed();
            continue;
        }
        F::until(wake).await;
        let woke = abi::end();

        if point.woke(wake, period, woke) {
            wake = F::now();
        }
    }
}

pub struct WakeupLatency<F>(PhantomData<F>);

impl<F: Framework> Benchmark for WakeupLatency<F> {
    const ABOUT: About = About {
        name: c"cyclic/wakeup-latency",
        begins: c"moment for which the sleep was set",
        ends: c"return of the sleep",
        source: c"cyclictest -m -S -p97 -i1000; yoo2024, section 4.2",
        needs: c"tick-due",
        params: &[
            Param::new(c"period_us", 1000, 1, 10_000_000),
            Param::new(c"rank", RANK_OF_C, RANK_LOW, RANK_OF_C),
            Param::fixed(c"threads", 0),
            Param::fixed(c"core", ANY_CORE),
            Param::fixed(c"distance_us", 0),
            Param::fixed(c"phase_us", 0),
            Param::word(c"policy", &[Word::new(c"fifo")]),
            Param::word(c"timer", &[Word::new(c"sleep")]),
            Param::word(c"context", &[Word::new(c"none")]),
            Param::fixed(c"stop_above_us", 0),
            Param::fixed(c"trace", 1),
            Param::word(c"migrate", &[Word::new(c"none")]),
            Param::fixed(c"runtime_us", 0),
        ],
        lanes: Lanes::PerCore,
        self_timed: true,
        nature: Nature::Periodic,
    };

    fn measure(point: Point) {
        run::<F>(point, &[(seat(point.param(RANK)), Role::Cyclic)]);
    }
}
