// SPDX-License-Identifier: Apache-2.0
//! Numbered fault scenarios on the segment's side: what goes wrong, and what exactly a master sees of it.
//! (docs/reference/segment-conformance.md lists them; docs/reference/motion.md lists those of the motion application.)

mod analog;
mod drive;
mod foreign;
mod link;
mod mailbox;
mod process_data;
mod state;
use crate::support::master::{Master, Sdo};
use crate::support::{eight, line, segment};
use kadenz_segment::command::Command;
use kadenz_segment::drive::fault as drive_error;
use kadenz_segment::fault::{Fault, FaultFile};
use kadenz_segment::frame::{address, FrameBuilder};
use kadenz_segment::register::at;
use kadenz_segment::segment::Verdict;
use std::path::Path;

/// Working counter of the ring when all is well.
const WHOLE: u16 = 6 * 3 + 2 + 1;
const COUNTS_PER_RAD: f64 = 1_048_576.0 / std::f64::consts::TAU;

/// The ring in OP, with faults whose moments count from the next frame on.
fn in_op(faults: &[&str]) -> Master {
    let mut master = Master::new(eight());
    master.bring_up();
    assert_eq!(master.cycle(), Some(WHOLE));
    let counters = master.link.segment().counters();
    let faults = faults.iter().map(|text| {
        let mut fault = Fault::from_argument(text).expect("fault");
        fault.cycle = fault.cycle.map(|cycle| cycle + counters.cycles);
        fault.frame = fault.frame.map(|frame| frame + counters.frames);
        fault
    });
    master.link.segment_mut().add_faults(faults.collect::<Vec<_>>()).expect("devices");
    master
}

fn fast_drive(extra: &str) -> String {
    format!("[[device]]\nname = \"axis\"\nkind = \"drive\"\n[device.drive]\n{extra}\n")
}

#[test]
fn s01_a_lost_frame_is_lost_once_and_leaves_the_outputs_as_they_were() {
    let mut master = in_op(&["lose-frame@cycle=2"]);
    let seen: Vec<_> = (0..4).map(|_| master.cycle()).collect();
    assert_eq!(seen, [Some(WHOLE), None, Some(WHOLE), Some(WHOLE)]);
    assert_eq!(master.link.segment().counters().lost, 1);
}

#[test]
fn s02_a_frame_lost_on_the_way_back_has_still_been_worked_on() {
    let mut master = in_op(&["lose-return@cycle=1"]);
    master.control(1, 0x06);
    assert_eq!(master.cycle(), None);
    master.cycle();
    assert_eq!(master.status(1) & 0x6F, 0x21, "ready to switch on: the lost frame's controlword counted");
}

#[test]
fn s03_three_lost_frames_are_three() {
    let mut master = in_op(&["lose-frame@cycle=1,count=3"]);
    let lost = (0..10).filter(|_| master.cycle().is_none()).count();
    assert_eq!(lost, 3);
}

#[test]
fn s04_a_doubled_frame_comes_back_twice_and_is_worked_on_once() {
    let mut master = in_op(&["double-frame@cycle=1"]);
    assert_eq!(master.cycle(), Some(WHOLE));
    let copy = master.link.receive().expect("the second copy");
    assert_eq!(u16::from_le_bytes([copy[copy.len() - 2], copy[copy.len() - 1]]), WHOLE, "counted once");
}

#[test]
fn s05_a_late_frame_comes_back_at_its_time_and_not_before() {
    let mut master = in_op(&["late-frame@cycle=1,delay_us=2500"]);
    assert_eq!(master.cycle(), None);
    master.link.advance_ns(1_400_000);
    assert_eq!(master.link.receive(), None, "2.4 ms");
    master.link.advance_ns(100_000);
    assert!(master.link.receive().is_some(), "2.5 ms");
}

#[test]
fn s06_a_corrupt_byte_is_the_byte_asked_for() {
    let mut master = in_op(&["corrupt-frame@frame=1,byte=30", "corrupt-frame@frame=2"]);
    let frame = FrameBuilder::default().datagram(Command::Brd, 1, address(0, at::AL_STATUS), &[0; 40]).build();
    let good = {
        let mut twin = in_op(&[]);
        twin.link.exchange(&frame).unwrap()
    };
    for wrong_at in [30, good.len() - 1] {
        let back = master.link.exchange(&frame).unwrap();
        let differing: Vec<usize> = (0..good.len()).filter(|at| good[*at] != back[*at]).collect();
        assert_eq!(differing, [wrong_at]);
    }
}

