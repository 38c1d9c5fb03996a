// SPDX-License-Identifier: Apache-2.0
//! Links, loops and events: the registers that a master reads, and the event bits in its frames.

use super::{in_op, WHOLE};
use crate::support::master::{Master, Sdo};
use crate::support::{line, segment};
use kadenz_segment::command::Command;
use kadenz_segment::fault::Fault;
use kadenz_segment::frame::{address, datagrams, FrameBuilder};
use kadenz_segment::register::at;

#[test]
fn s52_a_device_that_denies_its_links_passes_frames_all_the_same() {
    let mut master = in_op(&["no-link@cycle=1,count=3,device=j2"]);
    assert_eq!(master.read_u16(3, at::DL_STATUS), 0x5A33);
    assert_eq!(master.cycle(), Some(WHOLE));
    assert_eq!(master.read_u16(3, at::DL_STATUS), 0x5503, "no link, every loop closed");
    assert_eq!(master.read_u16(4, at::DL_STATUS), 0x5A33, "its neighbour");
    master.cycles(3);
    assert_eq!(master.read_u16(3, at::DL_STATUS), 0x5A33, "at the end of the fault");
}

#[test]
fn s53_a_broken_cable_is_counted_at_both_of_its_ends() {
    let mut master = in_op(&["break-cable@cycle=1,device=j3,count=5"]);
    master.cycles(6);
    let lost = |master: &mut Master, device| master.read(device, at::LOST_LINK, 4).unwrap().0;
    assert_eq!((lost(&mut master, 3), lost(&mut master, 4)), (vec![0, 1, 0, 0], vec![1, 0, 0, 0]));
    assert_eq!((lost(&mut master, 2), lost(&mut master, 5)), (vec![0; 4], vec![0; 4]));
    assert_eq!(master.write(4, at::LOST_LINK, &[0]), 1);
    assert_eq!(lost(&mut master, 4), [0; 4], "any write clears");
}

#[test]
fn s54_a_port_whose_loop_is_closed_hides_what_is_behind_it_and_keeps_its_link() {
    let mut master = in_op(&[]);
    master.write(3, at::DL_CONTROL.byte(1), &[0b1100]);
    assert_eq!(master.cycle(), Some(9), "coupler, j0, j1 and j2");
    assert_eq!(master.read_u16(3, at::DL_STATUS), 0x5E33);
    assert_eq!(master.read(4, at::AL_STATUS, 2).unwrap().1, 0);
    master.write(3, at::DL_CONTROL.byte(1), &[0]);
    assert_eq!(master.cycle(), Some(WHOLE));
    assert_eq!(master.read_u16(3, at::DL_STATUS), 0x5A33);
    // Port 0 stays open, whatever is written: the master would not be heard again.
    master.write(3, at::DL_CONTROL.byte(1), &[0b0011]);
    assert_eq!(master.cycle(), Some(WHOLE));
}

#[test]
fn s55_events_asked_for_come_in_the_frame_until_they_are_read() {
    let mut master = in_op(&["al-error@cycle=1,device=j2,state=4,code=0x2c"]);
    let events = |master: &mut Master| {
        let frame = FrameBuilder::default().datagram(Command::Nop, 1, 0, &[0; 4]).build();
        let mut back = master.link.exchange(&frame).unwrap();
        let events = datagrams(&mut back).unwrap().next().unwrap().events();
        events
    };
    // DL status, AL status, mailbox to the master; the read leaves the acknowledged ones out.
    master.read(3, at::DL_STATUS, 0x30);
    master.write(3, at::EVENT_MASK, &[0x2C, 0]);
    assert_eq!(events(&mut master), 0);
    master.cycle();
    assert_eq!(events(&mut master), 1 << 3, "AL status");
    assert_eq!(master.read_u16(3, at::EVENT_REQUEST) & 0x2C, 1 << 3);
    assert_eq!(master.state(3), (0x14, 0x2C));
    assert_eq!(events(&mut master), 0, "read");
    master.post(3, &[0, 0x20, 0x40, 0x00, 0x10, 0, 0, 0, 0, 0]);
    assert_eq!(events(&mut master), 1 << 5, "an answer waits");
    assert!(master.fetch(3).is_some());
    assert_eq!(events(&mut master), 0, "fetched");
    master.write(3, at::DL_CONTROL.byte(1), &[0b1100]);
    assert_eq!(events(&mut master), 1 << 2, "DL status");
    master.write(3, at::EVENT_MASK, &[0, 0]);
    assert_eq!(events(&mut master), 0, "not asked for any more");
}

