// SPDX-License-Identifier: Apache-2.0
//! A ring with cable redundancy: what a master with two interfaces sees of a break anywhere in it.
//!
//! The master here sends every frame into both ends and merges what leaves: data of a device are in one of the two frames,
//! working counters add up. Frames from the second end are worked on only behind a closed port 0.

use crate::support::master::{Master, STATION};
use crate::support::{line, segment, EXACT};
use kadenz_segment::command::Command;
use kadenz_segment::fault::Fault;
use kadenz_segment::frame::{address, datagrams, FrameBuilder};
use kadenz_segment::happening::What;
use kadenz_segment::register::at;
use kadenz_segment::segment::Verdict;
use kadenz_segment::topology::End;

const KINDS: [&str; 5] = ["coupler", "drive", "drive", "digital-output", "digital-input"];
const DEVICES: usize = KINDS.len();
/// Working counter of one device each, and of all.
const COUNTS: [u16; DEVICES] = [0, 3, 3, 2, 1];
const WHOLE: u16 = 9;

/// What left at one end: data, working counter, whether it circulated.
type Back = Option<(Vec<u8>, u16, bool)>;

/// A ring in OP.
fn ring(faults: &[String]) -> Master {
    let mut master = Master::new(segment(&format!("{EXACT}{}", line(&KINDS))));
    master.bring_up();
    master.link.segment_mut().ring_mut().close_ring();
    let counters = master.link.segment().counters();
    for text in faults {
        let mut fault = Fault::from_argument(text).unwrap();
        fault.cycle = fault.cycle.map(|cycle| cycle + counters.cycles);
        master.link.segment_mut().add_faults([fault]).unwrap();
    }
    master
}

/// The key of a fault that breaks cable k: in front of device k, or behind the last one.
fn cable(k: usize) -> String {
    if k < DEVICES {
        format!("device=d{k}")
    } else {
        format!("device=d{},port=1", DEVICES - 1)
    }
}

fn left_at(master: &mut Master, end: End) -> Back {
    let mut back = master.link.receive_at(end)?;
    let datagram = datagrams(&mut back).unwrap().next().unwrap();
    Some((datagram.data.to_vec(), datagram.working_counter(), datagram.circulates()))
}

/// A datagram into both ends: what left at the first, and at the second.
fn both(master: &mut Master, command: Command, address: u32, data: &[u8]) -> (Back, Back) {
    let frame = FrameBuilder::default().datagram(command, 1, address, data).build();
    master.link.send_to(End::First, &frame);
    master.link.send_to(End::Second, &frame);
    let left = (left_at(master, End::First), left_at(master, End::Second));
    master.link.advance_ns(1_000_000);
    left
}

/// The working counter of both together.
fn merged((first, second): &(Back, Back)) -> u16 {
    [first, second].into_iter().flatten().map(|(_, counter, _)| counter).sum()
}

fn cycle(master: &mut Master) -> u16 {
    let image = master.image.clone();
    let left = both(master, Command::Lrw, 0, &image);
    merged(&left)
}

fn read(master: &mut Master, device: usize, offset: impl Into<u16>, length: usize) -> Vec<u8> {
    let (first, second) = both(master, Command::Fprd, address(STATION + device as u16, offset), &vec![0; length]);
    let answered = [first, second].into_iter().flatten().find(|(_, counter, _)| *counter == 1);
    answered.unwrap_or_else(|| panic!("device {device} answers at no end")).0
}

fn dl_status(master: &mut Master, device: usize) -> u16 {
    let raw = read(master, device, at::DL_STATUS, 2);
    u16::from_le_bytes([raw[0], raw[1]])
}

#[test]
fn a_whole_ring_sends_a_frame_to_the_other_end_and_works_on_it_once() {
    let mut master = ring(&[]);
    let frame = FrameBuilder::default().datagram(Command::Brd, 1, address(0, at::AL_STATUS), &[0; 2]).build();
    assert_eq!(master.link.send_to(End::First, &frame), Verdict::Returned);
    assert_eq!(master.link.receive_at(End::First), None);
    let mut left = master.link.receive_at(End::Second).unwrap();
    assert_eq!(left[6], frame[6] | 2, "a device that works on a frame marks its address");
    assert_eq!(datagrams(&mut left).unwrap().next().unwrap().working_counter(), 5);
    master.link.send_to(End::Second, &frame);
    assert_eq!(master.link.receive_at(End::First).as_ref(), Some(&frame), "passed on, byte for byte");
    assert_eq!(master.link.receive_at(End::Second), None);
}

