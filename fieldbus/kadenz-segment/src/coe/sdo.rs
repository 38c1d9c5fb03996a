// SPDX-License-Identifier: Apache-2.0
//! The SDO server: expedited, normal and segmented transfer, complete access, abort.

use super::abort::{self, Abort};
use super::object::{Dictionary, Written};
use super::{header, Service};
use crate::al::State;

/// Bytes of the CoE header and the SDO's own: command, index, sub-index, four data bytes.
const SDO: usize = 10;
/// Largest object taken in segments.
const LONGEST: usize = 4096;

const COMPLETE: u8 = 0x10;
const EXPEDITED: u8 = 0x02;
const SIZE_GIVEN: u8 = 0x01;
const TOGGLE: u8 = 0x10;
const LAST: u8 = 0x01;

/// A transfer that continues in segments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Transfer {
    #[default]
    None,
    Up {
        index: u16,
        sub: u8,
        data: Vec<u8>,
        sent: usize,
        toggle: bool,
    },
    Down {
        index: u16,
        sub: u8,
        complete: bool,
        size: usize,
        data: Vec<u8>,
        toggle: bool,
    },
}

/// The server of one device.
#[derive(Debug, Clone, Default)]
pub struct Server {
    transfer: Transfer,
}

/// Result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// CoE header and SDO, for the mailbox; empty where none is due (an abort by the master).
    pub bytes: Vec<u8>,
    /// The written data, once complete.
    pub written: Option<Written>,
}

struct Request<'a> {
    command: u8,
    index: u16,
    sub: u8,
    rest: &'a [u8],
}

impl Server {
    /// A transfer in segments is under way.
    pub fn is_busy(&self) -> bool {
        self.transfer != Transfer::None
    }

    /// Forgets a transfer: the device left pre-operational downwards.
    pub fn reset(&mut self) {
        self.transfer = Transfer::None;
    }

    /// Answers one SDO request. `message` begins at the CoE header; `room` is what fits behind the mailbox header.
    pub fn answer(&mut self, dictionary: &mut Dictionary, message: &[u8], room: usize, state: State) -> Answer {
        let mut written = None;
        let (index, sub) = match &self.transfer {
            Transfer::Up { index, sub, .. } | Transfer::Down { index, sub, .. } => (*index, *sub),
            Transfer::None => (0, 0),
        };
        let outcome = match message.get(2).map(|command| (command >> 5, *command)) {
            None => Err((0, 0, Abort::Command)),
            // Segment requests carry no index.
            Some((0, command)) => {
                let body = message.get(3..).unwrap_or(&[]);
                self.download_segment(dictionary, command, body, state, &mut written)
                    .map_err(|abort| (index, sub, abort))
            }
            Some((3, command)) => self.upload_segment(command, room).map_err(|abort| (index, sub, abort)),
            Some((4, _)) => {
                self.transfer = Transfer::None;
                Ok(Vec::new())
            }
            Some((kind, command)) => match parse(message, command) {
                None => Err((0, 0, Abort::Command)),
                Some(request) => match kind {
                    1 => self.download(dictionary, &request, room, state, &mut written),
                    2 => self.upload(dictionary, &request, room),
                    _ => Err(Abort::Command),
                }
                .map_err(|abort| (request.index, request.sub, abort)),
            },
        };
        let bytes = outcome.unwrap_or_else(|(index, sub, abort)| {
            self.transfer = Transfer::None;
            abort::message(index, sub, abort as u32)
        });
        Answer { bytes, written }
    }

    fn upload(&mut self, dictionary: &Dictionary, request: &Request<'_>, room: usize) -> Result<Vec<u8>, Abort> {
        let mut data = Vec::new();
        let complete = request.command & COMPLETE != 0;
        if complete {
            dictionary.upload_complete(request.index, request.sub, &mut data)?;
        } else {
            dictionary.upload(request.index, request.sub, &mut data)?;
        }
        let flag = request.command & COMPLETE;
        self.transfer = Transfer::None;
        if (1..=4).contains(&data.len()) {
            let unused = (4 - data.len() as u8) << 2;
            let mut body = initiate(0x40 | flag | EXPEDITED | SIZE_GIVEN | unused, request.index, request.sub);
            data.resize(4, 0);
            body.extend(data);
            return Ok(response(body));
        }
        let mut body = initiate(0x40 | flag | SIZE_GIVEN, request.index, request.sub);
        body.extend((data.len() as u32).to_le_bytes());
        let first = data.len().min(room.saturating_sub(SDO));
        body.extend(data.iter().take(first));
        if first < data.len() {
            let (index, sub) = (request.index, request.sub);
            self.transfer = Transfer::Up { index, sub, data, sent: first, toggle: false };
        }
        Ok(response(body))
    }

