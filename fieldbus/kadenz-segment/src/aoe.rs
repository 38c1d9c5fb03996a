// SPDX-License-Identifier: Apache-2.0
//! ADS over EtherCAT (AoE, ETG.1020): a master reads and writes the objects of the dictionary by index group and offset.

use crate::al::State;
use crate::coe::abort::Abort;
use crate::coe::object::{Dictionary, Written};

/// Bytes of the AMS header.
pub const HEADER: usize = 32;
/// Index group of the objects: the offset is index, complete access in bit 8, and sub-index.
pub const SDO: u32 = 0xF302;
/// Bit of the state flags: a request has it clear, an answer set.
const RESPONSE: u16 = 0x0001;
/// Bit of the state flags: the message is an ADS command.
const COMMAND: u16 = 0x0004;
/// AMS error of the header: no such command.
const UNKNOWN_COMMAND: u32 = 0x0008;

/// Results of a command (ADS return codes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum Outcome {
    Success = 0x0000,
    Failure = 0x0700,
    NoService = 0x0701,
    IndexGroup = 0x0702,
    IndexOffset = 0x0703,
    Access = 0x0704,
    Size = 0x0705,
    Data = 0x0706,
    NotReady = 0x0707,
}

impl From<Abort> for Outcome {
    fn from(abort: Abort) -> Self {
        match abort {
            Abort::NoObject | Abort::NoSubIndex => Self::IndexOffset,
            Abort::WriteOnly | Abort::ReadOnly | Abort::Unsupported | Abort::CountNotZero => Self::Access,
            Abort::Length | Abort::TooLong | Abort::TooShort => Self::Size,
            Abort::Range | Abort::NotMappable | Abort::MappingTooLong => Self::Data,
            Abort::State => Self::NotReady,
            Abort::Toggle | Abort::Command | Abort::Memory => Self::Failure,
        }
    }
}

/// Commands of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum Command {
    DeviceInfo = 1,
    Read = 2,
    Write = 3,
    ReadState = 4,
    ReadWrite = 9,
}

impl Command {
    fn from_number(number: u16) -> Option<Self> {
        use Command::*;
        [DeviceInfo, Read, Write, ReadState, ReadWrite].into_iter().find(|command| *command as u16 == number)
    }
}

/// What a message is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The message, at most as long as the mailbox.
    pub bytes: Vec<u8>,
    /// What a write changed.
    pub written: Option<Written>,
}

/// The device, as a request sees it.
#[derive(Debug)]
pub struct Target<'a> {
    /// Objects behind [`SDO`].
    pub dictionary: &'a mut Dictionary,
    /// State of the application layer.
    pub state: State,
    /// Name of the device type.
    pub name: &'a str,
    /// Bytes of an answer, with its header.
    pub room: usize,
}

/// Why a message has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Shorter than its header, than the header says, or than its command needs.
    TooShort,
    /// An answer, or no ADS command.
    NoRequest,
}

/// Answers one message.
pub fn answer(target: &mut Target<'_>, request: &[u8]) -> Result<Answer, Fault> {
    let (header, rest) = request.split_first_chunk::<HEADER>().ok_or(Fault::TooShort)?;
    let (receiver, sender, tail) = (&header[..8], &header[8..16], &header[16..]);
    let number = u16::from_le_bytes([header[16], header[17]]);
    let flags = u16::from_le_bytes([header[18], header[19]]);
    if flags & (COMMAND | RESPONSE) != COMMAND {
        return Err(Fault::NoRequest);
    }
    let length = word(tail, 4).and_then(|length| usize::try_from(length).ok());
    let data = length.and_then(|length| rest.get(..length)).ok_or(Fault::TooShort)?;
    let mut written = None;
    let (error, body) = match Command::from_number(number) {
        Some(command) => (0, carry_out(target, command, data, &mut written).ok_or(Fault::TooShort)?),
        None => (UNKNOWN_COMMAND, Vec::new()),
    };
    let mut bytes = [sender, receiver].concat();
    bytes.extend(number.to_le_bytes());
    bytes.extend((COMMAND | RESPONSE).to_le_bytes());
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(error.to_le_bytes());
    bytes.extend(&header[28..]);
    bytes.extend(body);
    if bytes.len() > target.room {
        // Not even a result has a place.
        return Err(Fault::TooShort);
    }
    Ok(Answer { bytes, written })
}

