// SPDX-License-Identifier: Apache-2.0
//! Frames in fragments: numbers, offsets in units of 32 bytes, and what is wrong with a fragment out of order.

use super::{Header, Kind, LONGEST_FRAME, SHORTEST_FRAME, UNIT};

/// Bytes of a time stamp behind a frame.
const STAMP: usize = 4;

/// The second header word of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Number of the fragment in its frame, from 0.
    pub fragment: u8,
    /// Size of the frame in the first fragment, rounded up; offset in the others. In units.
    pub units: u8,
    /// Number of the frame, modulo 16.
    pub frame: u8,
}

impl Place {
    /// From the word.
    pub fn from_word(word: u16) -> Self {
        Self { fragment: (word & 0x3F) as u8, units: (word >> 6 & 0x3F) as u8, frame: (word >> 12) as u8 }
    }

    /// As a word.
    pub fn word(self) -> u16 {
        u16::from(self.fragment & 0x3F) | u16::from(self.units & 0x3F) << 6 | u16::from(self.frame & 0x0F) << 12
    }

    fn bytes(self) -> usize {
        usize::from(self.units) * UNIT
    }
}

/// Why a frame was discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Fault {
    /// No fragment of the frame came before, or one in between is missing.
    FragmentNumber,
    /// A fragment of another frame.
    FrameNumber,
    /// Its offset is not where the one before ended.
    Offset,
    /// It ends in the middle of a unit, and another has to follow.
    Uneven,
    /// More bytes than the first fragment announced, or than an Ethernet frame has.
    TooLong,
    /// Less than the addresses and the type of an Ethernet frame.
    TooShort,
    /// A port that the device does not have.
    Port,
}

/// A frame that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The Ethernet frame, without a time stamp.
    pub bytes: Vec<u8>,
    /// Number of the frame, for the answer to a request of its time.
    pub number: u8,
    /// Port that it is meant for.
    pub port: u8,
    /// The sender asked when it went on.
    pub wants_stamp: bool,
}

/// A frame that is not yet complete.
#[derive(Debug, Default)]
struct Partial {
    bytes: Vec<u8>,
    announced: usize,
    fragments: u8,
    frame: u8,
    wants_stamp: bool,
}

/// Puts the fragments of one frame at a time together.
#[derive(Debug, Default)]
pub struct Assembly(Option<Partial>);

impl Assembly {
    /// Takes a fragment. A complete frame, or nothing while fragments are missing. A first fragment drops what came before it.
    pub fn take(&mut self, header: &Header, data: &[u8]) -> Result<Option<Frame>, Fault> {
        let place = Place::from_word(header.second);
        let mut partial = match self.0.take() {
            _ if place.fragment == 0 => Partial { announced: place.bytes(), frame: place.frame, ..Partial::default() },
            None => return Err(Fault::FragmentNumber),
            Some(partial) => partial,
        };
        let is_first = place.fragment == 0;
        if place.frame != partial.frame {
            return Err(Fault::FrameNumber);
        }
        if place.fragment != partial.fragments {
            return Err(Fault::FragmentNumber);
        }
        if !is_first && place.bytes() != partial.bytes.len() {
            return Err(Fault::Offset);
        }
        if !header.is_last && (data.is_empty() || data.len() % UNIT != 0) {
            return Err(Fault::Uneven);
        }
        let stamp = if header.has_stamp { STAMP } else { 0 };
        // Some senders count the time stamp, others do not.
        if partial.bytes.len() + data.len() > partial.announced.min(LONGEST_FRAME.next_multiple_of(UNIT)) + stamp {
            return Err(Fault::TooLong);
        }
        partial.bytes.extend(data);
        partial.fragments += 1;
        partial.wants_stamp |= header.wants_stamp;
        if !header.is_last {
            self.0 = Some(partial);
            return Ok(None);
        }
        let Partial { mut bytes, frame, wants_stamp, .. } = partial;
        bytes.truncate(bytes.len().saturating_sub(stamp));
        match bytes.len() {
            0..SHORTEST_FRAME => Err(Fault::TooShort),
            SHORTEST_FRAME..=LONGEST_FRAME => Ok(Some(Frame { bytes, number: frame, port: header.port, wants_stamp })),
            _ => Err(Fault::TooLong),
        }
    }

    /// A frame has begun and not ended.
    pub fn is_under_way(&self) -> bool {
        self.0.is_some()
    }

    /// Forgets the frame under way.
    pub fn reset(&mut self) {
        self.0 = None;
    }
}

/// A frame on its way out.
#[derive(Debug)]
pub struct Departure {
    bytes: Vec<u8>,
    at: usize,
    place: Place,
    port: u8,
    has_stamp: bool,
}

impl Departure {
    /// A frame with this number; a time stamp goes behind it.
    pub fn new(mut bytes: Vec<u8>, number: u8, port: u8, stamp: Option<u32>) -> Self {
        bytes.extend(stamp.iter().flat_map(|stamp| stamp.to_le_bytes()));
        let units = bytes.len().div_ceil(UNIT) as u8;
        let place = Place { fragment: 0, units, frame: number };
        Self { bytes, at: 0, place, port, has_stamp: stamp.is_some() }
    }

    /// Bytes of the fragment that is due, of at most `room` bytes behind the header; 0 where there is no room for any.
    fn part(&self, room: usize) -> usize {
        let left = self.bytes.len().saturating_sub(self.at);
        if left <= room {
            left
        } else {
            room / UNIT * UNIT
        }
    }