#[test]
fn s56_sync_pulses_without_outputs_are_counted() {
    let mut master = Master::new(segment(&line(&["drive"])));
    master.bring_up_to(2);
    let now_ns = u64::from_le_bytes(master.read(0, at::SYSTEM_TIME, 8).unwrap().0.try_into().unwrap());
    master.write(0, at::SYNC0_CYCLE, &1_000_000_u32.to_le_bytes());
    master.write(0, at::START_TIME, &(now_ns + 3_500_000).to_le_bytes());
    master.write(0, at::ACTIVATION, &[3]);
    for state in [4, 8] {
        assert_eq!(master.request(0, state), (state, 0));
        master.cycles(5);
    }
    let missed = |master: &mut Master| match master.upload(0, 0x1C32, 11, false) {
        Sdo::Data(data) => u16::from_le_bytes([data[0], data[1]]),
        other => panic!("{other:?}"),
    };
    let before = missed(&mut master);
    master.cycles(20);
    assert_eq!(missed(&mut master), before);
    let cycle = master.link.segment().counters().cycles + 5;
    let fault = Fault::from_argument(&format!("lose-frame@cycle={cycle},count=3")).unwrap();
    master.link.segment_mut().add_faults([fault]).unwrap();
    master.cycles(20);
    assert_eq!(missed(&mut master), before + 3);
    assert_eq!(master.upload(0, 0x1C32, 12, false), Sdo::Abort(0x0609_0011), "no cycle is too short to simulate");
}

#[test]
fn s57_a_device_restarted_by_the_reset_sequence_tells_its_links() {
    let mut master = in_op(&[]);
    for byte in b"RES" {
        master.write(3, at::RESET, &[*byte]);
    }
    let (status, _) = master.command(Command::Aprd, address(0_u16.wrapping_sub(3), at::DL_STATUS), &[0; 2]).unwrap();
    assert_eq!(u16::from_le_bytes([status[0], status[1]]), 0x5A33);
}

#[test]
fn s62_clocks_are_read_in_steps_and_frames_received_with_noise_that_the_seed_repeats() {
    let delays = |text: &str| {
        let mut master = Master::new(segment(&format!("{text}{}", line(&["coupler", "drive"]))));
        let mut seen = Vec::new();
        for _ in 0..40 {
            master.command(Command::Bwr, address(0, at::PORT_TIMES), &[0; 4]);
            let (raw, _) = master.read(0, at::PORT_TIMES, 8).unwrap();
            let port = |at: usize| u32::from_le_bytes(raw[at..at + 4].try_into().unwrap());
            assert_eq!(
                master.read(0, at::RECEIVE_TIME, 4).unwrap().0,
                raw[..4],
                "the processing unit's time is that of port 0"
            );
            seen.push(port(4).wrapping_sub(port(0)));
            let low = master.read(0, at::SYSTEM_TIME, 8).unwrap().0[..4].try_into().unwrap();
            assert_eq!(u32::from_le_bytes(low) % 10, 0);
        }
        seen
    };
    let noisy = delays("");
    assert!(noisy.iter().all(|ns| ns % 10 == 0 && ns.abs_diff(1200) < 120), "{noisy:?}");
    assert!(noisy.iter().collect::<std::collections::HashSet<_>>().len() > 3, "{noisy:?}");
    assert_eq!(noisy, delays("[ring]\nseed = 1\n"));
    assert_ne!(noisy, delays("[ring]\nseed = 2\n"));
    let exact = delays("[ring]\nclock_noise_ns = 0\n");
    assert!(exact.iter().all(|ns| ns.abs_diff(1200) <= 10), "{exact:?}");
}