#[test]
fn a_break_anywhere_loses_no_cycle_and_neither_does_its_healing() {
    for broken in 0..=DEVICES {
        let mut master = ring(&[format!("break-cable@cycle=4,count=5,{}", cable(broken))]);
        for turn in 1..=12 {
            let image = master.image.clone();
            let (first, second) = both(&mut master, Command::Lrw, 0, &image);
            assert_eq!(merged(&(first.clone(), second.clone())), WHOLE, "cable {broken}, cycle {turn}");
            if (4..9).contains(&turn) {
                let (before, behind) = COUNTS.split_at(broken);
                let counter = |back: &Back| back.as_ref().map(|(_, counter, _)| *counter);
                assert_eq!(counter(&first), (broken > 0).then(|| before.iter().sum()), "cable {broken}");
                assert_eq!(counter(&second), (broken < DEVICES).then(|| behind.iter().sum()), "cable {broken}");
                assert!(first.is_none_or(|(.., circulates)| !circulates));
                assert!(second.is_none_or(|(.., circulates)| circulates), "port 0 is closed there");
            }
        }
        let states: Vec<u8> = (0..DEVICES).map(|device| read(&mut master, device, at::AL_STATUS, 1)[0]).collect();
        assert_eq!(states, [8; DEVICES], "cable {broken}");
    }
}

#[test]
fn positions_count_from_the_end_at_which_the_frame_came_in() {
    let mut master = ring(&["break-cable@cycle=1,device=d2".into()]);
    cycle(&mut master);
    let station = |left: Back| left.map(|(data, counter, _)| (u16::from_le_bytes([data[0], data[1]]), counter));
    let (first, second) = both(&mut master, Command::Aprd, address(0, at::STATION), &[0; 2]);
    assert_eq!((station(first), station(second)), (Some((STATION, 1)), Some((STATION + 2, 1))));
}

#[test]
fn both_ends_of_the_break_have_links_loops_and_lost_links() {
    for broken in 0..=DEVICES {
        let mut master = ring(&[format!("break-cable@cycle=1,count=1,{}", cable(broken))]);
        cycle(&mut master);
        for device in 0..DEVICES {
            let expected = match broken {
                at if at == device => 0x5923,
                at if at == device + 1 => 0x5613,
                _ => 0x5A33,
            };
            assert_eq!(dl_status(&mut master, device), expected, "cable {broken}, device {device}");
        }
        cycle(&mut master);
        for device in 0..DEVICES {
            assert_eq!(dl_status(&mut master, device), 0x5A33, "healed");
            let lost = read(&mut master, device, at::LOST_LINK, 4);
            let count = |is_at: bool| u8::from(is_at);
            assert_eq!(lost, [count(broken == device), count(broken == device + 1), 0, 0], "cable {broken}, {device}");
        }
    }
}

#[test]
fn two_breaks_hide_the_devices_between_them_and_nothing_else() {
    let breaks = ["break-cable@cycle=2,count=3,device=d1".into(), "break-cable@cycle=3,count=1,device=d3".into()];
    let mut master = ring(&breaks);
    let seen: Vec<_> = (0..5).map(|_| cycle(&mut master)).collect();
    assert_eq!(seen, [WHOLE, WHOLE, 3, WHOLE, WHOLE], "both drives are missing once");
}

#[test]
fn a_device_without_power_is_missing_alone() {
    let mut master = ring(&["device-gone@cycle=2,count=2,device=d2".into()]);
    let seen: Vec<_> = (0..3).map(|_| cycle(&mut master)).collect();
    assert_eq!(seen, [WHOLE, WHOLE - 3, WHOLE - 3]);
    assert_eq!((dl_status(&mut master, 1), dl_status(&mut master, 3)), (0x5613, 0x5923));
}

