// SPDX-License-Identifier: Apache-2.0
//! SDOs from the master's side (ETG.1000.6): each request and what its answer means.

use super::SdoCommand;
use crate::coe::Service;

/// Bytes of the CoE header and the SDO's: command, index, sub-index, four bytes of data or size.
const SDO: usize = 10;
/// CoE header and command of a segment.
const SEGMENT: usize = 3;
/// Largest object that is read.
const LONGEST: usize = 1 << 20;

/// Carries one message to the device and gives its answer.
pub(super) type Carry<'a, E> = dyn FnMut(&[u8]) -> Result<Vec<u8>, E> + 'a;

/// Whether an answer is an SDO's: emergencies may come before it.
pub(super) fn is_answer(body: &[u8]) -> bool {
    body.get(1)
        .is_some_and(|service| service >> 4 == Service::SdoResponse as u8 || service >> 4 == Service::SdoRequest as u8)
}

/// Carries out an SDO through a mailbox with `room` bytes behind its header. The inner error says what the device refused.
pub(super) fn transfer<E>(
    command: &SdoCommand,
    room: usize,
    carry: &mut Carry<'_, E>,
) -> Result<Result<(), String>, E> {
    if room < SDO {
        return Ok(Err(format!("a mailbox with {room} bytes behind its header has no room for an SDO")));
    }
    if command.is_upload {
        upload(command, carry)
    } else {
        download(command, room, carry)
    }
}

/// Message of an SDO request.
fn message(command: u8, object: &SdoCommand, data: [u8; 4]) -> Vec<u8> {
    let ([low, high], [a, b, c, d]) = (object.index.to_le_bytes(), data);
    vec![0, (Service::SdoRequest as u8) << 4, command, low, high, object.sub, a, b, c, d]
}

fn download<E>(command: &SdoCommand, room: usize, carry: &mut Carry<'_, E>) -> Result<Result<(), String>, E> {
    let flag = if command.is_complete { 0x10 } else { 0 };
    let length = command.data.len();
    let (request, mut rest) = match command.data.as_slice() {
        data @ ([_] | [_, _] | [_, _, _] | [_, _, _, _]) if !command.is_complete => {
            let mut four = [0; 4];
            four[..length].copy_from_slice(data);
            (message(0x23 | ((4 - length) as u8) << 2, command, four), &[][..])
        }
        data => {
            let (first, rest) = data.split_at(length.min(room - SDO));
            let mut request = message(0x21 | flag, command, (length as u32).to_le_bytes());
            request.extend(first);
            (request, rest)
        }
    };
    if let Err(refusal) = accepted(&carry(&request)?, 0x60) {
        return Ok(Err(refusal));
    }
    let mut toggle = 0;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.len().min(room - SEGMENT));
        let unused = 7_usize.saturating_sub(part.len());
        let mut request = vec![0, (Service::SdoRequest as u8) << 4];
        request.push(toggle | (unused as u8) << 1 | u8::from(after.is_empty()));
        request.extend(part);
        request.resize(request.len().max(SDO), 0);
        if let Err(refusal) = accepted(&carry(&request)?, 0x20) {
            return Ok(Err(refusal));
        }
        (rest, toggle) = (after, toggle ^ 0x10);
    }
    Ok(Ok(()))
}

fn upload<E>(command: &SdoCommand, carry: &mut Carry<'_, E>) -> Result<Result<(), String>, E> {
    let flag = if command.is_complete { 0x10 } else { 0 };
    let answer = carry(&message(0x40 | flag, command, [0; 4]))?;
    if let Err(refusal) = accepted(&answer, 0x40) {
        return Ok(Err(refusal));
    }
    let is_expedited = answer.get(2).is_some_and(|command| command & 2 != 0);
    let size =
        answer.get(6..SDO).map_or(0, |size| size.iter().rev().fold(0, |size, byte| size << 8 | usize::from(*byte)));
    if is_expedited {
        return Ok(Ok(()));
    }
    let (mut taken, mut toggle) = (answer.len().saturating_sub(SDO), 0);
    while taken < size.min(LONGEST) {
        let request = vec![0, (Service::SdoRequest as u8) << 4, 0x60 | toggle, 0, 0, 0, 0, 0, 0, 0];
        let answer = carry(&request)?;
        if let Err(refusal) = accepted(&answer, 0) {
            return Ok(Err(refusal));
        }
        taken += answer.len().saturating_sub(SEGMENT).max(1);
        toggle ^= 0x10;
    }
    Ok(Ok(()))
}

/// The answer to a request of this kind (bits 5 to 7 of the command), else why it is not.
fn accepted(answer: &[u8], kind: u8) -> Result<(), String> {
    match answer.get(2) {
        Some(0x80) => {
            let code = answer
                .get(6..SDO)
                .map_or(0, |code| code.iter().rev().fold(0, |code, byte| code << 8 | u32::from(*byte)));
            Err(format!("the device aborts with {code:#010x}"))
        }
        Some(command) if command & 0xE0 == kind => Ok(()),
        _ => Err("the device gives an answer that belongs to no SDO of this kind".into()),
    }
}
