// SPDX-License-Identifier: Apache-2.0
//! SDO information: lists of objects, descriptions of objects and entries (ETG.1000.6 section 5.6.3).

use super::abort::Abort;
use super::object::{Dictionary, Object, Shape};
use super::{header, Service};

const LIST_REQUEST: u8 = 1;
const LIST: u8 = 2;
const OBJECT_REQUEST: u8 = 3;
const OBJECT: u8 = 4;
const ENTRY_REQUEST: u8 = 5;
const ENTRY: u8 = 6;
const ERROR: u8 = 7;
const INCOMPLETE: u8 = 0x80;
/// Header, opcode, reserved, fragments left.
const OVERHEAD: usize = 6;

/// Answers one request. `room` is what fits behind the mailbox header; a long list comes as several mailboxes.
pub fn answer(dictionary: &Dictionary, request: &[u8], room: usize) -> Vec<Vec<u8>> {
    let (opcode, body) = (request.get(2).copied().unwrap_or(0) & 0x7F, request.get(6..).unwrap_or(&[]));
    let outcome = match opcode {
        LIST_REQUEST => list(dictionary, body).map(|body| (LIST, body)),
        OBJECT_REQUEST => object(dictionary, body).map(|body| (OBJECT, body)),
        ENTRY_REQUEST => entry(dictionary, body).map(|body| (ENTRY, body)),
        _ => Err(Abort::Command),
    };
    match outcome {
        Ok((opcode, body)) => fragments(opcode, &body, room),
        Err(abort) => fragments(ERROR, &(abort as u32).to_le_bytes(), room),
    }
}

fn fragments(opcode: u8, body: &[u8], room: usize) -> Vec<Vec<u8>> {
    // A list's fragments hold whole indices: an even number of bytes each.
    let size = (room.saturating_sub(OVERHEAD) & !1).max(2);
    let count = body.len().div_ceil(size).max(1);
    let parts = if body.is_empty() { vec![body] } else { body.chunks(size).collect::<Vec<_>>() };
    (1..)
        .zip(parts)
        .map(|(number, part)| {
            let left = count - number;
            let mut bytes = header(Service::SdoInformation).to_vec();
            bytes.extend([opcode | if left > 0 { INCOMPLETE } else { 0 }, 0]);
            bytes.extend((left as u16).to_le_bytes());
            bytes.extend(part);
            bytes
        })
        .collect()
}

/// Which list an object belongs to: 1 all, 2 mappable from the master, 3 mappable to it, 4 stored for replacement,
/// 5 needed at start-up.
fn belongs(object: &Object, kind: u16) -> bool {
    let any = |pick: fn(&super::object::Rights) -> bool| object.entries.iter().any(|entry| pick(&entry.rights));
    match kind {
        1 => true,
        2 => any(|rights| rights.rx),
        3 => any(|rights| rights.tx),
        4 => any(|rights| rights.write && !rights.rx),
        _ => any(|rights| rights.pre_op_only),
    }
}

fn list(dictionary: &Dictionary, body: &[u8]) -> Result<Vec<u8>, Abort> {
    let kind = word(body, 0)?;
    let mut bytes = kind.to_le_bytes().to_vec();
    match kind {
        0 => {
            for kind in 1..=5 {
                let count = dictionary.objects().iter().filter(|object| belongs(object, kind)).count();
                bytes.extend((count as u16).to_le_bytes());
            }
        }
        1..=5 => {
            for object in dictionary.objects().iter().filter(|object| belongs(object, kind)) {
                bytes.extend(object.index.to_le_bytes());
            }
        }
        _ => return Err(Abort::Range),
    }
    Ok(bytes)
}

fn object(dictionary: &Dictionary, body: &[u8]) -> Result<Vec<u8>, Abort> {
    let index = word(body, 0)?;
    let object = dictionary.object(index).ok_or(Abort::NoObject)?;
    let highest = object.entries.last().map_or(0, |entry| entry.sub);
    let data_type = match object.shape {
        Shape::Record => 0,
        _ => object.entries.last().map_or(0, |entry| entry.data_type as u16),
    };
    let mut bytes = index.to_le_bytes().to_vec();
    bytes.extend(data_type.to_le_bytes());
    bytes.extend([highest, object.shape as u8]);
    bytes.extend(object.name.as_bytes());
    Ok(bytes)
}

fn entry(dictionary: &Dictionary, body: &[u8]) -> Result<Vec<u8>, Abort> {
    let index = word(body, 0)?;
    let sub = *body.get(2).ok_or(Abort::Length)?;
    let entry = dictionary.entry(index, sub)?;
    let mut bytes = index.to_le_bytes().to_vec();
    bytes.extend([sub, 0]);
    bytes.extend((entry.data_type as u16).to_le_bytes());
    bytes.extend((entry.bits() as u16).to_le_bytes());
    bytes.extend(entry.rights.word().to_le_bytes());
    bytes.extend(entry.name.as_bytes());
    Ok(bytes)
}

fn word(body: &[u8], at: usize) -> Result<u16, Abort> {
    let bytes = body.get(at..).and_then(|rest| rest.first_chunk()).ok_or(Abort::Length)?;
    Ok(u16::from_le_bytes(*bytes))
}