#[test]
fn a_frame_under_way_is_lost_behind_the_break_and_was_worked_on_before_it() {
    // 600 ns a hop: device 3 after 1800 ns.
    let mut master = ring(&["break-cable@cycle=2,count=2,after_ns=1500,device=d3".into()]);
    assert_eq!(cycle(&mut master), WHOLE);
    let image = master.image.clone();
    let frame = FrameBuilder::default().datagram(Command::Lrw, 7, 0, &image).build();
    assert_eq!(master.link.send_to(End::First, &frame), Verdict::Lost);
    assert_eq!((left_at(&mut master, End::First), left_at(&mut master, End::Second)), (None, None));
    let happenings = master.link.segment_mut().take_happenings();
    let (entered, broke) = (&happenings[0], &happenings[1]);
    assert!(matches!(entered.what, What::FrameLost { from: End::First, .. }), "{happenings:?}");
    assert_eq!(broke.what, What::Cable { device: "d3".into(), port: 0, stands: false });
    assert_eq!(broke.world_ns - entered.world_ns, 1500);
    master.link.advance_ns(1_000_000);
    let seen: Vec<_> = (0..3).map(|_| cycle(&mut master)).collect();
    assert_eq!(seen, [WHOLE; 3], "loops are closed, then open again");
}

#[test]
fn a_frame_lost_under_way_was_worked_on_by_the_devices_in_front_of_the_break_alone() {
    let mut master = ring(&["break-cable@cycle=1,after_ns=1000,device=d2".into()]);
    let write = FrameBuilder::default()
        .datagram(Command::Bwr, 1, address(0, at::USER_MEMORY), &[9])
        .datagram(Command::Lrd, 2, 0xF000_0000, &[0])
        .build();
    assert_eq!(master.link.send_to(End::First, &write), Verdict::Lost);
    master.link.advance_ns(1_000_000);
    let held: Vec<u8> = (0..DEVICES).map(|device| read(&mut master, device, at::USER_MEMORY, 1)[0]).collect();
    assert_eq!(held, [9, 9, 0, 0, 0]);
}

#[test]
fn a_cable_that_heals_under_a_frame_lets_it_out_at_the_end_it_reaches() {
    let mut master = ring(&["break-cable@cycle=1,count=1,after_ns=100,device=d3".into()]);
    cycle(&mut master);
    // Device 2 is reached after 1200 ns, the cable stands again after 100.
    let image = master.image.clone();
    let (first, second) = both(&mut master, Command::Lrw, 0, &image);
    assert_eq!((first.map(|left| left.1), second.map(|left| left.1)), (Some(0), Some(WHOLE)));
}

#[test]
fn a_frame_that_comes_circulating_is_destroyed_at_a_closed_port_0_unworked() {
    let mut master = ring(&["break-cable@cycle=1,device=d2".into()]);
    cycle(&mut master);
    let mut frame = FrameBuilder::default().datagram(Command::Bwr, 1, address(0, at::USER_MEMORY), &[7]).build();
    datagrams(&mut frame).unwrap().next().unwrap().mark_circulating();
    let lost = master.link.segment().counters().lost;
    assert_eq!(master.link.send_to(End::Second, &frame), Verdict::Lost);
    assert_eq!(master.link.segment().counters().lost, lost + 1);
    assert_eq!(master.link.send_to(End::First, &frame), Verdict::Returned, "no closed port 0 on that side");
    master.link.receive_at(End::First);
    let held: Vec<u8> = (0..DEVICES).map(|device| read(&mut master, device, at::USER_MEMORY, 1)[0]).collect();
    assert_eq!(held, [7, 7, 0, 0, 0]);
}

