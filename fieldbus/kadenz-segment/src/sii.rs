// SPDX-License-Identifier: Apache-2.0
//! The EEPROM (slave information interface, ETG.2010): contents made from a description, and its command interface.

use crate::description::{Description, Pdo, Purpose};

/// Bytes of the EEPROM: 2 KiB, or what the strings need.
const SMALLEST: usize = 2048;
const PROTOCOL_AOE: u16 = 0x0001;
const PROTOCOL_EOE: u16 = 0x0002;
const PROTOCOL_COE: u16 = 0x0004;
const PROTOCOL_FOE: u16 = 0x0008;
const PROTOCOL_SOE: u16 = 0x0010;
const PROTOCOL_VOE: u16 = 0x0020;

const CATEGORY_STRINGS: u16 = 10;
const CATEGORY_GENERAL: u16 = 30;
const CATEGORY_FMMU: u16 = 40;
const CATEGORY_SYNC_MANAGER: u16 = 41;
const CATEGORY_TX: u16 = 50;
const CATEGORY_RX: u16 = 51;

/// Bits of the enable byte of a sync manager.
const ENABLE: u8 = 0x01;
const OP_ONLY: u8 = 0x08;

/// The contents of the EEPROM, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sii {
    bytes: Vec<u8>,
}

/// CRC-8 of the configuration area: polynomial x⁸+x²+x+1, initial value 0xFF, over the first 14 bytes.
pub fn crc8(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xFF, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc: u8, _| if crc & 0x80 != 0 { crc << 1 ^ 0x07 } else { crc << 1 })
    })
}

#[derive(Default)]
struct Strings(Vec<String>);

impl Strings {
    /// Number of a string, from 1; 0 is none.
    fn add(&mut self, text: &str) -> u8 {
        if text.is_empty() {
            return 0;
        }
        if let Some(at) = self.0.iter().position(|known| known == text) {
            return at as u8 + 1;
        }
        if self.0.len() == 255 {
            return 0;
        }
        self.0.push(text.chars().filter(char::is_ascii).take(255).collect());
        self.0.len() as u8
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.0.len() as u8];
        for text in &self.0 {
            bytes.push(text.len() as u8);
            bytes.extend(text.as_bytes());
        }
        bytes
    }
}

fn category(image: &mut Vec<u8>, kind: u16, mut body: Vec<u8>) {
    body.resize(body.len().next_multiple_of(2), 0);
    image.extend(kind.to_le_bytes());
    image.extend((body.len() as u16 / 2).to_le_bytes());
    image.extend(body);
}

/// PDOs that are assigned from the start: an EEPROM has no room for all alternatives of large devices.
fn pdos(device: &Description, list: &[Pdo], strings: &mut Strings) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (pdo, manager) in list.iter().filter_map(|pdo| Some((pdo, device.manager_of(pdo.index)?))) {
        bytes.extend(pdo.index.to_le_bytes());
        bytes.extend([pdo.pieces().count() as u8, manager as u8, 0, strings.add(&pdo.name), 0, 0]);
        for (entry, bits) in pdo.pieces() {
            bytes.extend(entry.index.to_le_bytes());
            let kind = if entry.index == 0 { 0 } else { entry.data_type as u16 as u8 };
            bytes.extend([entry.sub, strings.add(&entry.name), kind, bits, 0, 0]);
        }
    }
    bytes
}

/// Words 0 to 0x3F: configuration, identity, mailboxes.
fn fixed_words(device: &Description) -> Vec<u8> {
    let mut words = vec![0_u8; 0x80];
    let mut put = |word: usize, bytes: &[u8]| {
        for (offset, byte) in bytes.iter().enumerate() {
            words[2 * word + offset] = *byte;
        }
    };
    put(0, &0x0C08_u16.to_le_bytes());
    put(4, &device.alias.to_le_bytes());
    let identity = device.identity;
    for (word, value) in
        [(0x08, identity.vendor), (0x0A, identity.product), (0x0C, identity.revision), (0x0E, identity.serial)]
    {
        put(word, &value.to_le_bytes());
    }
    for (word, purpose) in [(0x18, Purpose::MailboxOut), (0x1A, Purpose::MailboxIn)] {
        if let Some(mailbox) = device.sync_managers.iter().find(|manager| manager.purpose == purpose) {
            put(word, &mailbox.start.to_le_bytes());
            put(word + 1, &mailbox.size.to_le_bytes());
        }
    }
    if let Some(bootstrap) = device.bootstrap {
        for (word, (start, size)) in [(0x14, bootstrap.out), (0x16, bootstrap.inward)] {
            put(word, &start.to_le_bytes());
            put(word + 1, &size.to_le_bytes());
        }
    }
    put(0x1C, &protocols(device).to_le_bytes());
    put(0x3F, &1_u16.to_le_bytes());
    words[14] = crc8(&words[..14]);
    words
}

