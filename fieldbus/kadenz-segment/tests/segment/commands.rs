// SPDX-License-Identifier: Apache-2.0
//! Every datagram command against memory: the bytes in the frame, the bytes in the devices, and the working counter.

use crate::support::master::{Master, STATION};
use crate::support::{line, segment};
use kadenz_segment::command::Command;
use kadenz_segment::frame::{address, datagrams, FrameBuilder};
use kadenz_segment::register::at;
use kadenz_segment::segment::Segment;

/// User memory of the devices: writable registers without effect.
const MEMORY: u16 = at::USER_MEMORY.address();

/// Three devices that hold [1, 0x10], [2, 0x20], [4, 0x40] at `MEMORY`.
fn three() -> Master {
    let mut master = Master::new(segment(&line(&["coupler", "digital-output", "digital-input"])));
    for device in 0..3 {
        master.write(device, MEMORY, &[1 << device, 0x10 << device]);
    }
    master
}

fn held(master: &mut Master) -> Vec<u8> {
    (0..3).map(|device| master.read(device, MEMORY, 1).unwrap().0[0]).collect()
}

#[test]
fn position_commands_count_the_address_up_and_reach_one_device() {
    let mut master = three();
    let at = |position: u16| address(0_u16.wrapping_sub(position), MEMORY);
    assert_eq!(master.command(Command::Aprd, at(2), &[0, 0]), Some((vec![4, 0x40], 1)));
    assert_eq!(master.command(Command::Apwr, at(1), &[9]), Some((vec![9], 1)));
    assert_eq!(master.command(Command::Aprw, at(0), &[7]), Some((vec![1], 3)), "old value out, new value in");
    assert_eq!(held(&mut master), [7, 9, 4]);
    assert_eq!(master.command(Command::Aprd, at(3), &[0]), Some((vec![0], 0)), "no fourth device");
}

#[test]
fn station_commands_reach_the_device_of_that_address() {
    let mut master = three();
    let at = |device: u16| address(STATION + device, MEMORY);
    assert_eq!(master.command(Command::Fprw, at(1), &[8]), Some((vec![2], 3)));
    assert_eq!(held(&mut master), [1, 8, 4]);
    assert_eq!(master.command(Command::Fprd, at(5), &[0]), Some((vec![0], 0)));
}

#[test]
fn broadcast_merges_reads_and_writes_everywhere() {
    let mut master = three();
    assert_eq!(master.command(Command::Brd, address(0, MEMORY), &[0, 0]), Some((vec![7, 0x70], 3)));
    assert_eq!(master.command(Command::Brw, address(0, MEMORY), &[0x80]), Some((vec![0x87], 9)));
    // On the fly: each device takes what the one before has left in the frame.
    assert_eq!(held(&mut master), [0x80, 0x81, 0x83]);
    assert_eq!(master.command(Command::Bwr, address(0, MEMORY), &[5]), Some((vec![5], 3)));
    assert_eq!(held(&mut master), [5; 3]);
}

#[test]
fn one_reads_and_all_others_write_under_armw_and_frmw() {
    let mut master = three();
    let back = master.command(Command::Frmw, address(STATION, MEMORY), &[0]);
    assert_eq!(back, Some((vec![1], 3)));
    assert_eq!(held(&mut master), [1, 1, 1]);
    let mut master = three();
    let back = master.command(Command::Armw, address(0_u16.wrapping_sub(1), MEMORY), &[0x55]);
    assert_eq!(back, Some((vec![2], 3)), "the device in front takes what the master sent");
    assert_eq!(held(&mut master), [0x55, 2, 2]);
}

#[test]
fn an_alias_is_a_second_address_once_enabled() {
    let mut master = Master::new(segment(&(line(&["coupler"]) + "alias = 77\n")));
    let at = address(77, MEMORY);
    assert_eq!(master.command(Command::Fprd, at, &[0]), Some((vec![0], 0)));
    master.write(0, at::DL_CONTROL.byte(3), &[1]);
    assert_eq!(master.command(Command::Fprd, at, &[0]), Some((vec![0], 1)));
}

#[test]
fn logical_commands_move_mapped_bytes_only() {
    let mut master = three();
    master.map(0, 0, 0x100, 2, MEMORY, 1);
    master.map(1, 0, 0x101, 1, MEMORY, 2);
    master.map(2, 0, 0x101, 1, MEMORY, 3);
    // Bytes 0x0FF..0x103: device 0 reads two, devices 1 and 2 write one, device 2 reads it as well.
    assert_eq!(master.command(Command::Lrd, 0xFF, &[9; 4]), Some((vec![9, 1, 4, 9], 2)));
    assert_eq!(master.command(Command::Lwr, 0xFF, &[9, 9, 6, 9]), Some((vec![9, 9, 6, 9], 2)));
    assert_eq!(held(&mut master), [1, 6, 6]);
    assert_eq!(master.command(Command::Lrw, 0x101, &[0x33]), Some((vec![0x10], 1 + 2 + 3)));
    assert_eq!(held(&mut master), [1, 0x10, 0x10], "on the fly: they take what device 0 has put into the frame");
}

