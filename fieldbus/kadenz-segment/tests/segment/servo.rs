// SPDX-License-Identifier: Apache-2.0
//! A servo by IDN (SoE): elements, lists in fragments, procedure commands with their notification, and refusals.

use crate::support::master::{Master, Sdo};
use crate::support::{line, segment};
use kadenz_segment::fault::Fault;
use kadenz_segment::mailbox;
use kadenz_segment::ring::Ring;
use kadenz_segment::settings::RingFile;
use std::path::Path;

const SOE: u8 = 5;
const STATE: u8 = 0x01;
const NAME: u8 = 0x02;
const ATTRIBUTE: u8 = 0x04;
const UNIT: u8 = 0x08;
const MIN: u8 = 0x10;
const MAX: u8 = 0x20;
const VALUE: u8 = 0x40;
const DEFAULT: u8 = 0x80;

fn drive(keys: &str) -> Master {
    let mut master = Master::new(segment(&(line(&["drive"]) + keys + "\n")));
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    master
}

fn servo() -> Master {
    drive("soe = { procedure_ms = 3 }")
}

/// The body of a message in the mailbox, and its protocol.
fn fetched(master: &mut Master) -> Option<(u8, Vec<u8>)> {
    let bytes = master.fetch(0)?;
    let parsed = mailbox::parse(&bytes)?;
    Some((parsed.protocol, parsed.body.to_vec()))
}

fn header(operation: u8, elements: u8, word: u16) -> Vec<u8> {
    let [low, high] = word.to_le_bytes();
    vec![operation, elements, low, high]
}

/// Fetches the fragments of an answer. The data, or the error code.
fn answer(master: &mut Master, operation: u8, elements: u8, idn: u16) -> Result<Vec<u8>, u16> {
    let mut data = Vec::new();
    let mut left = None;
    loop {
        let (protocol, body) = fetched(master).expect("an answer");
        assert_eq!((protocol, body[0] & 0xE7, body[1]), (SOE, operation, elements), "{body:?}");
        let word = u16::from_le_bytes([body[2], body[3]]);
        data.extend(&body[4..]);
        if body[0] & 0x08 != 0 {
            assert!(left.is_none_or(|left| word + 1 == left) && word > 0, "{word} left after {left:?}");
            left = Some(word);
            continue;
        }
        assert!(left.is_none_or(|left| left == 1) && word == idn);
        return if body[0] & 0x10 == 0 { Ok(data) } else { Err(u16::from_le_bytes(data.try_into().unwrap())) };
    }
}

fn read(master: &mut Master, idn: u16, elements: u8) -> Result<Vec<u8>, u16> {
    assert_eq!(master.post_as(0, SOE, &header(1, elements, idn)), 1);
    answer(master, 2, elements, idn)
}

fn write(master: &mut Master, idn: u16, elements: u8, data: &[u8]) -> Result<(), u16> {
    // As SOEM does: fragments go one after the other, and only the last is answered.
    let room = 118;
    let mut left = data.len() / room;
    let mut rest = data;
    while rest.len() > room {
        let (part, after) = rest.split_at(room);
        assert_eq!(master.post_as(0, SOE, &[header(3 | 8, elements, left as u16), part.to_vec()].concat()), 1);
        assert_eq!(fetched(master), None);
        (rest, left) = (after, left.saturating_sub(1));
    }
    assert_eq!(master.post_as(0, SOE, &[header(3, elements, idn), rest.to_vec()].concat()), 1);
    answer(master, 4, elements, idn).map(|data| assert!(data.is_empty()))
}

fn text(text: &str) -> Vec<u8> {
    let length = text.len() as u8;
    [&[length, 0, length, 0], text.as_bytes()].concat()
}