#[test]
fn s07_a_wrong_working_counter_is_off_by_the_given_delta() {
    let mut master = in_op(&["wrong-counter@cycle=2,delta=-3,count=2"]);
    let seen: Vec<_> = (0..4).map(|_| master.cycle().unwrap()).collect();
    assert_eq!(seen, [WHOLE, WHOLE - 3, WHOLE - 3, WHOLE]);
}

#[test]
fn s08_a_broken_cable_hides_the_devices_behind_it_and_the_neighbour_reports_the_port() {
    let mut master = in_op(&["break-cable@cycle=1,device=j3"]);
    // Coupler and j0, j1, j2 are left.
    assert_eq!(master.cycle(), Some(9));
    assert_eq!(master.read(4, at::AL_STATUS, 2).unwrap().1, 0, "j3 does not answer");
    assert_eq!(master.read_u16(3, at::DL_STATUS), 0x5613, "j2 is the last now");
    assert_eq!(master.read(3, at::LOST_LINK.element(1), 1).unwrap().0, [1], "lost link counter of its port 1");
}

#[test]
fn s09_a_healed_cable_brings_the_devices_back_with_their_watchdog_expired() {
    let mut master = in_op(&["break-cable@cycle=1,device=j3,count=150"]);
    master.cycles(150);
    assert_eq!(master.cycle(), Some(WHOLE), "sync managers work in SAFE-OP as well: the counter alone does not tell");
    assert_eq!(master.state(3), (8, 0), "in front of the break");
    assert_eq!(master.state(4), (0x14, 0x1B), "behind it");
}

#[test]
fn s10_a_device_without_power_starts_anew_in_init_without_address() {
    let mut master = in_op(&["device-gone@cycle=1,device=outputs,count=5"]);
    assert_eq!(master.cycle(), Some(18), "the output and the input behind it are gone");
    master.cycles(5);
    assert_eq!(master.read(7, at::AL_STATUS, 2).unwrap().1, 0, "its station address is gone");
    let (state, _) = master.command(Command::Aprd, address(0_u16.wrapping_sub(7), at::AL_STATUS), &[0; 2]).unwrap();
    assert_eq!(state, [1, 0]);
}

#[test]
fn s11_a_reset_device_is_missing_from_the_working_counter_for_good() {
    let mut master = in_op(&["device-reset@cycle=3,device=j5"]);
    let seen: Vec<_> = (0..6).map(|_| master.cycle().unwrap()).collect();
    assert_eq!(seen, [WHOLE, WHOLE, WHOLE - 3, WHOLE - 3, WHOLE - 3, WHOLE - 3]);
}

#[test]
fn s12_a_deaf_device_passes_frames_on() {
    let mut master = in_op(&["device-deaf@cycle=1,device=j2,count=4"]);
    let seen: Vec<_> = (0..6).map(|_| master.cycle().unwrap()).collect();
    assert_eq!(seen, [WHOLE - 3, WHOLE - 3, WHOLE - 3, WHOLE - 3, WHOLE, WHOLE]);
}

#[test]
fn s13_an_al_error_shows_state_flag_and_code() {
    let mut master = in_op(&["al-error@cycle=1,device=j1,state=4,code=0x2c"]);
    master.cycle();
    assert_eq!(master.state(2), (0x14, 0x2C));
    assert_eq!(master.request(2, 8), (0x14, 0x2C), "not heard without acknowledge");
    assert_eq!(master.request(2, 0x14), (4, 0));
    assert_eq!(master.request(2, 8), (8, 0));
}

#[test]
fn s14_a_refused_state_gives_the_code_and_keeps_the_old_state() {
    let mut master = Master::new(eight());
    let fault = Fault::from_argument("refuse-state@frame=1,device=j0,state=2,code=0x16").unwrap();
    master.link.segment_mut().add_faults([fault]).unwrap();
    master.configure_managers(1);
    assert_eq!(master.request(1, 2), (0x11, 0x16));
}

