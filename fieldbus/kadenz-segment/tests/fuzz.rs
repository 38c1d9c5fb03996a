// SPDX-License-Identifier: Apache-2.0
//! No input makes the segment panic: properties, and a bounded random fuzzer.
//!
//! `KADENZ_FUZZ_SECONDS=600 cargo test --release --test fuzz -- --nocapture` runs it for ten minutes; by default it
//! tries the same lives every time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use kadenz_segment::coe::object::Dictionary;
use kadenz_segment::coe::sdo::Server;
use kadenz_segment::command::Command;
use kadenz_segment::control;
use kadenz_segment::description::{MAILBOX_IN, MAILBOX_OUT};
use kadenz_segment::eni::{self, replay::Replay};
use kadenz_segment::eoe::server::Answer;
use kadenz_segment::eoe::settings::EthernetSettings;
use kadenz_segment::esi::{self, Choice};
use kadenz_segment::fault::mailbox::{Fate, Steps};
use kadenz_segment::fault::{Fault, FaultFile};
use kadenz_segment::foe::files::{FileSettings, Files};
use kadenz_segment::frame::{address, datagrams, FrameBuilder};
use kadenz_segment::link::in_process::InProcess;
use kadenz_segment::random::Random;
use kadenz_segment::register::at;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::{Segment, Verdict};
use kadenz_segment::settings::{RingFile, EXAMPLE};
use kadenz_segment::topology::End;
use kadenz_segment::voe::VendorSettings;
use kadenz_segment::{aoe, eoe, foe, mailbox, pcap, soe, voe, xml};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};
use support::master::Master;
use support::messages::{random_aoe, random_eoe, random_foe, random_mailbox, random_soe, random_voe};
use support::{line, segment};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_frame_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..1600)) {
        let mut bytes = bytes;
        if let Ok(parsed) = datagrams(&mut bytes) {
            let total: usize = parsed.map(|datagram| datagram.data.len() + 12).sum();
            prop_assert!(total <= 1600);
        }
    }

    #[test]
    fn a_built_frame_is_parsed_back(
        parts in prop::collection::vec((0_u8..15, any::<u32>(), prop::collection::vec(any::<u8>(), 0..100)), 1..12)
    ) {
        let mut builder = FrameBuilder::default();
        for (index, (command, address, data)) in parts.iter().enumerate() {
            builder = builder.datagram(Command::from_byte(*command), index as u8, *address, data);
        }
        let mut bytes = builder.build();
        let parsed: Vec<_> = datagrams(&mut bytes).unwrap().map(|d| (d.command(), d.index(), d.logical(), d.data.to_vec())).collect();
        prop_assert_eq!(parsed.len(), parts.len());
        for (index, ((command, at, address, data), part)) in parsed.into_iter().zip(&parts).enumerate() {
            prop_assert_eq!((command as u8, usize::from(at), address, &data), (part.0, index, part.1, &part.2));
        }
    }

    #[test]
    fn any_bytes_are_a_mailbox_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some(message) = mailbox::parse(&bytes) {
            prop_assert!(message.body.len() + 6 <= bytes.len());
            let again = mailbox::assemble(message.protocol, message.counter, message.body);
            prop_assert_eq!(mailbox::parse(&again), Some(message));
        }
    }

    #[test]
    fn an_answer_to_any_sdo_request_fits_the_mailbox(requests in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..122), 1..20)) {
        let mut server = Server::default();
        let mut dictionary = drive_dictionary();
        for request in requests {
            let answer = server.answer(&mut dictionary, &request, 122, kadenz_segment::al::State::PreOp);
            prop_assert!(answer.bytes.len() <= 122);
        }
    }

    #[test]
    fn an_answer_to_any_file_message_fits_the_mailbox_and_no_transfer_outgrows_its_space(
        seed in any::<u64>(), rooms in (0..200_usize, 0..200_usize), in_boot in any::<bool>()
    ) {
        let mut random = Random::new(seed);
        let mut server = foe::server::Server::default();
        server.files = Files::new(FileSettings { space_bytes: 1000, ..FileSettings::default() }, Path::new(""));
        let passage = foe::server::Passage { inward: rooms.0, outward: rooms.1, in_boot };
        for _ in 0..100 {
            let request = random_foe(&mut random);
            let answer = server.answer(&request, passage).unwrap_or_default();
            prop_assert!(answer.len() <= foe::HEADER + rooms.1, "{:?} to {:?}", answer, request);
        }
        let kept = [&b"f"[..], b"g"].map(|name| server.files.read(name, 0, false).map_or(0, |data| data.len()));
        prop_assert!(kept.iter().sum::<usize>() <= 1000);
    }

    #[test]
    fn any_message_of_ethernet_is_answered_within_its_mailbox_and_fills_no_queue(
        seed in any::<u64>(), room in 0..1600_usize
    ) {
        let mut random = Random::new(seed);
        let settings = EthernetSettings { time_stamps: true, ..EthernetSettings::default() };
        let mut server = eoe::server::Server::new(settings.abilities(), settings.parameters(1), seed);
        for step in 0..200_u64 {
            let request = random_eoe(&mut random);
            if let Answer::Reply(body) = server.answer(&request) {
                prop_assert!(body.len() <= 66, "{:?} to {:?}", body, request);
            }
            server.work(step * 1_000_000, step as u32, &|_, _| String::new());
        }
        let mut messages = 0;
        while let Some(body) = server.next_message(room) {
            prop_assert!(body.len() <= eoe::HEADER + room);
            server.message_taken(room);
            messages += 1;
        }
        prop_assert!(messages <= 16 + 16 * 48, "{} messages", messages);
    }

    #[test]
    fn an_answer_by_ads_or_of_a_vendor_fits_the_mailbox(seed in any::<u64>(), room in 0..300_usize) {
        let mut random = Random::new(seed);
        let mut dictionary = drive_dictionary();
        let settings = VendorSettings { echo: vec![1, 2], ..VendorSettings::default() };
        for _ in 0..100 {
            let state = kadenz_segment::al::State::PreOp;
            let mut target = aoe::Target { dictionary: &mut dictionary, state, name: "drive", room };
            let answer = aoe::answer(&mut target, &random_aoe(&mut random)).map_or(0, |answer| answer.bytes.len());
            let echo = voe::answer(&settings, 0x0BAD, &random_voe(&mut random), room).map_or(0, |bytes| bytes.len());
            prop_assert!(answer <= room && echo <= room);
        }
    }

    #[test]
    fn an_answer_of_a_servo_fits_the_mailbox_and_its_queues_stay_short(seed in any::<u64>(), room in 0..300_usize) {
        let mut random = Random::new(seed);
        let mut dictionary = drive_dictionary();
        let mut server = soe::server::Server::new(Default::default(), "drive");
        for step in 0..200 {
            let state = kadenz_segment::al::State::PreOp;
            let mut target = soe::server::Target { dictionary: &mut dictionary, state, room };
            let parts = server.answer(&mut target, &random_soe(&mut random)).unwrap_or_default();
            prop_assert!(parts.iter().all(|part| part.len() <= room) && parts.len() <= 300);
            server.work(step * 3_000_000, |_| step % 2 == 0);
        }
        let mut notifications = 0;
        while server.notification().is_some() {
            server.notification_taken();
            notifications += 1;
        }
        prop_assert!(notifications <= 16);
    }

    #[test]
    fn no_name_leads_out_of_the_folder_of_files(
        names in prop::collection::vec(prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            "(\\.\\./|/|\\.|a|b|\0|\\\\|é){0,8}".prop_map(String::into_bytes),
        ], 1..8)
    ) {
        let outer = std::env::temp_dir().join(format!("kadenz-fuzz-files-{}", std::process::id()));
        let inner = outer.join("a");
        std::fs::create_dir_all(&inner).unwrap();
        let mut files = Files::new(FileSettings { folder: Some("a".into()), ..FileSettings::default() }, &outer);
        let mut kept = 0;
        for name in &names {
            if let Ok((name, _)) = files.open(name, 0, false) {
                files.store(name.clone(), name.clone().into_bytes()).unwrap();
                kept += 1;
            }
            let read = files.read(name, 0, false);
            prop_assert!(read.is_err() || read == Ok(name.clone()));
        }
        let list = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        let (outside, inside) = (list(&outer), list(&inner));
        std::fs::remove_dir_all(&outer).unwrap();
        prop_assert_eq!(outside, ["a"]);
        prop_assert!(inside.len() <= kept && inside.iter().all(|name| !name.to_string_lossy().starts_with('.')));
    }

    #[test]
    fn any_text_is_an_esi_file_or_an_error(text in ".{0,400}") {
        let _ = esi::parse(&text, Choice::default());
    }

    #[test]
    fn a_damaged_esi_file_is_a_device_or_an_error(changes in changes(), bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        for file in [&include_bytes!("data/types.xml")[..], include_bytes!("data/long.xml"), &bytes] {
            if let Ok(text) = xml::decode(&damage(file, &changes)) {
                let _ = esi::parse(&text, Choice::default());
            }
        }
    }

    #[test]
    fn a_damaged_network_file_is_replayed_or_an_error(changes in changes(), bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let ring = line(&["coupler", "drive", "digital-output"]);
        let file = eni::write(&eni::plan(segment(&ring).ring()));
        for file in [file.as_bytes(), &bytes] {
            let Ok(text) = xml::decode(&damage(file, &changes)).map(|text| text.into_owned()) else { continue };
            let Ok(network) = eni::parse(&text) else { continue };
            let segment = segment(&ring);
            let _ = eni::compare::compare(&network, segment.ring());
            let _ = Replay::new(&network, segment).and_then(|mut master| master.bring_up());
        }
    }

    #[test]
    fn any_number_in_a_ring_file_gives_a_ring_that_runs_or_a_clean_error(
        values in prop::collection::vec((0..200_usize, number()), 1..4)
    ) {
        let mut lines: Vec<String> = EXAMPLE.lines().map(str::to_owned).collect();
        for (at, value) in &values {
            let count = lines.len();
            lines[at % count] = with_number(&lines[at % count], value);
        }
        let (path, text) = (Path::new("ring.toml"), lines.join("\n"));
        match RingFile::parse(&text, path).and_then(|file| Ring::new(&file, path)) {
            Err(error) => prop_assert!(error.exit_code() == 2 && error.to_string().starts_with("ring.toml: "), "{}", error),
            Ok(ring) => {
                let mut link = InProcess::new(Segment::new(ring));
                for _ in 0..20 {
                    link.send(&FrameBuilder::default().datagram(Command::Brd, 0, address(0, at::AL_STATUS), &[0; 2]).build());
                    link.advance_ns(1_000_000);
                }
                let plant = link.segment().ring().plant();
                prop_assert!((0..plant.axes()).all(|axis| plant.position_rad(axis).is_finite()), "{}", text);
            }
        }
    }

    #[test]
    fn any_fault_is_taken_or_refused_and_frames_still_pass(
        kind in prop::sample::select(vec!["lose-frame", "late-frame", "wrong-counter", "corrupt-frame", "bit-error", "symbol-error", "device-gone",
            "al-error", "refuse-state", "drive-fault", "clock-drift", "emergency", "emergency-during-request", "no-link", "break-cable",
            "foe-busy", "foe-error", "lose-request", "lose-answer", "late-answer", "double-answer", "corrupt-answer",
            "wrong-answer-counter", "wrong-answer-length", "abort-request"]),
        pairs in prop::collection::vec((prop::sample::select(vec!["cycle", "frame", "time_ms", "request", "count",
            "lasting_ms", "delay_us", "delta", "byte", "code", "state", "packet", "times", "ppm", "port", "after_ns", "device", "of", "datagram", "healthy",
            "enters", "sdo", "sub", "nth", "every", "repeat", "to", "command", "register", "abort"]), prop_oneof![number(),
            Just("d0".to_owned()), Just("d1".to_owned()), Just("FPRD".to_owned()), Just("8".to_owned())]), 1..5)
    ) {
        let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let text = format!("{kind}@{}", pairs.join(","));
        let mut segment = segment(&line(&["coupler", "drive"]));
        segment.ring_mut().close_ring();
        match Fault::from_argument(&text).and_then(|fault| segment.add_faults([fault])) {
            Err(error) => prop_assert_eq!(error.exit_code(), 2),
            Ok(()) => {
                let mut link = InProcess::new(segment);
                for _ in 0..20 {
                    let frame = FrameBuilder::default().datagram(Command::Lrw, 0, 0, &[0; 8]).build();
                    End::ALL.iter().for_each(|end| { link.send_to(*end, &frame); });
                    link.advance_ns(1_000_000);
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_a_ring_and_a_fault_file_or_an_error(changes in changes(), text in ".{0,200}") {
        let places = segment(&line(&["coupler", "drive"])).places();
        for file in [EXAMPLE.as_bytes(), b"[[fault]]\nkind = \"lose-frame\"\ncycle = 3\n",
            b"[[campaign]]\nseed = 3\nfaults = 4\ncycle = [1, 9]\nkinds = [\"lose-frame\"]\n", text.as_bytes()] {
            if let Ok(text) = String::from_utf8(damage(file, &changes)) {
                let path = Path::new("f");
                let _ = RingFile::parse(&text, path).and_then(|file| Ring::new(&file, path));
                let _ = FaultFile::parse(&text, path).and_then(|file| file.faults(&places, path));
            }
        }
    }

    #[test]
    fn a_damaged_mailbox_passes_every_fault_of_a_step(seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let mut steps = Steps::default();
        let faults = ["lose-request@request=3", "lose-answer@sdo=0x1000,every=2", "late-answer@request=1,every=3,delay_us=5",
            "double-answer@request=2,every=4", "corrupt-answer@request=1,every=5,byte=9", "abort-request@sdo=0x1000,abort=1",
            "wrong-answer-counter@request=1,every=2,delta=-3", "wrong-answer-length@request=1,every=2,delta=-32768"];
        for (number, text) in faults.iter().enumerate() {
            steps.add(number as u32, Fault::from_argument(&format!("{text},device=d0")).unwrap(), 0);
        }
        let (mut replies, mut answers) = (VecDeque::new(), 0);
        for at in 0..100 {
            let request = random_mailbox(&mut random);
            if steps.take(&request) == Fate::Served {
                steps.answer(request.get(..random.bits() as usize % 8).unwrap_or_default().to_vec(), &mut replies);
                answers += 1;
            }
            steps.release(at * 1000, &mut replies);
        }
        prop_assert!(replies.len() <= 2 * answers && steps.hits.len() <= 100 * faults.len());
    }

    #[test]
    fn any_message_at_the_control_socket_has_an_answer(text in ".{0,80}", changes in changes()) {
        let mut segment = segment(&line(&["coupler", "drive"]));
        let (desk, counter) = control::channel();
        segment.attend(desk);
        let (places, now_ns) = (segment.places(), 5);
        let messages = [text.into_bytes(), b"inject lose-frame@cycle=3,count=2".to_vec(), b"clear 1".to_vec(),
            b"list".to_vec(), b"status".to_vec(), b"clear all".to_vec()];
        let client = std::thread::spawn(move || {
            let lines = messages.iter().map(|message| String::from_utf8_lossy(&damage(message, &changes)).into_owned());
            lines.filter(|line| control::server::answer(line, &counter, &places).is_ok()).count()
        });
        while !client.is_finished() {
            segment.take_order(now_ns);
            std::thread::yield_now();
        }
        prop_assert!(client.join().unwrap() <= 6);
        prop_assert!(segment.faults().len() <= 2);
    }

    #[test]
    fn any_bytes_are_a_capture_or_an_error(tail in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = Vec::new();
        pcap::Writer::new(&mut bytes, 0).unwrap();
        bytes.extend(tail);
        let _ = pcap::parse(&bytes);
    }

    #[test]
    fn a_damaged_frame_is_answered_in_its_own_length(seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let mut link = InProcess::new(segment(&line(&["coupler", "drive", "digital-output"])));
        for _ in 0..20 {
            let frame = damaged(&mut random);
            if link.send(&frame) == Verdict::Returned {
                prop_assert_eq!(link.receive().map(|back| back.len()), Some(frame.len()));
            }
        }
    }
}

/// Careless or hostile text in place of a number.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<f64>().prop_map(|number| format!("{number:?}")),
        any::<i64>().prop_map(|number| number.to_string()),
        (-3..2000_i64).prop_map(|number| number.to_string()),
        prop::sample::select(vec![
            "nan",
            "-inf",
            "inf",
            "0",
            "-0.0",
            "1e300",
            "0x10",
            "1e-320",
            "99999999999999999999",
            "true",
            "[1, 2]"
        ])
        .prop_map(str::to_owned),
    ]
}

/// A line of a ring file with another first number.
fn with_number(line: &str, value: &str) -> String {
    let Some((key, rest)) = line.split_once(" = ") else { return line.to_owned() };
    let start = rest.find(|letter: char| letter.is_ascii_digit() || letter == '-').unwrap_or(rest.len());
    let length = rest[start..].find(|letter: char| !(letter.is_ascii_alphanumeric() || "-._".contains(letter)));
    let end = length.map_or(rest.len(), |length| start + length);
    format!("{key} = {}{value}{}", &rest[..start], &rest[end..])
}

fn changes() -> impl Strategy<Value = Vec<(usize, u8)>> {
    prop::collection::vec((any::<usize>(), any::<u8>()), 0..8)
}

fn damage(file: &[u8], changes: &[(usize, u8)]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for (at, byte) in changes.iter().filter(|_| !file.is_empty()) {
        bytes[at % file.len()] = *byte;
    }
    bytes
}

fn drive_dictionary() -> Dictionary {
    segment(&line(&["drive"])).ring().devices[0].dictionary.clone()
}

/// Addresses that do something; random ones mostly hit memory.
const HOT: [u16; 24] = [
    at::STATION.address(),
    at::RESET.address(),
    at::DL_CONTROL.address(),
    at::AL_CONTROL.address(),
    at::AL_STATUS.address(),
    at::RECEIVE_ERRORS.address(),
    at::WD_DIVIDER.address(),
    at::WD_TIME.address(),
    at::EEPROM_CONFIG.address(),
    at::EEPROM_CONTROL.address(),
    at::EEPROM_DATA.address(),
    at::FMMU.address(),
    at::FMMU.element(1).address(),
    at::SYNC_MANAGER.address(),
    at::SYNC_MANAGER.element(1).address(),
    at::SYNC_MANAGER.element(2).address(),
    at::SYNC_MANAGER.element(3).address(),
    at::PORT_TIMES.address(),
    at::SYSTEM_TIME.address(),
    at::OFFSET.address(),
    at::SPEED_START.address(),
    at::CYCLIC_CONTROL.address(),
    MAILBOX_OUT,
    MAILBOX_IN,
];

/// A frame with sensible structure and random content, sometimes with a few bytes changed.
fn damaged(random: &mut Random) -> Vec<u8> {
    let mut builder = FrameBuilder::default();
    for index in 0..1 + random.bits() % 4 {
        let command = Command::from_byte((random.bits() % 15) as u8);
        let device = if random.bits() % 2 == 0 {
            0_u16.wrapping_sub((random.bits() % 10) as u16)
        } else {
            0x1001 + (random.bits() % 9) as u16
        };
        let offset = if random.bits() % 4 == 0 {
            random.bits() as u16
        } else {
            HOT[random.bits() as usize % HOT.len()].wrapping_add((random.bits() % 8) as u16 & random.bits() as u16)
        };
        let logical = random.bits() as u32 % 600;
        let is_logical = (10..=12).contains(&(command as u8));
        let length =
            if random.bits() % 3 == 0 { random.bits() as usize % 300 } else { 1 + random.bits() as usize % 16 };
        let data: Vec<u8> = (0..length).map(|_| if random.bits() % 3 == 0 { 0 } else { random.bits() as u8 }).collect();
        builder =
            builder.datagram(command, index as u8, if is_logical { logical } else { address(device, offset) }, &data);
    }
    let mut frame = builder.build();
    frame.truncate(1514);
    if random.bits() % 4 == 0 {
        for _ in 0..1 + random.bits() % 3 {
            let at = random.bits() as usize % frame.len();
            frame[at] = random.bits() as u8;
        }
    }
    frame
}

const LIVES: u64 = 100;

/// The ring of eight with every protocol at every drive.
fn eight_with_protocols() -> Segment {
    let drive =
        "kind = \"drive\"\nethernet = { address = \"10.0.0.2/24\", time_stamps = true }\naoe = true\nsoe = {}\n\
        voe = { echo = [1], records = [{ type = 2, answer = \"01 02\" }] }";
    segment(&include_str!("../rings/eight.toml").replace("kind = \"drive\"", drive))
}

#[test]
fn random_frames_and_mailboxes_never_end_the_segment() {
    let seconds: Option<f64> = std::env::var("KADENZ_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    let mut random =
        Random::new(std::env::var("KADENZ_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1));
    let (mut frames, mut lives) = (0_u64, 0_u64);
    while end.map_or(lives < LIVES, |end| Instant::now() < end) {
        // Each life begins in OP, to reach the deep states, and the random frames then break it.
        let mut master = Master::new(eight_with_protocols());
        master.bring_up();
        lives += 1;
        for _ in 0..500 {
            frames += 1;
            match random.bits() % 10 {
                0 => {
                    let bytes = random_mailbox(&mut random);
                    master.write(1 + (random.bits() % 6) as usize, MAILBOX_OUT, &bytes);
                }
                1 => {
                    master.read(1 + (random.bits() % 6) as usize, MAILBOX_IN, 128);
                }
                2 => {
                    master.cycle();
                }
                3 => {
                    let control = random.bits() as u16 & 0x1F;
                    master.write((random.bits() % 9) as usize, at::AL_CONTROL, &control.to_le_bytes());
                }
                _ => {
                    let frame = damaged(&mut random);
                    master.link.send(&frame);
                    while master.link.receive().is_some() {}
                    master.link.advance_ns(random.bits() % 300_000);
                }
            }
        }
    }
    println!("{frames} frames in {lives} lives, no panic");
    assert!(frames >= 500);
}
