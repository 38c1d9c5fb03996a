// SPDX-License-Identifier: Apache-2.0
//! The edge workload on the simulated ring, in real time: numbered scenarios e01 on.

use std::sync::{Arc, Mutex, PoisonError};

use kadenz_motion::edge::{edge, EdgeOptions, EdgeReport};
use kadenz_motion::layout::Layout;
use kadenz_motion::simulation::{indy7_ring, indy7_segment, InProcess, Time};
use kadenz_record::{read, Message, Status, Values, Writer};
use kadenz_segment::fault::Fault;

/// Clock of the input terminal of the simulated ring against this machine's.
const RATE_PPM: f64 = 37.0;
/// A pulse is made this much early or late at most, on a machine that other tests share, ns.
const LATE_NS: f64 = 400_000.0;

struct Run {
    report: EdgeReport,
    status: Status,
    texts: Vec<String>,
    /// Time and number of each edge.
    edges: Vec<(f64, f64)>,
}

fn run(edges: u64, faults: &[&str]) -> Run {
    let mut segment = indy7_segment(&indy7_ring().unwrap()).unwrap();
    segment.add_faults(faults.iter().map(|text| Fault::from_argument(text).unwrap())).unwrap();
    let wire = InProcess::new(Arc::new(Mutex::new(segment)), Time::Real);
    // SAFETY: takes no arguments.
    let root = unsafe { libc::geteuid() } == 0;
    let options = EdgeOptions { edges, cpu: None, realtime: root };
    let writer = Writer::new(Vec::new()).unwrap();
    let (report, writer) = edge(wire, &Layout::load(None).unwrap(), &options, writer, 1).unwrap();
    let reading = read(&writer.done().unwrap());
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
    let mut lanes = [Vec::new(), Vec::new()];
    let (mut status, mut texts) = (None, Vec::new());
    for message in reading.messages {
        match message {
            Message::Samples(samples) => match samples.values {
                Values::F8(values) => lanes[usize::from(samples.lane)].extend(values),
                other => panic!("{other:?} are no edges"),
            },
            Message::End(end) => status = Some(end.status),
            Message::Text(text) => texts.push(text),
            _ => {}
        }
    }
    let [times, numbers] = lanes;
    assert_eq!((times.len() as u64, numbers.len()), (report.taken, times.len()));
    Run { report, status: status.unwrap(), texts, edges: times.into_iter().zip(numbers).collect() }
}

/// Each edge has the number of its own pulse: that of the millisecond in which it came. How early the first one was is
/// unknown, so the middle of all is the yardstick.
fn numbers_agree_with_times(edges: &[(f64, f64)]) {
    let mut lateness: Vec<f64> =
        edges.iter().map(|(time_ns, number)| time_ns / (1.0 + RATE_PPM * 1e-6) - number * 1e6).collect();
    let at: Vec<f64> = lateness.clone();
    lateness.sort_by(f64::total_cmp);
    let middle = lateness[lateness.len() / 2];
    let wrong = at.iter().filter(|late| (**late - middle).abs() > LATE_NS).count();
    assert!(wrong * 100 <= edges.len(), "{wrong} of {} edges are not where their number says", edges.len());
    assert!(edges.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
}

/// Pulses without an edge, one after the other: what a fault cost, without what a busy machine missed elsewhere.
fn longest_hole(edges: &[(f64, f64)]) -> u64 {
    edges.windows(2).map(|pair| (pair[1].1 - pair[0].1) as u64 - 1).max().unwrap_or(0)
}

/// One scenario at a time, because each ring needs most of a processor. A fault of ours breaks a promise kept in real
/// time every time; a pause of a machine that others share does not come three times in a row.
fn once_in_three(scenario: fn()) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if (1..3).all(|_| std::panic::catch_unwind(scenario).is_err()) {
        scenario();
    }
}

#[test]
fn e01_every_pulse_of_a_healthy_ring_has_its_edge_and_number() {
    once_in_three(healthy);
}

fn healthy() {
    let run = run(1_000, &[]);
    assert_eq!((run.status, run.report.taken + run.report.missed), (Status::Ok, 1_000));
    assert_eq!(run.report.led_back, 0);
    numbers_agree_with_times(&run.edges);
}

#[test]
fn e02_a_ring_whose_watchdogs_ran_out_is_led_back_and_what_it_missed_is_counted() {
    once_in_three(led_back);
}

fn led_back() {
    // 400 cycles are 200 ms: twice as long as the devices wait.
    let run = run(2_000, &["lose-frame@cycle=1500,count=400"]);
    assert_eq!((run.status, run.report.taken + run.report.missed), (Status::Ok, 2_000));
    assert_eq!(run.report.led_back, 1);
    assert!((200..600).contains(&longest_hole(&run.edges)), "{:?}", run.report);
    assert!(run.texts.iter().any(|text| text.contains("led back: 1 times")), "{:?}", run.texts);
    numbers_agree_with_times(&run.edges);
}

#[test]
fn e03_answers_that_are_lost_cost_the_edges_they_carried_and_no_number() {
    once_in_three(answers_lost);
}

fn answers_lost() {
    let run = run(1_000, &["lose-return@cycle=600,count=21"]);
    assert_eq!((run.status, run.report.taken + run.report.missed), (Status::Ok, 1_000));
    assert!((8..40).contains(&longest_hole(&run.edges)), "{:?}", run.report);
    numbers_agree_with_times(&run.edges);
}

#[test]
fn e04_a_ring_that_never_answers_again_ends_the_record_with_a_reason() {
    once_in_three(never_again);
}

fn never_again() {
    let run = run(2_000, &["lose-frame@cycle=1500,count=100000"]);
    assert_eq!(run.status, Status::Failed);
    assert!(run.report.taken > 100 && run.report.missed > 1_000, "{:?}", run.report);
    numbers_agree_with_times(&run.edges);
}
