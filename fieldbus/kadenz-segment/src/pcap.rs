// SPDX-License-Identifier: Apache-2.0
//! Captures in pcapng, as Wireshark reads them: every frame with its direction, its number and its time.
//!
//! Times are the segment's world time in nanoseconds; the interface block carries the wall-clock second of world
//! time 0, so that Wireshark shows dates and a replay gets the exact nanoseconds back.

use crate::error::{read_bytes, SegmentError};
use std::io::Write;
use std::path::Path;

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const MAGIC: u32 = 0x1A2B_3C4D;
const ETHERNET: u16 = 1;
const OPTION_END: u16 = 0;
const OPTION_APPLICATION: u16 = 4;
const OPTION_RESOLUTION: u16 = 9;
const OPTION_OFFSET: u16 = 14;
const OPTION_FLAGS: u16 = 2;
const OPTION_PACKET_ID: u16 = 5;

/// Which way a frame went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the master.
    In = 1,
    /// Back to the master.
    Out = 2,
}

/// One captured frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// World time, ns.
    pub time_ns: u64,
    /// Which way.
    pub direction: Direction,
    /// Number of the frame: a returned frame has that of the one that came in.
    pub number: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

fn option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    block.extend(code.to_le_bytes());
    block.extend((value.len() as u16).to_le_bytes());
    block.extend(value);
    block.resize(block.len().next_multiple_of(4), 0);
}

/// Begins a block; [`end`] fills in its length.
fn begin(block: &mut Vec<u8>, kind: u32) {
    block.clear();
    block.extend(kind.to_le_bytes());
    block.extend([0; 4]);
}

fn end(block: &mut Vec<u8>) {
    let length = (block.len() as u32 + 4).to_le_bytes();
    block.extend(length);
    block[4..8].copy_from_slice(&length);
}

/// Writes a capture.
pub struct Writer<W: Write> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the head; `epoch_s` is the wall-clock second of world time 0.
    pub fn new(mut out: W, epoch_s: i64) -> std::io::Result<Self> {
        let mut block = Vec::with_capacity(2048);
        begin(&mut block, SECTION);
        block.extend(MAGIC.to_le_bytes());
        block.extend([1, 0, 0, 0]);
        block.extend(u64::MAX.to_le_bytes());
        option(&mut block, OPTION_APPLICATION, concat!("kadenz-segment ", env!("CARGO_PKG_VERSION")).as_bytes());
        option(&mut block, OPTION_END, &[]);
        end(&mut block);
        out.write_all(&block)?;
        begin(&mut block, INTERFACE);
        block.extend(ETHERNET.to_le_bytes());
        block.extend([0; 6]);
        option(&mut block, OPTION_RESOLUTION, &[9]);
        option(&mut block, OPTION_OFFSET, &epoch_s.to_le_bytes());
        option(&mut block, OPTION_END, &[]);
        end(&mut block);
        out.write_all(&block)?;
        Ok(Self { out, block })
    }

    /// Adds a frame.
    pub fn write(&mut self, time_ns: u64, direction: Direction, number: u64, bytes: &[u8]) -> std::io::Result<()> {
        let block = &mut self.block;
        begin(block, PACKET);
        block.extend([0; 4]);
        block.extend(((time_ns >> 32) as u32).to_le_bytes());
        block.extend((time_ns as u32).to_le_bytes());
        block.extend((bytes.len() as u32).to_le_bytes());
        block.extend((bytes.len() as u32).to_le_bytes());
        block.extend(bytes);
        block.resize(block.len().next_multiple_of(4), 0);
        option(block, OPTION_FLAGS, &(direction as u32).to_le_bytes());
        option(block, OPTION_PACKET_ID, &number.to_le_bytes());
        option(block, OPTION_END, &[]);
        end(block);
        self.out.write_all(block)
    }

    /// Hands everything to the file.
    pub fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Longest recording that is replayed, bytes: some 50 million frames.
const LONGEST_RECORDING: u64 = 16 << 30;

/// Reads a capture made by [`Writer`].
pub fn read(path: &Path) -> Result<Vec<Packet>, SegmentError> {
    let bytes = read_bytes(path, "recording", LONGEST_RECORDING, "Record one with `kadenz-segment run --record`")?;
    parse(&bytes).map_err(|(offset, message)| SegmentError::Capture { path: path.into(), message, offset })
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}

/// Parses a capture; the error is (offset, message).
pub fn parse(bytes: &[u8]) -> Result<Vec<Packet>, (usize, &'static str)> {
    if u32_at(bytes, 0) != Some(SECTION) || u32_at(bytes, 8) != Some(MAGIC) {
        return Err((0, "no little-endian pcapng file"));
    }
    let (mut at, mut packets) = (0, Vec::new());
    while at < bytes.len() {
        let (Some(kind), Some(length)) = (u32_at(bytes, at), u32_at(bytes, at + 4)) else {
            return Err((at, "the file ends inside a block"));
        };
        let length = length as usize;
        let block = bytes.get(at..at.saturating_add(length)).filter(|_| length >= 12 && length % 4 == 0);
        let Some(block) = block else { return Err((at, "a block's length does not fit")) };
        if kind == PACKET {
            packets.push(packet(block).ok_or((at, "a packet without direction and number"))?);
        }
        at += length;
    }
    Ok(packets)
}

fn packet(block: &[u8]) -> Option<Packet> {
    let time_ns = u64::from(u32_at(block, 12)?) << 32 | u64::from(u32_at(block, 16)?);
    let length = u32_at(block, 20)? as usize;
    let bytes = block.get(28..28_usize.checked_add(length)?)?.to_vec();
    let (mut direction, mut number) = (None, None);
    let mut at = 28 + length.next_multiple_of(4);
    while let Some(head) = block.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
        let (code, size) =
            (u16::from_le_bytes([head[0], head[1]]), usize::from(u16::from_le_bytes([head[2], head[3]])));
        let value = block.get(at + 4..at + 4 + size)?;
        match code {
            OPTION_END => break,
            OPTION_FLAGS => {
                direction = match value.first()? & 3 {
                    1 => Some(Direction::In),
                    2 => Some(Direction::Out),
                    _ => None,
                }
            }
            OPTION_PACKET_ID => number = value.first_chunk().map(|eight| u64::from_le_bytes(*eight)),
            _ => {}
        }
        at += 4 + size.next_multiple_of(4);
    }
    Some(Packet { time_ns, direction: direction?, number: number?, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 1_700_000_000).unwrap();
        writer.write(5_000_000_123, Direction::In, 1, &[1, 2, 3]).unwrap();
        writer.write(5_000_000_456, Direction::Out, 1, &[4; 60]).unwrap();
        let packets = parse(&file).unwrap();
        assert_eq!(packets.len(), 2);
        assert_eq!(
            packets[0],
            Packet { time_ns: 5_000_000_123, direction: Direction::In, number: 1, bytes: vec![1, 2, 3] }
        );
        assert_eq!((packets[1].direction, packets[1].bytes.len()), (Direction::Out, 60));
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error_or_shorter_and_never_a_panic() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 0).unwrap();
        for number in 0..3 {
            writer.write(number, Direction::In, number, &[7; 33]).unwrap();
        }
        for length in 0..file.len() {
            assert!(parse(&file[..length]).map_or(true, |packets| packets.len() < 3));
        }
    }
}