#[test]
fn every_element_of_an_idn_is_read() {
    let mut master = servo();
    assert_eq!(read(&mut master, 47, STATE), Ok(vec![0, 0]));
    assert_eq!(read(&mut master, 47, NAME), Ok(text("Position command value")));
    assert_eq!(read(&mut master, 47, ATTRIBUTE), Ok(vec![1, 0, 0x22, 0]));
    assert_eq!(read(&mut master, 47, UNIT), Ok(text("inc")));
    assert_eq!(read(&mut master, 47, MIN), Ok(vec![0, 0, 0, 0x80]));
    assert_eq!(read(&mut master, 47, MAX), Ok(vec![0xFF, 0xFF, 0xFF, 0x7F]));
    assert_eq!(read(&mut master, 2, DEFAULT), Ok(vec![0xE8, 3]));
    assert_eq!(read(&mut master, 30, VALUE), Ok(text("kadenz servo drive")));
    let all = [&[0, 0][..], &[0x01, 0, 0x11, 0x60], &text("us"), &[62, 0], &[0xE8, 0xFD], &[0xE8, 3]].concat();
    assert_eq!(read(&mut master, 2, STATE | ATTRIBUTE | UNIT | MIN | MAX | VALUE), Ok(all), "several at once");
}

#[test]
fn data_of_the_drive_are_those_of_its_objects() {
    let mut master = servo();
    assert_eq!(write(&mut master, 47, VALUE, &(-5_i32).to_le_bytes()), Ok(()));
    assert_eq!(master.upload(0, 0x607A, 0, false), Sdo::Data((-5_i32).to_le_bytes().to_vec()));
    assert_eq!(master.download(0, 0x607D, 2, &77_i32.to_le_bytes(), false), Sdo::Data(vec![]));
    assert_eq!(read(&mut master, 49, VALUE), Ok(77_i32.to_le_bytes().to_vec()));
    assert_eq!(write(&mut master, 2, VALUE, &[0xD0, 7]), Ok(()));
    assert_eq!(read(&mut master, 2, VALUE), Ok(vec![0xD0, 7]));
    master.request(0, 1);
    master.request(0, 2);
    assert_eq!(read(&mut master, 2, VALUE), Ok(vec![0xD0, 7]), "INIT keeps it");
}

#[test]
fn lists_say_what_there_is_and_long_data_come_in_fragments() {
    let mut master = servo();
    let list = read(&mut master, 17, VALUE).unwrap();
    let idns: Vec<u16> = list[4..].chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    assert_eq!(usize::from(u16::from_le_bytes([list[0], list[1]])), 2 * idns.len());
    assert!(idns.is_sorted() && idns.contains(&47) && idns.contains(&142));
    for idn in &idns {
        assert!(read(&mut master, *idn, VALUE | NAME | ATTRIBUTE).is_ok(), "S-0-{idn:04}");
    }
    assert_eq!(read(&mut master, 25, VALUE), Ok(vec![8, 0, 8, 0, 99, 0, 127, 0, 128, 0, 6, 1]));
    let words: Vec<u8> = (0..200).map(|at| b'a' + at % 26).collect();
    let long = [&[200, 0, 200, 0], &words[..]].concat();
    assert_eq!(write(&mut master, 142, VALUE, &long), Ok(()), "two fragments there");
    assert_eq!(read(&mut master, 142, VALUE), Ok(long), "and back");
    assert_eq!(write(&mut master, 142, VALUE, &[0, 0, 0, 0]), Ok(()));
    assert_eq!(read(&mut master, 142, VALUE), Ok(vec![0, 0, 200, 0]));
}

#[test]
fn a_fragment_that_another_request_follows_is_forgotten() {
    let mut master = servo();
    assert_eq!(master.post_as(0, SOE, &[header(3 | 8, VALUE, 1), vec![9; 100]].concat()), 1);
    assert_eq!(read(&mut master, 47, VALUE), Ok(vec![0; 4]));
    assert_eq!(write(&mut master, 47, VALUE, &[1, 0, 0, 0]), Ok(()));
    for _ in 0..60 {
        assert_eq!(master.post_as(0, SOE, &[header(3 | 8, VALUE, 9), vec![9; 118]].concat()), 1);
    }
    assert_eq!(write(&mut master, 142, VALUE, &[]), Err(0x7003), "more than is kept");
    assert_eq!(write(&mut master, 47, VALUE, &[2, 0, 0, 0]), Ok(()), "and is over then");
}

