// SPDX-License-Identifier: Apache-2.0
//! ethercrab brings the ring up, speaks CoE with it, keeps its clocks and moves its axes. No network, no privileges.

use crate::support::{eight, eight_exact, line, link, segment, Link, EXACT};
use ethercrab::error::Error;
use ethercrab::subdevice_group::{CycleInfo, DcConfiguration, TxRxResponse};
use ethercrab::{DcSync, RegisterAddress};
use kadenz_segment::al::State;
use std::time::Duration;

const CYCLE: Duration = Duration::from_millis(1);

/// Nanoseconds since 2000 as ethercrab wants them; any fixed number does.
fn now() -> u64 {
    800_000_000_000_000_000
}

/// Waits for the next whole millisecond, so that cycles are exactly one apart whatever frames they take.
fn next_cycle(wire: &Link) {
    let mut wire = wire.borrow_mut();
    let left = 1_000_000 - wire.now_ns() % 1_000_000;
    wire.advance_ns(left);
}

/// Register at::DIFFERENCE: sign and magnitude.
fn difference(raw: u32) -> i64 {
    let magnitude = i64::from(raw & 0x7FFF_FFFF);
    if raw >> 31 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

macro_rules! to_op {
    ($main:ident, $wire:ident, $pdi:literal) => {{
        let mut group = $main.init_single_group::<16, $pdi>(now).await.expect("init");
        for mut device in group.iter_mut(&$main) {
            device.set_dc_sync(DcSync::Sync0);
        }
        let group = group.into_pre_op_pdi(&$main).await.expect("PRE-OP with PDI");
        for _ in 0..200 {
            group.tx_rx_sync_system_time(&$main).await.expect("align");
            next_cycle(&$wire);
        }
        let dc = DcConfiguration { start_delay: Duration::from_millis(5), sync0_period: CYCLE, sync0_shift: CYCLE / 2 };
        let group = group.configure_dc_sync(&$main, dc).await.expect("DC");
        let group = group.into_safe_op(&$main).await.expect("SAFE-OP");
        let group = group.request_into_op(&$main).await.expect("OP requested");
        let mut cycles = 0;
        loop {
            let response = group.tx_rx_dc(&$main).await.expect("cycle");
            next_cycle(&$wire);
            if response.all_op() {
                break;
            }
            cycles += 1;
            assert!(cycles < 100, "not operational after 100 cycles");
        }
        group
    }};
}

#[test]
fn nine_devices_reach_op_with_clocks_and_full_working_counter() {
    with_ethercrab!(link(eight()), |main, wire| async {
        let group = to_op!(main, wire, 512);
        assert_eq!(group.len(), 9);
        for _ in 0..50 {
            let TxRxResponse { working_counter, extra: CycleInfo { .. }, .. } = group.tx_rx_dc(&main).await.unwrap();
            next_cycle(&wire);
            // Six drives read and write, one output writes, one input reads.
            assert_eq!(working_counter, 6 * 3 + 2 + 1);
        }
        let wire = wire.borrow();
        let devices = &wire.segment().ring().devices;
        assert!(devices.iter().all(|device| device.al.state() == State::Op && device.al.code() == 0));
    });
}

#[test]
fn clocks_agree_within_ten_nanoseconds_although_oscillators_differ_by_forty_ppm() {
    with_ethercrab!(link(eight_exact()), |main, wire| async {
        let group = to_op!(main, wire, 512);
        for _ in 0..500 {
            group.tx_rx_dc(&main).await.unwrap();
            next_cycle(&wire);
        }
        for device in group.iter(&main).skip(1) {
            let raw: u32 = device.register_read(RegisterAddress::DcSystemTimeDifference).await.unwrap();
            assert!(difference(raw).abs() <= 10, "{}: {} ns", device.name(), difference(raw));
        }
        let wire = wire.borrow();
        let times: Vec<u64> =
            wire.segment().ring().devices.iter().filter_map(|device| device.esc.system_time(wire.now_ns())).collect();
        let spread = times.iter().max().unwrap() - times.iter().min().unwrap();
        // Beyond the loop's own error: half a hop of the delay measurement's rounding at each of eight hops.
        assert!(spread < 30, "{spread} ns");
    });
}

#[test]
fn clocks_500_ppm_off_lock_with_the_small_residue_of_real_ones() {
    let ppm = |k: usize| if k % 2 == 0 { 500 } else { -500 };
    let device = |k| format!("[[device]]\nname = \"d{k}\"\nkind = \"drive\"\nclock_ppm = {}\n", ppm(k));
    let ring: String = (0..6).map(device).collect();
    with_ethercrab!(link(segment(&ring)), |main, wire| async {
        let group = to_op!(main, wire, 512);
        for _ in 0..1000 {
            group.tx_rx_dc(&main).await.unwrap();
            next_cycle(&wire);
        }
        let mut seen = Vec::new();
        for _ in 0..50 {
            group.tx_rx_dc(&main).await.unwrap();
            next_cycle(&wire);
            for device in group.iter(&main).skip(1) {
                let raw: u32 = device.register_read(RegisterAddress::DcSystemTimeDifference).await.unwrap();
                seen.push(difference(raw));
            }
        }
        assert!(seen.iter().all(|ns| ns.abs() < 100), "{seen:?}");
        assert!(
            seen.iter().filter(|ns| **ns != 0).count() > seen.len() / 2,
            "real clocks do not agree to the ns: {seen:?}"
        );
    });
}

#[test]
fn propagation_delays_are_measured_along_a_line() {
    with_ethercrab!(link(eight_exact()), |main, wire| async {
        let group = main.init_single_group::<16, 512>(now).await.unwrap();
        let delays: Vec<i64> = group.iter(&main).map(|device| i64::from(device.propagation_delay())).collect();
        for (position, delay) in delays.iter().enumerate() {
            // Oscillators of ±20 ppm over 9.6 µs err by less than a nanosecond; the rest is integer division.
            assert!((delay - 600 * position as i64).abs() <= 8, "{delays:?}");
        }
        drop(wire);
    });
}

#[test]
fn propagation_delays_are_measured_across_a_fork() {
    let ring = format!("{EXACT}hop_ns = 600\n")
        + &line(&["coupler", "digital-output", "digital-output"])
        + "attached_to = \"d0\"\nport = 2\n";
    with_ethercrab!(link(segment(&ring)), |main, wire| async {
        let group = main.init_single_group::<16, 512>(now).await.unwrap();
        let delays: Vec<i64> = group.iter(&main).map(|device| i64::from(device.propagation_delay())).collect();
        // d2 is one hop from d0, but a frame passes d1 first: out, back, out.
        assert!((delays[1] - 600).abs() <= 4 && (delays[2] - 1800).abs() <= 4, "{delays:?}");
        drop(wire);
    });
}

#[test]
fn objects_are_read_written_and_refused_over_coe() {
    with_ethercrab!(link(segment(&line(&["coupler", "drive"]))), |main, wire| async {
        let group = main.init_single_group::<16, 512>(now).await.unwrap();
        let drive = group.subdevice(&main, 1).unwrap();
        assert_eq!(drive.sdo_read::<u32>(0x1000, 0).await.unwrap(), 0x0002_0192);
        assert_eq!(drive.sdo_read::<u16>(0x6066, 0).await.unwrap(), 10);
        drive.sdo_write(0x6066, 0, 77_u16).await.unwrap();
        assert_eq!(drive.sdo_read::<u16>(0x6066, 0).await.unwrap(), 77);
        let name = drive.sdo_read::<[u8; 18]>(0x1008, 0).await.unwrap();
        assert_eq!(&name, b"kadenz servo drive");
        for (index, sub, name) in [(0x5FFF, 0, "object does not exist"), (0x1018, 9, "sub-index does not exist")] {
            let refused = drive.sdo_read::<u32>(index, sub).await;
            assert!(matches!(refused, Err(Error::Mailbox(_))), "{name}: {refused:?}");
        }
        let read_only = drive.sdo_write(0x1000, 0, 1_u32).await;
        assert!(matches!(read_only, Err(Error::Mailbox(_))), "{read_only:?}");
        let pdos = drive.sdo_read_array::<u16, 4>(0x1C12).await.unwrap();
        assert_eq!(pdos.as_slice(), [0x1600]);
        drop(wire);
    });
}

#[test]
fn sdo_information_lists_every_object() {
    // ethercrab keeps a list of 65,536 indices on the stack.
    let body = || sdo_information();
    std::thread::Builder::new().stack_size(64 << 20).spawn(body).unwrap().join().unwrap();
}

fn sdo_information() {
    with_ethercrab!(link(segment(&line(&["drive"]))), |main, wire| async {
        let group = main.init_single_group::<16, 512>(now).await.unwrap();
        let drive = group.subdevice(&main, 0).unwrap();
        let counts = drive.sdo_info_object_quantities().await.unwrap().unwrap();
        let expected = wire.borrow().segment().ring().devices[0].dictionary.objects().len();
        assert_eq!(usize::from(counts.all), expected);
        assert!(counts.rx_pdo_mappable >= 6 && counts.tx_pdo_mappable >= 7);
    });
}

#[test]
fn an_axis_follows_a_position_ramp_under_the_master() {
    with_ethercrab!(link(eight()), |main, wire| async {
        let group = to_op!(main, wire, 512);
        let axis = group.subdevice(&main, 1).unwrap();
        let mut target = 0_i32;
        let cycle = |controlword: u16, target: i32| {
            let mut outputs = axis.outputs_raw_mut();
            outputs[0..2].copy_from_slice(&controlword.to_le_bytes());
            outputs[2..6].copy_from_slice(&target.to_le_bytes());
            outputs[14] = 8;
        };
        for controlword in [0x00_u16, 0x06, 0x07, 0x0F] {
            for _ in 0..5 {
                cycle(controlword, 0);
                group.tx_rx_dc(&main).await.unwrap();
                next_cycle(&wire);
            }
        }
        let status = u16::from_le_bytes(axis.inputs_raw()[0..2].try_into().unwrap());
        assert_eq!(status & 0x6F, 0x27, "operation enabled, status {status:#06x}");
        for _ in 0..1000 {
            target += 100;
            cycle(0x0F, target);
            group.tx_rx_dc(&main).await.unwrap();
            next_cycle(&wire);
        }
        let inputs = axis.inputs_raw();
        let position = i32::from_le_bytes(inputs[2..6].try_into().unwrap());
        let velocity = i32::from_le_bytes(inputs[6..10].try_into().unwrap());
        // 100 counts/ms; two cycles between a setpoint and its image in the inputs, and the loop's own lag.
        assert!((target - position).abs() < 600, "{position} of {target}");
        assert!((velocity - 100_000).abs() < 5_000, "{velocity} counts/s");
        let joint = wire.borrow().segment().ring().plant().position_rad(0);
        assert!((joint - f64::from(position) / 1_048_576.0 * std::f64::consts::TAU).abs() < 0.01);
    });
}

#[test]
fn an_output_edge_reaches_the_input_with_a_time_stamp() {
    with_ethercrab!(link(eight()), |main, wire| async {
        let group = to_op!(main, wire, 512);
        let (output, input) = (group.subdevice(&main, 7).unwrap(), group.subdevice(&main, 8).unwrap());
        let mut stamps = Vec::new();
        for k in 0..40 {
            output.outputs_raw_mut()[0] = k / 10 % 2;
            group.tx_rx_dc(&main).await.unwrap();
            next_cycle(&wire);
            let inputs = input.inputs_raw();
            stamps.push(u64::from_le_bytes(inputs[3..11].try_into().unwrap()));
        }
        let count = u16::from_le_bytes(input.inputs_raw()[1..3].try_into().unwrap());
        assert_eq!(count, 3, "up, down, up");
        stamps.dedup();
        let rising: Vec<u64> = stamps.into_iter().filter(|stamp| *stamp > 0).collect();
        assert_eq!(rising.len(), 2);
        // Twenty periods of SYNC0, whose clock and the terminal's differ by less than 100 ppm; noise of 12 ns twice.
        let apart = rising[1] - rising[0];
        assert!(apart.abs_diff(20_000_000) < 2_000 + 100, "{apart} ns");
    });
}