/// Protocols of the mailbox.
fn protocols(device: &Description) -> u16 {
    let protocols = [
        (device.aoe, PROTOCOL_AOE),
        (device.eoe.is_some(), PROTOCOL_EOE),
        (device.coe.is_some(), PROTOCOL_COE),
        (device.foe, PROTOCOL_FOE),
        (device.soe, PROTOCOL_SOE),
        (device.voe, PROTOCOL_VOE),
    ];
    protocols.iter().filter(|(has, _)| *has).fold(0, |all, (_, protocol)| all | protocol)
}

fn general(device: &Description, strings: &mut Strings) -> Vec<u8> {
    let name = strings.add(&device.type_name);
    let group = strings.add("kadenz");
    let mut general = vec![group, 0, name, name, 0];
    let identification = device.identification;
    let flags = u8::from(identification.by_status) << 3 | u8::from(identification.address.is_some()) << 4;
    general.extend([device.coe.unwrap_or(0), u8::from(device.foe), u8::from(device.eoe.is_some()), 0, 0, 0, flags]);
    general.extend([0, 0, group, 0]);
    general.extend(0x1111_u16.to_le_bytes());
    general.extend(identification.address.unwrap_or(0).to_le_bytes());
    general.resize(32, 0);
    general
}

fn sync_managers(device: &Description) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (layout, manager) in device.managers().iter().zip(&device.sync_managers) {
        bytes.extend(layout.start.to_le_bytes());
        bytes.extend(layout.length.to_le_bytes());
        // An empty direction is described but not enabled.
        let enable = if layout.length > 0 { ENABLE } else { 0 } | if manager.op_only { OP_ONLY } else { 0 };
        bytes.extend([layout.control, 0, enable, layout.purpose as u8]);
    }
    bytes
}

impl Sii {
    /// The EEPROM of a device.
    pub fn build(device: &Description) -> Self {
        let mut strings = Strings::default();
        let general = general(device, &mut strings);
        let managers = sync_managers(device);
        let tx = pdos(device, &device.tx, &mut strings);
        let rx = pdos(device, &device.rx, &mut strings);

        let mut image = fixed_words(device);
        category(&mut image, CATEGORY_STRINGS, strings.bytes());
        category(&mut image, CATEGORY_GENERAL, general);
        category(&mut image, CATEGORY_FMMU, vec![1, 2, 3, 0]);
        for (kind, body) in [(CATEGORY_SYNC_MANAGER, managers), (CATEGORY_TX, tx), (CATEGORY_RX, rx)] {
            if !body.is_empty() {
                category(&mut image, kind, body);
            }
        }
        image.extend([0xFF, 0xFF]);
        image.resize(image.len().max(SMALLEST).next_multiple_of(128), 0xFF);
        // Size in KiBit, less one.
        let size = (image.len() / 128 - 1) as u16;
        image[0x7C..0x7E].copy_from_slice(&size.to_le_bytes());
        Self { bytes: image }
    }

    /// All bytes of the EEPROM.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// One word; 0xFFFF beyond the end, as an erased EEPROM.
    pub fn word(&self, word: usize) -> u16 {
        let byte = |at: usize| self.bytes.get(at).copied().unwrap_or(0xFF);
        u16::from_le_bytes([byte(2 * word), byte(2 * word + 1)])
    }

    /// Is the checksum of the configuration area right?
    pub fn is_intact(&self) -> bool {
        self.bytes.first_chunk::<14>().map(|area| crc8(area)) == self.bytes.get(14).copied()
    }

    /// Damages or repairs the configuration area: for faults.
    pub fn flip_checksum(&mut self) {
        if let Some(byte) = self.bytes.get_mut(14) {
            *byte ^= 0x55;
        }
    }