#[test]
fn a_procedure_command_is_set_runs_and_notifies() {
    let mut master = servo();
    let [idle, executed, executes, failed] = [0, 3, 7, 15].map(|state| Ok(vec![state, 0]));
    assert_eq!(read(&mut master, 127, STATE), idle);
    assert_eq!(write(&mut master, 127, VALUE, &[3, 0]), Ok(()));
    assert_eq!((read(&mut master, 127, STATE), read(&mut master, 127, VALUE)), (executes, Ok(vec![3, 0])));
    assert_eq!(write(&mut master, 127, VALUE, &[3, 0]), Err(0x7010), "active already");
    master.link.advance_ns(5_000_000);
    let notification =
        |master: &mut Master| fetched(master).map(|(protocol, body)| (protocol, body[0], body[1..].to_vec()));
    assert_eq!(notification(&mut master), Some((SOE, 5, vec![STATE, 127, 0, 3, 0])));
    assert_eq!(notification(&mut master), None);
    assert_eq!(read(&mut master, 127, STATE), executed);
    assert_eq!(write(&mut master, 127, VALUE, &[0, 0]), Ok(()), "cancelled");
    assert_eq!(read(&mut master, 127, STATE), idle);
    assert_eq!(write(&mut master, 128, VALUE, &[3, 0]), Ok(()), "not in SAFE-OP");
    master.link.advance_ns(5_000_000);
    assert_eq!(notification(&mut master), Some((SOE, 5, vec![STATE, 128, 0, 15, 0])));
    assert_eq!(read(&mut master, 128, STATE), failed);
}

#[test]
fn a_procedure_command_is_interrupted_and_cancelled() {
    let mut master = servo();
    assert_eq!(write(&mut master, 262, VALUE, &[1, 0]), Err(0x7012), "nothing to interrupt");
    assert_eq!(write(&mut master, 262, VALUE, &[2, 0]), Err(0x7008));
    assert_eq!(write(&mut master, 47, VALUE, &[5, 0, 0, 0]), Ok(()));
    assert_eq!(write(&mut master, 2, VALUE, &[0xD0, 7]), Ok(()));
    for end in [&[1, 0], &[0, 0]] {
        assert_eq!(write(&mut master, 262, VALUE, &[3, 0]), Ok(()));
        assert_eq!(write(&mut master, 262, VALUE, end), Ok(()));
        master.link.advance_ns(9_000_000);
        assert_eq!(fetched(&mut master), None);
        assert_eq!(read(&mut master, 47, VALUE), Ok(vec![5, 0, 0, 0]));
    }
    assert_eq!(write(&mut master, 262, VALUE, &[3, 0]), Ok(()));
    assert_eq!(write(&mut master, 262, VALUE, &[1, 0]), Ok(()));
    assert_eq!(read(&mut master, 262, STATE), Ok(vec![5, 0]), "interrupted");
    assert_eq!(write(&mut master, 262, VALUE, &[1, 0]), Err(0x7011));
    assert_eq!(write(&mut master, 262, VALUE, &[3, 0]), Ok(()), "goes on");
    master.link.advance_ns(9_000_000);
    assert!(fetched(&mut master).is_some());
    assert_eq!((read(&mut master, 47, VALUE), read(&mut master, 2, VALUE)), (Ok(vec![0; 4]), Ok(vec![0xE8, 3])));
}

