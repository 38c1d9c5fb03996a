// SPDX-License-Identifier: Apache-2.0
//! The FoE server of a device: one file at a time, in numbered packets of which the last is shorter than the mailbox.

use super::files::Files;
use super::{error, message, Operation, Refusal, HEADER};

/// A file on its way.
#[derive(Debug, Default)]
enum Transfer {
    #[default]
    None,
    /// To the master: packet `number` holds `part` bytes from `at`.
    Up { data: Vec<u8>, at: usize, part: usize, number: u32, is_last: bool },
    /// From the master: packet `number` was acknowledged last; `space` bytes fit.
    Down { name: String, data: Vec<u8>, space: usize, number: u32 },
}

/// Where and how a transfer happens.
#[derive(Debug, Clone, Copy)]
pub struct Passage {
    /// Data bytes of a full packet from the master.
    pub inward: usize,
    /// Data bytes of a full packet to the master.
    pub outward: usize,
    /// The device is in bootstrap.
    pub in_boot: bool,
}

/// Fault: one packet of each transfer is answered as busy. Packet 0 is the request itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy {
    /// Number of the packet.
    pub packet: u32,
    /// How many times it is answered so.
    pub times: u32,
}

/// The server of one device.
#[derive(Debug, Default)]
pub struct Server {
    /// What it keeps.
    pub files: Files,
    transfer: Transfer,
    /// Fault: a packet has to wait.
    pub busy: Option<Busy>,
    /// Fault: a packet (0: the request) is answered by an error with this code.
    pub abort: Option<(u32, u32)>,
    /// Answers of busy to the packet under way.
    busies: u32,
}

impl Server {
    /// A transfer is under way.
    pub fn is_busy(&self) -> bool {
        !matches!(self.transfer, Transfer::None)
    }

    /// Forgets a transfer; a file that was not complete leaves no trace.
    pub fn reset(&mut self) {
        (self.transfer, self.busies) = (Transfer::None, 0);
    }

    /// Answers one message, which has at least [`HEADER`] bytes; `None` where no answer is due.
    pub fn answer(&mut self, request: &[u8], passage: Passage) -> Option<Vec<u8>> {
        let ([operation, _, number @ ..], rest) = request.split_first_chunk::<HEADER>()?;
        let (operation, number) = (Operation::from_byte(*operation), u32::from_le_bytes(*number));
        if operation == Some(Operation::Error) {
            self.reset();
            return None;
        }
        if let Some(disturbed) = self.disturbed(operation, number, passage.outward) {
            return Some(disturbed);
        }
        let outcome = match operation {
            Some(Operation::Read) => self.read(number, rest, passage),
            Some(Operation::Write) => self.write(number, rest, passage),
            Some(Operation::Data) => self.data(number, rest, passage),
            Some(Operation::Acknowledge) => self.acknowledged(number, passage),
            // The master could not take the packet, and asks for it again.
            Some(Operation::Busy) => self.packet().map(Some).ok_or(Refusal::Illegal),
            Some(Operation::Error) | None => Err(Refusal::Illegal),
        };
        self.busies = 0;
        outcome.unwrap_or_else(|refusal| {
            self.reset();
            Some(error(refusal as u32, passage.outward))
        })
    }

    /// The answer of a fault, if one concerns this packet.
    fn disturbed(&mut self, operation: Option<Operation>, number: u32, room: usize) -> Option<Vec<u8>> {
        let packet = match operation {
            Some(Operation::Read | Operation::Write) => 0,
            Some(Operation::Data | Operation::Acknowledge) if self.is_busy() => number,
            _ => return None,
        };
        if let Some(busy) = self.busy.filter(|busy| busy.packet == packet && self.busies < busy.times) {
            self.busies += 1;
            let share = |count: u32| u16::try_from(count).unwrap_or(u16::MAX);
            let number = u32::from(share(self.busies)) | u32::from(share(busy.times)) << 16;
            let text = b"busy";
            return Some(message(Operation::Busy, number, text.get(..room.min(text.len())).unwrap_or_default()));
        }
        let (_, code) = self.abort.filter(|(at, _)| *at == packet)?;
        self.reset();
        Some(error(code, room))
    }

    fn read(&mut self, password: u32, name: &[u8], passage: Passage) -> Result<Option<Vec<u8>>, Refusal> {
        self.transfer = Transfer::None;
        let data = self.files.read(name, password, passage.in_boot)?;
        self.offer(data, 0, 1, passage.outward)
    }

