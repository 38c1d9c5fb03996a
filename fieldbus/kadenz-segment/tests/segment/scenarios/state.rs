// SPDX-License-Identifier: Apache-2.0
//! Power and states: what a device forgets, and what keeps it in OP.

use crate::support::master::{Master, Sdo};
use crate::support::{eight, line, segment};
use kadenz_segment::command::Command;
use kadenz_segment::fault::Fault;
use kadenz_segment::frame::address;
use kadenz_segment::register::{at, manager};

#[test]
fn s42_a_device_reset_forgets_what_was_written_by_sdo() {
    let mut master = Master::new(segment(&line(&["drive"])));
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    let objects = [(0x1C12, 0), (0x1600, 0), (0x1600, 1), (0x6065, 0), (0x6040, 0)];
    let read = |master: &mut Master| objects.map(|(index, sub)| master.upload(0, index, sub, false));
    let defaults = read(&mut master);
    for (index, sub, data) in [
        (0x1C12, 0, vec![0]),
        (0x1600, 0, vec![0]),
        (0x1600, 1, 0x607A_0020_u32.to_le_bytes().to_vec()),
        (0x1600, 0, vec![1]),
        (0x6065, 0, vec![1, 2, 3, 4]),
        (0x6040, 0, vec![6, 0]),
    ] {
        assert_eq!(master.download(0, index, sub, &data, false), Sdo::Data(vec![]), "{index:#06x}:{sub}");
    }
    assert!(read(&mut master).iter().zip(&defaults).all(|(written, default)| written != default));
    let frame = master.link.segment().counters().frames + 1;
    let fault = Fault::from_argument(&format!("device-reset@frame={frame},device=d0")).unwrap();
    master.link.segment_mut().add_faults([fault]).unwrap();
    assert_eq!(master.command(Command::Apwr, address(0, at::STATION), &0x1001_u16.to_le_bytes()).unwrap().1, 1);
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    assert_eq!(read(&mut master), defaults);
}

#[test]
fn s43_outputs_that_never_come_end_in_safe_op_with_code_1b() {
    let mut master = Master::new(eight());
    master.bring_up_to(4);
    for device in 0..master.devices() {
        assert_eq!(master.request(device, 8), (8, 0), "device {device}");
    }
    master.link.advance_ns(95_000_000);
    assert_eq!((master.state(1), master.state(7)), ((8, 0), (8, 0)), "within the watchdog's time");
    master.link.advance_ns(10_000_000);
    assert_eq!((master.state(1), master.state(7)), ((0x14, 0x1B), (0x14, 0x1B)), "drive and outputs");
    assert_eq!((master.state(0), master.state(8)), ((8, 0), (8, 0)), "coupler and inputs have no outputs to miss");
    // Acknowledged and asked for again: outputs that come now keep it there.
    assert_eq!(master.request(7, 0x14), (4, 0));
    assert_eq!(master.request(7, 8), (8, 0));
    master.cycles(150);
    assert_eq!(master.state(7), (8, 0));
}

#[test]
fn s44_outputs_without_watchdog_may_stay_away() {
    let mut master = Master::new(eight());
    master.bring_up_to(2);
    // The outputs of device 7: without the trigger. Those of device 1: with the time switched off.
    let manager = master.read(7, at::SYNC_MANAGER, 8).unwrap().0;
    master.write(7, at::SYNC_MANAGER.element(0).byte(manager::CONTROL), &[manager[4] & !0x40]);
    master.write(1, at::WD_TIME, &[0, 0]);
    for state in [4, 8] {
        for device in [1, 7] {
            assert_eq!(master.request(device, state), (state, 0), "device {device}");
        }
    }
    master.link.advance_ns(1_000_000_000);
    assert_eq!((master.state(1), master.state(7)), ((8, 0), (8, 0)));
}