#[test]
fn s15_a_drive_fault_shows_in_statusword_error_code_and_emergency() {
    let mut master = in_op(&["drive-fault@cycle=20,device=j0,code=0x3210"]);
    master.enable(1, 8);
    master.cycles(20);
    assert_eq!(master.status(1) & 0x4F, 0x08, "fault, status {:#06x}", master.status(1));
    assert_eq!(master.error_code(1), 0x3210);
    let mailbox = master.fetch(1).expect("an emergency waits");
    assert_eq!((&mailbox[6..8], &mailbox[8..10]), (&[0x00, 0x10][..], &[0x10, 0x32][..]));
    assert_eq!(master.status(2) & 0x4F, 0x40, "the others are untouched");
}

#[test]
fn s16_a_fault_is_reset_by_an_edge_of_bit_7() {
    let mut master = in_op(&["drive-fault@cycle=1,device=j0,code=0x3210"]);
    master.cycles(3);
    assert_eq!(master.status(1) & 0x4F, 0x08);
    master.control(1, 0x80);
    master.cycles(3);
    assert_eq!((master.status(1) & 0x4F, master.error_code(1)), (0x40, 0));
}

#[test]
fn s17_a_drifting_clock_shows_in_the_difference_register() {
    let mut master = in_op(&["clock-drift@cycle=200,device=j4,ppm=800.0"]);
    let offset = |master: &mut Master, device: usize| {
        let reference = master.link.segment().ring().devices[0].esc.system_time(master.link.now_ns()).unwrap();
        let here = master.link.segment().ring().devices[device].esc.system_time(master.link.now_ns()).unwrap();
        master.write(device, at::OFFSET, &reference.wrapping_sub(here).to_le_bytes());
    };
    offset(&mut master, 5);
    let frame = |master: &mut Master| {
        master.cycle();
        master.command(Command::Frmw, address(0x1001, at::SYSTEM_TIME), &[0; 8]);
    };
    let magnitude = |master: &mut Master| {
        let (raw, _) = master.read(5, at::DIFFERENCE, 4).unwrap();
        u32::from_le_bytes(raw.try_into().unwrap()) & 0x7FFF_FFFF
    };
    (0..190).for_each(|_| frame(&mut master));
    assert!(magnitude(&mut master) < 20, "locked: {}", magnitude(&mut master));
    (0..15).for_each(|_| frame(&mut master));
    assert!(magnitude(&mut master) > 100, "pulled away: {}", magnitude(&mut master));
}

#[test]
fn s18_a_silent_mailbox_takes_the_request_and_never_answers() {
    let mut master = in_op(&["mailbox-silent@frame=1,device=j0,count=40"]);
    assert_eq!(master.upload(1, 0x1000, 0, false), Sdo::Silence);
    master.cycles(40);
    assert!(matches!(master.upload(1, 0x1000, 0, false), Sdo::Data(_)), "it speaks again");
}

#[test]
fn s19_an_emergency_waits_for_the_end_of_a_dialogue() {
    let mut master = in_op(&["emergency@frame=2,device=j0,code=0x8110"]);
    // The request is the first frame: the emergency is raised while the reply waits.
    assert!(matches!(master.upload(1, 0x1000, 0, false), Sdo::Data(_)));
    master.cycle();
    let mailbox = master.fetch(1).expect("after the dialogue");
    assert_eq!(&mailbox[6..10], [0x00, 0x10, 0x10, 0x81]);
}

#[test]
fn s20_an_emergency_during_a_request_comes_before_the_reply() {
    let mut master = in_op(&["emergency-during-request@request=1,device=j0,code=0x8110"]);
    assert_eq!(master.upload(1, 0x1000, 0, false), Sdo::Emergency(0x8110));
    master.cycle();
    assert!(master.fetch(1).is_some_and(|reply| reply[6..8] == [0x00, 0x30]), "the reply follows");
}

