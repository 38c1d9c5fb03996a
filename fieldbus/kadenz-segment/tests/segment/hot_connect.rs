// SPDX-License-Identifier: Apache-2.0
//! Hot-connect groups: known by their ID at whatever port they join, while the others stay in OP.

use crate::support::master::{Master, STATION};
use crate::support::segment;
use kadenz_segment::command::Command;
use kadenz_segment::description::Purpose;
use kadenz_segment::fault::Fault;
use kadenz_segment::frame::address;
use kadenz_segment::register::at;
use kadenz_segment::ring::Ring;
use kadenz_segment::settings::RingFile;
use std::path::Path;

/// A hub with the group `arm` at port 3 (two devices), a line at port 1, and two groups for port 2 that are not there.
const RING: &str = r#"
[[device]]
name = "hub"
kind = "coupler"
[[device]]
name = "arm"
kind = "drive"
attached_to = "hub"
port = 3
hot_connect = "present"
device_id = 31
[[device]]
name = "hand"
kind = "digital-output"
[[device]]
name = "line"
kind = "drive"
attached_to = "hub"
[[device]]
name = "gripper"
kind = "drive"
attached_to = "hub"
port = 2
hot_connect = "absent"
device_id = 41
[[device]]
name = "camera"
kind = "digital-input"
attached_to = "hub"
port = 2
hot_connect = "absent"
device_id = 51
"#;
const HAND: u16 = 0;
const ARM: u16 = 31;
const GRIPPER: u16 = 41;
const CAMERA: u16 = 51;

fn inject(master: &mut Master, text: &str) -> u32 {
    let now_ns = master.link.now_ns();
    let fault = Fault::from_argument(text).expect("fault");
    let positions = fault.places_in(&master.link.segment().places()).expect("devices");
    let number = master.link.segment_mut().inject(fault, positions, now_ns).expect("room");
    // It begins with the next frame.
    master.command(Command::Nop, 0, &[0; 2]);
    number
}

fn log(master: &mut Master) -> Vec<String> {
    let happenings = master.link.segment_mut().take_happenings();
    let text = |line: String| line.split_once(" s: ").unwrap().1.to_owned();
    let lines = happenings.iter().map(|happening| text(happening.to_string()));
    lines.filter(|line| line.starts_with("group") || line.contains("join: ") || line.contains("not in")).collect()
}

/// The IDs in the order of the devices, each asked for at AL control.
fn ids(master: &mut Master) -> Vec<u16> {
    let (_, devices) = master.command(Command::Brd, address(0, at::TYPE), &[0]).unwrap();
    let mut ids = Vec::new();
    for position in 0..devices {
        let by_position = |register: u16| address(0_u16.wrapping_sub(position), register);
        let state = master.command(Command::Aprd, by_position(at::AL_STATUS.address()), &[0; 2]).unwrap().0[0] & 0x0F;
        let ask = |bit: u8| [state | bit, 0];
        master.command(Command::Apwr, by_position(at::AL_CONTROL.address()), &ask(0x20));
        let answer = master.command(Command::Aprd, by_position(at::AL_STATUS.address()), &[0; 6]).unwrap().0;
        let has_id = answer[0] & 0x20 != 0;
        ids.push(if has_id { u16::from_le_bytes([answer[4], answer[5]]) } else { 0 });
        master.command(Command::Apwr, by_position(at::AL_CONTROL.address()), &ask(0));
    }
    ids
}

/// Position of the device with an ID on the way of a frame.
fn position_of(master: &mut Master, id: u16) -> u16 {
    ids(master).iter().position(|known| *known == id).expect("it is there") as u16
}

/// A segment whose first four devices are in OP; logical addresses from 100 on are for groups that join.
fn in_op() -> Master {
    let mut master = Master::new(segment(RING));
    bring_up(&mut master, &[0, 1, 2, 3]);
    master
}

/// Brings devices to OP, each with process data of its own at 100 times its index.
fn bring_up(master: &mut Master, devices: &[usize]) {
    for device in devices.iter().copied() {
        master.configure_managers(device);
        assert_eq!(master.request(device, 2), (2, 0), "{device}");
        let description = master.link.segment().ring().devices[device].description.clone();
        for (fmmu, purpose, kind) in [(0, Purpose::Outputs, 2), (1, Purpose::Inputs, 1)] {
            let Some(number) = description.manager(purpose) else { continue };
            let manager = description.managers()[number];
            if manager.length > 0 {
                master.map(
                    device,
                    fmmu,
                    100 * device as u32 + 50 * u32::from(fmmu),
                    manager.length,
                    manager.start,
                    kind,
                );
            }
        }
    }
    master.image = vec![0; 600];
    master.inputs = vec![0; 600];
    for state in [4, 8] {
        for device in devices.iter().copied() {
            assert_eq!(master.request(device, state), (state, 0), "{device}");
        }
        master.cycle();
    }
}

fn state(master: &Master, device: usize) -> u16 {
    master.link.segment().ring().devices[device].al.status()
}

