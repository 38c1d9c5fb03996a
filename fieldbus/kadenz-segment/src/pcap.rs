// SPDX-License-Identifier: Apache-2.0
//! Captures in pcapng, as Wireshark reads them: every frame with its direction, its number and its time.
//!
//! Times are the segment's world time in nanoseconds. The interface block carries the wall-clock second of world
//! time 0, so that Wireshark shows dates and a replay gets the exact nanoseconds back. The number of a frame is its
//! comment, `frame 7`: `pcap_file` does not write the option epb_packetid.

use crate::error::{read_bytes, SegmentError};
use crate::topology::End;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::blocks::ENHANCED_PACKET_BLOCK;
use pcap_file::pcapng::{Block, PcapNgParser, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

const APPLICATION: &str = concat!("kadenz-segment ", env!("CARGO_PKG_VERSION"));
/// if_tsresol: times count 10⁻⁹ s.
const NANOSECONDS: u8 = 9;
/// Bits of epb_flags that hold the direction.
const DIRECTION: u32 = 3;
/// Text before the number in a frame's comment.
const NUMBER: &str = "frame ";

/// Which way a frame went; the numbers are those of epb_flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the master.
    In = 1,
    /// Back to the master.
    Out = 2,
}

/// One frame of a capture, with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// World time, ns.
    pub time_ns: u64,
    /// Whether it comes from the master or returns to it.
    pub direction: Direction,
    /// Number of the frame: a returned frame has that of the one that came in.
    pub number: u64,
    /// The end of the ring at which it comes in or leaves: the interface of the capture.
    pub end: End,
    /// The frame, from its destination address on.
    pub bytes: Vec<u8>,
}

/// A capture that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// The frames in the order of the file.
    pub packets: Vec<Packet>,
    /// Interfaces it names: two for a ring with cable redundancy.
    pub interfaces: usize,
}

/// Writes a capture in the format pcapng.
pub struct Writer<W: Write> {
    out: PcapNgWriter<W>,
}

impl<W: Write> Writer<W> {
    /// Writes the head for one interface; `epoch_s` is the wall-clock second of world time 0.
    pub fn new(out: W, epoch_s: i64) -> io::Result<Self> {
        Self::with_interfaces(out, epoch_s, 1)
    }

    /// As [`Writer::new`], for one or two interfaces.
    pub fn with_interfaces(out: W, epoch_s: i64, interfaces: usize) -> io::Result<Self> {
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(APPLICATION.into())],
            ..SectionHeaderBlock::default()
        };
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: 0,
            options: vec![
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                InterfaceDescriptionOption::IfTsOffset(epoch_s as u64),
            ],
        };
        let mut out = PcapNgWriter::with_section_header(out, section).map_err(io_error)?;
        for _ in 0..interfaces {
            out.write_pcapng_block(interface.clone()).map_err(io_error)?;
        }
        Ok(Self { out })
    }

    /// Adds a frame that comes in or leaves at an end, with its number as a comment.
    pub fn write(
        &mut self,
        time_ns: u64,
        (end, direction): (End, Direction),
        number: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        let packet = EnhancedPacketBlock {
            interface_id: end.index() as u32,
            timestamp: Duration::from_nanos(time_ns),
            original_len: bytes.len() as u32,
            data: bytes.into(),
            options: vec![
                EnhancedPacketOption::Comment(format!("{NUMBER}{number}").into()),
                EnhancedPacketOption::Flags(direction as u32),
            ],
        };
        self.out.write_pcapng_block(packet).map(|_| ()).map_err(io_error)
    }

    /// Hands everything to the file.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.get_mut().flush()
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// Longest recording that is replayed, bytes: some 50 million frames.
const LONGEST_RECORDING: u64 = 16 << 30;

/// Reads a capture made by [`Writer`].
pub fn read(path: &Path) -> Result<Recording, SegmentError> {
    let bytes = read_bytes(path, "recording", LONGEST_RECORDING, "Record one with `kadenz-segment run --record`")?;
    parse(&bytes).map_err(|(offset, message)| SegmentError::Capture { path: path.into(), message, offset })
}