#[test]
fn s21_a_wrong_eeprom_checksum_is_flagged() {
    let mut master = in_op(&["eeprom-checksum@frame=1,device=j0"]);
    master.write(1, at::EEPROM_CONTROL, &[0x00, 0x01, 0, 0, 0, 0]);
    assert_eq!(master.read_u16(1, at::EEPROM_CONTROL) & 1 << 11, 1 << 11);
}

#[test]
fn s22_outputs_that_stop_end_in_safe_op_with_code_1b_and_low_outputs() {
    let mut master = in_op(&[]);
    master.outputs(7)[0] = 0x05;
    master.cycles(2);
    let high = |master: &Master| match &master.link.segment().ring().devices[7].function {
        kadenz_segment::device::Function::DigitalOutput(outputs) => outputs.level(1),
        _ => unreachable!("device 7 is the output terminal"),
    };
    assert!(high(&master));
    master.link.advance_ns(99_000_000);
    assert_eq!(master.state(7), (8, 0), "99 ms");
    master.link.advance_ns(2_000_000);
    assert_eq!(master.state(7), (0x14, 0x1B), "101 ms");
    assert!(!high(&master));
    assert_eq!(master.read(7, at::WD_STATUS, 3).unwrap().0, [0, 0, 1], "watchdog status and counter");
}

#[test]
fn s23_a_watchdog_of_zero_never_expires() {
    let mut master = in_op(&[]);
    master.write(7, at::WD_TIME, &[0, 0]);
    master.link.advance_ns(10_000_000_000);
    assert_eq!(master.state(7), (8, 0));
}

#[test]
fn s24_an_enabled_drive_whose_outputs_stop_brakes_and_faults() {
    let mut master = in_op(&[]);
    master.enable(1, 9);
    master.target_velocity(1, 200_000);
    master.cycles(200);
    assert!((master.velocity(1) - 200_000).abs() < 4_000, "{}", master.velocity(1));
    master.link.advance_ns(400_000_000);
    assert_eq!(master.link.segment().ring().plant().velocity_rad_s(0), 0.0);
    master.cycle();
    assert_eq!((master.status(1) & 0x4F, master.error_code(1)), (0x08, drive_error::COMMUNICATION));
}

#[test]
fn s25_a_step_beyond_the_torque_ends_in_a_following_error() {
    let mut master = Master::new(segment(&fast_drive(
        "max_velocity_rad_s = 0.5\nfollowing_window_rad = 0.1\nfollowing_timeout_ms = 20",
    )));
    master.bring_up();
    master.enable(0, 8);
    let here = master.position(0);
    master.target_position(0, here + COUNTS_PER_RAD as i32);
    master.cycles(60);
    assert_eq!((master.status(0) & 0x4F, master.error_code(0)), (0x08, drive_error::FOLLOWING));
}

#[test]
fn s26_torque_without_load_ends_in_over_speed() {
    let mut master = Master::new(segment(&fast_drive("max_velocity_rad_s = 1.0\nplant = { inertia_kg_m2 = 0.5 }")));
    master.bring_up();
    master.enable(0, 10);
    master.target_torque(0, 500);
    master.cycles(300);
    assert_eq!((master.status(0) & 0x4F, master.error_code(0)), (0x08, drive_error::OVERSPEED));
}

#[test]
fn s27_a_setpoint_beyond_the_software_limit_stops_at_it_and_says_so() {
    let mut master = Master::new(segment(&fast_drive("limits_rad = [-0.2, 0.2]")));
    master.bring_up();
    master.enable(0, 8);
    let mut target = 0.0;
    for _ in 0..600 {
        target += 0.001;
        master.target_position(0, (target * COUNTS_PER_RAD) as i32);
        master.cycle();
    }
    assert_eq!(master.status(0) & 1 << 11, 1 << 11);
    assert!((f64::from(master.position(0)) / COUNTS_PER_RAD - 0.2).abs() < 0.003, "{}", master.position(0));
}

#[test]
fn s28_quick_stop_brakes_at_its_deceleration_and_disables() {
    let mut master = in_op(&[]);
    master.enable(1, 9);
    master.target_velocity(1, 300_000);
    master.cycles(300);
    master.control(1, 0x02);
    master.cycles(20);
    // 300,000 counts/s are 1.8 rad/s; at 20 rad/s² they last 90 ms.
    assert!(master.velocity(1) > 100_000, "still braking: {}", master.velocity(1));
    assert_eq!(master.status(1) & 0x6F, 0x07);
    master.cycles(200);
    assert_eq!((master.status(1) & 0x4F, master.velocity(1)), (0x40, 0));
}

