// SPDX-License-Identifier: Apache-2.0
//! Error counters at 0x0300 to 0x0313: a bit error is an invalid frame at the port where it enters, a forwarded error at
//! the ports behind it, and an error of every processing unit from there on.

use crate::support::master::{Master, STATION};
use crate::support::{eight, line, segment};
use kadenz_segment::command::Command;
use kadenz_segment::fault::Fault;
use kadenz_segment::frame::{address, FrameBuilder};
use kadenz_segment::register::at;
use kadenz_segment::topology::End;

const DEVICES: usize = 9;
/// Working counter of the ring when all is well.
const WHOLE: u16 = 21;

fn inject(master: &mut Master, text: &str) {
    let now_ns = master.link.now_ns();
    let fault = Fault::from_argument(text).expect("fault");
    let positions = fault.places_in(&master.link.segment().places()).expect("devices");
    master.link.segment_mut().inject(fault, positions, now_ns).expect("room");
}

fn in_op(fault: &str) -> Master {
    let mut master = Master::new(eight());
    master.bring_up();
    inject(&mut master, fault);
    master
}

/// Counters of a device: invalid frames and receive errors by port, forwarded errors by port, processing unit.
fn counters(master: &mut Master, device: usize) -> ([u8; 4], [u8; 4], [u8; 4], u8) {
    let bytes = master.read(device, at::RECEIVE_ERRORS, 16).expect("frame comes back").0;
    let of = |first: usize, step: usize| std::array::from_fn(|port| bytes[first + step * port]);
    (of(0, 2), of(1, 2), of(8, 1), bytes[12])
}

#[test]
fn a_bit_error_is_invalid_where_it_enters_and_forwarded_behind() {
    let mut master = in_op("bit-error@cycle=1,device=j2");
    assert_eq!(master.cycle(), None, "the card of the master drops the frame");
    assert_eq!(master.cycle(), Some(WHOLE));
    for device in 0..DEVICES {
        // Devices in front of the error meet the frame again on its way back, at port 1; the last device has no port 1.
        let back = u8::from(device < DEVICES - 1);
        let expected = match device {
            0..=2 => ([0; 4], [0; 4], [0, 1, 0, 0], 0),
            3 => ([1, 0, 0, 0], [0; 4], [0, back, 0, 0], 1),
            _ => ([0; 4], [0; 4], [1, back, 0, 0], 1),
        };
        assert_eq!(counters(&mut master, device), expected, "device {device}");
    }
}

#[test]
fn a_bit_error_on_the_way_back_comes_after_the_work_of_all_devices() {
    let mut master = in_op("bit-error@cycle=1,device=j2,port=1");
    let controlword = |master: &Master| {
        let objects = &master.link.segment().ring().devices[5].dictionary;
        objects.get(objects.handle(0x6040, 0).unwrap())
    };
    master.control(5, 6);
    assert_eq!(controlword(&master), 0);
    assert_eq!(master.cycle(), None);
    assert_eq!(controlword(&master), 6);
    assert_eq!(counters(&mut master, 3), ([0, 1, 0, 0], [0; 4], [0; 4], 0));
    assert_eq!(counters(&mut master, 2), ([0; 4], [0; 4], [0, 1, 0, 0], 0));
    assert_eq!(counters(&mut master, 4), ([0; 4], [0; 4], [0; 4], 0));
}

#[test]
fn devices_behind_a_bit_error_take_nothing_from_the_frame() {
    let mut master = in_op("bit-error@frame=1,count=1,device=j2,command=BWR,register=0x0F80");
    let write = |master: &mut Master, value: u8| {
        master.command(Command::Bwr, address(0, at::USER_MEMORY), &[value]).map(|back| back.1)
    };
    let kept = |master: &mut Master| -> Vec<u8> {
        (0..DEVICES).map(|device| master.read(device, at::USER_MEMORY, 1).unwrap().0[0]).collect()
    };
    assert_eq!(write(&mut master, 7), None);
    assert_eq!(kept(&mut master), [7, 7, 7, 0, 0, 0, 0, 0, 0]);
    assert_eq!(write(&mut master, 8), Some(DEVICES as u16), "the fault was for one frame");
    assert_eq!(kept(&mut master), [8; DEVICES]);
}

#[test]
fn a_symbol_error_is_counted_by_the_phy_too() {
    let mut master = in_op("symbol-error@cycle=1,device=j0");
    inject(&mut master, "bit-error@cycle=1,device=j0");
    inject(&mut master, "bit-error@cycle=1,device=j4");
    assert_eq!(master.cycle(), None);
    assert_eq!(counters(&mut master, 1), ([1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], 1));
    assert_eq!(counters(&mut master, 5), ([0; 4], [0; 4], [1, 1, 0, 0], 1), "it was wrong before");
}

