// SPDX-License-Identifier: Apache-2.0
//! The edge workload on the simulated ring, in a time of its own, so that every number is exact: scenarios e01 on.
//! In real time it is measured end to end, by `tests/e2e/test_motion.py`.

use std::sync::{Arc, Mutex};

use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::bus::Wire;
use kadenz_motion::edge::{edge, Acquisition, EdgeOptions, EdgeReport};
use kadenz_motion::layout::EdgeLayout;
use kadenz_motion::simulation::InProcess;
use kadenz_record::{read, Message, Status, Values, Writer};
use kadenz_rt::Clock;
use kadenz_segment::device::Function;
use kadenz_segment::segment::Segment;

/// Clock of the input terminal of the simulated ring against this machine's.
const RATE_PPM: f64 = 37.0;
/// Wander, noise and resolution of that clock in the few seconds of a scenario, ns.
const LATE_NS: f64 = 500.0;

const OPTIONS: EdgeOptions = EdgeOptions {
    edges: 0,
    phase_us: 0,
    soft_timer: false,
    acquisition: Acquisition::Same,
    cpu: None,
    realtime: false,
};

struct Run {
    report: EdgeReport,
    status: Status,
    texts: Vec<String>,
    /// Time and number of each edge.
    edges: Vec<(f64, f64)>,
}

fn run(edges: u64, faults: &[&str]) -> Run {
    let built_in = BuiltIn::Indy7;
    run_over(ring(built_in, faults), built_in, edges)
}

fn ring(built_in: BuiltIn, faults: &[&str]) -> InProcess {
    InProcess::new(Arc::new(Mutex::new(built_in.segment(faults).unwrap())), Clock::new_virtual())
}

fn run_over(wire: impl Wire, built_in: BuiltIn, edges: u64) -> Run {
    let options = EdgeOptions { edges, ..OPTIONS };
    let writer = Writer::new(Vec::new()).unwrap();
    let (report, writer) = edge(wire, &built_in.layout().unwrap(), &options, None, writer, 1).unwrap();
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

/// A ring whose frames take their time, on a processor that is away once: the release that sets the output begins this
/// much late.
struct Delayed {
    inside: InProcess,
    segment: Arc<Mutex<Segment>>,
    late_ns: u64,
}

/// From a frame's way out to its answer, ns.
const FRAME_NS: u64 = 30_000;
/// The processor is away in the period that begins half a period before that release, after this time, ns.
const AWAY_AFTER_NS: u64 = 3_000_000_000;
const HALF_PERIOD_NS: u64 = 500_000;

impl Delayed {
    fn new(late_ns: u64) -> Self {
        let segment = Arc::new(Mutex::new(BuiltIn::Indy7.segment::<&str>(&[]).unwrap()));
        let inside = InProcess::new(Arc::clone(&segment), Clock::new_virtual());
        Self { inside, segment, late_ns }
    }

    fn output(&self) -> bool {
        let segment = self.segment.lock().unwrap();
        segment
            .ring()
            .devices
            .iter()
            .any(|device| matches!(&device.function, Function::DigitalOutput(it) if it.level(1)))
    }
}

impl Wire for Delayed {
    fn send(&mut self, frame: &[u8]) -> std::io::Result<()> {
        self.inside.send(frame)
    }

    fn receive(&mut self, buffer: &mut [u8], deadline_ns: u64) -> std::io::Result<usize> {
        let length = self.inside.receive(buffer, deadline_ns)?;
        let sent_ns = self.clock().now_ns();
        let away = length > 0 && sent_ns > AWAY_AFTER_NS && self.late_ns > 0 && !self.output();
        let taken_ns = if away { HALF_PERIOD_NS + std::mem::take(&mut self.late_ns) } else { FRAME_NS };
        self.clock().sleep_until_ns(sent_ns + taken_ns);
        Ok(length)
    }

    fn clock(&self) -> &Clock {
        self.inside.clock()
    }
}

/// The error for an [edge] table with one change, without a cycle of the workload.
fn refused(change: impl FnOnce(&mut EdgeLayout)) -> String {
    let mut layout = BuiltIn::Indy7.layout().unwrap();
    change(layout.edge.as_mut().unwrap());
    let wire = ring(BuiltIn::Indy7, &[]);
    let options = EdgeOptions { edges: 10, ..OPTIONS };
    let error = edge(wire, &layout, &options, None, Writer::new(Vec::new()).unwrap(), 1).expect_err("it cannot work");
    error.to_string()
}

/// How late each edge was, ns. How early the first one was is unknown, so the middle of all is the yardstick.
fn lateness_ns(edges: &[(f64, f64)]) -> Vec<f64> {
    let late = |(time_ns, number): &(f64, f64)| time_ns / (1.0 + RATE_PPM * 1e-6) - number * 1e6;
    let mut sorted: Vec<f64> = edges.iter().map(late).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[sorted.len() / 2];
    edges.iter().map(|edge| late(edge) - middle).collect()
}

/// Each edge has the number of its own pulse: that of the millisecond in which it came.
fn numbers_agree_with_times(edges: &[(f64, f64)]) {
    let wrong = lateness_ns(edges).into_iter().filter(|late| late.abs() > LATE_NS).count();
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

#[test]
fn e09_a_delay_of_1400_us_is_a_late_edge_and_no_missing_one() {
    let run = run_over(Delayed::new(1_400_000), BuiltIn::Indy7, 3_000);
    assert_eq!((run.status, run.report.taken, run.report.missed), (Status::Ok, 3_000, 0));
    assert_eq!(run.report.led_back, 0);
    let late: Vec<f64> = lateness_ns(&run.edges).into_iter().filter(|late| late.abs() > LATE_NS).collect();
    // The pulse behind it is caught up with: the output is reset and set again, a frame each.
    let caught_up_ns = 1_400_000.0 - 1e6 + 2.0 * FRAME_NS as f64;
    assert_eq!(late.len(), 2, "{late:?}");
    assert!((late[0] - 1_400_000.0).abs() < LATE_NS && (late[1] - caught_up_ns).abs() < LATE_NS, "{late:?}");
}

#[test]
fn e10_a_machine_that_was_away_for_200_ms_misses_the_pulses_of_that_time() {
    let run = run_over(Delayed::new(200_000_000), BuiltIn::Indy7, 3_000);
    assert_eq!((run.status, run.report.taken + run.report.missed), (Status::Ok, 3_000));
    assert_eq!(run.report.led_back, 1);
    assert_eq!(holes(&run.edges), [run.report.missed]);
    assert!((200..300).contains(&run.report.missed), "{:?}", run.report);
    numbers_agree_with_times(&run.edges);
}

#[test]
fn e11_terminals_without_drives_stamp_every_pulse() {
    let run = run_over(ring(BuiltIn::Terminals, &[]), BuiltIn::Terminals, 1_000);
    assert_eq!((run.status, run.report.taken, run.report.missed), (Status::Ok, 1_000, 0));
    numbers_agree_with_times(&run.edges);
}