#[test]
fn s29_homing_on_the_negative_switch_sets_the_home_offset() {
    let mut master = Master::new(segment(&fast_drive("switches_rad = [-0.3, 0.3]\nmax_velocity_rad_s = 3.0")));
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    assert_eq!(master.download(0, 0x6098, 0, &[17], false), Sdo::Data(vec![]));
    assert_eq!(master.download(0, 0x607C, 0, &1000_i32.to_le_bytes(), false), Sdo::Data(vec![]));
    master.request(0, 1);
    master.bring_up();
    master.enable(0, 6);
    master.control(0, 0x1F);
    for _ in 0..5000 {
        master.cycle();
        if master.status(0) & 1 << 12 != 0 {
            break;
        }
    }
    assert_eq!(master.status(0) & 0x3400, 0x1400, "attained and reached, no error; {:#06x}", master.status(0));
    let joint = master.link.segment().ring().plant().position_rad(0);
    assert!((joint + 0.3).abs() < 0.01, "at the switch: {joint}");
    let counts = (joint + 0.3) * COUNTS_PER_RAD;
    assert!((f64::from(master.position(0)) - 1000.0 - counts).abs() < 4000.0, "{}", master.position(0));
}

#[test]
fn s30_homing_without_a_switch_is_a_homing_error() {
    let mut master = Master::new(segment(&fast_drive("")));
    master.configure_managers(0);
    master.request(0, 2);
    master.download(0, 0x6098, 0, &[18], false);
    master.request(0, 1);
    master.bring_up();
    master.enable(0, 6);
    master.control(0, 0x1F);
    master.cycles(3);
    assert_eq!(master.status(0) & 1 << 13, 1 << 13);
}

#[test]
fn s31_wrong_sync_managers_are_refused_by_the_code_that_names_them() {
    let mut master = Master::new(segment(&line(&["drive"])));
    assert_eq!(master.request(0, 2), (0x11, 0x16), "no mailbox");
    master.configure_managers(0);
    assert_eq!(master.request(0, 0x12), (2, 0), "acknowledged and asked for in one");
    // SM2 one byte short.
    master.write(0, at::SYNC_MANAGER.element(2), &[0x00, 0x11, 15, 0, 0x64, 0, 1, 0]);
    assert_eq!(master.request(0, 4), (0x12, 0x1D));
    master.write(0, at::SYNC_MANAGER.element(2), &[0x00, 0x11, 16, 0, 0x64, 0, 1, 0]);
    master.write(0, at::SYNC_MANAGER.element(3), &[0x00, 0x15, 20, 0, 0x24, 0, 1, 0]);
    assert_eq!(master.request(0, 0x14), (0x12, 0x1E), "SM3 in the wrong direction");
}

#[test]
fn s32_a_sync_start_in_the_past_is_refused_with_code_30() {
    let mut master = Master::new(segment(&line(&["drive"])));
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    master.write(0, at::SYNC0_CYCLE, &1_000_000_u32.to_le_bytes());
    master.write(0, at::START_TIME, &1_u64.to_le_bytes());
    master.write(0, at::ACTIVATION, &[3]);
    assert_eq!(master.request(0, 4), (0x12, 0x30));
    assert_eq!(master.read(0, at::ACTIVATION_STATUS, 1).unwrap().0, [4]);
}

#[test]
fn s33_a_sync_period_below_what_the_device_can_is_refused_with_code_35() {
    let mut master = Master::new(segment(&line(&["drive"])));
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    master.write(0, at::SYNC0_CYCLE, &100_u32.to_le_bytes());
    master.write(0, at::START_TIME, &u64::MAX.to_le_bytes());
    master.write(0, at::ACTIVATION, &[3]);
    assert_eq!(master.request(0, 4), (0x12, 0x35));
}