    /// The message that is due; `None` where the mailbox is shorter than a fragment.
    pub fn message(&self, room: usize) -> Option<Vec<u8>> {
        let part = self.part(room);
        let data = self.bytes.get(self.at..self.at + part).filter(|data| !data.is_empty())?;
        let is_last = self.at + part == self.bytes.len();
        let header = Header {
            kind: Kind::Fragment as u8,
            port: self.port,
            is_last,
            has_stamp: self.has_stamp && is_last,
            wants_stamp: false,
            second: self.place.word(),
        };
        Some(header.message(data))
    }

    /// The message was taken. The rest of the frame; `None` if that was the last of it.
    pub fn after(mut self, room: usize) -> Option<Self> {
        self.at += self.part(room);
        self.place =
            Place { fragment: self.place.fragment.wrapping_add(1), units: (self.at / UNIT) as u8, ..self.place };
        (self.at < self.bytes.len()).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at * 7 + at / 256) as u8).collect()
    }

    fn fragments(bytes: &[u8], room: usize, stamp: Option<u32>) -> Vec<Vec<u8>> {
        let mut departure = Some(Departure::new(bytes.to_vec(), 5, 0, stamp));
        let mut messages = Vec::new();
        while let Some(rest) = departure {
            messages.push(rest.message(room).unwrap());
            departure = rest.after(room);
        }
        messages
    }

    fn assemble(messages: &[Vec<u8>]) -> Vec<Result<Option<Frame>, Fault>> {
        let mut assembly = Assembly::default();
        let parsed = messages.iter().filter_map(|message| Header::parse(message));
        parsed.map(|(header, data)| assembly.take(&header, data)).collect()
    }

    #[test]
    fn frames_of_every_length_come_out_as_they_went_in() {
        for room in [32, 63, 118, 200, 1514, 2000] {
            for length in [14, 31, 32, 33, 60, 64, 96, 97, 118, 119, 1500, 1514, 1518] {
                for stamp in [None, Some(0xAABB_CCDD)] {
                    let messages = fragments(&frame(length), room, stamp);
                    assert!(messages.iter().all(|message| message.len() <= room + super::super::HEADER));
                    let done = assemble(&messages);
                    let (last, before) = done.split_last().unwrap();
                    assert!(before.iter().all(|part| *part == Ok(None)), "{room} {length}");
                    let whole = Frame { bytes: frame(length), number: 5, port: 0, wants_stamp: false };
                    assert_eq!(*last, Ok(Some(whole)), "{room} {length} {stamp:?}");
                }
            }
        }
    }

    /// The words of two fragments, worked out by hand from ETG.1000.6: 100 bytes are 4 units, the second begins at unit 3.
    #[test]
    fn the_header_has_number_size_offset_and_frame_in_its_bits() {
        let messages = fragments(&frame(100), 118 - 18, None);
        assert_eq!((messages.len(), &messages[0][..4]), (1, &[0, 1, 0x00, 0x51][..]));
        let messages = fragments(&frame(100), 99, None);
        assert_eq!(&messages[0][..4], &[0, 0, 0x00, 0x51]);
        assert_eq!(&messages[1][..4], &[0, 1, 0xC1, 0x50]);
        let stamped = fragments(&frame(20), 99, Some(7));
        assert_eq!(stamped, [[vec![0, 3, 0x40, 0x50], frame(20), vec![7, 0, 0, 0]].concat()]);
    }

    #[test]
    fn every_fragment_out_of_order_is_refused_by_its_own_fault_and_a_new_frame_begins_afresh() {
        let whole = fragments(&frame(100), 32, None);
        let change = |at: usize, byte: usize, value: u8| {
            let mut messages = whole.clone();
            messages[at][byte] = value;
            assemble(&messages).into_iter().find_map(Result::err)
        };
        assert_eq!(assemble(&whole).into_iter().find_map(Result::err), None);
        assert_eq!(change(0, 2, 0x01), Some(Fault::FragmentNumber), "it does not begin with 0");
        assert_eq!(change(1, 2, 0x42), Some(Fault::FragmentNumber), "one is missing");
        assert_eq!(change(1, 3, 0x60), Some(Fault::FrameNumber));
        assert_eq!(change(2, 2, 0x42), Some(Fault::Offset));
        assert_eq!(change(0, 3, 0x50), Some(Fault::TooLong), "no unit announced, four come");
        let uneven = Header { is_last: false, ..Header::whole(Kind::Fragment, 0, 0x0100) };
        assert_eq!(Assembly::default().take(&uneven, &[0; 33]), Err(Fault::Uneven));
        assert_eq!(Assembly::default().take(&uneven, &[]), Err(Fault::Uneven));
        let whole_frame = Header::whole(Kind::Fragment, 0, 0x0040);
        assert_eq!(Assembly::default().take(&whole_frame, &[0; 13]), Err(Fault::TooShort));
        let most = Header::whole(Kind::Fragment, 0, 63 << 6);
        assert_eq!(Assembly::default().take(&most, &[0; 1519]), Err(Fault::TooLong));
        // A new first fragment takes the place of the frame under way, whatever came before.
        let mut again = whole[..2].to_vec();
        again.extend(whole.clone());
        assert!(matches!(assemble(&again).last(), Some(Ok(Some(_)))));
    }
}