    /// Carries out a command written to EEPROM control. Returns the new value of that register and what a read puts into
    /// EEPROM data.
    pub(crate) fn command(
        &mut self,
        control: u16,
        address: u32,
        data: [u8; 2],
        given_to_pdi: bool,
    ) -> (u16, Option<[u8; 8]>) {
        const READ: u16 = 1;
        const WRITE: u16 = 2;
        const RELOAD: u16 = 4;
        const EIGHT_BYTES: u16 = 1 << 6;
        const CHECKSUM_ERROR: u16 = 1 << 11;
        const ACKNOWLEDGE_ERROR: u16 = 1 << 13;
        const WRITE_ENABLE_ERROR: u16 = 1 << 14;
        let mut status = EIGHT_BYTES | if self.is_intact() { 0 } else { CHECKSUM_ERROR };
        let command = control >> 8 & 0x07;
        let start = (address as usize).saturating_mul(2);
        match command {
            0 => (status, None),
            _ if given_to_pdi => (status | ACKNOWLEDGE_ERROR | command << 8, None),
            READ | RELOAD => {
                let start = if command == RELOAD { 0 } else { start };
                let mut read = [0xFF; 8];
                for (offset, byte) in read.iter_mut().enumerate() {
                    *byte = self.bytes.get(start.saturating_add(offset)).copied().unwrap_or(0xFF);
                }
                (status, Some(read))
            }
            WRITE if control & 1 == 0 => (status | WRITE_ENABLE_ERROR, None),
            WRITE => {
                match self.bytes.get_mut(start..start.saturating_add(2)) {
                    Some(place) => place.copy_from_slice(&data),
                    None => status |= ACKNOWLEDGE_ERROR,
                }
                (status, None)
            }
            _ => (status | ACKNOWLEDGE_ERROR, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::{own_managers, Identification, Identity, BOOTSTRAP, COE_DETAILS};
    use crate::eoe::settings::EthernetSettings;

    fn sii() -> Sii {
        Sii::build(&Description {
            type_name: "test".into(),
            identity: Identity { vendor: 0x1234, product: 0x5678, revision: 9, serial: 10 },
            alias: 7,
            identification: Identification::default(),
            coe: Some(COE_DETAILS),
            foe: true,
            eoe: Some(EthernetSettings::default().abilities()),
            aoe: true,
            soe: true,
            voe: true,
            bootstrap: Some(BOOTSTRAP),
            has_clock: true,
            rx: Vec::new(),
            tx: Vec::new(),
            sync_managers: own_managers(true, &[], &[]),
        })
    }

    #[test]
    fn the_checksum_covers_the_configuration_area() {
        let mut sii = sii();
        assert!(sii.is_intact());
        sii.flip_checksum();
        assert!(!sii.is_intact());
        assert_ne!(sii.command(0x0100, 0, [0, 0], false).0 & 1 << 11, 0);
    }

    #[test]
    fn the_checksum_agrees_with_a_worked_example() {
        // Worked apart from this code: long division of 0xFF, of 0xFF ^ 0x00, and of the usual check string.
        assert_eq!(crc8(&[]), 0xFF);
        assert_eq!(crc8(&[0]), 0xF3);
        assert_eq!(crc8(b"123456789"), 0xFB);
    }

    #[test]
    fn the_mailboxes_of_bootstrap_and_the_protocols_stand_in_their_words() {
        let sii = sii();
        assert_eq!([0x14, 0x15, 0x16, 0x17].map(|word| sii.word(word)), [0x1000, 1024, 0x1400, 1024]);
        assert_eq!(sii.word(0x1C), 0x3F);
    }

    #[test]
    fn a_read_gives_eight_bytes_at_a_word_address() {
        let (status, data) = sii().command(0x0100, 8, [0, 0], false);
        assert_eq!(status, 1 << 6);
        assert_eq!(data, Some([0x34, 0x12, 0, 0, 0x78, 0x56, 0, 0]));
    }

    #[test]
    fn a_write_needs_its_enable_bit_and_the_right_to_the_eeprom() {
        let mut sii = sii();
        assert_eq!(sii.command(0x0200, 4, [9, 0], false).0 & 1 << 14, 1 << 14);
        assert_eq!(sii.command(0x0201, 4, [9, 0], true).0 & 1 << 13, 1 << 13);
        assert_eq!(sii.word(4), 7);
        assert_eq!(sii.command(0x0201, 4, [9, 0], false).0, 1 << 6);
        assert_eq!(sii.word(4), 9);
    }
}