#[test]
fn a_group_is_known_by_its_id_at_every_port_in_any_order() {
    let mut master = Master::new(segment(RING));
    assert_eq!(ids(&mut master), [0, ARM, HAND, 0]);
    inject(&mut master, "join@frame=1,device=camera");
    assert_eq!(ids(&mut master), [0, ARM, HAND, 0, CAMERA], "at port 2 of the hub, as in the ring file");
    inject(&mut master, "join@frame=1,device=gripper,attached_to=line,port=1");
    assert_eq!(ids(&mut master), [0, ARM, HAND, 0, GRIPPER, CAMERA]);
    inject(&mut master, "leave@frame=1,device=arm");
    assert_eq!(ids(&mut master), [0, 0, GRIPPER, CAMERA]);
    inject(&mut master, "join@frame=1,device=camera,attached_to=hub,port=3");
    assert_eq!(ids(&mut master), [0, CAMERA, 0, GRIPPER], "moved");
    inject(&mut master, "join@frame=1,device=arm,attached_to=hub,port=2");
    assert_eq!(ids(&mut master), [0, CAMERA, 0, GRIPPER, ARM, HAND], "exchanged with the camera");
    inject(&mut master, "leave@frame=1,device=gripper");
    inject(&mut master, "join@frame=1,device=gripper,attached_to=hand,port=2");
    assert_eq!(ids(&mut master), [0, CAMERA, 0, ARM, HAND, GRIPPER], "a group behind another");
    inject(&mut master, "leave@frame=1,device=arm");
    assert_eq!(ids(&mut master), [0, CAMERA, 0], "both are gone");
    let number = inject(&mut master, "join@frame=1,device=arm,attached_to=line,port=3");
    assert_eq!(ids(&mut master), [0, CAMERA, 0, ARM, HAND, GRIPPER]);
    let now_ns = master.link.now_ns();
    master.link.segment_mut().clear_faults(Some(number), now_ns);
    assert_eq!(ids(&mut master), [0, CAMERA, 0], "the end of a join");
}

#[test]
fn a_group_that_joins_comes_to_op_and_the_others_stay_there() {
    let mut master = in_op();
    let of_four = master.cycle().unwrap();
    assert_eq!(of_four, 3 + 2 + 3);
    inject(&mut master, "join@frame=1,device=gripper");
    assert_eq!(master.cycle(), Some(of_four), "it is in INIT");
    let position = position_of(&mut master, GRIPPER);
    assert_eq!(position, 4);
    let by_position = address(0_u16.wrapping_sub(position), at::STATION);
    assert_eq!(master.command(Command::Aprd, by_position, &[0; 2]).unwrap().0, [0, 0], "no address after power-on");
    master.command(Command::Apwr, by_position, &(STATION + 4).to_le_bytes());
    bring_up(&mut master, &[4]);
    assert_eq!(master.cycle(), Some(of_four + 3));
    assert_eq!([1, 2, 3, 4].map(|device| state(&master, device)), [8; 4]);
    inject(&mut master, "leave@frame=1,device=arm");
    assert_eq!(master.cycle(), Some(of_four + 3 - 5), "arm and hand");
    assert_eq!([3, 4].map(|device| state(&master, device)), [8; 2]);
    assert_eq!(master.read(0, at::LOST_LINK, 4).unwrap().0, [0, 0, 0, 1]);
    assert_eq!(master.read_u16(0, at::DL_STATUS) >> 4 & 0x0F, 0b0111, "links of the hub");
}

#[test]
fn a_group_that_leaves_for_a_while_joins_again_where_it_was_without_its_states() {
    let mut master = in_op();
    let whole = master.cycle().unwrap();
    inject(&mut master, "leave@cycle=2,count=3,device=arm");
    let counters: Vec<u16> = (0..7).map(|_| master.cycle().unwrap()).collect();
    assert_eq!(counters, [whole, 3, 3, 3, 3, 3, 3]);
    assert_eq!([1, 2, 3].map(|device| state(&master, device)), [1, 1, 8], "arm and hand are in INIT");
    for (device, position) in [(1, 1), (2, 2)] {
        let by_position = address(0_u16.wrapping_sub(position), at::STATION);
        master.command(Command::Apwr, by_position, &(STATION + device).to_le_bytes());
    }
    bring_up(&mut master, &[1, 2]);
    assert_eq!(master.cycle(), Some(whole));
    let lines = log(&mut master);
    assert_eq!(lines, ["group arm (2 devices) leaves port 3 of hub", "group arm (2 devices) joins at port 3 of hub"]);
}

#[test]
fn a_group_that_cannot_join_is_named_with_the_reason() {
    let mut master = Master::new(segment(RING));
    for text in [
        "join@frame=1,device=arm",
        "join@frame=1,device=gripper,attached_to=hub,port=1",
        "join@frame=1,device=arm,attached_to=hand,port=2",
        "leave@frame=1,device=gripper",
        "join@frame=1,device=gripper,attached_to=gripper,port=2",
    ] {
        inject(&mut master, text);
    }
    let expected = [
        "fault 1, join at arm: does not join: it is at port 3 of hub already",
        "fault 2, join at gripper: does not join: port 1 of hub is taken",
        "fault 3, join at arm: does not join: hand belongs to it",
        "fault 4, leave at gripper: is not in the segment",
        "fault 5, join at gripper: does not join: gripper belongs to it",
    ];
    assert_eq!(log(&mut master), expected);
    assert_eq!(ids(&mut master), [0, ARM, HAND, 0]);
}