#[test]
fn delays_are_those_of_the_way_that_the_frame_took() {
    let times = |master: &mut Master, device| {
        let raw = read(master, device, at::PORT_TIMES, 16);
        let port = |at: usize| u32::from_le_bytes(raw[4 * at..4 * at + 4].try_into().unwrap());
        (port(0), port(1))
    };
    let near = |ns: u32, expected: u32| ns.wrapping_sub(expected).wrapping_add(10) <= 20;
    let mut master = ring(&["break-cable@cycle=2,count=1,device=d2".into()]);
    both(&mut master, Command::Bwr, address(0, at::PORT_TIMES), &[0; 4]);
    // Nothing comes back at port 1 of a whole ring.
    assert!((0..DEVICES).all(|device| times(&mut master, device).1 == 0));
    cycle(&mut master);
    cycle(&mut master);
    both(&mut master, Command::Bwr, address(0, at::PORT_TIMES), &[0; 4]);
    let (port_0, port_1) = times(&mut master, 0);
    assert!(near(port_1.wrapping_sub(port_0), 1200), "the near side is measured as a line: {port_0} {port_1}");
    let (port_0, port_1) = times(&mut master, 3);
    assert!(near(port_0.wrapping_sub(port_1), 1200), "backward at port 1, then forward at port 0: {port_0} {port_1}");
}

#[test]
fn clocks_go_on_over_break_and_healing() {
    let mut master = ring(&["break-cable@cycle=3,count=3,device=d3".into()]);
    let system = |master: &Master| -> Vec<u64> {
        let now_ns = master.link.now_ns();
        let devices = &master.link.segment().ring().devices;
        devices.iter().map(|device| device.esc.system_time(now_ns).unwrap()).collect()
    };
    let (began_ns, began) = (master.link.now_ns(), system(&master));
    for _ in 0..10 {
        cycle(&mut master);
        let elapsed_ns = master.link.now_ns() - began_ns;
        for (now, began) in system(&master).iter().zip(&began) {
            let off_ns = (now - began).abs_diff(elapsed_ns);
            // Oscillators are within 20 ppm.
            assert!(off_ns <= elapsed_ns / 50_000 + 1, "{off_ns} ns after {elapsed_ns}");
        }
    }
}

#[test]
fn an_interface_that_loses_its_link_is_the_break_of_its_cable() {
    let mut master = ring(&[]);
    for end in End::ALL {
        master.link.segment_mut().ring_mut().set_carrier(end, false);
        assert_eq!(cycle(&mut master), WHOLE);
        let device = if end == End::First { 0 } else { DEVICES - 1 };
        assert_eq!(dl_status(&mut master, device), if end == End::First { 0x5923 } else { 0x5613 });
        master.link.segment_mut().ring_mut().set_carrier(end, true);
        assert_eq!(cycle(&mut master), WHOLE);
    }
}

#[test]
fn a_cable_that_is_not_there_cannot_break() {
    let fault = || [Fault::from_argument(&format!("break-cable@cycle=1,{}", cable(DEVICES))).unwrap()];
    let mut line_alone = segment(&line(&KINDS));
    let error = line_alone.add_faults(fault()).unwrap_err().to_string();
    assert!(error.contains("device \"d4\" has no cable at port 1"), "{error}");
    assert!(error.contains("serve the ring with two interfaces"), "{error}");
    line_alone.ring_mut().close_ring();
    line_alone.add_faults(fault()).unwrap();
    let error = Fault::from_argument("break-cable@time_ms=1,after_ns=2,device=d1").unwrap_err().to_string();
    assert!(error.contains("after_ns counts from a frame"), "{error}");
}

#[test]
fn a_break_by_time_meets_the_frame_that_is_under_way() {
    // The first frame that the fault sees comes at its time 0; the next one 1 ms later is at device 3 after 1800 ns.
    let mut master = ring(&["break-cable@time_ms=1.001,lasting_ms=1.5,device=d3".into()]);
    assert_eq!(cycle(&mut master), WHOLE);
    assert_eq!(cycle(&mut master), 0, "broken 1000 ns after it entered");
    let seen: Vec<_> = (0..4).map(|_| cycle(&mut master)).collect();
    assert_eq!(seen, [WHOLE; 4]);
    let happenings: Vec<_> = master.link.segment_mut().take_happenings();
    let moments: Vec<u64> = happenings
        .iter()
        .filter(|happening| matches!(happening.what, What::Cable { .. }))
        .map(|happening| happening.world_ns)
        .collect();
    assert_eq!(moments[1] - moments[0], 1_500_000, "{happenings:?}");
}
