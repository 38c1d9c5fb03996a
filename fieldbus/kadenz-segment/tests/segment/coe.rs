// SPDX-License-Identifier: Apache-2.0
//! Mailbox and CoE beyond the requests of the two masters: segments, complete access, mapping, every refusal.

use crate::support::master::{Master, Sdo};
use crate::support::{line, segment};
use kadenz_segment::register::{at, manager};
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::RingFile;
use std::path::Path;

const DRIVE: usize = 0;

fn in_pre_op() -> Master {
    let mut master = Master::new(segment(&line(&["drive"])));
    master.configure_managers(DRIVE);
    assert_eq!(master.request(DRIVE, 2), (2, 0));
    master
}

/// An analogue input whose process data come from an ESI file.
fn with_esi(file: &str) -> Master {
    let folder = Path::new("tests");
    let text = format!("[[device]]\nname = \"d0\"\nkind = \"coupler\"\nesi = \"{file}\"\n");
    let mut settings = RingFile::parse(&text, folder).unwrap();
    settings.folder = folder.to_path_buf();
    Master::new(Segment::new(Ring::new(&settings, folder).unwrap()))
}

#[test]
fn four_bytes_and_fewer_come_expedited() {
    let mut master = in_pre_op();
    assert_eq!(master.upload(DRIVE, 0x1000, 0, false), Sdo::Data(vec![0x92, 0x01, 0x02, 0x00]));
    assert_eq!(master.upload(DRIVE, 0x6060, 0, false), Sdo::Data(vec![0]));
    assert_eq!(master.upload(DRIVE, 0x6066, 0, false), Sdo::Data(vec![10, 0]));
}

#[test]
fn a_drive_states_its_encoder_scale() {
    let mut master = in_pre_op();
    let turn = (1_u32 << 20).to_le_bytes().to_vec();
    let one = vec![1, 0, 0, 0];
    // Encoder, gear, feed constant: the encoder is at the joint.
    for (index, above) in [(0x608F, &turn), (0x6091, &one), (0x6092, &turn)] {
        assert_eq!(master.upload(DRIVE, index, 1, false), Sdo::Data(above.clone()), "{index:#06x}:1");
        assert_eq!(master.upload(DRIVE, index, 2, false), Sdo::Data(one.clone()), "{index:#06x}:2");
    }
    assert_eq!(master.upload(DRIVE, 0x607E, 0, false), Sdo::Data(vec![0]), "polarity");
    assert_eq!(master.download(DRIVE, 0x607E, 0, &[0x80], false), Sdo::Abort(0x0601_0002), "it cannot be turned round");
}

#[test]
fn text_comes_by_normal_transfer() {
    assert_eq!(in_pre_op().upload(DRIVE, 0x1008, 0, false), Sdo::Data(b"kadenz servo drive".to_vec()));
}

#[test]
fn data_longer_than_the_mailbox_travel_in_segments() {
    // A mapping of 36 entries is 2 + 36·4 bytes: more than one mailbox, and room beyond the mapped entries.
    let mut master = in_pre_op();
    let mut long = with_esi("data/long.xml");
    long.configure_managers(0);
    assert_eq!(long.request(0, 2), (2, 0));
    let Sdo::Data(mapping) = long.upload(0, 0x1A00, 0, true) else { panic!("upload") };
    assert_eq!(mapping.len(), 2 + 36 * 4);
    assert_eq!(mapping[0], 36);
    assert_eq!(long.download(0, 0x1A00, 0, &mapping, true), Sdo::Data(vec![]));
    assert_eq!(long.upload(0, 0x1A00, 0, true), Sdo::Data(mapping));
    // A segment that belongs to no transfer is refused.
    assert!(master.coe(DRIVE, &[0, 0x20, 0x70, 0, 0, 0, 0, 0, 0, 0]).is_some_and(|body| body[2] == 0x80));
}