#[test]
fn counters_stop_at_255_and_a_write_clears_their_group() {
    let mut master = in_op("symbol-error@cycle=1,count=300,device=j2");
    (0..300).for_each(|_| assert_eq!(master.cycle(), None));
    inject(&mut master, "break-cable@cycle=1,count=1,device=j3");
    master.cycles(2);
    let all = ([255, 0, 0, 0], [255, 0, 0, 0], [0, 255, 0, 0], 255);
    assert_eq!(counters(&mut master, 3), all);
    let lost = |master: &mut Master| master.read(3, at::LOST_LINK, 4).unwrap().0;
    assert_eq!(lost(&mut master), [0, 1, 0, 0]);
    assert_eq!(master.write(3, at::PDI_ERRORS, &[0]), 1);
    assert_eq!(counters(&mut master, 3), all, "another group");
    assert_eq!(master.write(3, at::UNIT_ERRORS, &[9]), 1);
    assert_eq!(counters(&mut master, 3), (all.0, all.1, all.2, 0));
    // The groups of a port are one: data sheet of the ET1100, section II, 0x0300 to 0x030B.
    assert_eq!(master.write(3, at::FORWARDED_ERRORS.element(3), &[0]), 1);
    assert_eq!(counters(&mut master, 3), ([0; 4], [0; 4], [0; 4], 0));
    assert_eq!(lost(&mut master), [0, 1, 0, 0]);
}

#[test]
fn counters_are_gone_with_the_power() {
    let mut master = in_op("bit-error@cycle=1,device=j2");
    inject(&mut master, "device-reset@cycle=2,device=j3");
    master.cycles(3);
    assert_eq!(counters(&mut master, 3).3, 1);
    master.command(Command::Apwr, address(0_u16.wrapping_sub(4), at::STATION), &(STATION + 4).to_le_bytes());
    assert_eq!(counters(&mut master, 4), ([0; 4], [0; 4], [0; 4], 0));
}

#[test]
fn an_error_in_a_ring_is_forwarded_in_the_direction_of_the_frame() {
    let mut master = Master::new(segment(&line(&["coupler"; 5])));
    master.link.segment_mut().ring_mut().close_ring();
    inject(&mut master, "bit-error@frame=2,count=1,device=d2,port=1");
    let frame = FrameBuilder::default().datagram(Command::Brd, 1, address(0, at::AL_STATUS), &[0; 2]).build();
    master.link.send_to(End::First, &frame);
    assert!(master.link.receive_at(End::Second).is_some(), "the port is one where this frame leaves");
    master.link.send_to(End::Second, &frame);
    assert!(master.link.receive_at(End::First).is_none());
    let counted = |master: &Master, device: usize| {
        let esc = &master.link.segment().ring().devices[device].esc;
        (esc.get(at::RECEIVE_ERRORS.element(1)), esc.get(at::FORWARDED_ERRORS), esc.get(at::UNIT_ERRORS))
    };
    let expected = [([0; 2], [0, 1, 0, 0], 0), ([0; 2], [0, 1, 0, 0], 0), ([1, 0], [0; 4], 0)];
    assert_eq!([0, 1, 2].map(|device| counted(&master, device)), expected);
    assert_eq!(counted(&master, 3), ([0; 2], [0; 4], 0), "no processing unit is passed backwards");
}

#[test]
fn a_link_that_flaps_is_counted_at_both_of_its_ends() {
    let mut master = in_op("break-cable@time_ms=2,every=4,repeat=5,lasting_ms=1.5,device=j3");
    let whole = (0..40).filter(|_| master.cycle() == Some(WHOLE)).count();
    assert!((20..40).contains(&whole), "{whole} cycles with all devices");
    assert_eq!(master.read(3, at::LOST_LINK, 4).unwrap().0, [0, 5, 0, 0]);
    assert_eq!(master.read(4, at::LOST_LINK, 4).unwrap().0, [5, 0, 0, 0]);
}

#[test]
fn a_frame_shorter_than_its_header_says_is_an_error_of_every_processing_unit() {
    for faults in [&[][..], &["device-deaf@cycle=1000,device=d1"]] {
        let mut master = Master::new(segment(&line(&["coupler", "coupler"])));
        faults.iter().for_each(|fault| inject(&mut master, fault));
        let mut frame = FrameBuilder::default().datagram(Command::Brd, 1, 0, &[0; 30]).build();
        frame.truncate(50);
        assert_eq!(master.link.exchange(&frame), None);
        assert_eq!(master.link.exchange(&[0x55; 60]), None, "no EtherCAT");
        assert_eq!([0, 1].map(|device| counters(&mut master, device)), [([0; 4], [0; 4], [0; 4], 1); 2]);
    }
}

#[test]
fn a_wrong_bit_error_is_answered_by_its_mistake() {
    let places = segment(&line(&["coupler", "drive"])).places();
    for (text, expected) in [
        ("bit-error@cycle=1", "bit-error needs a device"),
        ("bit-error@cycle=1,device=d1,port=4", "fault.port = 4"),
        ("bit-error@cycle=1,device=d1,port=1", "device \"d1\" has no cable at port 1"),
        ("symbol-error@cycle=1,device=d1,byte=3", "symbol-error takes no byte"),
    ] {
        let problem = match Fault::from_argument(text) {
            Err(error) => error.to_string(),
            Ok(fault) => fault.places_in(&places).unwrap_err().0,
        };
        assert!(problem.contains(expected), "{text}: {problem}");
    }
}
