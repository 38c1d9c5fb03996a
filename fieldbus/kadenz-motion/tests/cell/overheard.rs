// SPDX-License-Identifier: Apache-2.0
//! Messages of devices beside their process data, and other senders on the wire, in the whole cell: errors latched in OP,
//! emergencies, another master (c59 to c69).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use crate::common::{segment, Cell, Tamper, MS};
use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::bus::{Bus, BusError, Wire};
use kadenz_motion::supervise::{Event, EventKind, Reaction};
use kadenz_motion::task::{Flow, Outcome};
use kadenz_rt::Clock;
use kadenz_segment::command::Command;
use kadenz_segment::frame::datagrams;

/// In full motion on the way out.
const FAST: u64 = 2400;
/// Address of another program.
const OTHER: [u8; 6] = [0x03, 1, 1, 1, 1, 1];

fn at(fault: &str) -> String {
    fault.replace("FAST", &FAST.to_string())
}

fn cause(outcome: Outcome) -> (EventKind, Reaction, Event) {
    match outcome {
        Outcome::Faulted { reaction, cause } => (cause.kind().unwrap(), reaction, cause),
        other => panic!("{other:?} is no fault"),
    }
}

fn of_kind(cell: &Cell, kind: EventKind) -> Vec<Event> {
    cell.events.iter().filter(|event| event.kind() == Some(kind)).copied().collect()
}

#[test]
fn c59_an_error_latched_in_op_is_named_with_its_code_and_stops() {
    let mut cell = Cell::new(&[&at("al-error@cycle=FAST,device=joint-1,state=8,code=38")]);
    let (kind, reaction, event) = cause(cell.run(20_000));
    assert_eq!((kind, reaction), (EventKind::AlError, Reaction::QuickStop), "{:#?}", cell.events);
    assert_eq!((event.value, event.expected), (2, 0x26_18), "position, AL status, code");
    assert!((FAST..FAST + 3).contains(&event.cycle), "{event}");
    assert!(event.to_string().contains("device 2 is in AL state 0x0018 (OP with an error), AL status code 0x0026"));
    assert_eq!(cell.powered(), 0);
    assert!(cell.has(EventKind::PowerRemoved) && cell.fastest_rad_s() < 0.01);
}

#[test]
fn c60_an_error_in_op_hides_no_device_that_leaves_it() {
    let cell = &mut Cell::new(&[
        &at("al-error@cycle=FAST,device=joint-1,state=8,code=38"),
        &at("al-error@cycle=FAST,device=joint-4,state=4,code=27"),
    ]);
    let (kind, reaction, event) = cause(cell.run(20_000));
    assert_eq!((kind, reaction), (EventKind::DeviceState, Reaction::SafeState));
    assert_eq!((event.value, event.expected), (5, 0x1B_14));
    // A terminal is a device, too.
    let cell = &mut Cell::new(&[&at("al-error@cycle=FAST,device=inputs,state=8,code=1")]);
    let (kind, _, event) = cause(cell.run(20_000));
    assert_eq!((kind, event.value), (EventKind::AlError, 8));
}

#[test]
fn c61_a_start_that_hangs_names_the_code() {
    let mut cell = Cell::new(&["refuse-state@frame=1,device=joint-3,state=8,code=27"]);
    let (_, _, event) = cause(cell.run(20_000));
    assert!(event.to_string().contains("0x0014 (SAFE-OP with an error), AL status code 0x001b"), "{event}");
}

#[test]
fn c62_an_emergency_in_operation_is_logged_with_device_code_and_register_and_stops_nothing() {
    let mut cell = Cell::new(&[&at("emergency@cycle=FAST,device=joint-2,code=0x3210")]);
    assert_eq!(cell.run(20_000), Outcome::Done, "{:#?}", cell.events);
    let emergencies = of_kind(&cell, EventKind::Emergency);
    let [event] = emergencies.as_slice() else { panic!("{emergencies:?}") };
    assert_eq!((event.value, event.expected, event.reaction()), (3, 0x81_3210, Reaction::None));
    assert!((FAST..FAST + 32).contains(&event.cycle), "{event}");
    assert!(event
        .to_string()
        .contains("device 3 sent an emergency, 0x3210 (DC link over-voltage), error register 0x81"));
    let others = cell.events.iter().filter(|event| event.kind() != Some(EventKind::Emergency));
    assert!(others.clone().all(|event| matches!(event.kind(), Some(EventKind::PowerRemoved))), "{others:?}");
}

