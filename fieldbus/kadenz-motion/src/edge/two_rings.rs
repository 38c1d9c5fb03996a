// SPDX-License-Identifier: Apache-2.0
//! Two rings with two masters in one time of their own: each step is where its period puts it, so every number is exact.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

use kadenz_rt::Clock;
use kadenz_segment::device::Function;
use kadenz_segment::segment::Segment;

use super::account::{Account, Paired, Pulse};
use super::poller::{Poller, POLL_NS};
use super::task::{EdgeTask, Keeping, Train};
use super::{first_ns, HALF_PERIOD_NS, ROOM};
use crate::built_in::BuiltIn;
use crate::bus::Bus;
use crate::simulation::InProcess;
use crate::task::{Cyclic, Flow, Release, Shared};

/// The second ring's clock against the first one's, and its noise in a few seconds.
const RATE_PPM: f64 = 200.0;
const LATE_NS: f64 = 500.0;

struct Run {
    account: Account,
    pulses: Vec<Pulse>,
    /// Edges that the output made, by the ring.
    made: u64,
}

/// Both masters until the pulses are over; the acquisition does not run while `is_away` says so, by the time since its
/// first poll, ns.
fn run(pulses: u64, faults: &[&str], is_away: impl Fn(u64) -> bool) -> Run {
    let (built_in, clock) = (BuiltIn::Terminals, Clock::new_virtual());
    let (first, second) = built_in.two_segments(faults).unwrap();
    let (first, second) = (Arc::new(Mutex::new(first)), Arc::new(Mutex::new(second)));
    let layout = built_in.layout().unwrap();
    let wire = |segment: &Arc<Mutex<Segment>>| InProcess::new(Arc::clone(segment), clock.clone());
    let shared = Arc::new(Shared::default());
    let bus = Bus::bring_up(wire(&second), &layout, &[]).unwrap();
    let is_ready = Arc::new(AtomicBool::new(false));
    let mut poller = Poller::new(bus, layout.acquisition.unwrap(), 10_000, is_ready, Arc::clone(&shared));
    let bus = Bus::bring_up(wire(&first), &layout, &[]).unwrap();
    let (sender, receiver) = sync_channel(ROOM);
    let keeping = Keeping::Pulses(Train::new(pulses), sender);
    let mut master = EdgeTask::new(bus, layout.edge.unwrap(), keeping, Arc::clone(&shared));

    let begun_ns = clock.now_ns();
    let (mut poll_ns, mut cycle_ns) = (begun_ns + POLL_NS, first_ns(begun_ns, 0));
    let mut last_polls = 6;
    let mut is_over = false;
    while last_polls > 0 {
        let due_ns = if is_over { poll_ns } else { poll_ns.min(cycle_ns) };
        clock.sleep_until_ns(due_ns);
        let release = Release { nominal_ns: due_ns, due_ns, start_ns: due_ns, skipped: 0 };
        if due_ns == cycle_ns && !is_over {
            is_over = master.step(release) == Flow::End;
            cycle_ns += HALF_PERIOD_NS;
        } else {
            if !is_away(due_ns - begun_ns) {
                poller.step(release);
            }
            last_polls -= u32::from(is_over);
            poll_ns += POLL_NS;
        }
    }
    let made = first.lock().unwrap().ring().devices.iter().find_map(|device| match &device.function {
        Function::DigitalOutput(outputs) => Some(outputs.edge_count.div_ceil(2)),
        _ => None,
    });
    Run { account: poller.finish().0, pulses: receiver.try_iter().collect(), made: made.unwrap() }
}

fn paired(run: &Run) -> Paired {
    run.account.pair(&run.pulses).unwrap()
}

/// Each edge is where its number says, by a clock that runs 200 ppm fast.
fn agree(paired: &Paired) {
    for edge in &paired.edges {
        let due_ns = edge.number * 1e6 * (1.0 + RATE_PPM * 1e-6);
        assert!((edge.time_ns - due_ns).abs() < LATE_NS, "{edge:?}");
    }
}

#[test]
fn every_edge_of_the_first_ring_is_stamped_by_the_clock_of_the_second() {
    let run = run(2_000, &[], |_| false);
    assert_eq!((run.pulses.len(), run.account.rising(), run.made), (2_000, 2_000, 2_000));
    let paired = paired(&run);
    assert_eq!((paired.edges.len(), paired.uncounted, paired.texts.len()), (2_000, 0, 0));
    assert!(paired.edges.windows(2).all(|pair| pair[1].number == pair[0].number + 1.0));
    agree(&paired);
    // 2 s are 400 us more by that clock: it is not the one of the first ring.
    assert!(paired.edges.last().unwrap().time_ns - 1_999e6 > 390_000.0);
}

#[test]
fn edges_while_the_acquisition_was_held_up_are_counted_and_named_and_the_others_keep_their_numbers() {
    // Away for 10 ms: pulses are over before it looks again.
    let run = run(1_000, &[], |since_ns| (500_000_000..510_000_000).contains(&since_ns));
    assert_eq!((run.made, run.account.rising()), (1_000, 1_000));
    let paired = paired(&run);
    let missed = 1_000 - paired.edges.len();
    assert!((9..=10).contains(&missed), "{missed}");
    let said = &paired.texts[0];
    assert!(said.starts_with(&format!("second ring: {missed} of 1000 edges were over before the next poll")), "{said}");
    assert!(run.account.longest_ns > 9_900_000);
    agree(&paired);
}

#[test]
fn a_terminal_counts_on_while_nobody_looks_for_longer_than_it_has_room() {
    let run = run(3_000, &[], |since_ns| (500_000_000..2_000_000_000).contains(&since_ns));
    assert_eq!((run.made, run.account.rising()), (3_000, 3_000));
    agree(&paired(&run));
}

#[test]
fn frames_that_the_first_ring_lost_make_no_edge_and_leave_holes() {
    let run = run(1_000, &["lose-frame@cycle=700,count=2"], |_| false);
    assert_eq!(run.account.rising(), run.made);
    let paired = paired(&run);
    // Two frames are a pulse, or the end of one and the beginning of the next.
    assert_eq!((paired.edges.len(), paired.edges.last().map(|edge| edge.number)), (999, Some(999.0)));
    agree(&paired);
}
