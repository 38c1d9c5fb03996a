// SPDX-License-Identifier: Apache-2.0
//! EtherCAT frames, parsed in place: nothing is copied and nothing allocated.

use crate::command::Command;
use thiserror::Error;

/// Ethernet header: destination, source, type.
pub const ETHERNET_HEADER: usize = 14;
/// EtherCAT header: 11-bit length, reserved bit, 4-bit type.
pub const ETHERCAT_HEADER: usize = 2;
/// Datagram header: command, index, address, length and flags, interrupt.
pub const DATAGRAM_HEADER: usize = 10;
/// Working counter at a datagram's end.
pub const WORKING_COUNTER: usize = 2;
/// EtherType of EtherCAT, bytes 12 and 13 of a frame.
pub const ETHERTYPE: u16 = 0x88A4;
/// Shortest frame that holds a datagram. A veth does not pad to 60 bytes, and SOEM sends 29.
pub const SHORTEST: usize = ETHERNET_HEADER + ETHERCAT_HEADER + DATAGRAM_HEADER + WORKING_COUNTER;
/// Longest frame without FCS.
pub const LONGEST: usize = 1514;

const LENGTH_MASK: u16 = 0x07FF;
const TYPE_DATAGRAMS: u16 = 1;
const MORE_FOLLOW: u16 = 0x8000;
const CIRCULATES: u8 = 0x40;

/// Why bytes are not an EtherCAT frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// Fewer bytes than one empty datagram needs.
    #[error("{0} bytes are fewer than the {SHORTEST} of the shortest frame")]
    TooShort(usize),
    /// Another protocol; the number is its EtherType.
    #[error("EtherType {0:#06x} is not EtherCAT (0x88a4)")]
    NotEtherCat(u16),
    /// Type 4 and 5 are network variables and mailbox gateway.
    #[error("EtherCAT frame type {0} does not hold datagrams (type 1 does)")]
    NotDatagrams(u16),
    /// The header promises more than there is.
    #[error("EtherCAT header says {claimed} bytes, the frame holds {present}")]
    LengthBeyondFrame {
        /// Bytes the header claims.
        claimed: usize,
        /// Bytes behind the EtherCAT header.
        present: usize,
    },
}

/// One datagram, its parts borrowed from the frame.
pub struct Datagram<'a> {
    head: &'a mut [u8; DATAGRAM_HEADER],
    /// The bytes that the datagram reads or writes.
    pub data: &'a mut [u8],
    counter: &'a mut [u8; WORKING_COUNTER],
}

impl Datagram<'_> {
    /// The command; an unknown one counts as none.
    pub fn command(&self) -> Command {
        Command::from_byte(self.head[0])
    }

    /// The command's number means none.
    pub fn is_unknown(&self) -> bool {
        usize::from(self.head[0]) >= Command::NAMES.len()
    }

    /// The master's own index.
    pub fn index(&self) -> u8 {
        self.head[1]
    }

    /// First address word: position (counted up on the way) or station address.
    pub fn address(&self) -> u16 {
        u16::from_le_bytes([self.head[2], self.head[3]])
    }

    /// Replaces the first address word.
    pub fn set_address(&mut self, address: u16) {
        [self.head[2], self.head[3]] = address.to_le_bytes();
    }

    /// Second address word: the register or memory address.
    pub fn offset(&self) -> u16 {
        u16::from_le_bytes([self.head[4], self.head[5]])
    }

    /// The 32-bit logical address.
    pub fn logical(&self) -> u32 {
        u32::from_le_bytes([self.head[2], self.head[3], self.head[4], self.head[5]])
    }

    /// It has passed a closed port 0 (bit 14 of the length field).
    pub fn circulates(&self) -> bool {
        self.head[7] & CIRCULATES != 0
    }

    /// Marks it as one that has passed a closed port 0.
    pub fn mark_circulating(&mut self) {
        self.head[7] |= CIRCULATES;
    }

    /// Events of the devices it has passed (the IRQ field).
    pub fn events(&self) -> u16 {
        u16::from_le_bytes([self.head[8], self.head[9]])
    }

    /// Adds events of a device to the IRQ field.
    pub fn add_events(&mut self, events: u16) {
        [self.head[8], self.head[9]] = (self.events() | events).to_le_bytes();
    }

    /// The working counter, to which each device that took part has added.
    pub fn working_counter(&self) -> u16 {
        u16::from_le_bytes(*self.counter)
    }

    /// Adds to the working counter; it wraps, as the hardware's does.
    pub fn add_working_counter(&mut self, step: u16) {
        *self.counter = self.working_counter().wrapping_add(step).to_le_bytes();
    }

    /// Overwrites the working counter: for faults only, a device never does.
    pub fn force_working_counter(&mut self, value: u16) {
        *self.counter = value.to_le_bytes();
    }
}

