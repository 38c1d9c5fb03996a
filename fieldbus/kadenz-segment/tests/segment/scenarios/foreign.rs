// SPDX-License-Identifier: Apache-2.0
//! Habits of masters that the automatic tests cannot run: IgH EtherCAT Master 1.5 and TwinCAT, by their documented frames.

use super::WHOLE;
use crate::support::master::{Master, Sdo};
use crate::support::{eight, line, segment};
use kadenz_segment::command::Command;
use kadenz_segment::frame::{address, datagrams, FrameBuilder};
use kadenz_segment::register::at;

/// First station address of the small master.
const FIRST: u16 = 0x1001;

#[test]
fn s64_igh_clears_all_devices_by_broadcast_and_reads_the_eeprom_four_bytes_at_a_time() {
    let mut master = Master::new(eight());
    let all = master.devices() as u16;
    // Clearing: acknowledge and INIT, addresses, FMMUs, sync managers, SYNC, port times; EEPROM to the master.
    for (offset, data) in [
        (at::AL_CONTROL.address(), vec![0x11, 0]),
        (at::FMMU.address(), vec![0; 128]),
        (at::SYNC_MANAGER.address(), vec![0; 64]),
        (at::ACTIVATION.address(), vec![0]),
        (at::EEPROM_CONFIG.address(), vec![0]),
        (at::PORT_TIMES.address(), vec![0; 4]),
    ] {
        assert_eq!(master.command(Command::Bwr, address(0, offset), &data).unwrap().1, all, "{offset:#06x}");
    }
    assert_eq!(master.command(Command::Brd, address(0, at::AL_STATUS), &[0; 2]).unwrap(), (vec![1, 0], all));
    // A read: control and two address bytes in four bytes; ten bytes polled; data in the last four.
    let word = |master: &mut Master, word: u16| {
        let [low, high] = word.to_le_bytes();
        assert_eq!(master.write(1, at::EEPROM_CONTROL, &[0x80, 0x01, low, high]), 1);
        let (raw, _) = master.read(1, at::EEPROM_CONTROL, 10).unwrap();
        assert_eq!(raw[1] & 0xE1, 0, "neither busy nor an error");
        u32::from_le_bytes(raw[6..10].try_into().unwrap())
    };
    assert_eq!([word(&mut master, 8), word(&mut master, 10), word(&mut master, 0x18)], [0x0BAD, 2, 0x0080_1000]);
    // Categories are followed to their end.
    let (mut at, mut kinds) = (0x40, Vec::new());
    loop {
        let head = word(&mut master, at);
        if head as u16 == 0xFFFF {
            break;
        }
        kinds.push(head as u16);
        at += 2 + (head >> 16) as u16;
    }
    assert_eq!(kinds, [10, 30, 40, 41, 50, 51]);
    master.bring_up();
    assert_eq!(master.cycle(), Some(WHOLE), "and the ring still reaches OP");
}

#[test]
fn s65_igh_reads_clock_offset_and_delay_at_once_and_feeds_four_bytes_of_time() {
    let mut master = Master::new(segment(&line(&["coupler", "drive", "drive"])));
    for device in 0..3 {
        // System time, receive time and offset in 24 bytes; then offset and delay in 12.
        let (raw, counter) = master.read(device, at::SYSTEM_TIME, 24).unwrap();
        let time = u64::from_le_bytes(raw[..8].try_into().unwrap());
        assert!(counter == 1 && time > 0);
        let mut offset = 500_000_000_000_u64.wrapping_sub(time).to_le_bytes().to_vec();
        offset.extend((600 * device as u32).to_le_bytes());
        assert_eq!(master.write(device, at::OFFSET, &offset), 1);
        assert_eq!(master.read(device, at::OFFSET, 12).unwrap().0, offset);
    }
    for _ in 0..3000 {
        let frame = FrameBuilder::default()
            .datagram(Command::Frmw, 1, address(FIRST, at::SYSTEM_TIME), &[0; 4])
            .datagram(Command::Brd, 2, address(0, at::DIFFERENCE), &[0; 4])
            .build();
        let mut back = master.link.exchange(&frame).unwrap();
        let counters: Vec<u16> = datagrams(&mut back).unwrap().map(|datagram| datagram.working_counter()).collect();
        assert_eq!(counters, [3, 3]);
        master.link.advance_ns(1_000_000);
    }
    // The sync monitor: the differences of all devices, OR-merged.
    let (raw, _) = master.command(Command::Brd, address(0, at::DIFFERENCE), &[0; 4]).unwrap();
    assert!(u32::from_le_bytes(raw.try_into().unwrap()) & 0x7FFF_FFFF < 128);
}

#[test]
fn s66_twincat_polls_mailboxes_by_fmmu_and_reads_by_complete_access() {
    let mut master = Master::new(eight());
    master.bring_up();
    // Bit 3 of 0x080D of each drive, one bit each behind the process data.
    let behind = master.image.len() as u32;
    for drive in 1..=6_u16 {
        let mut fmmu = behind.to_le_bytes().to_vec();
        let bit = drive as u8 - 1;
        fmmu.extend([1, 0, bit, bit, 0x0D, 0x08, 3, 1, 1, 0, 0, 0]);
        assert_eq!(master.write(usize::from(drive), at::FMMU.element(2), &fmmu), 1);
    }
    master.image.push(0);
    master.inputs.push(0);
    let waiting = |master: &mut Master| {
        assert_eq!(master.cycle(), Some(WHOLE));
        master.inputs[behind as usize]
    };
    assert_eq!(waiting(&mut master), 0);
    master.post(4, &[0, 0x20, 0x40, 0x00, 0x10, 0, 0, 0, 0, 0]);
    assert_eq!(waiting(&mut master), 1 << 3, "the answer of the fourth drive");
    assert!(master.fetch(4).is_some());
    assert_eq!(waiting(&mut master), 0);
    let Sdo::Data(identity) = master.upload(4, 0x1018, 0, true) else { panic!("complete access") };
    assert_eq!((identity.len(), &identity[..6]), (18, &[4, 0, 0xAD, 0x0B, 0, 0][..]));
    let Sdo::Data(mapping) = master.upload(4, 0x1A00, 0, true) else { panic!("complete access") };
    assert_eq!((mapping.len(), mapping[0]), (2 + 8 * 4, 8));
}
