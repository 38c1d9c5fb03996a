// SPDX-License-Identifier: Apache-2.0
//! The running program: signals, panics and kills leave no drive enabled; errors have remedies and no panic reaches the
//! user. Scenarios that need virtual interfaces fail without root and say what to do.

use std::io::{Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kadenz_record::{read, Message, Status, Values};
use kadenz_rt::process::is_root;
use kadenz_rt::signal::{self, Signal};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_kadenz-motion"))
}

/// Making interfaces and real-time threads takes root. Without it these scenarios cannot run, which is not the same as
/// passing: `make test-machine` asks for them. Their tasks all run on the last processor: one program at a time, or they
/// starve each other.
fn alone_as_root() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    assert!(
        is_root(),
        "this scenario needs root. Run `sudo -E cargo test -p kadenz-motion --test program -- --ignored`"
    );
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn on_veth(arguments: &[&str]) -> Child {
    program()
        .args(["run", "--segment", "veth", "--quiet", "--duration", "20"])
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The output of a child and its ring until both have ended; the ring's last line shows the state of its drives.
fn last_words(mut child: Child) -> (Option<i32>, String) {
    let begin = Instant::now();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let code = child.wait().unwrap().code();
    assert!(begin.elapsed() < Duration::from_secs(15), "{said}");
    (code, said)
}

fn in_process(arguments: &[&str]) -> Output {
    program().args(["run", "--segment", "in-process", "--no-realtime", "--quiet"]).args(arguments).output().unwrap()
}

const ALL_OFF: &str = "0 drives with power at the end";

/// A run on virtual interfaces, disturbed by `disturb`, must end with the expected code and say the expected words. No
/// drive may be enabled at the end. If the run reports that the machine itself paused, another stop may have come
/// first; then the run is retried.
fn on_veth_until(arguments: &[&str], disturb: impl Fn(&Child), expected: (Option<i32>, &[&str])) {
    for _ in 0..20 {
        let child = on_veth(arguments);
        disturb(&child);
        let (code, said) = last_words(child);
        assert!(said.contains(ALL_OFF), "{said}");
        if code == expected.0 && expected.1.iter().all(|words| said.contains(words)) {
            return;
        }
        assert!(said.contains("skipped cycles"), "{code:?}, not {expected:?}: {said}");
    }
    panic!("in each of twenty runs the machine paused before {expected:?}");
}

#[test]
#[ignore = "this machine decides: real time, virtual interfaces"]
fn p01_sigint_brakes_and_switches_off() {
    let _alone = alone_as_root();
    let interrupt = |child: &Child| {
        std::thread::sleep(Duration::from_secs(3));
        signal::send(child, Signal::SIGINT).unwrap();
    };
    on_veth_until(&[], interrupt, (Some(1), &["stopped, category 1; drives are without power"]));
}

#[test]
#[ignore = "this machine decides: real time, virtual interfaces"]
fn p02_a_killed_master_leaves_no_drive_enabled() {
    let _alone = alone_as_root();
    let kill = |child: &Child| {
        std::thread::sleep(Duration::from_secs(3));
        signal::send(child, Signal::SIGKILL).unwrap();
    };
    on_veth_until(&[], kill, (None, &[]));
}

#[test]
#[ignore = "this machine decides: real time, virtual interfaces"]
fn p03_a_panic_in_the_main_task_is_caught_and_switches_off() {
    let _alone = alone_as_root();
    let words = ["task 1 panicked: power off", "drives are without power"];
    on_veth_until(&["--provoke-panic-at", "2000"], |_| (), (Some(1), &words));
}

#[test]
#[ignore = "this machine decides: real time, virtual interfaces"]
fn p04_a_pulled_cable_is_named_and_leaves_no_drive_enabled() {
    let _alone = alone_as_root();
    let words = ["no answer to the frame, 30 in a row: quick stop"];
    on_veth_until(&["--fault", "lose-frame@cycle=2400,count=1000000"], |_| (), (Some(1), &words));
}

#[test]
fn p05_an_interface_that_does_not_exist_is_an_error_with_a_remedy() {
    let output = program().args(["run", "--interface", "nowhere0"]).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("nowhere0") && said.contains("ip link") && !said.contains("RUST_BACKTRACE"), "{said}");
}

#[test]
fn p06_an_emergency_during_an_sdo_never_shows_a_stack_trace() {
    let output = in_process(&["--fault", "emergency-during-request@request=3,device=joint-2,code=4660"]);
    let said = text(&output.stderr);
    // The library, pinned, panics (c18): one line for that, one for what it means and what to do.
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("panicked, which is handled"), "{said}");
    let error = "\nkadenz-motion: setting the interpolation period (0x60C2): the master library panicked: ";
    assert!(said.contains(error) && said.contains("Switch the devices off and on"), "{said}");
    assert!(!said.contains("stack backtrace"), "{said}");
}