/// The datagrams of a frame, first to last. A damaged one ends the walk, as it does in a device.
pub struct Datagrams<'a> {
    rest: &'a mut [u8],
}

impl<'a> Iterator for Datagrams<'a> {
    type Item = Datagram<'a>;

    #[inline]
    fn next(&mut self) -> Option<Datagram<'a>> {
        let (head, rest) = std::mem::take(&mut self.rest).split_first_chunk_mut::<DATAGRAM_HEADER>()?;
        let flags = u16::from_le_bytes([head[6], head[7]]);
        let (data, rest) = rest.split_at_mut_checked(usize::from(flags & LENGTH_MASK))?;
        let (counter, rest) = rest.split_first_chunk_mut::<WORKING_COUNTER>()?;
        if flags & MORE_FOLLOW != 0 {
            self.rest = rest;
        }
        Some(Datagram { head, data, counter })
    }
}

/// Checks the headers and gives the datagrams.
#[inline]
pub fn datagrams(frame: &mut [u8]) -> Result<Datagrams<'_>, FrameError> {
    let length = frame.len();
    if length < SHORTEST {
        return Err(FrameError::TooShort(length));
    }
    let too_short = FrameError::TooShort(length);
    let (ethernet, rest) = frame.split_first_chunk_mut::<ETHERNET_HEADER>().ok_or(too_short)?;
    let ethertype = u16::from_be_bytes([ethernet[12], ethernet[13]]);
    if ethertype != ETHERTYPE {
        return Err(FrameError::NotEtherCat(ethertype));
    }
    let (header, rest) = rest.split_first_chunk_mut::<ETHERCAT_HEADER>().ok_or(too_short)?;
    let header = u16::from_le_bytes(*header);
    if header >> 12 != TYPE_DATAGRAMS {
        return Err(FrameError::NotDatagrams(header >> 12));
    }
    let (claimed, present) = (usize::from(header & LENGTH_MASK), rest.len());
    let rest = rest.get_mut(..claimed).ok_or(FrameError::LengthBeyondFrame { claimed, present })?;
    Ok(Datagrams { rest })
}

/// Marks a frame as one that has passed a device: the second bit of the source address. Masters tell by it a frame
/// that comes back from one they sent.
#[inline]
pub fn mark_returned(frame: &mut [u8]) {
    if let Some(byte) = frame.get_mut(6) {
        *byte |= 0x02;
    }
}

/// Whether a frame has that mark.
#[inline]
pub fn is_returned(frame: &[u8]) -> bool {
    frame.get(6).is_some_and(|byte| byte & 0x02 != 0)
}

/// Source address of SOEM's second port (its `nicdrv.c`), for cable redundancy.
const SECOND_PORT: [u8; 6] = [0x01, 0x01, 0x04, 0x04, 0x01, 0x01];

/// A master sends it from a second port, to the other end of a ring.
#[inline]
pub fn is_of_second_port(frame: &[u8]) -> bool {
    frame.get(6..12).is_some_and(|source| source == SECOND_PORT)
}

/// Builds frames as a master does; for tests, benchmarks and the fuzzer.
#[derive(Debug, Clone)]
pub struct FrameBuilder {
    bytes: Vec<u8>,
    last_flags: Option<usize>,
}

impl Default for FrameBuilder {
    fn default() -> Self {
        let mut bytes = vec![0xFF; 6];
        bytes.extend([0x10; 6]);
        bytes.extend(ETHERTYPE.to_be_bytes());
        bytes.extend([0, 0x10]);
        Self { bytes, last_flags: None }
    }
}

impl FrameBuilder {
    /// Appends a datagram; `address` is the 32-bit address field.
    #[must_use]
    pub fn datagram(mut self, command: Command, index: u8, address: u32, data: &[u8]) -> Self {
        if let Some(at) = self.last_flags {
            self.bytes[at] |= 0x80;
        }
        self.bytes.extend([command as u8, index]);
        self.bytes.extend(address.to_le_bytes());
        self.last_flags = Some(self.bytes.len() + 1);
        self.bytes.extend((data.len() as u16 & LENGTH_MASK).to_le_bytes());
        self.bytes.extend([0, 0]);
        self.bytes.extend(data);
        self.bytes.extend([0, 0]);
        let length = (self.bytes.len() - ETHERNET_HEADER - ETHERCAT_HEADER) as u16 & LENGTH_MASK;
        self.bytes[ETHERNET_HEADER..][..2].copy_from_slice(&(length | 0x1000).to_le_bytes());
        self
    }

    /// The frame as it goes over the cable.
    pub fn build(self) -> Vec<u8> {
        self.bytes
    }
}

/// Address field of a position- or station-addressed command.
pub fn address(device: u16, offset: impl Into<u16>) -> u32 {
    u32::from(device) | u32::from(offset.into()) << 16
}