#[test]
fn a_fault_of_the_drive_is_read_and_reset() {
    let mut master = servo();
    let fault = Fault::from_argument("drive-fault@frame=1,device=d0,code=0x7300").unwrap();
    master.link.segment_mut().add_faults([fault]).unwrap();
    master.link.advance_ns(5_000_000);
    master.read(0, 0_u16, 1);
    master.link.advance_ns(50_000_000);
    assert!(fetched(&mut master).is_some(), "the emergency");
    let code = |master: &mut Master| {
        master.link.advance_ns(1_000_000);
        let device = &master.link.segment().ring().devices[0];
        match &device.function {
            kadenz_segment::device::Function::Drive(drive) => drive.error_code(),
            _ => 0,
        }
    };
    assert_eq!(code(&mut master), 0x7300);
    assert_eq!(write(&mut master, 99, VALUE, &[3, 0]), Ok(()));
    master.link.advance_ns(9_000_000);
    assert_eq!(fetched(&mut master).map(|(_, body)| body), Some(vec![5, STATE, 99, 0, 3, 0]));
    assert_eq!(code(&mut master), 0);
}

#[test]
fn every_refusal_has_its_own_code() {
    let mut master = servo();
    for (idn, elements, code) in [
        (9999, VALUE, 0x1001),
        (47, 0, 0x1009),
        (47, DEFAULT, 0x1009),
        (142, UNIT, 0x4001),
        (17, MIN, 0x5001),
        (30, MAX, 0x6001),
    ] {
        assert_eq!(read(&mut master, idn, elements), Err(code), "S-0-{idn:04} {elements:#x}");
    }
    for (idn, elements, data, code) in [
        (9999, VALUE, &[0; 4][..], 0x1001),
        (47, NAME, &[0; 4], 0x2004),
        (47, ATTRIBUTE, &[0; 4], 0x3004),
        (47, UNIT, &[0; 4], 0x4004),
        (47, MIN, &[0; 4], 0x5004),
        (47, MAX, &[0; 4], 0x6004),
        (47, VALUE | NAME, &[0; 4], 0x1009),
        (47, VALUE, &[0; 3], 0x7002),
        (47, VALUE, &[0; 5], 0x7003),
        (51, VALUE, &[0; 4], 0x7004),
        (2, VALUE, &[61, 0], 0x7006),
        (2, VALUE, &[0xFF, 0xFF], 0x7007),
        (142, VALUE, &[0, 0, 0], 0x7002),
        (142, VALUE, &[2, 0, 2, 0, 65], 0x7002),
        (142, VALUE, &[0, 0, 2, 0, 65], 0x7003),
        (142, VALUE, &[201, 0, 201, 0], 0x7003),
    ] {
        assert_eq!(write(&mut master, idn, elements, data), Err(code), "S-0-{idn:04} {elements:#x} {data:?}");
    }
    assert_eq!(master.post_as(0, SOE, &header(1 | 1 << 5, VALUE, 47)), 1);
    assert_eq!(fetched(&mut master), Some((SOE, vec![2 | 0x10 | 1 << 5, VALUE, 47, 0, 0x01, 0x10])), "drive 1");
    for (request, detail) in [(vec![1, VALUE, 47], 6), (header(2, VALUE, 47), 5), (header(0, VALUE, 47), 5)] {
        assert_eq!(master.post_as(0, SOE, &request), 1);
        assert_eq!(fetched(&mut master), Some((0, vec![1, 0, detail, 0])), "{request:?}");
    }
    let mut without = drive("");
    assert_eq!(without.post_as(0, SOE, &header(1, VALUE, 47)), 1);
    assert_eq!(fetched(&mut without), Some((0, vec![1, 0, 2, 0])));
}

#[test]
fn data_for_pre_op_are_protected_afterwards() {
    let mut master = Master::new(segment(&(line(&["drive"]) + "soe = {}\n")));
    master.bring_up();
    assert_eq!(write(&mut master, 2, VALUE, &[0xE8, 3]), Err(0x7005));
    assert_eq!(write(&mut master, 49, VALUE, &[1, 0, 0, 0]), Ok(()));
}