    /// Makes packet `number` of the bytes from `at` the one under way.
    fn offer(&mut self, data: Vec<u8>, at: usize, number: u32, room: usize) -> Result<Option<Vec<u8>>, Refusal> {
        if room == 0 {
            return Err(Refusal::Program);
        }
        let part = data.len().saturating_sub(at).min(room);
        self.transfer = Transfer::Up { data, at, part, number, is_last: part < room };
        Ok(self.packet())
    }

    /// The packet under way to the master.
    fn packet(&self) -> Option<Vec<u8>> {
        let Transfer::Up { data, at, part, number, .. } = &self.transfer else { return None };
        Some(message(Operation::Data, *number, data.get(*at..*at + *part).unwrap_or_default()))
    }

    fn acknowledged(&mut self, packet: u32, passage: Passage) -> Result<Option<Vec<u8>>, Refusal> {
        let Transfer::Up { data, at, part, number, is_last } = &mut self.transfer else { return Err(Refusal::Illegal) };
        if packet != *number {
            return Err(Refusal::PacketNumber);
        }
        if *is_last {
            self.transfer = Transfer::None;
            return Ok(None);
        }
        let (data, at, number) = (std::mem::take(data), *at + *part, number.wrapping_add(1));
        self.offer(data, at, number, passage.outward)
    }

    fn write(&mut self, password: u32, name: &[u8], passage: Passage) -> Result<Option<Vec<u8>>, Refusal> {
        self.transfer = Transfer::None;
        let (name, space) = self.files.open(name, password, passage.in_boot)?;
        self.transfer = Transfer::Down { name, data: Vec::new(), space, number: 0 };
        Ok(Some(message(Operation::Acknowledge, 0, &[])))
    }