#[test]
fn c63_emergencies_of_many_devices_are_all_logged() {
    let faults: Vec<_> =
        (0..6).map(|joint| at(&format!("emergency@cycle=FAST,device=joint-{joint},code=0x4310"))).collect();
    let faults: Vec<_> = faults.iter().chain(&faults).map(String::as_str).collect();
    let mut cell = Cell::new(&faults);
    assert_eq!(cell.run(20_000), Outcome::Done);
    let mut devices: Vec<_> = of_kind(&cell, EventKind::Emergency).iter().map(|event| event.value).collect();
    devices.sort_unstable();
    assert_eq!(devices, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
}

#[test]
fn c64_the_emergency_of_a_drives_fault_is_logged_in_the_stop() {
    let mut cell = Cell::new(&[&at("drive-fault@cycle=FAST,device=joint-1,code=0x2310")]);
    let (kind, _, _) = cause(cell.run(20_000));
    assert_eq!(kind, EventKind::DriveFault);
    assert_eq!(
        of_kind(&cell, EventKind::Emergency).iter().map(|e| e.value).collect::<Vec<_>>(),
        [2],
        "{:#?}",
        cell.events
    );
}

/// From this answer with process data on, `make` puts frames of another program in front of it.
fn beside(from: u64, make: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> Tamper {
    let mut cycles = 0;
    Box::new(move |mut frame, out| {
        let cyclic = datagrams(&mut frame).unwrap().any(|datagram| datagram.command() == Command::Lrw);
        cycles += u64::from(cyclic);
        if cyclic && cycles >= from {
            let mut other = make(&frame);
            other[6..12].copy_from_slice(&OTHER);
            out.push_back(other);
        }
        out.push_back(frame);
    })
}

fn with(tamper: Tamper) -> Cell {
    Cell::on(&segment(&[]), &BuiltIn::Indy7.layout().unwrap(), Some(tamper)).unwrap()
}

#[test]
fn c65_another_master_in_operation_is_named_and_stops() {
    let mut cell = with(beside(FAST, |frame| frame.to_vec()));
    let (kind, reaction, event) = cause(cell.run(20_000));
    assert_eq!((kind, reaction), (EventKind::SecondMaster, Reaction::QuickStop), "{:#?}", cell.events);
    assert!((FAST..FAST + 5).contains(&event.cycle), "{event}");
    assert!(event.to_string().contains("source address 03-01-01-01-01-01"), "{event}");
    assert_eq!(cell.powered(), 0);
}

#[test]
fn c66_an_answer_to_another_masters_frame_is_never_taken_for_ours() {
    // The same numbers, and nothing in it: axes at zero, without state, a working counter of 0.
    let mut once = with(Box::new({
        let mut cycles = 0;
        move |mut frame, out| {
            let cyclic = datagrams(&mut frame).unwrap().any(|datagram| datagram.command() == Command::Lrw);
            cycles += u64::from(cyclic);
            if cyclic && cycles == FAST {
                let mut other = frame.clone();
                other[6..12].copy_from_slice(&OTHER);
                for mut datagram in datagrams(&mut other).unwrap() {
                    datagram.data.fill(0);
                    datagram.force_working_counter(0);
                }
                out.push_back(other);
            }
            out.push_back(frame);
        }
    }));
    assert_eq!(once.run(20_000), Outcome::Done, "{:#?}", once.events);
    assert!(!once.has(EventKind::WorkingCounter) && !once.has(EventKind::SecondMaster), "{:#?}", once.events);
}

#[test]
fn c67_a_tool_that_only_reads_stops_nothing() {
    let mut cell = with(beside(FAST, |_| {
        let mut frame = vec![0xFF; 12];
        // BRD of the AL status.
        frame.extend([0x88, 0xA4, 14, 0x10, 7, 9, 9, 0, 0x30, 0x01, 2, 0, 0, 0, 8, 0, 9, 0]);
        frame
    }));
    assert_eq!(cell.run(20_000), Outcome::Done, "{:#?}", cell.events);
}

/// Another master runs here: its frames come, whatever this one does.
struct Busy {
    clock: Clock,
    sent: Arc<AtomicUsize>,
}

impl Wire for Busy {
    fn send(&mut self, _: &[u8]) -> std::io::Result<()> {
        self.sent.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], deadline_ns: u64) -> std::io::Result<usize> {
        self.clock.sleep_until_ns(deadline_ns.min(self.clock.now_ns() + MS));
        let mut frame = vec![0xFF; 6];
        frame.extend(OTHER);
        frame.extend([0x88, 0xA4, 14, 0x10, Command::Lrw as u8, 9, 0, 0, 0, 0, 2, 0, 0, 0, 8, 0, 9, 0]);
        buffer[..frame.len()].copy_from_slice(&frame);
        Ok(frame.len())
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

#[test]
fn c68_a_ring_that_another_master_runs_is_not_touched() {
    let (clock, sent) = (Clock::new_virtual(), Arc::new(AtomicUsize::new(0)));
    let layout = BuiltIn::Indy7.layout().unwrap();
    let error =
        Bus::bring_up(Busy { clock, sent: Arc::clone(&sent) }, &layout, &layout.axis).err().expect("it is taken");
    assert!(matches!(error, BusError::SecondMaster { failure: None, .. }), "{error}");
    assert_eq!(sent.load(Ordering::Relaxed), 0, "not one frame");
    let said = error.to_string();
    assert!(
        said.contains("another master") && said.contains("03:01:01:01:01:01") && said.contains("end the other"),
        "{said}"
    );
}

#[test]
fn c69_another_master_during_the_bring_up_is_why_it_failed_or_enables_no_drive() {
    // From the first frame on it copies; the bring-up comes through, the drives get no power.
    let both: Tamper = Box::new(|frame, out| {
        let mut other = frame.clone();
        other[6..12].copy_from_slice(&OTHER);
        out.push_back(other);
        out.push_back(frame);
    });
    match Cell::on(&segment(&[]), &BuiltIn::Indy7.layout().unwrap(), Some(both)) {
        Err(error) => assert!(matches!(error, BusError::SecondMaster { .. }), "{error}"),
        Ok(mut cell) => {
            while cell.cycle() == Flow::Continue {
                assert!(cell.fastest_rad_s() < 0.01);
            }
            assert_eq!(cause(cell.main.outcome()).0, EventKind::SecondMaster);
            assert!(cell.cycles.is_empty());
        }
    }
}
