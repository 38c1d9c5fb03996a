// SPDX-License-Identifier: Apache-2.0
//! Cost of one inverse dynamics call through the binding: `cargo bench -p kadenz-dynamics --bench inverse`.
//!
//! A clock read costs about 25 ns, so calls are timed one by one for the percentiles and in one block for the mean.

use std::hint::black_box;
use std::time::Instant;

use kadenz_dynamics::indy7::{arm, JOINTS};

const CALLS: usize = 1_000_000;
/// States that are cycled through, so that no branch and no cache line is learned by heart.
const STATES: usize = 1024;

fn main() {
    let mut arm = arm();
    let states: Vec<[[f64; JOINTS]; 3]> = (0..STATES)
        .map(|k| {
            let wave = |row: usize| std::array::from_fn(|j| ((k * 7 + j * 31 + row * 17) as f64 * 0.37).sin() * 2.0);
            [wave(0), wave(1), wave(2)]
        })
        .collect();
    let mut torque = [0.0; JOINTS];
    let mut call = |k: usize| {
        let [q, qd, qdd] = &states[k % STATES];
        arm.inverse(black_box(q), qd, qdd, &mut torque).expect("lengths are right");
        black_box(torque[0])
    };
    for k in 0..10_000 {
        call(k);
    }
    let begin = Instant::now();
    for k in 0..CALLS {
        call(k);
    }
    let mean_ns = begin.elapsed().as_nanos() as f64 / CALLS as f64;
    let mut each_ns: Vec<u128> = (0..CALLS)
        .map(|k| {
            let begin = Instant::now();
            call(k);
            begin.elapsed().as_nanos()
        })
        .collect();
    each_ns.sort_unstable();
    let at = |share: f64| each_ns[((CALLS - 1) as f64 * share) as usize];
    println!("inverse dynamics of six joints through the binding, {CALLS} calls");
    println!("mean {mean_ns:.0} ns (back to back)");
    println!("p50 {} ns, p99 {} ns, p99.9 {} ns (one by one, clock read included)", at(0.5), at(0.99), at(0.999));
}