#[test]
fn a_repeated_segment_is_refused_by_its_toggle() {
    let mut master = in_pre_op();
    // 0x1600 with complete access: 2 + 7·4 bytes fit; a download announced longer than its mailbox opens segments.
    let size = 120_u32.to_le_bytes();
    let mut body = vec![0, 0x20, 0x31, 0x00, 0x16, 0, size[0], size[1], size[2], size[3]];
    body.extend([0; 112]);
    assert_eq!(master.coe(DRIVE, &body).unwrap()[2], 0x60);
    let answer = master.coe(DRIVE, &[0, 0x20, 0x10, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    assert_eq!((answer[2], u32::from_le_bytes(answer[6..10].try_into().unwrap())), (0x80, 0x0503_0000));
}

#[test]
fn every_refusal_has_its_own_abort_code() {
    let mut master = in_pre_op();
    let up = |master: &mut Master, index, sub, complete| master.upload(DRIVE, index, sub, complete);
    assert_eq!(up(&mut master, 0x5FFF, 0, false), Sdo::Abort(0x0602_0000));
    assert_eq!(up(&mut master, 0x1018, 9, false), Sdo::Abort(0x0609_0011));
    assert_eq!(up(&mut master, 0x1000, 0, true), Sdo::Abort(0x0601_0000));
    assert_eq!(up(&mut master, 0x1018, 2, true), Sdo::Abort(0x0601_0000));
    let down = |master: &mut Master, index, sub, data: &[u8]| master.download(DRIVE, index, sub, data, false);
    assert_eq!(down(&mut master, 0x1000, 0, &[0; 4]), Sdo::Abort(0x0601_0002));
    assert_eq!(down(&mut master, 0x6066, 0, &[1]), Sdo::Abort(0x0607_0013));
    assert_eq!(down(&mut master, 0x6066, 0, &[1, 2, 3]), Sdo::Abort(0x0607_0012));
    assert_eq!(down(&mut master, 0x6098, 0, &[99]), Sdo::Abort(0x0609_0030));
    assert_eq!(down(&mut master, 0x1C12, 1, &[0, 0x16]), Sdo::Abort(0x0601_0003));
    assert_eq!(down(&mut master, 0x1C12, 0, &[0]), Sdo::Data(vec![]));
    assert_eq!(down(&mut master, 0x1C12, 1, &[0, 0x1A]), Sdo::Abort(0x0604_0041));
    assert_eq!(down(&mut master, 0x1600, 0, &[0]), Sdo::Data(vec![]));
    assert_eq!(down(&mut master, 0x1600, 1, &0x6041_0010_u32.to_le_bytes()), Sdo::Abort(0x0604_0041));
    assert_eq!(down(&mut master, 0x1600, 1, &0x6040_0020_u32.to_le_bytes()), Sdo::Abort(0x0607_0010));
    let nonsense = master.coe(DRIVE, &[0, 0x20, 0xE0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    assert_eq!(u32::from_le_bytes(nonsense[6..10].try_into().unwrap()), 0x0504_0001);
}

#[test]
fn a_new_mapping_changes_the_process_image() {
    let mut master = in_pre_op();
    let mut set = |index: u16, sub: u8, data: &[u8]| {
        assert_eq!(master.download(DRIVE, index, sub, data, false), Sdo::Data(vec![]), "{index:#06x}:{sub}");
    };
    set(0x1C12, 0, &[0]);
    set(0x1600, 0, &[0]);
    set(0x1600, 1, &0x6040_0010_u32.to_le_bytes());
    set(0x1600, 2, &0x607A_0020_u32.to_le_bytes());
    set(0x1600, 0, &[2]);
    set(0x1C12, 1, &[0x00, 0x16]);
    set(0x1C12, 0, &[1]);
    // Six bytes now: the old length of sixteen is refused, six is taken.
    assert_eq!(master.request(DRIVE, 4), (0x12, 0x1D));
    master.write(DRIVE, at::SYNC_MANAGER.element(2), &[0x00, 0x11, 6, 0, 0x64, 0, 1, 0]);
    assert_eq!(master.request(DRIVE, 0x14), (4, 0));
    // Mapping is fixed now.
    assert_eq!(master.download(DRIVE, 0x1C12, 0, &[0], false), Sdo::Abort(0x0800_0022));
}

#[test]
fn a_device_with_five_process_data_objects_of_every_width_comes_to_op() {
    let mut master = with_esi("data/types.xml");
    master.bring_up();
    let objects = [0x1A00_u16, 0x1A01, 0x1A02, 0x1A03, 0x1A04];
    let assigned: Vec<u8> = [5, 0].into_iter().chain(objects.into_iter().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(master.upload(0, 0x1C13, 0, true), Sdo::Data(assigned));
    assert_eq!(master.upload(0, 0x1C13, 5, false), Sdo::Data(vec![0x04, 0x1A]));
    let values = [
        (0x7000, 1, 0.5_f64.to_bits() as i64),
        (0x7001, 1, 0b10),
        (0x7001, 2, 0b10_0001),
        (0x7001, 3, 0xA5),
        (0x7002, 1, 0x0012_3456),
        (0x7002, 2, -2),
        (0x7003, 1, i64::from(1.5_f32.to_bits())),
        (0x7003, 2, 5),
        (0x7004, 1, -3),
        (0x7004, 2, 0x1122_3344_5566),
        (0x7004, 3, 0x8001),
        (0x7004, 4, 0xC000_0003),
    ];
    let dictionary = &mut master.link.segment_mut().ring_mut().devices[0].dictionary;
    for (index, sub, value) in values {
        let handle = dictionary.handle(index, sub).unwrap();
        dictionary.set(handle, value);
        assert_eq!(dictionary.get(handle), value, "{index:#06x}:{sub}");
    }
    master.cycles(2);
    let mut expected = 0.5_f64.to_le_bytes().to_vec();
    expected.extend([0b1000_0110, 0xA5, 0x56, 0x34, 0x12]);
    expected.extend((-2_i64).to_le_bytes().into_iter().take(5));
    expected.extend(1.5_f32.to_le_bytes());
    expected.push(5);
    expected.extend((-3_i64).to_le_bytes().into_iter().take(7));
    expected.extend([0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x01, 0x80, 0x03, 0x00, 0x00, 0xC0]);
    assert_eq!(master.input(0), expected);
    assert_eq!(master.upload(0, 0x7001, 2, false), Sdo::Data(vec![0b10_0001]), "a byte by SDO");
}

#[test]
fn complete_access_writes_all_or_nothing() {
    let mut master = in_pre_op();
    let before = master.upload(DRIVE, 0x1C12, 0, true);
    // Second place names an object that is no PDO.
    assert_eq!(master.download(DRIVE, 0x1C12, 0, &[2, 0, 0x00, 0x16, 0x00, 0x17], true), Sdo::Abort(0x0604_0041));
    assert_eq!(master.upload(DRIVE, 0x1C12, 0, true), before);
}

#[test]
fn other_protocols_and_short_mailboxes_are_refused_by_an_error_reply() {
    let mut master = in_pre_op();
    for (bytes, detail) in
        [(vec![10, 0, 0, 0, 0, 0x12], 2), (vec![1, 0, 0, 0, 0, 0x23], 6), (vec![0xFF, 0xFF, 0, 0, 0, 0x33], 8)]
    {
        let mut mailbox = bytes;
        mailbox.resize(128, 0);
        assert_eq!(master.write(DRIVE, 0x1000_u16, &mailbox), 1);
        let reply = master.fetch(DRIVE).unwrap();
        assert_eq!((reply[5] & 0x0F, reply[6], reply[8]), (0, 1, detail));
    }
}

#[test]
fn a_lost_reply_is_repeated_on_request() {
    let mut master = in_pre_op();
    master.post(DRIVE, &[0, 0x20, 0x40, 0x00, 0x10, 0, 0, 0, 0, 0]);
    let first = master.fetch(DRIVE).unwrap();
    assert_eq!(master.fetch(DRIVE), None, "read once");
    master.write(DRIVE, at::SYNC_MANAGER.element(1).byte(manager::ACTIVATION), &[0x03]);
    assert_eq!(
        master.read(DRIVE, at::SYNC_MANAGER.element(1).byte(manager::PDI_CONTROL), 1).unwrap().0,
        [0x02],
        "acknowledged"
    );
    assert_eq!(master.fetch(DRIVE), Some(first));
}

#[test]
fn information_describes_objects_and_entries() {
    let mut master = in_pre_op();
    let mut ask = |opcode: u8, body: &[u8]| {
        let mut message = vec![0, 0x80, opcode, 0, 0, 0];
        message.extend(body);
        master.coe(DRIVE, &message).unwrap()
    };
    let object = ask(3, &[0x18, 0x10]);
    assert_eq!((object[2], &object[6..8], object[10], object[11]), (4, &[0x18, 0x10][..], 4, 9));
    assert_eq!(&object[12..], b"identity");
    let entry = ask(5, &[0x40, 0x60, 0, 0]);
    assert_eq!((entry[2], &entry[10..14]), (6, &[0x06, 0, 16, 0][..]));
    assert_eq!(
        u16::from_le_bytes([entry[14], entry[15]]),
        0x007F,
        "read and written in all states, mapped from the master"
    );
    let missing = ask(3, &[0xFF, 0x5F]);
    assert_eq!((missing[2], u32::from_le_bytes(missing[6..10].try_into().unwrap())), (7, 0x0602_0000));
}

#[test]
fn a_long_object_list_comes_in_fragments_that_count_down() {
    let mut master = in_pre_op();
    master.post(DRIVE, &[0, 0x80, 1, 0, 0, 0, 1, 0]);
    let (mut left, mut indices) = (None, Vec::new());
    while left != Some(0) {
        let bytes = master.fetch(DRIVE).expect("next fragment");
        let body = kadenz_segment::mailbox::parse(&bytes).unwrap().body.to_vec();
        let count = u16::from_le_bytes([body[4], body[5]]);
        assert!(left.is_none_or(|before: u16| before == count + 1));
        let skip = if left.is_none() { 8 } else { 6 };
        indices.extend(body[skip..].chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
        left = Some(count);
    }
    let expected: Vec<u16> =
        master.link.segment().ring().devices[0].dictionary.objects().iter().map(|object| object.index).collect();
    // The list type stands in front of the first fragment's indices.
    assert_eq!(indices, expected);
}