/// A number of 32 bits at a place.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk::<4>()?))
}

/// The body of the answer; `None` for a request shorter than its command needs.
fn carry_out(target: &mut Target<'_>, command: Command, data: &[u8], written: &mut Option<Written>) -> Option<Vec<u8>> {
    let word = |at: usize| word(data, at);
    let with_length = |outcome: Result<Vec<u8>, Outcome>| {
        let (outcome, read) = outcome.map_or_else(|outcome| (outcome, Vec::new()), |read| (Outcome::Success, read));
        let mut body = (outcome as u32).to_le_bytes().to_vec();
        body.extend((read.len() as u32).to_le_bytes());
        body.extend(read);
        body
    };
    Some(match command {
        Command::DeviceInfo => {
            let mut body = vec![0, 0, 0, 0, 1, 0, 0, 0];
            body.extend(target.name.bytes().filter(u8::is_ascii).chain(std::iter::repeat(0)).take(16));
            body
        }
        // ADS state 5 is "run"; the device's own state follows.
        Command::ReadState => vec![0, 0, 0, 0, 5, 0, target.state as u8, 0],
        Command::Read => with_length(read(target, (word(0)?, word(4)?), word(8)?)),
        Command::Write => {
            let data = data.get(12..)?.get(..usize::try_from(word(8)?).ok()?)?;
            outcome_of(write(target, (word(0)?, word(4)?), data, written)).to_le_bytes().to_vec()
        }
        Command::ReadWrite => {
            let data = data.get(16..)?.get(..usize::try_from(word(12)?).ok()?)?;
            let place = (word(0)?, word(4)?);
            let done = write(target, place, data, written);
            with_length(done.and_then(|()| read(target, place, word(8).unwrap_or(0))))
        }
    })
}

fn outcome_of(done: Result<(), Outcome>) -> u32 {
    done.err().unwrap_or(Outcome::Success) as u32
}

/// Index, sub-index and complete access of a place: index group and offset.
fn object((group, offset): (u32, u32)) -> Result<(u16, u8, bool), Outcome> {
    if group != SDO {
        return Err(Outcome::IndexGroup);
    }
    if offset & 0xFE00 != 0 {
        return Err(Outcome::IndexOffset);
    }
    Ok(((offset >> 16) as u16, offset as u8, offset & 0x100 != 0))
}

fn read(target: &Target<'_>, place: (u32, u32), length: u32) -> Result<Vec<u8>, Outcome> {
    let (index, sub, is_complete) = object(place)?;
    let mut bytes = Vec::new();
    if is_complete {
        target.dictionary.upload_complete(index, sub, &mut bytes)?;
    } else {
        target.dictionary.upload(index, sub, &mut bytes)?;
    }
    // An answer is one mailbox: there are no fragments of AoE here.
    let room = target.room.saturating_sub(HEADER + 8);
    if bytes.len() > room || bytes.len() > usize::try_from(length).unwrap_or(usize::MAX) {
        return Err(Outcome::Size);
    }
    Ok(bytes)
}

fn write(
    target: &mut Target<'_>,
    place: (u32, u32),
    data: &[u8],
    written: &mut Option<Written>,
) -> Result<(), Outcome> {
    let (index, sub, is_complete) = object(place)?;
    let done = if is_complete {
        target.dictionary.download_complete(index, sub, data, target.state)
    } else {
        target.dictionary.download(index, sub, data, target.state)
    };
    *written = Some(done?);
    Ok(())
}