    fn upload_segment(&mut self, command: u8, room: usize) -> Result<Vec<u8>, Abort> {
        let Transfer::Up { data, sent, toggle, .. } = &mut self.transfer else { return Err(Abort::Command) };
        if (command & TOGGLE != 0) != *toggle {
            return Err(Abort::Toggle);
        }
        let part = (data.len() - *sent).min(room.saturating_sub(3).max(7));
        let is_last = *sent + part == data.len();
        let mut head = command & TOGGLE | if is_last { LAST } else { 0 };
        let mut body = data.get(*sent..*sent + part).unwrap_or(&[]).to_vec();
        if part < 7 {
            head |= (7 - part as u8) << 1;
            body.resize(7, 0);
        }
        *sent += part;
        *toggle = !*toggle;
        if is_last {
            self.transfer = Transfer::None;
        }
        let mut all = vec![head];
        all.extend(body);
        Ok(response(all))
    }

    fn download(
        &mut self,
        dictionary: &mut Dictionary,
        request: &Request<'_>,
        room: usize,
        state: State,
        written: &mut Option<Written>,
    ) -> Result<Vec<u8>, Abort> {
        let complete = request.command & COMPLETE != 0;
        let (index, sub) = (request.index, request.sub);
        self.transfer = Transfer::None;
        if request.command & EXPEDITED != 0 {
            let given = if request.command & SIZE_GIVEN != 0 { 4 - usize::from(request.command >> 2 & 3) } else { 4 };
            let mut data = request.rest.get(..given).ok_or(Abort::Length)?;
            // Without a size the object's own length counts.
            if request.command & SIZE_GIVEN == 0 && !complete {
                let length = dictionary.entry(index, sub)?.length();
                data = data.get(..length).ok_or(Abort::Length)?;
            }
            *written = Some(store(dictionary, (index, sub), complete, data, state)?);
        } else {
            let (size, data) = request.rest.split_first_chunk::<4>().ok_or(Abort::Length)?;
            let size = u32::from_le_bytes(*size) as usize;
            if size > LONGEST {
                return Err(Abort::Memory);
            }
            let here = size.min(room.saturating_sub(SDO)).min(data.len());
            let data = data.get(..here).unwrap_or(&[]);
            if here == size {
                *written = Some(store(dictionary, (index, sub), complete, data, state)?);
            } else if here < room.saturating_sub(SDO) {
                // The mailbox holds less than it promised and is not full: no segment will make that good.
                return Err(Abort::Length);
            } else {
                self.transfer = Transfer::Down { index, sub, complete, size, data: data.to_vec(), toggle: false };
            }
        }
        let mut body = initiate(0x60, index, sub);
        body.extend([0; 4]);
        Ok(response(body))
    }

    fn download_segment(
        &mut self,
        dictionary: &mut Dictionary,
        command: u8,
        body: &[u8],
        state: State,
        written: &mut Option<Written>,
    ) -> Result<Vec<u8>, Abort> {
        let Transfer::Down { index, sub, complete, size, data, toggle } = &mut self.transfer else {
            return Err(Abort::Command);
        };
        if (command & TOGGLE != 0) != *toggle {
            return Err(Abort::Toggle);
        }
        // A segment shorter than seven bytes says how many are not used.
        let used = if body.len() <= 7 { body.len().saturating_sub(usize::from(command >> 1 & 7)) } else { body.len() };
        let left = size.saturating_sub(data.len());
        let is_last = command & LAST != 0;
        // The mailbox's length word says how long the body is; only the padding of the last segment may be over.
        if used > left && !is_last {
            return Err(Abort::TooLong);
        }
        data.extend(body.iter().take(used.min(left)));
        *toggle = !*toggle;
        if is_last {
            let (target, complete, size, data) = ((*index, *sub), *complete, *size, std::mem::take(data));
            self.transfer = Transfer::None;
            if data.len() < size {
                return Err(Abort::TooShort);
            }
            *written = Some(store(dictionary, target, complete, &data, state)?);
        }
        let mut all = vec![0x20 | command & TOGGLE];
        all.extend([0; 7]);
        Ok(response(all))
    }
}

fn store(
    dictionary: &mut Dictionary,
    (index, sub): (u16, u8),
    complete: bool,
    data: &[u8],
    state: State,
) -> Result<Written, Abort> {
    if complete {
        dictionary.download_complete(index, sub, data, state)
    } else {
        dictionary.download(index, sub, data, state)
    }
}

fn parse(message: &[u8], command: u8) -> Option<Request<'_>> {
    let ([low, high, sub], rest) = message.get(3..)?.split_first_chunk()?;
    Some(Request { command, index: u16::from_le_bytes([*low, *high]), sub: *sub, rest })
}

fn initiate(command: u8, index: u16, sub: u8) -> Vec<u8> {
    let [low, high] = index.to_le_bytes();
    vec![command, low, high, sub]
}

fn response(body: Vec<u8>) -> Vec<u8> {
    let mut bytes = header(Service::SdoResponse).to_vec();
    bytes.extend(body);
    bytes
}
