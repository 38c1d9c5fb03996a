// SPDX-License-Identifier: Apache-2.0
//! Random messages of every protocol of a mailbox: mostly well-formed, so that they get far.

use kadenz_segment::mailbox;
use kadenz_segment::random::Random;

/// A file's message: any operation, packet numbers near those that are due, and names that exist, or lead elsewhere.
pub fn random_foe(random: &mut Random) -> Vec<u8> {
    let operation = random.bits() as u8 % 8;
    let number = if random.bits() % 4 == 0 { random.bits() as u32 } else { random.bits() as u32 % 4 };
    let name: &[u8] = [&b"f"[..], b"g", b"../f", b"a/b", b"", b".", b"f\0"][random.bits() as usize % 7];
    let length = if random.bits() % 2 == 0 { 116 } else { random.bits() as usize % 117 };
    let data: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
    let mut bytes = vec![operation, 0];
    bytes.extend(number.to_le_bytes());
    bytes.extend(if matches!(operation, 1 | 2) { name } else { &data });
    bytes
}

/// A mailbox with a sensible header and a random message of CoE, FoE, EoE, AoE, SoE or VoE.
pub fn random_mailbox(random: &mut Random) -> Vec<u8> {
    let other = match random.bits() % 6 {
        0 => Some((4, random_foe(random))),
        1 => Some((2, random_eoe(random))),
        2 => Some((1, random_aoe(random))),
        3 => Some((15, random_voe(random))),
        4 => Some((5, random_soe(random))),
        _ => None,
    };
    if let Some((protocol, body)) = other {
        let mut bytes = mailbox::assemble(protocol, random.bits() as u8, &body);
        bytes.resize(128, 0);
        return bytes;
    }
    let length = random.bits() as usize % 126;
    let mut body: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
    if let Some(head) = body.first_chunk_mut::<6>() {
        let service = [0x20, 0x80, 0x20, 0x30][random.bits() as usize % 4];
        let index = [0x1000, 0x1018, 0x1600, 0x1C12, 0x6040, 0x6098, 0x1A00, 0x607D][random.bits() as usize % 8] as u16;
        let [low, high] = index.to_le_bytes();
        *head = [0, service, random.bits() as u8, low, high, random.bits() as u8 % 4];
    }
    let mut bytes = mailbox::assemble(
        if random.bits() % 8 == 0 { random.bits() as u8 & 15 } else { 3 },
        random.bits() as u8,
        &body,
    );
    bytes.resize(128, 0);
    bytes
}

/// A message of EoE: any header, fragments that sometimes follow each other, frames that the network stack looks into.
pub fn random_eoe(random: &mut Random) -> Vec<u8> {
    let kind = [0, 0, 0, 2, 6, random.bits() as u8][random.bits() as usize % 6];
    let fragment = if random.bits() % 4 == 0 { random.bits() as u16 } else { random.bits() as u16 % 3 };
    let place = fragment & 0x3F | (random.bits() as u16 % 6) << 6 | (random.bits() as u16 % 2) << 12;
    let mut bytes = vec![kind, random.bits() as u8 & 7];
    bytes.extend(place.to_le_bytes());
    let length = if random.bits() % 2 == 0 { 32 * (random.bits() as usize % 4) } else { random.bits() as usize % 119 };
    bytes.extend((0..length).map(|_| if random.bits() % 3 == 0 { 0 } else { random.bits() as u8 }));
    if random.bits() % 4 == 0 {
        bytes = vec![0, 1, 0x80, 0x00];
        bytes.extend(random_packet(random));
    }
    bytes
}

/// A message of AoE: commands near those that exist, objects that exist or not, lengths that are right or not.
pub fn random_aoe(random: &mut Random) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..16).map(|_| random.bits() as u8).collect();
    let length = if random.bits() % 4 == 0 { random.bits() as u8 } else { 16 };
    bytes.extend([random.bits() as u8 % 11, 0, [4, 4, 4, random.bits() as u8][random.bits() as usize % 4], 0, length]);
    bytes.extend([0; 11]);
    let index = [0x1018_u16, 0x1C12, 0x6040, 0x607A, random.bits() as u16][random.bits() as usize % 5];
    let group = if random.bits() % 4 == 0 { random.bits() as u32 } else { 0xF302 };
    let offset = u32::from(index) << 16 | u32::from(random.bits() as u16 & 0x0107);
    let counts = [random.bits() as u32 % 9, random.bits() as u32 % 9];
    bytes.extend([group, offset, counts[0], counts[1]].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend((0..random.bits() % 70).map(|_| random.bits() as u8));
    bytes
}

/// A message of SoE: requests and others, IDNs that exist or not, fragments, procedure commands, lengths that are right or not.
pub fn random_soe(random: &mut Random) -> Vec<u8> {
    let first = [1, 3, 3, 11, random.bits() as u8][random.bits() as usize % 5];
    let elements = if random.bits() % 3 == 0 { random.bits() as u8 } else { 0x40 };
    let idn = [2_u16, 17, 47, 99, 127, 142, 262, random.bits() as u16][random.bits() as usize % 8];
    let mut bytes = vec![first, elements];
    bytes.extend(idn.to_le_bytes());
    let length = [0, 2, 2, 4, random.bits() as usize % 119][random.bits() as usize % 5];
    bytes.extend(
        (0..length).map(|_| if random.bits() % 2 == 0 { random.bits() as u8 & 3 } else { random.bits() as u8 }),
    );
    bytes.truncate(if random.bits() % 16 == 0 { random.bits() as usize % 5 } else { bytes.len() });
    bytes
}

/// A message of VoE: the vendor's number or another, types that echo, have a record, or nothing.
pub fn random_voe(random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![if random.bits() % 4 == 0 { random.bits() as u8 } else { 0xAD }, 0x0B, 0, 0];
    bytes.extend([random.bits() as u8 % 4, 0]);
    bytes.extend((0..random.bits() % 117).map(|_| random.bits() as u8));
    bytes.truncate(random.bits() as usize % 123);
    bytes
}

/// An Ethernet frame of 60 bytes for the device: ARP, ICMP or TCP with a right checksum of IPv4 and random content.
pub fn random_packet(random: &mut Random) -> Vec<u8> {
    let mut frame = vec![0x02, 0x6B, 0x64, 0x7A, 0, 1, 2, 0, 0, 0, 0, 1, 8, 0];
    if random.bits() % 4 == 0 {
        frame.truncate(12);
        frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1 + random.bits() as u8 % 2, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1]);
        frame.extend([0, 0, 0, 0, 0, 0, 10, 0, 0, 2]);
    } else {
        let protocol = [1, 6, 17, random.bits() as u8][random.bits() as usize % 4];
        let mut header = vec![0x45, 0, 0, 20 + random.bits() as u8 % 27, 0, 0, 0, 0, 64, protocol, 0, 0];
        header.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        let sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
        header[10..12].copy_from_slice(&(!((sum & 0xFFFF) + (sum >> 16)) as u16).to_be_bytes());
        frame.extend(header);
        frame.extend([0xC3, random.bits() as u8 % 4, 0, 80]);
    }
    while frame.len() < 60 {
        frame.push(random.bits() as u8);
    }
    frame
}