/// Parses a capture; the error is (offset, message).
pub fn parse(bytes: &[u8]) -> Result<Recording, (usize, &'static str)> {
    let (mut rest, mut parser) = PcapNgParser::new(bytes).map_err(|_| (0, "this is no pcapng file"))?;
    let mut packets = Vec::new();
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let damaged = |error| (at, reason(&error));
        let (behind, block) = parser.next_raw_block(rest).map_err(damaged)?;
        // Other blocks stay raw: `pcap_file` panics on some that are too short.
        if block.type_ == ENHANCED_PACKET_BLOCK {
            let (_, Block::EnhancedPacket(block)) = parser.next_block(rest).map_err(damaged)? else { continue };
            packets.push(packet(&block).ok_or((at, "this packet has no direction, no number, or a third interface"))?);
        }
        rest = behind;
    }
    Ok(Recording { packets, interfaces: parser.interfaces().len() })
}

fn reason(error: &PcapError) -> &'static str {
    match error {
        PcapError::IncompleteBuffer => "the file ends inside a block",
        _ => "this block is damaged",
    }
}

fn packet(block: &EnhancedPacketBlock<'_>) -> Option<Packet> {
    let (mut direction, mut number) = (None, None);
    for option in &block.options {
        match option {
            EnhancedPacketOption::Flags(flags) => {
                direction = match flags & DIRECTION {
                    1 => Some(Direction::In),
                    2 => Some(Direction::Out),
                    _ => None,
                }
            }
            EnhancedPacketOption::Comment(comment) => number = comment.strip_prefix(NUMBER)?.parse().ok(),
            _ => {}
        }
    }
    let time_ns = u64::try_from(block.timestamp.as_nanos()).ok()?;
    let end = *End::ALL.get(block.interface_id as usize)?;
    Some(Packet { time_ns, direction: direction?, number: number?, end, bytes: block.data.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_read_back() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 1_700_000_000).unwrap();
        writer.write(5_000_000_123, (End::First, Direction::In), 1, &[1, 2, 3]).unwrap();
        writer.write(5_000_000_456, (End::First, Direction::Out), 1, &[4; 60]).unwrap();
        let Recording { packets, interfaces } = parse(&file).unwrap();
        assert_eq!(interfaces, 1);
        assert_eq!(packets.len(), 2);
        assert_eq!(
            packets[0],
            Packet {
                time_ns: 5_000_000_123,
                direction: Direction::In,
                number: 1,
                end: End::First,
                bytes: vec![1, 2, 3]
            }
        );
        assert_eq!((packets[1].direction, packets[1].bytes.len()), (Direction::Out, 60));
    }

    #[test]
    fn times_are_nanoseconds_and_frames_carry_direction_and_number() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 1_700_000_000).unwrap();
        writer.write(0x0001_0000_0002, (End::First, Direction::Out), 7, &[9; 5]).unwrap();
        // Read with the format's description in hand: if_tsresol 9, if_tsoffset, and the packet.
        let interface = [9, 0, 1, 0, 9, 0, 0, 0, 14, 0, 8, 0, 0x00, 0xF1, 0x53, 0x65, 0, 0, 0, 0];
        assert!(file.windows(interface.len()).any(|part| part == interface));
        let packet = [
            [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 9, 9, 9, 9, 9, 0, 0, 0].as_slice(),
            &[1, 0, 7, 0, b'f', b'r', b'a', b'm', b'e', b' ', b'7', 0, 2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert!(file.windows(packet.len()).any(|part| part == packet));
    }

    #[test]
    fn a_block_of_any_kind_and_any_length_never_panics() {
        for kind in (0_u32..12).chain([0x0A0D_0D0A]) {
            for words in 0..12 {
                for fill in [0x00, 0x01, 0x04, 0xFF] {
                    let mut file = Vec::new();
                    Writer::new(&mut file, 0).unwrap();
                    let length = (12_u32 + 4 * words).to_le_bytes();
                    let body = vec![fill; 4 * words as usize];
                    file.extend([&kind.to_le_bytes()[..], &length, &body, &length].concat());
                    let _ = parse(&file);
                }
            }
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error_or_shorter_and_never_a_panic() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 0).unwrap();
        for number in 0..3 {
            writer.write(number, (End::First, Direction::In), number, &[7; 33]).unwrap();
        }
        for length in 0..file.len() {
            assert!(parse(&file[..length]).map_or(true, |recording| recording.packets.len() < 3));
        }
    }
}
