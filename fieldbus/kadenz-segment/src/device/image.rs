// SPDX-License-Identifier: Apache-2.0
//! Process data: which bits of a sync manager are which entry of the dictionary.

use crate::coe::object::{Dictionary, Handle, Mapped};
use crate::description::{Description, Pdo, Purpose};

/// One mapped run of bits; no handle for a gap.
#[derive(Debug, Clone, Copy)]
struct Slot {
    handle: Option<Handle>,
    at_bit: usize,
    bits: usize,
    /// Bytes, not a number: first bit of this piece of them.
    piece: Option<usize>,
}

/// The process image of a device, resolved when it enters safe-operational.
#[derive(Debug, Clone, Default)]
pub struct Image {
    outputs: Vec<Slot>,
    inputs: Vec<Slot>,
    /// Sync manager of the outputs.
    pub output_manager: Option<usize>,
    /// Sync manager of the inputs.
    pub input_manager: Option<usize>,
}

fn mapped(description: &Description, dictionary: &Dictionary, purpose: Purpose) -> Vec<Mapped> {
    let (assignment, pdos): (u16, &[Pdo]) = match purpose {
        Purpose::Outputs => (0x1C12, &description.rx),
        _ => (0x1C13, &description.tx),
    };
    if description.has_mailbox {
        return dictionary.assigned(assignment);
    }
    let pieces = pdos.iter().flat_map(Pdo::pieces);
    pieces.map(|(entry, bits)| Mapped { index: entry.index, sub: entry.sub, bits }).collect()
}

/// Bytes of the process data assigned now.
pub fn assigned_length(description: &Description, dictionary: &Dictionary, purpose: Purpose) -> usize {
    let bits: usize = mapped(description, dictionary, purpose).iter().map(|entry| usize::from(entry.bits)).sum();
    bits.div_ceil(8)
}

impl Image {
    /// Resolves assignment and mapping.
    pub fn resolve(description: &Description, dictionary: &Dictionary) -> Self {
        let slots = |purpose| {
            let mut at_bit = 0;
            let mut slots: Vec<Slot> = Vec::new();
            for entry in mapped(description, dictionary, purpose) {
                let bits = usize::from(entry.bits);
                let handle = dictionary.handle(entry.index, entry.sub).filter(|_| entry.index != 0);
                let before = slots.iter().filter(|slot| slot.handle == handle).map(|slot| slot.bits);
                let piece = handle.and_then(|handle| dictionary.bytes(handle)).map(|_| before.sum());
                slots.push(Slot { handle, at_bit, bits, piece });
                at_bit += bits;
            }
            slots
        };
        let (outputs, inputs) = (slots(Purpose::Outputs), slots(Purpose::Inputs));
        Self {
            output_manager: description.manager(Purpose::Outputs).filter(|_| !outputs.is_empty()),
            input_manager: description.manager(Purpose::Inputs).filter(|_| !inputs.is_empty()),
            outputs,
            inputs,
        }
    }

    /// Bit of the output sync manager in the event masks.
    pub fn output_bit(&self) -> u8 {
        self.output_manager.map_or(0, |manager| 1 << manager)
    }

    /// Bit of the input sync manager in the event masks.
    pub fn input_bit(&self) -> u8 {
        self.input_manager.map_or(0, |manager| 1 << manager)
    }

    /// Outputs into the dictionary.
    pub fn unpack(&self, bytes: &[u8], dictionary: &mut Dictionary) {
        for slot in &self.outputs {
            match (slot.handle, slot.piece) {
                (Some(handle), None) => dictionary.set(handle, take(bytes, slot.at_bit, slot.bits) as i64),
                (Some(handle), Some(piece)) => {
                    if let Some(value) = dictionary.bytes_mut(handle) {
                        copy(bytes, slot.at_bit, value, piece, slot.bits);
                    }
                }
                _ => {}
            }
        }
    }

    /// Inputs out of the dictionary.
    pub fn pack(&self, dictionary: &Dictionary, bytes: &mut [u8]) {
        for slot in &self.inputs {
            if let (Some(handle), Some(piece)) = (slot.handle, slot.piece) {
                copy(dictionary.bytes(handle).unwrap_or_default(), piece, bytes, slot.at_bit, slot.bits);
                continue;
            }
            let value = slot.handle.map_or(0, |handle| dictionary.get(handle));
            put(bytes, slot.at_bit, slot.bits, value as u64);
        }
    }
}

fn take(bytes: &[u8], at_bit: usize, bits: usize) -> u64 {
    let mut value = 0;
    if at_bit % 8 == 0 && bits % 8 == 0 {
        // What lies behind the end of the data is read as 0.
        let mut raw = [0; 8];
        let places = bytes.get(at_bit / 8..).unwrap_or_default();
        let length = (bits / 8).min(raw.len()).min(places.len());
        raw[..length].copy_from_slice(&places[..length]);
        return u64::from_le_bytes(raw);
    }
    for index in 0..bits.min(64) {
        let bit = bytes.get((at_bit + index) / 8).map_or(0, |byte| byte >> ((at_bit + index) % 8) & 1);
        value |= u64::from(bit) << index;
    }
    value
}

/// A run of bits from one place to another, a byte at a time.
fn copy(from: &[u8], from_bit: usize, to: &mut [u8], to_bit: usize, bits: usize) {
    for done in (0..bits).step_by(8) {
        let width = (bits - done).min(8);
        put(to, to_bit + done, width, take(from, from_bit + done, width));
    }
}

fn put(bytes: &mut [u8], at_bit: usize, bits: usize, value: u64) {
    if at_bit % 8 == 0 && bits % 8 == 0 {
        let raw = value.to_le_bytes();
        let places = bytes.get_mut(at_bit / 8..).unwrap_or_default();
        let length = (bits / 8).min(raw.len()).min(places.len());
        places[..length].copy_from_slice(&raw[..length]);
        return;
    }
    for index in 0..bits.min(64) {
        if let Some(byte) = bytes.get_mut((at_bit + index) / 8) {
            let mask = 1 << ((at_bit + index) % 8);
            *byte = if value >> index & 1 != 0 { *byte | mask } else { *byte & !mask };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_at_any_bit_is_read_back_and_its_neighbours_stay() {
        for at_bit in 0..24 {
            for bits in [1, 3, 8, 16, 24, 32] {
                for background in [0x00, 0xFF] {
                    let mut bytes = [background; 16];
                    let value = 0xA5A5_5A5A_u64 & (u64::MAX >> (64 - bits));
                    put(&mut bytes, at_bit, bits, value);
                    assert_eq!(take(&bytes, at_bit, bits), value);
                    let edge = u64::from(background & 1);
                    assert_eq!(take(&bytes, at_bit + bits, 1), edge);
                    assert!(at_bit == 0 || take(&bytes, at_bit - 1, 1) == edge);
                }
            }
        }
    }
}
