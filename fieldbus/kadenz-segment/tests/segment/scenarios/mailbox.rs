// SPDX-License-Identifier: Apache-2.0
//! Mailboxes whose frames are lost, and mailboxes that come between frames.

use super::in_op;
use crate::support::master::Sdo;
use kadenz_segment::command::Command;
use kadenz_segment::frame::{address, datagrams, FrameBuilder};
use kadenz_segment::register::{at, manager};
use kadenz_segment::segment::Segment;

/// SDO upload of 0x1000, as the body of a mailbox; its answer's body begins with the second.
const DEVICE_TYPE: [u8; 10] = [0, 0x20, 0x40, 0x00, 0x10, 0, 0, 0, 0, 0];

#[test]
fn s39_a_request_whose_return_was_lost_is_worked_on_once_though_it_comes_twice() {
    let mut master = in_op(&["lose-return@frame=1"]);
    assert_eq!(master.post(1, &DEVICE_TYPE), 0, "lost on the way back");
    assert_eq!(master.post_again(1, &DEVICE_TYPE), 1, "taken, and thrown away");
    assert!(master.fetch(1).is_some_and(|reply| reply[6..8] == [0x00, 0x30]));
    assert_eq!(master.fetch(1), None, "one answer");
    assert_eq!(master.link.segment().ring().devices[1].mailbox.as_ref().unwrap().requests, 1);
    // The next counter is another request; 0 is never compared.
    assert_eq!(master.upload(1, 0x1000, 0, false), Sdo::Data(vec![0x92, 0x01, 0x02, 0x00]));
    for _ in 0..2 {
        let mut bytes = kadenz_segment::mailbox::assemble(3, 0, &DEVICE_TYPE);
        bytes.resize(128, 0);
        assert_eq!(master.write(1, 0x1000_u16, &bytes), 1);
        assert!(master.fetch(1).is_some());
    }
}

#[test]
fn s40_an_answer_lost_on_its_way_comes_again_and_what_has_taken_its_place_behind_it() {
    let mut master = in_op(&["lose-return@frame=2", "emergency@frame=2,device=j0,code=0x8110"]);
    master.post(1, &DEVICE_TYPE);
    assert_eq!(master.fetch(1), None, "the second frame is lost, and an emergency takes the place of the answer");
    assert_eq!(
        master.read(1, at::SYNC_MANAGER.element(1).byte(manager::STATUS), 1).unwrap().0[0] & 0x08,
        0x08,
        "full again"
    );
    for toggle in [0x03, 0x01] {
        master.write(1, at::SYNC_MANAGER.element(1).byte(manager::ACTIVATION), &[toggle]);
        assert_eq!(
            master.read(1, at::SYNC_MANAGER.element(1).byte(manager::PDI_CONTROL), 1).unwrap().0,
            [toggle & 0x02],
            "acknowledged"
        );
        assert_eq!(
            master.read(1, at::SYNC_MANAGER.element(1).byte(manager::STATUS), 1).unwrap().0[0] & 0x08,
            0x08,
            "in either direction"
        );
    }
    assert!(master.fetch(1).is_some_and(|reply| reply[6..8] == [0x00, 0x30]), "the answer");
    assert!(master.fetch(1).is_some_and(|reply| reply[6..10] == [0x00, 0x10, 0x10, 0x81]), "the emergency");
    assert_eq!(master.fetch(1), None);
}

#[test]
fn s41_a_repetition_before_anything_was_read_is_acknowledged_and_brings_nothing() {
    let mut master = in_op(&[]);
    master.write(1, at::SYNC_MANAGER.element(1).byte(manager::ACTIVATION), &[0x03]);
    assert_eq!(master.read(1, at::SYNC_MANAGER.element(1).byte(manager::PDI_CONTROL), 1).unwrap().0, [0x02]);
    assert_eq!(master.fetch(1), None);
}

/// The mailbox of a drive as read every 3.1 ms after the last outputs, with a working counter. Between the frames the
/// loop works on the grid and off it, or not at all.
fn mail_of_a_pause(fault: &str, works: bool) -> Vec<(Vec<u8>, u16)> {
    let mut master = in_op(&[fault]);
    master.enable(1, 8);
    master.post(1, &DEVICE_TYPE);
    let mut now_ns = master.link.now_ns();
    let segment = master.link.segment_mut();
    let manager = segment.ring().devices[1].description.managers()[1];
    let mut read = |segment: &mut Segment| {
        let before_ns = now_ns;
        now_ns += 3_100_000;
        if works {
            (before_ns..now_ns).step_by(70_000).for_each(|at_ns| segment.settle(at_ns));
        }
        let place = address(0x1002, manager.start);
        let empty = vec![0; manager.length.into()];
        let mut frame = FrameBuilder::default().datagram(Command::Fprd, 1, place, &empty).build();
        segment.process(&mut frame, now_ns);
        segment.settle(now_ns);
        let datagram = datagrams(&mut frame).unwrap().next().unwrap();
        (datagram.data.to_vec(), datagram.working_counter())
    };
    std::iter::repeat_with(|| read(segment)).take(50).collect()
}

#[test]
fn mail_comes_at_the_same_frame_whether_or_not_the_loop_works_between_frames() {
    for fault in ["late-answer@request=1,device=j0,delay_us=20000", "lose-answer@request=1,device=j0"] {
        let mail = mail_of_a_pause(fault, true);
        assert_eq!(mail, mail_of_a_pause(fault, false));
        let came = mail.iter().filter(|(_, counter)| *counter == 1).map(|(bytes, _)| bytes[6..8].to_vec());
        // Answer of an SDO, where it is not lost; emergency of the watchdog.
        let expected = [[0x00, 0x30], [0x00, 0x10]];
        assert_eq!(came.collect::<Vec<_>>(), expected[usize::from(fault.starts_with("lose"))..]);
    }
}
