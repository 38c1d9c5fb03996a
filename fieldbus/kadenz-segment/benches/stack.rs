// SPDX-License-Identifier: Apache-2.0
//! What Linux's network stack costs the same frame: the peer of `segment.rs`.
//!
//! One thread sends the frame into one end of a veth pair and takes it out of the other, with the sockets the live
//! segment uses: two system calls and the stack between them, no thread woken. The two interfaces are the arguments:
//! `cargo bench -p kadenz-segment --bench stack -- veth0 veth1`. Needs root.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kadenz_segment::command::Command;
use kadenz_segment::frame::{FrameBuilder, LONGEST};
use kadenz_segment::link::packet::PacketSocket;
use std::time::Instant;

/// LRW of the eight devices' process data, as `segment.rs` has it on average.
const DATA_BYTES: usize = 150;
const WARM_UP: usize = 10_000;
const FRAMES: usize = 200_000;

fn main() {
    let ends: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [from, to] = ends.as_slice() else {
        println!("two interfaces are wanted: the ends of a veth pair");
        return;
    };
    let (from, to) = (PacketSocket::open(from).expect("open"), PacketSocket::open(to).expect("open"));
    let frame = FrameBuilder::default().datagram(Command::Lrw, 0, 0, &[0; DATA_BYTES]).build();
    let mut buffer = [0; LONGEST + 4];
    let mut spans_ns = Vec::with_capacity(FRAMES);
    let mut lost = 0;
    for turn in 0..WARM_UP + FRAMES {
        let begin = Instant::now();
        from.send(&frame).expect("send");
        let length = to.receive(&mut buffer).expect("receive");
        let span_ns = begin.elapsed().as_nanos() as u64;
        if length.map(|arrival| arrival.length) != Some(frame.len()) {
            lost += 1;
        } else if turn >= WARM_UP {
            spans_ns.push(span_ns);
        }
    }
    spans_ns.sort_unstable();
    let at = |share: f64| spans_ns[((spans_ns.len() - 1) as f64 * share) as usize];
    let mean = spans_ns.iter().sum::<u64>() as f64 / spans_ns.len() as f64;
    println!("| the network stack | mean ns | p50 | p99 | p99.9 |\n|---|---|---|---|---|");
    println!("| send to receive, {} bytes | {mean:.0} | {} | {} | {} |", frame.len(), at(0.5), at(0.99), at(0.999));
    assert_eq!(lost, 0, "frames that did not come through");
}