#[test]
fn s34_foreign_traffic_is_left_alone() {
    let mut master = in_op(&[]);
    let mut arp = vec![0xFF; 60];
    arp[12..14].copy_from_slice(&[0x08, 0x06]);
    assert_eq!(master.link.send(&arp), Verdict::Ignored);
    assert_eq!(master.link.receive(), None);
}

#[test]
fn s35_the_reset_sequence_of_the_master_restarts_a_device() {
    let mut master = in_op(&[]);
    for byte in b"RES" {
        assert_eq!(master.write(3, at::RESET, &[*byte]), 1);
    }
    assert_eq!(master.cycle(), Some(WHOLE - 3));
}

#[test]
fn s36_a_frame_fault_from_a_time_on_ends_after_its_count() {
    // The first frame with faults in force is time 0; a cycle is a millisecond.
    let lost = |fault: &str, cycles: usize| -> Vec<bool> {
        let mut master = in_op(&[fault]);
        (0..cycles).map(|_| master.cycle().is_none()).collect()
    };
    let but = |cycles: usize, which: &[usize]| (0..cycles).map(|at| which.contains(&at)).collect::<Vec<_>>();
    assert_eq!(lost("lose-frame@time_ms=1,count=3", 8), but(8, &[1, 2, 3]));
    assert_eq!(lost("lose-frame@time_ms=2", 8), but(8, &[2]), "without a length: one");
    assert_eq!(lost("lose-return@time_ms=2,lasting_ms=3", 8), but(8, &[2, 3, 4]));
    assert_eq!(lost("lose-return@cycle=2,lasting_ms=3", 8), but(8, &[1, 2, 3]));
}

#[test]
fn s37_a_wrong_counter_from_a_time_on_counts_frames_with_process_data_only() {
    let mut master = in_op(&["wrong-counter@time_ms=0,delta=-3,count=2"]);
    master.link.advance_ns(1_000_000);
    assert_eq!(master.read_u16(1, at::AL_STATUS), 8, "not a frame with process data");
    assert_eq!(master.cycle(), Some(WHOLE - 3));
    assert_eq!(master.read_u16(1, at::AL_STATUS), 8);
    let seen: Vec<_> = (0..3).map(|_| master.cycle().unwrap()).collect();
    assert_eq!(seen, [WHOLE - 3, WHOLE, WHOLE]);
}

#[test]
fn s38_a_device_fault_lasts_for_its_time_and_heals() {
    let mut master = in_op(&["device-deaf@time_ms=1,lasting_ms=2,device=j2"]);
    let seen: Vec<_> = (0..5).map(|_| master.cycle().unwrap()).collect();
    assert_eq!(seen, [WHOLE, WHOLE - 3, WHOLE - 3, WHOLE, WHOLE]);
}

#[test]
fn a_fault_file_and_the_command_line_say_the_same() {
    let text = "[[fault]]\nkind = \"lose-frame\"\ncycle = 1000\ncount = 3\n";
    let file = FaultFile::parse(text, Path::new("f")).unwrap();
    assert_eq!(file.fault, [Fault::from_argument("lose-frame@cycle=1000,count=3").unwrap()]);
}

#[test]
fn a_wrong_fault_is_answered_by_its_mistake() {
    for (text, part) in [
        ("lose-frme@cycle=1", "Did you mean \"lose-frame\"?"),
        ("lose-frame", "give one moment"),
        ("lose-frame@cycle=1,frame=2", "give one moment"),
        ("lose-frame@cycle=1,device=j0", "takes no device"),
        ("wrong-counter@cycle=1,delta=1,device=j0", "wrong-counter concerns frames and takes no device"),
        ("device-gone@cycle=1", "needs a device"),
        ("late-frame@cycle=1", "needs delay_us"),
        ("al-error@cycle=1,device=a,code=1,state=3", "state is 1, 2, 4 or 8"),
        ("lose-frame@cycel=1", "Did you mean `cycle`?"),
        ("lose-frame@cycle=1,count=2,lasting_ms=3", "give count or lasting_ms, not both"),
        ("lose-frame@cycle=0", "--fault lose-frame@cycle=0: fault.cycle = 0. Choose a whole number from 1"),
        ("lose-frame@cycle=1,count=x", "docs/reference/segment.md"),
    ] {
        let message = Fault::from_argument(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
}
