// SPDX-License-Identifier: Apache-2.0
//! ADS over EtherCAT (AoE) and a vendor's own messages (VoE): what they answer, and what they refuse.

use crate::support::master::{Master, Sdo};
use crate::support::{line, segment};
use kadenz_segment::mailbox;
use kadenz_segment::ring::Ring;
use kadenz_segment::settings::RingFile;

const AOE: u8 = 1;
const VOE: u8 = 15;
/// Index group of the objects.
const SDO: u32 = 0xF302;

fn drive(keys: &str) -> Master {
    let mut master = Master::new(segment(&(line(&["drive"]) + keys + "\n")));
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    master
}

/// A message and its answer: protocol and body.
fn ask(master: &mut Master, protocol: u8, body: &[u8]) -> Option<(u8, Vec<u8>)> {
    assert_eq!(master.post_as(0, protocol, body), 1);
    let bytes = master.fetch(0)?;
    let parsed = mailbox::parse(&bytes)?;
    Some((parsed.protocol, parsed.body.to_vec()))
}

fn mailbox_error(detail: u8) -> Option<(u8, Vec<u8>)> {
    Some((0, vec![1, 0, detail, 0]))
}

/// An AMS message from 5.1.1.1.1.1:800 to 5.1.1.1.3.1:1001, worked out from the header of ADS.
fn ams(command: u16, flags: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![5, 1, 1, 1, 3, 1, 0xE9, 3, 5, 1, 1, 1, 1, 1, 0x20, 3];
    bytes.extend(command.to_le_bytes());
    bytes.extend(flags.to_le_bytes());
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend([0, 0, 0, 0, 0x78, 0x56, 0x34, 0x12]);
    bytes.extend(data);
    bytes
}

fn words(words: &[u32], rest: &[u8]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).chain(rest.iter().copied()).collect()
}

/// Asks by ADS: error of the header, and the body of the answer.
fn ads(master: &mut Master, command: u16, data: &[u8]) -> (u32, Vec<u8>) {
    let (protocol, bytes) = ask(master, AOE, &ams(command, 4, data)).unwrap();
    assert_eq!(
        (protocol, &bytes[..8], &bytes[8..16]),
        (AOE, &[5, 1, 1, 1, 1, 1, 0x20, 3][..], &[5, 1, 1, 1, 3, 1, 0xE9, 3][..])
    );
    assert_eq!((&bytes[16..20], &bytes[28..32]), (&[command as u8, 0, 5, 0][..], &[0x78, 0x56, 0x34, 0x12][..]));
    assert_eq!(u32::from_le_bytes(bytes[20..24].try_into().unwrap()) as usize, bytes.len() - 32);
    (u32::from_le_bytes(bytes[24..28].try_into().unwrap()), bytes[32..].to_vec())
}

fn place(index: u16, sub: u8) -> u32 {
    u32::from(index) << 16 | u32::from(sub)
}

#[test]
fn objects_are_read_and_written_by_index_group_and_offset() {
    let mut master = drive("aoe = true");
    assert_eq!(ads(&mut master, 2, &words(&[SDO, place(0x1018, 1), 4], &[])), (0, words(&[0, 4, 0x0BAD], &[])));
    let all = ads(&mut master, 2, &words(&[SDO, place(0x1018, 0) | 0x100, 100], &[])).1;
    assert_eq!(all[..14], words(&[0, 18], &[4, 0, 0xAD, 0x0B, 0, 0])[..]);
    let down = words(&[SDO, place(0x607A, 0), 4], &7_i32.to_le_bytes());
    assert_eq!(ads(&mut master, 3, &down), (0, words(&[0], &[])));
    assert_eq!(master.upload(0, 0x607A, 0, false), Sdo::Data(vec![7, 0, 0, 0]));
    let both = words(&[SDO, place(0x607A, 0), 4, 4], &9_i32.to_le_bytes());
    assert_eq!(ads(&mut master, 9, &both), (0, words(&[0, 4, 9], &[])));
    assert_eq!(ads(&mut master, 4, &[]), (0, vec![0, 0, 0, 0, 5, 0, 2, 0]));
    let (error, about) = ads(&mut master, 1, &[]);
    assert_eq!((error, &about[8..]), (0, &b"kadenz servo dri"[..]));
}