#[test]
fn a_bitwise_fmmu_moves_its_bits_and_leaves_the_rest() {
    let mut master = three();
    master.write(0, MEMORY, &[0b1010_1100, 0xFF]);
    // Read physical bits 2-5 into logical bits 3-6 of byte 0x200.
    let mut raw = 0x200_u32.to_le_bytes().to_vec();
    raw.extend([1, 0, 3, 6]);
    raw.extend(MEMORY.to_le_bytes());
    raw.extend([2, 1, 1, 0, 0, 0]);
    master.write(0, at::FMMU, &raw);
    let (data, counter) = master.command(Command::Lrd, 0x200, &[0b1000_0111]).unwrap();
    assert_eq!((data[0], counter), (0b1101_1111, 1));
    // The other way, across a byte border: logical bits 5 of 0x200 to 2 of 0x201 into physical bits 6 of the first byte
    // to 3 of the second.
    raw[0..4].copy_from_slice(&0x300_u32.to_le_bytes());
    raw[4..8].copy_from_slice(&[2, 0, 5, 2]);
    raw[10..12].copy_from_slice(&[6, 2]);
    master.write(0, at::FMMU.element(1), &raw);
    master.write(0, MEMORY, &[0x00, 0xF0]);
    assert_eq!(master.command(Command::Lwr, 0x300, &[0b1010_0000, 0b0000_0010]).unwrap().1, 1);
    // Bits in order 1, 0, 1, 0, 1, 0 from physical bit 6 on; the rest stays.
    assert_eq!(master.read(0, MEMORY, 2).unwrap().0, [0b0100_0000, 0b1111_0101]);
}

#[test]
fn read_only_registers_are_not_written_and_absent_ones_not_counted() {
    let mut master = three();
    assert_eq!(master.write(0, at::TYPE, &[0xFF]), 0);
    assert_eq!(master.read(0, at::TYPE, 1).unwrap().0, [0x11]);
    assert_eq!(master.read(0, 0x0014_u16, 2).unwrap().1, 0);
    assert_eq!(master.write(0, 0x0014_u16, &[1, 2]), 0);
}

/// A coupler whose sync managers 2 and 3 hold six bytes each, of outputs and of inputs, mapped from 0x400 on.
fn six_bytes_each_way(inputs: &[u8; 6]) -> Master {
    let mut master = Master::new(segment(&line(&["coupler"])));
    for (number, start, control) in [(2, 0x1100_u16, 0x64), (3, 0x1400, 0x20)] {
        let [low, high] = start.to_le_bytes();
        master.write(0, at::SYNC_MANAGER.element(number), &[low, high, 6, 0, control, 0, 1, 0]);
    }
    master.map(0, 0, 0x400, 6, 0x1100, 2);
    master.map(0, 1, 0x400, 6, 0x1400, 1);
    let esc = &mut master.link.segment_mut().ring_mut().devices[0].esc;
    assert!(esc.put_inputs(3, |place| place.copy_from_slice(inputs)));
    master
}

#[test]
fn an_image_in_one_datagram_or_cut_anywhere_is_the_same() {
    let (inputs, outputs) = ([11, 12, 13, 14, 15, 16], [1, 2, 3, 4, 5, 6]);
    for cut in 1..=6 {
        let mut master = six_bytes_each_way(&inputs);
        let mut read = Vec::new();
        for (at, part) in [(0, &outputs[..cut]), (cut, &outputs[cut..])] {
            if part.is_empty() {
                continue;
            }
            let esc = &mut master.link.segment_mut().ring_mut().devices[0].esc;
            assert_eq!(esc.take_outputs(2), None, "incomplete outputs are none, cut at {cut}");
            let (data, counter) = master.command(Command::Lrw, 0x400 + at as u32, part).unwrap();
            assert_eq!(counter, 3, "cut at {cut}");
            read.extend(data);
        }
        assert_eq!(read, inputs, "cut at {cut}");
        let esc = &mut master.link.segment_mut().ring_mut().devices[0].esc;
        assert_eq!(esc.take_outputs(2), Some(&outputs[..]), "cut at {cut}");
    }
}