#[test]
fn p07_without_devices_it_says_what_to_check() {
    let output = in_process(&["--fault", "lose-frame@frame=1,count=100000"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no answer") && said.contains("cable"), "{said}");
}

#[test]
fn p08_a_fault_on_a_real_interface_is_a_usage_error() {
    let output = program().args(["run", "--interface", "lo", "--fault", "lose-frame@cycle=1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

#[test]
fn p09_a_run_that_was_stopped_closes_every_record_as_failed() {
    let output = in_process(&["--provoke-panic-at", "2000"]);
    let reading = read(&output.stdout);
    assert_eq!(reading.findings, [], "{}", text(&output.stderr));
    let ends: Vec<_> = reading
        .messages
        .iter()
        .filter_map(|message| if let Message::End(end) = message { Some(end) } else { None })
        .collect();
    let begins = reading.messages.iter().filter(|message| matches!(message, Message::Begin(_))).count();
    assert_eq!((ends.len(), begins), (27, 27));
    assert!(ends.iter().all(|end| end.status == Status::Failed && !end.reason.is_empty()));
    assert!(matches!(reading.messages.last(), Some(Message::Done(_))));
}

#[test]
fn p10_planned_is_taken_and_missed_in_every_lane() {
    let output = in_process(&["--duration", "1"]);
    let reading = read(&output.stdout);
    assert_eq!(reading.findings, [], "{}", text(&output.stderr));
    let mut planned = std::collections::HashMap::new();
    let mut lanes = 0;
    for message in &reading.messages {
        match message {
            Message::Begin(begin) => drop(planned.insert(begin.record, begin.planned)),
            Message::End(end) => {
                for lane in &end.lanes {
                    assert_eq!(lane.taken + lane.missed, planned[&end.record], "record {}", end.record);
                    lanes += 1;
                }
            }
            _ => {}
        }
    }
    assert_eq!(lanes, 12 + 2 + 1 + 1 + 24);
    encoders_are_beside_positions(&reading.messages);
}

/// Each sample of a position has the raw counts of its encoder, and the way of a joint in both is the same.
fn encoders_are_beside_positions(messages: &[Message]) {
    let joints = messages.iter().filter_map(|message| match message {
        Message::Begin(begin) if begin.bench == "motion/position-error" => Some((begin.record, &begin.lanes)),
        _ => None,
    });
    let mut joints_seen = 0;
    for (record, lanes) in joints {
        assert_eq!(lanes, &["out", "out:encoder", "back", "back:encoder"]);
        let of = |lane: u8| -> Vec<f64> {
            let values = messages.iter().filter_map(|message| match message {
                Message::Samples(samples) if (samples.record, samples.lane) == (record, lane) => Some(&samples.values),
                _ => None,
            });
            values.flat_map(|values| if let Values::F8(values) = values { values.clone() } else { vec![] }).collect()
        };
        for (errors, counts) in [(of(0), of(1)), (of(2), of(3))] {
            assert_eq!(errors.len(), counts.len());
            assert!(counts.iter().all(|count| count.fract() == 0.0));
            // A busy machine may have stopped the motion before its end: then there is a part of the way, or none.
            let (first, last) = (counts.first().unwrap_or(&0.0), counts.last().unwrap_or(&0.0));
            // At most 90 degrees of 2^20 counts a turn, and some counts of following error.
            assert!((last - first).abs() < 262_144.0 + 4_000.0, "{first} to {last}");
        }
        joints_seen += 1;
    }
    assert_eq!(joints_seen, 6);
}

#[test]
fn p11_a_reader_that_goes_away_ends_no_motion_and_a_pipe_gets_no_colours() {
    let mut child = program()
        .args(["run", "--segment", "in-process", "--no-realtime", "--duration", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0_u8; 16];
    child.stderr.take().unwrap().read_exact(&mut first).unwrap();
    // The pipe is broken from here on: it has no reader.
    assert!(!first.contains(&0x1B), "{first:?}");
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 1)), "neither ended by a signal nor by a panic: {code:?}");
}

#[test]
fn p12_a_layout_that_contradicts_a_drive_ends_the_start_with_both_values() {
    let text = include_str!("../layouts/indy7.toml");
    let doubled = text.replacen("counts_per_turn = 1048576.0", "counts_per_turn = 2097152.0", 1);
    let file = std::env::temp_dir().join(format!("kadenz-motion-{}.toml", std::process::id()));
    std::fs::write(&file, doubled).unwrap();
    let output = in_process(&["--layout", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    let said = self::text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("joint 0 (device 1") && said.contains("1048576 counts") && said.contains("2097152"),
        "{said}"
    );
    assert!(said.contains("Correct counts_per_turn"), "{said}");
}

fn messages(output: &Output) -> Vec<Message> {
    let reading = read(&output.stdout);
    assert_eq!(reading.findings, [], "{}", text(&output.stderr));
    reading.messages
}

fn layout_setting(messages: &[Message]) -> &str {
    let Some(Message::Hello(hello)) = messages.first() else { panic!("no HELLO") };
    &hello.settings["layout"]
}

#[test]
fn p13_edges_are_measured_on_terminals_without_drives() {
    let arguments = ["edge", "--segment=in-process", "--built-in", "terminals", "--edges", "200", "--no-realtime"];
    let output = program().args(arguments).output().unwrap();
    let said = text(&output.stderr);
    let messages = messages(&output);
    assert_eq!(layout_setting(&messages), "terminals (built in)");
    let Some(Message::End(end)) = messages.iter().find(|message| matches!(message, Message::End(_))) else {
        panic!("no record: {said}")
    };
    // How many are missed is up to this machine.
    assert_eq!((end.status, end.lanes[0].taken + end.lanes[0].missed), (Status::Ok, 200), "{said}");
    assert_eq!(output.status.code(), Some(i32::from(end.lanes[0].missed > 0)), "{said}");
    assert!(said.contains("kadenz digital input") && !said.contains("servo drive"), "{said}");
}

#[test]
fn p14_a_motion_of_terminals_without_drives_is_a_usage_error() {
    let output = in_process(&["--built-in", "terminals"]);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
    assert!(said.contains("no motion to run") && said.contains("`kadenz-motion edge`"), "{said}");
}

#[test]
fn p15_a_plan_for_terminals_without_drives_ends_what_moves_as_not_applicable() {
    let mut child = program()
        .args(["lab", "--quiet", "--no-realtime", "--built-in", "terminals"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let plan = "list\nclock/monotonic id=1 samples=10\nmotion/frame-time id=2 samples=10\nend\n";
    child.stdin.take().unwrap().write_all(plan.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let messages = messages(&output);
    assert_eq!(layout_setting(&messages), "terminals (built in)");
    let available: Vec<&str> = messages
        .iter()
        .filter_map(|message| if let Message::Bench(bench) = message { Some(bench) } else { None })
        .filter(|bench| bench.available)
        .map(|bench| bench.name.as_str())
        .collect();
    assert_eq!(available, ["clock/resolution", "clock/read-cost", "clock/monotonic", "ethercat/edge-jitter"]);
    let ends: Vec<(u16, Status, &str)> = messages
        .iter()
        .filter_map(|message| if let Message::End(end) = message { Some(end) } else { None })
        .map(|end| (end.record, end.status, end.reason.as_str()))
        .collect();
    let reason = "the layout has no [[axis]] entries, so nothing moves";
    assert_eq!(ends, [(2, Status::NotApplicable, reason), (1, Status::Ok, "")]);
}

#[test]
fn p16_a_built_in_layout_and_a_file_exclude_each_other() {
    let output = in_process(&["--built-in", "terminals", "--layout", "mine.toml"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--built-in") && said.contains("--layout"), "{said}");
}

#[test]
fn p17_a_second_acquisition_without_its_own_ring_is_a_usage_error() {
    for (bus, said) in [
        (vec!["--interface", "lo"], "acquisition=second needs two interfaces"),
        (vec!["--segment", "in-process"], "needs a ring in a process of its own"),
    ] {
        let output = program().args(["edge", "--acquisition", "second"]).args(bus).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    }
    let output = program().args(["edge", "--segment", "--second-interface", "lo"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--interface"), "{}", text(&output.stderr));
}

#[test]
#[ignore = "root: make test-machine"]
fn p18_a_second_program_reads_every_stamp_from_a_ring_of_its_own() {
    let _alone = alone_as_root();
    let output = program()
        .args(["edge", "--segment", "veth", "--acquisition", "second", "--edges", "500", "--no-realtime", "--quiet"])
        .output()
        .unwrap();
    let messages = messages(&output);
    let ends: Vec<_> =
        messages.iter().filter_map(|message| if let Message::End(end) = message { Some(end) } else { None }).collect();
    assert_eq!(ends.len(), 1, "{}", text(&output.stderr));
    assert_eq!(ends[0].status, Status::Ok, "{}", ends[0].reason);
    assert_eq!(ends[0].lanes[0].taken + ends[0].lanes[0].missed, 500);
    // Without priorities a busy machine may hold the acquisition up: what it missed is named.
    let said =
        messages.iter().any(|message| matches!(message, Message::Text(text) if text.starts_with("second ring: ")));
    assert!(ends[0].lanes[0].missed == 0 || said);
    assert!(ends[0].lanes[0].taken > 250, "{}", text(&output.stderr));
}