    fn data(&mut self, packet: u32, part: &[u8], passage: Passage) -> Result<Option<Vec<u8>>, Refusal> {
        let Transfer::Down { name, data, space, number } = &mut self.transfer else { return Err(Refusal::Illegal) };
        if packet != number.wrapping_add(1) {
            return Err(Refusal::PacketNumber);
        }
        if part.len() > space.saturating_sub(data.len()) {
            return Err(Refusal::DiskFull);
        }
        data.extend(part);
        *number = packet;
        // A file that fills its packets ends with an empty one.
        if part.is_empty() || part.len() < passage.inward {
            let (name, data) = (std::mem::take(name), std::mem::take(data));
            self.transfer = Transfer::None;
            self.files.store(name, data)?;
        }
        Ok(Some(message(Operation::Acknowledge, packet, &[])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSAGE: Passage = Passage { inward: 8, outward: 8, in_boot: false };

    fn answer(server: &mut Server, operation: Operation, number: u32, rest: &[u8]) -> Option<(u8, u32, Vec<u8>)> {
        let answer = server.answer(&message(operation, number, rest), PASSAGE)?;
        let ([operation, 0, number @ ..], rest) = answer.split_first_chunk::<HEADER>()? else { return None };
        Some((*operation, u32::from_le_bytes(*number), rest.to_vec()))
    }

    fn with_file(bytes: &[u8]) -> Server {
        let mut server = Server::default();
        server.files.store("f".into(), bytes.to_vec()).unwrap();
        server
    }

    /// The dialogue that ETG.1000.6 draws: request, packets from 1, acknowledgements; a full last packet is followed by an
    /// empty one.
    #[test]
    fn a_file_travels_in_packets_of_which_the_last_is_shorter() {
        for length in [0, 1, 7, 8, 9, 15, 16, 17] {
            let bytes: Vec<u8> = (0..length).collect();
            let packets = bytes.len() / 8 + 1;
            let mut server = Server::default();
            assert_eq!(answer(&mut server, Operation::Write, 0, b"f"), Some((4, 0, vec![])));
            for packet in 0..packets {
                let part = &bytes[8 * packet..bytes.len().min(8 * packet + 8)];
                assert!(server.is_busy(), "{length}: packet {packet}");
                let number = packet as u32 + 1;
                assert_eq!(answer(&mut server, Operation::Data, number, part), Some((4, number, vec![])));
            }
            assert!(!server.is_busy(), "{length}");
            let mut next = answer(&mut server, Operation::Read, 0, b"f");
            for packet in 0..packets {
                let part = bytes[8 * packet..bytes.len().min(8 * packet + 8)].to_vec();
                let number = packet as u32 + 1;
                assert_eq!(next, Some((3, number, part)), "{length}");
                next = answer(&mut server, Operation::Acknowledge, number, &[]);
            }
            assert_eq!((next, server.is_busy()), (None, false), "{length}: the last acknowledgement has no answer");
        }
    }

    /// A message at a point of a dialogue, and the error that answers it.
    #[test]
    fn every_message_out_of_place_is_refused_by_its_own_code() {
        use Operation::*;
        for (before, operation, number, code) in [
            (None, Acknowledge, 0, 0x8004),
            (None, Data, 1, 0x8004),
            (None, Busy, 0, 0x8004),
            (Some(Write), Data, 0, 0x8005),
            (Some(Write), Data, 2, 0x8005),
            (Some(Write), Acknowledge, 0, 0x8004),
            (Some(Write), Busy, 0, 0x8004),
            (Some(Read), Acknowledge, 0, 0x8005),
            (Some(Read), Acknowledge, 2, 0x8005),
            (Some(Read), Data, 1, 0x8004),
        ] {
            let mut server = with_file(&[1; 20]);
            if let Some(before) = before {
                assert!(answer(&mut server, before, 0, b"f").is_some());
            }
            let error = answer(&mut server, operation, number, &[9; 8]);
            assert!(matches!(&error, Some((5, said, text)) if *said == code && !text.is_empty()), "{error:?}");
            assert!(!server.is_busy(), "an error ends the transfer");
        }
        let mut server = with_file(&[]);
        assert_eq!(
            server.answer(&[7, 0, 0, 0, 0, 0], PASSAGE).map(|answer| answer[2..4].to_vec()),
            Some(vec![4, 0x80])
        );
        assert_eq!(server.answer(&[1, 0, 0, 0, 0], PASSAGE), None, "shorter than its header: the mailbox refuses it");
    }

    #[test]
    fn an_aborted_or_restarted_write_leaves_the_file_as_it_was() {
        let mut server = with_file(b"old");
        for end in [Operation::Error, Operation::Read] {
            answer(&mut server, Operation::Write, 0, b"f");
            answer(&mut server, Operation::Data, 1, &[9; 8]);
            let said = answer(&mut server, end, 0x8000, b"f");
            assert_eq!(said.is_none(), end == Operation::Error, "an error is not answered");
            server.reset();
            assert_eq!(server.files.read(b"f", 0, false), Ok(b"old".to_vec()));
        }
    }

    #[test]
    fn a_master_that_is_busy_gets_the_packet_again() {
        let mut server = with_file(&[5; 12]);
        let first = answer(&mut server, Operation::Read, 0, b"f");
        assert_eq!(answer(&mut server, Operation::Busy, 0, &[]), first);
        assert_eq!(answer(&mut server, Operation::Acknowledge, 1, &[]), Some((3, 2, vec![5; 4])));
        assert_eq!(answer(&mut server, Operation::Busy, 0, &[]), Some((3, 2, vec![5; 4])));
        assert_eq!(answer(&mut server, Operation::Acknowledge, 2, &[]), None);
    }

    #[test]
    fn a_busy_packet_waits_as_often_as_asked_in_each_transfer() {
        let mut server = Server { busy: Some(Busy { packet: 1, times: 2 }), ..Server::default() };
        for _ in 0..2 {
            assert_eq!(answer(&mut server, Operation::Write, 0, b"f"), Some((4, 0, vec![])));
            for done in 1..=2 {
                assert_eq!(
                    answer(&mut server, Operation::Data, 1, &[1, 2]),
                    Some((6, done | 2 << 16, b"busy".to_vec()))
                );
            }
            assert_eq!(answer(&mut server, Operation::Data, 1, &[1, 2]), Some((4, 1, vec![])));
        }
        assert_eq!(server.files.read(b"f", 0, false), Ok(vec![1, 2]), "stored once, not once a try");
    }

    #[test]
    fn an_aborted_packet_ends_the_transfer_with_its_code() {
        let mut server = Server { abort: Some((2, 0x8011)), ..with_file(b"old") };
        answer(&mut server, Operation::Write, 0, b"f");
        assert_eq!(answer(&mut server, Operation::Data, 1, &[9; 8]), Some((4, 1, vec![])));
        assert_eq!(answer(&mut server, Operation::Data, 2, &[9; 3]), Some((5, 0x8011, vec![])));
        assert_eq!(server.files.read(b"f", 0, false), Ok(b"old".to_vec()));
        server.abort = Some((0, 0x8007));
        assert_eq!(answer(&mut server, Operation::Read, 0, b"f"), Some((5, 0x8007, b"no user".to_vec())));
    }
}