#[test]
fn a_longer_datagram_carries_the_image_and_leaves_its_neighbours() {
    let mut master = six_bytes_each_way(&[11, 12, 13, 14, 15, 16]);
    let sent = [90, 91, 1, 2, 3, 4, 5, 6, 92];
    let (data, counter) = master.command(Command::Lrw, 0x3FE, &sent).unwrap();
    assert_eq!((data, counter), (vec![90, 91, 11, 12, 13, 14, 15, 16, 92], 3));
    let esc = &mut master.link.segment_mut().ring_mut().devices[0].esc;
    assert_eq!(esc.take_outputs(2), Some(&[1, 2, 3, 4, 5, 6][..]));
    // Behind the image, and in front of it up to the border: nothing of it is touched.
    assert_eq!(master.command(Command::Lrw, 0x406, &[7]), Some((vec![7], 0)));
    assert_eq!(master.command(Command::Lrw, 0x3FF, &[7]), Some((vec![7], 0)));
}

#[test]
fn a_route_in_the_wrong_direction_carries_nothing() {
    let mut master = six_bytes_each_way(&[11; 6]);
    master.map(0, 0, 0x400, 6, 0x1100, 1);
    master.map(0, 1, 0x400, 6, 0x1400, 2);
    assert_eq!(master.command(Command::Lrw, 0x400, &[7; 6]), Some((vec![7; 6], 0)));
}

#[test]
fn a_known_image_follows_later_changes() {
    let mut master = six_bytes_each_way(&[11, 12, 13, 14, 15, 16]);
    let exchange = |master: &mut Master, at: u32| master.command(Command::Lrw, at, &[7; 6]).unwrap();
    let outputs = |master: &mut Master| {
        let esc = &mut master.link.segment_mut().ring_mut().devices[0].esc;
        esc.take_outputs(2).map(<[u8]>::to_vec)
    };
    for _ in 0..3 {
        assert_eq!(exchange(&mut master, 0x400).1, 3);
    }
    assert_eq!(outputs(&mut master), Some(vec![7; 6]));
    // The outputs move to another logical address: only the inputs are left at the old one.
    master.map(0, 0, 0x500, 6, 0x1100, 2);
    assert_eq!(exchange(&mut master, 0x400), (vec![11, 12, 13, 14, 15, 16], 1));
    assert_eq!(outputs(&mut master), None);
    assert_eq!(exchange(&mut master, 0x500), (vec![7; 6], 2));
    assert_eq!(outputs(&mut master), Some(vec![7; 6]));
    master.link.segment_mut().ring_mut().devices[0].is_deaf = true;
    assert_eq!(exchange(&mut master, 0x400), (vec![7; 6], 0));
    master.link.segment_mut().ring_mut().devices[0].is_deaf = false;
    assert_eq!(exchange(&mut master, 0x400).1, 1);
    // More different datagrams than are remembered.
    for length in 1..=20 {
        let counter = master.command(Command::Lrd, 0x400, &vec![0; length]).unwrap().1;
        assert_eq!(counter, 1, "{length} bytes");
    }
    master.link.segment_mut().ring_mut().set_power(0, true);
    assert_eq!(exchange(&mut master, 0x400), (vec![7; 6], 0), "after power-on nothing is mapped");
}

/// Registers of all clocks after a few seconds of following, the frames settled each or not at all.
fn clocks_after(frames: usize, settles: bool) -> Vec<Vec<u8>> {
    let mut segment = segment(&line(&["coupler", "drive", "drive", "digital-input"]));
    let mut now_ns = 1_000_000;
    let mut send = |segment: &mut Segment, command, address, data: &[u8]| {
        now_ns += 1_000_000;
        let mut frame = FrameBuilder::default().datagram(command, 1, address, data).build();
        segment.process(&mut frame, now_ns);
        if settles {
            segment.settle(now_ns);
        }
        let data = datagrams(&mut frame).unwrap().next().unwrap().data.to_vec();
        data
    };
    for _ in 0..frames {
        send(&mut segment, Command::Armw, address(0, at::SYSTEM_TIME), &[0; 8]);
    }
    let positions = (0..4_u16).map(|position| 0_u16.wrapping_sub(position));
    positions
        .map(|position| send(&mut segment, Command::Aprd, address(position, at::SYSTEM_TIME), &[0; 0x28]))
        .collect()
}

#[test]
fn a_clock_follows_every_reference_whenever_its_loop_works() {
    let settled = clocks_after(2_000, true);
    assert_eq!(settled, clocks_after(2_000, false));
    assert_ne!(settled, clocks_after(1_999, true));
}
