// SPDX-License-Identifier: Apache-2.0
//! The edge workload on the simulated ring, in a time of its own, so that every number is exact: scenarios e01 on.
//! In real time it is measured end to end, by `tests/e2e/test_motion.py`.

use std::sync::{Arc, Mutex};

use kadenz_motion::edge::{edge, EdgeOptions, EdgeReport};
use kadenz_motion::layout::{EdgeLayout, Layout};
use kadenz_motion::simulation::{indy7_ring, indy7_segment, InProcess};
use kadenz_record::{read, Message, Status, Values, Writer};
use kadenz_rt::Clock;
use kadenz_segment::fault::Fault;

/// Clock of the input terminal of the simulated ring against this machine's.
const RATE_PPM: f64 = 37.0;
/// Wander, noise and resolution of that clock in the few seconds of a scenario, ns.
const LATE_NS: f64 = 500.0;

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
    let wire = InProcess::new(Arc::new(Mutex::new(segment)), Clock::new_virtual());
    let options = EdgeOptions { edges, cpu: None, realtime: false };
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

/// The error for an [edge] table with one change, without a cycle of the workload.
fn refused(change: impl FnOnce(&mut EdgeLayout)) -> String {
    let mut layout = Layout::load(None).unwrap();
    change(layout.edge.as_mut().unwrap());
    let segment = Arc::new(Mutex::new(indy7_segment(&indy7_ring().unwrap()).unwrap()));
    let wire = InProcess::new(segment, Clock::new_virtual());
    let options = EdgeOptions { edges: 10, cpu: None, realtime: false };
    let error = edge(wire, &layout, &options, Writer::new(Vec::new()).unwrap(), 1).expect_err("it cannot work");
    error.to_string()
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
    assert_eq!(wrong, 0, "of {} edges are not where their number says", edges.len());
    assert!(edges.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
}

/// Pulses without an edge, one after the other: how often, how many.
fn holes(edges: &[(f64, f64)]) -> Vec<u64> {
    edges.windows(2).map(|pair| (pair[1].1 - pair[0].1) as u64 - 1).filter(|hole| *hole > 0).collect()
}

#[test]
fn e01_every_pulse_of_a_healthy_ring_has_its_edge_and_number() {
    let run = run(1_000, &[]);
    assert_eq!((run.status, run.report.taken, run.report.missed), (Status::Ok, 1_000, 0));
    assert_eq!(run.report.led_back, 0);
    numbers_agree_with_times(&run.edges);
}

#[test]
fn e02_a_ring_whose_watchdogs_ran_out_is_led_back_and_what_it_missed_is_counted() {
    // 400 cycles are 200 ms: twice as long as the devices wait.
    let run = run(2_000, &["lose-frame@cycle=1500,count=400"]);
    assert_eq!((run.status, run.report.taken + run.report.missed), (Status::Ok, 2_000));
    assert_eq!(run.report.led_back, 1);
    assert_eq!(holes(&run.edges), [run.report.missed]);
    // The fault, and the way back of a ring of devices asked one after the other.
    assert!((200..300).contains(&run.report.missed), "{:?}", run.report);
    assert!(run.texts.iter().any(|text| text.contains("led back: 1 times")), "{:?}", run.texts);
    numbers_agree_with_times(&run.edges);
}

#[test]
fn e03_answers_that_are_lost_cost_the_edges_they_carried_and_no_number() {
    let run = run(1_000, &["lose-return@cycle=600,count=21"]);
    assert_eq!((run.status, run.report.taken + run.report.missed), (Status::Ok, 1_000));
    // 21 cycles are ten pulses and a half; the last of them is still in the first answer that comes.
    assert_eq!(holes(&run.edges), [10]);
    numbers_agree_with_times(&run.edges);
}

#[test]
fn e04_a_ring_that_never_answers_again_ends_the_record_with_a_reason() {
    let run = run(2_000, &["lose-frame@cycle=1500,count=100000"]);
    assert_eq!(run.status, Status::Failed);
    assert!(run.report.taken > 100 && run.report.missed > 1_000, "{:?}", run.report);
    numbers_agree_with_times(&run.edges);
}

#[test]
fn e05_two_runs_are_the_same_to_the_last_bit() {
    let bits = |run: Run| run.edges.iter().map(|(time, number)| (time.to_bits(), number.to_bits())).collect::<Vec<_>>();
    assert!(bits(run(500, &[])) == bits(run(500, &[])));
}

#[test]
fn e06_a_terminal_that_is_not_there_is_named_before_the_start() {
    let said = refused(|edge| edge.output_device = 17);
    assert!(said.contains("9 devices") && said.contains("edge.output_device is device 17"), "{said}");
    let said = refused(|edge| edge.input_device = 30);
    assert!(said.contains("edge.input_device is device 30") && said.contains("--layout"), "{said}");
}

#[test]
fn e07_a_device_without_the_bytes_of_a_terminal_is_named_before_the_start() {
    // The input terminal has no outputs, the output terminal no inputs, and the coupler neither.
    for (key, device) in [("output", 8), ("output", 0), ("input", 7), ("input", 0)] {
        let said = refused(|edge| match key {
            "output" => edge.output_device = device,
            _ => edge.input_device = device,
        });
        assert!(said.contains(&format!("edge.{key}_device needs 1 bytes")), "{said}");
        assert!(said.contains(&format!("device {device} (")) && said.contains("has 0"), "{said}");
    }
}

#[test]
fn e08_a_byte_beyond_the_inputs_of_the_terminal_is_named_before_the_start() {
    let said = refused(|edge| edge.rising_byte = 300);
    assert!(said.contains("edge.rising_byte = 300 needs 308 bytes of inputs, device 8 ("), "{said}");
    let said = refused(|edge| edge.count_byte = usize::MAX);
    assert!(said.contains("edge.count_byte"), "{said}");
}
