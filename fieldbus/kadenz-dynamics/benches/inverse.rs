// SPDX-License-Identifier: Apache-2.0
//! Cost of one inverse dynamics call through the binding, beside KDL's own solver through the same binding:
//! `cargo bench -p kadenz-dynamics --bench inverse`.
//!
//! A clock read costs about 25 ns, so calls are timed one by one for the percentiles and in blocks for the mean; the two
//! take turns block by block, so that a slow phase of the machine meets both.

use std::hint::black_box;
use std::time::Instant;

use kadenz_dynamics::indy7::{arm, JOINTS};
use kadenz_dynamics::{Arm, DynamicsError};

const BLOCKS: usize = 100;
const CALLS: usize = 10_000;
/// States that are cycled through, so that no branch and no cache line is learned by heart.
const STATES: usize = 1024;

type Joints = [f64; JOINTS];
type Solver = fn(&mut Arm, &[f64], &[f64], &[f64], &mut [f64]) -> Result<(), DynamicsError>;

fn main() {
    let states: Vec<[Joints; 3]> = (0..STATES)
        .map(|k| {
            let wave = |row: usize| std::array::from_fn(|j| ((k * 7 + j * 31 + row * 17) as f64 * 0.37).sin() * 2.0);
            [wave(0), wave(1), wave(2)]
        })
        .collect();
    let solvers: [(&str, Solver); 2] = [("kadenz, over KDL's types", Arm::inverse), ("KDL's own", Arm::inverse_of_kdl)];
    let mut arm = arm();
    let mut torque = [0.0; JOINTS];
    let mut call = |solver: Solver, k: usize| {
        let [q, qd, qdd] = &states[k % STATES];
        solver(&mut arm, black_box(q), qd, qdd, &mut torque).expect("lengths are right");
        black_box(torque[0]);
    };
    let (mut blocks_ns, mut each_ns) = ([const { Vec::new() }; 2], [const { Vec::new() }; 2]);
    for block in 0..=BLOCKS {
        for (which, (_, solver)) in solvers.iter().enumerate() {
            let begin = Instant::now();
            (0..CALLS).for_each(|k| call(*solver, k));
            let block_ns = begin.elapsed().as_nanos() as f64 / CALLS as f64;
            // The first block warms up.
            if block > 0 {
                blocks_ns[which].push(block_ns);
                each_ns[which].extend((0..CALLS).map(|k| {
                    let begin = Instant::now();
                    call(*solver, k);
                    begin.elapsed().as_nanos()
                }));
            }
        }
    }
    println!("inverse dynamics of six joints through the binding, {} calls each, ns", BLOCKS * CALLS);
    println!("| solver | mean back to back | quickest block | slowest block | p50 | p99 | p99.9 |\n|---|---|---|---|---|---|---|");
    for (which, (name, _)) in solvers.iter().enumerate() {
        let (blocks, each) = (&mut blocks_ns[which], &mut each_ns[which]);
        blocks.sort_unstable_by(f64::total_cmp);
        each.sort_unstable();
        let at = |share: f64| each[((each.len() - 1) as f64 * share) as usize];
        let mean = blocks.iter().sum::<f64>() / blocks.len() as f64;
        let (quickest, slowest) = (blocks[0], blocks[blocks.len() - 1]);
        println!("| {name} | {mean:.0} | {quickest:.0} | {slowest:.0} | {} | {} | {} |", at(0.5), at(0.99), at(0.999));
    }
    println!("percentiles one by one, clock read included");
}