#[test]
fn faults_of_a_mailbox_meet_a_servo_too() {
    let mut master = servo();
    for text in [
        "lose-answer@request=2,device=d0",
        "double-answer@request=3,device=d0",
        "late-answer@request=4,device=d0,delay_us=2000",
        "corrupt-answer@request=5,device=d0,byte=6",
        "wrong-answer-length@request=6,device=d0,delta=-1",
        "lose-request@request=7,device=d0",
    ] {
        master.link.segment_mut().add_faults([Fault::from_argument(text).unwrap()]).unwrap();
    }
    let ask = |master: &mut Master| master.post_as(0, SOE, &header(1, VALUE, 2));
    let whole = Some((SOE, vec![2, VALUE, 2, 0, 0xE8, 3]));
    let answers: Vec<_> = (1..=8)
        .map(|_| {
            assert_eq!(ask(&mut master), 1);
            let first = fetched(&mut master);
            master.link.advance_ns(3_000_000);
            (first, fetched(&mut master))
        })
        .collect();
    assert_eq!(answers[0], (whole.clone(), None));
    assert_eq!(answers[1], (None, None), "lost");
    assert_eq!(answers[2], (whole.clone(), whole.clone()), "twice");
    assert_eq!(answers[3], (None, whole.clone()), "late");
    assert_eq!(answers[4], (Some((SOE, vec![0xFD, VALUE, 2, 0, 0xE8, 3])), None), "damaged");
    assert_eq!(answers[5], (Some((SOE, vec![2, VALUE, 2, 0, 0xE8])), None), "a byte short");
    assert_eq!(answers[6], (None, None), "the request is lost");
    assert_eq!(answers[7], (whole, None));
}

#[test]
fn a_servo_is_as_its_file_says() {
    let folder = std::env::temp_dir().join(format!("kadenz-servo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let built = |protocols: &str, keys: &str| {
        let esi = format!(
            "<EtherCATInfo><Vendor><Id>1</Id></Vendor><Descriptions><Devices><Device><Type ProductCode=\"2\">AX</Type>\
             <Sm StartAddress=\"#x1000\" ControlByte=\"#x26\" DefaultSize=\"64\">MBoxOut</Sm>\
             <Sm StartAddress=\"#x1400\" ControlByte=\"#x22\" DefaultSize=\"64\">MBoxIn</Sm>\
             <Mailbox>{protocols}</Mailbox></Device></Devices></Descriptions></EtherCATInfo>"
        );
        std::fs::write(folder.join("device.xml"), esi).unwrap();
        let path = folder.join("ring.toml");
        std::fs::write(&path, format!("[[device]]\nname = \"a\"\nkind = \"coupler\"\nesi = \"device.xml\"\n{keys}"))
            .unwrap();
        RingFile::read(&path).and_then(|file| Ring::new(&file, &path)).map(kadenz_segment::segment::Segment::new)
    };
    let mut master = Master::new(built("<SoE ChannelCount=\"1\"/>", "").unwrap());
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    assert_eq!(read(&mut master, 30, VALUE), Ok(text("AX")));
    assert_eq!(read(&mut master, 47, VALUE), Err(0x1001), "no drive is behind it");
    let protocols = master.link.segment().ring().devices[0].esc.sii.word(0x1C);
    assert_eq!(protocols, 0x10, "SoE alone");
    let error = built("<CoE/>", "soe = {}\n").err().unwrap().to_string();
    assert!(error.contains("`soe`, but AX has no SoE"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
    let path = Path::new("t");
    let wrong = line(&["drive"]) + "soe = { procedure_ms = 60001 }\n";
    assert!(RingFile::parse(&wrong, path).err().unwrap().to_string().contains("device.soe.procedure_ms = 60001"));
}