#[test]
fn the_same_moves_give_the_same_frames() {
    let frames = || {
        let mut master = in_op();
        for text in ["leave@cycle=3,count=2,device=arm", "join@cycle=2,count=6,device=camera,attached_to=line"] {
            inject(&mut master, text);
        }
        let mut frames = Vec::new();
        for _ in 0..12 {
            let counter = master.cycle();
            frames.push((counter, master.inputs.clone(), ids(&mut master)));
        }
        frames
    };
    assert_eq!(frames(), frames());
}

#[test]
fn wrong_groups_and_ids_are_answered_by_their_mistake() {
    let places = segment(RING).places();
    for (text, expected) in [
        ("join@cycle=1", "join needs a device"),
        ("join@cycle=1,device=line", "device \"line\" has no hot-connect group"),
        ("leave@cycle=1,device=hub", "device \"hub\" has no hot-connect group"),
        ("join@cycle=1,device=arm,attached_to=hup", "join: no device \"hup\""),
        ("join@cycle=1,device=arm,port=2", "port of a join is 1, 2 or 3"),
        ("join@cycle=1,device=arm,attached_to=hub,port=0", "port of a join is 1, 2 or 3"),
        ("leave@cycle=1,device=arm,port=2", "leave takes no port"),
    ] {
        let problem = match Fault::from_argument(text) {
            Err(error) => error.to_string(),
            Ok(fault) => fault.places_in(&places).unwrap_err().0,
        };
        assert!(problem.contains(expected), "{text}: {problem}");
    }
    for (file, expected) in [
        ("[[device]]\nname=\"a\"\nkind=\"coupler\"\nhot_connect=\"absent\"\n", "device 0 (a): hot_connect"),
        ("[[device]]\nname=\"a\"\nkind=\"coupler\"\ndevice_id=65536\n", "device.device_id = 65536"),
    ] {
        let path = Path::new("test.toml");
        let error = RingFile::parse(file, path).and_then(|file| Ring::new(&file, path)).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn devices_of_a_present_group_are_checked_for_their_order() {
    let text = RING.replace("port = 3", "port = 2").replace("name = \"gripper\"", "name = \"g\"");
    let path = Path::new("test.toml");
    let error = RingFile::parse(&text, path).and_then(|file| Ring::new(&file, path)).err().unwrap().to_string();
    assert!(error.contains("List them as: hub, line, arm, hand"), "{error}");
}

#[test]
fn an_id_switch_is_read_as_the_esi_file_says() {
    let esi = |info: &str| {
        format!(
            "<EtherCATInfo><Vendor><Id>1</Id></Vendor><Descriptions><Devices><Device>\
             <Type ProductCode=\"2\" RevisionNo=\"3\">switch</Type>{info}</Device></Devices></Descriptions></EtherCATInfo>"
        )
    };
    let folder = std::env::temp_dir().join(format!("kadenz-id-switch-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let built = |info: &str| {
        std::fs::write(folder.join("device.xml"), esi(info)).unwrap();
        let ring = "[[device]]\nname = \"a\"\nkind = \"coupler\"\nesi = \"device.xml\"\ndevice_id = 0x1234\n";
        let path = folder.join("ring.toml");
        std::fs::write(&path, ring).unwrap();
        RingFile::read(&path).and_then(|file| Ring::new(&file, &path)).map(kadenz_segment::segment::Segment::new)
    };
    let mut by_status = Master::new(built("<Info><IdentificationReg134>true</IdentificationReg134></Info>").unwrap());
    assert_eq!(ids(&mut by_status), [0x1234]);
    let mut by_word = Master::new(built("<Info><IdentificationAdo>#x1000</IdentificationAdo></Info>").unwrap());
    assert_eq!(ids(&mut by_word), [0]);
    assert_eq!(by_word.read(0, 0x1000_u16, 2), Some((vec![0x34, 0x12], 1)));
    let flags = |master: &Master| {
        let words = &master.link.segment().ring().devices[0].esc.sii;
        let general = (0x40..).find(|word| words.word(*word) == 30).unwrap() + 2;
        (words.word(general + 5) >> 8, words.word(general + 9))
    };
    assert_eq!((flags(&by_status), flags(&by_word)), ((8, 0), (0x10, 0x1000)));
    for (info, expected) in [
        ("", "`device_id`, but switch has no ID switch"),
        ("<Info><IdentificationAdo>x</IdentificationAdo></Info>", "IdentificationAdo \"x\" is not a number"),
        ("<Info><IdentificationAdo>#x10000</IdentificationAdo></Info>", "more than 16 bits"),
    ] {
        let error = built(info).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