#[test]
fn what_ads_cannot_do_has_its_own_code() {
    let mut master = drive("aoe = true");
    for (group, offset, length, code) in [
        (0xF302, place(0x3FFF, 0), 4, 0x703),
        (0xF302, place(0x1018, 99), 4, 0x703),
        (0xF302, place(0x1018, 1) | 0x200, 4, 0x703),
        (0xF302, place(0x1018, 1), 3, 0x705),
        (0x4020, 0, 4, 0x702),
    ] {
        let answer = ads(&mut master, 2, &words(&[group, offset, length], &[]));
        assert_eq!(answer, (0, words(&[code, 0], &[])), "{offset:#x}");
    }
    for (index, sub, data, code) in
        [(0x1018, 1, &[0; 4][..], 0x704), (0x607A, 0, &[0; 2], 0x705), (0x6060, 0, &[99], 0x706)]
    {
        let request = words(&[SDO, place(index, sub), data.len() as u32], data);
        assert_eq!(ads(&mut master, 3, &request), (0, words(&[code], &[])), "{index:#x}");
    }
    assert_eq!(ads(&mut master, 5, &[]), (8, vec![]), "unknown command");
    let mut lying = ams(2, 4, &words(&[SDO, 0, 4], &[]));
    lying[20] = 200;
    for (request, detail) in [
        (vec![0; 31], 6),
        (lying, 6),
        (ams(2, 4, &[0; 11]), 6),
        (ams(3, 4, &words(&[SDO, 0, u32::MAX], &[1])), 6),
        (ams(9, 4, &words(&[SDO, 0, 4, u32::MAX], &[1])), 6),
        (ams(2, 5, &[0; 12]), 5),
        (ams(2, 0, &[0; 12]), 5),
    ] {
        assert_eq!(ask(&mut master, AOE, &request), mailbox_error(detail), "{request:?}");
    }
    assert_eq!(ask(&mut drive(""), AOE, &ams(4, 4, &[])), mailbox_error(2));
}

#[test]
fn a_vendors_messages_echo_or_have_their_records() {
    let keys = "voe = { echo = [1], records = [{ type = 2, request = \"01\", answer = \"0A ff\" }, { type = 2, answer = \"\" }] }";
    let mut master = drive(keys);
    let vendor = [0xAD, 0x0B, 0, 0];
    let message = |kind: u8, data: &[u8]| [&vendor[..], &[kind, 0], data].concat();
    for (request, answer) in [
        (message(1, &[1, 2, 3]), message(1, &[1, 2, 3])),
        (message(1, &[]), message(1, &[])),
        (message(2, &[1, 9]), message(2, &[0x0A, 0xFF])),
        (message(2, &[2]), message(2, &[])),
    ] {
        assert_eq!(ask(&mut master, VOE, &request), Some((VOE, answer)));
    }
    assert_eq!(ask(&mut master, VOE, &message(3, &[1])), mailbox_error(5), "a type without an answer");
    assert_eq!(ask(&mut master, VOE, &[1, 0, 0, 0, 1, 0]), mailbox_error(5), "another vendor");
    assert_eq!(ask(&mut master, VOE, &vendor), mailbox_error(6));
    let long = format!("voe = {{ records = [{{ type = 1, answer = \"{}\" }}] }}", "00 ".repeat(117));
    assert_eq!(ask(&mut drive(&long), VOE, &message(1, &[])), mailbox_error(8), "longer than the mailbox");
    assert_eq!(
        ask(&mut drive("voe = { id = 7, echo = [1] }"), VOE, &[7, 0, 0, 0, 1, 0]),
        Some((VOE, vec![7, 0, 0, 0, 1, 0]))
    );
    assert_eq!(ask(&mut drive(""), VOE, &message(1, &[])), mailbox_error(2));
}

#[test]
fn settings_of_protocols_that_a_device_lacks_are_errors() {
    let said = |text: String| {
        let path = std::path::Path::new("test.toml");
        let built = RingFile::parse(&text, path).and_then(|file| Ring::new(&file, path));
        built.err().unwrap().to_string()
    };
    let of = |kind: &str, keys: &str| said(line(&[kind]) + keys + "\n");
    assert!(of("coupler", "aoe = true").contains("`aoe`, but kadenz coupler has no AoE. Remove the key"));
    assert!(of("coupler", "voe = {}").contains("`voe`, but kadenz coupler has no VoE. Remove the key"));
    assert!(of("drive", "voe = { echo = [65536] }").contains("device.voe.echo = 65536"));
    let octets = of("drive", "voe = { records = [{ type = 1, answer = \"0G\" }] }");
    assert!(octets.contains("write them like"), "{octets}");
}
