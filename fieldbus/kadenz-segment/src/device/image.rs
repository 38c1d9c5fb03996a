// SPDX-License-Identifier: Apache-2.0
//! Process data: which bits of a sync manager are which entry of the dictionary.

use crate::coe::object::{Dictionary, Handle, Mapped, ASSIGNMENTS};
use crate::description::{Description, Pdo, Purpose};
use crate::esc::Esc;

/// One mapped run of bits; no handle for a gap.
#[derive(Debug, Clone, Copy)]
struct Slot {
    handle: Option<Handle>,
    at_bit: usize,
    bits: usize,
    /// Bytes, not a number: first bit of this piece of them.
    piece: Option<usize>,
}

/// What one sync manager carries.
#[derive(Debug, Clone)]
struct Area {
    manager: usize,
    slots: Vec<Slot>,
}

/// The process image of a device, resolved when it enters safe-operational: an area for each sync manager that has
/// something assigned.
#[derive(Debug, Clone, Default)]
pub struct Image {
    outputs: Vec<Area>,
    inputs: Vec<Area>,
}

fn mapped(description: &Description, dictionary: &Dictionary, manager: usize) -> Vec<Mapped> {
    if description.coe.is_some() {
        return dictionary.assigned(ASSIGNMENTS + manager as u16);
    }
    let Some(manager) = description.sync_managers.get(manager) else { return Vec::new() };
    let pieces = description.assigned(manager).flat_map(Pdo::pieces);
    pieces.map(|(entry, bits)| Mapped { index: entry.index, sub: entry.sub, bits }).collect()
}

/// Bytes of the process data assigned now to a sync manager.
pub fn assigned_length(description: &Description, dictionary: &Dictionary, manager: usize) -> usize {
    let bits: usize = mapped(description, dictionary, manager).iter().map(|entry| usize::from(entry.bits)).sum();
    bits.div_ceil(8)
}

fn slots(mapped: Vec<Mapped>, dictionary: &Dictionary) -> Vec<Slot> {
    let mut at_bit = 0;
    let mut slots: Vec<Slot> = Vec::new();
    for entry in mapped {
        let bits = usize::from(entry.bits);
        let handle = dictionary.handle(entry.index, entry.sub).filter(|_| entry.index != 0);
        let before = slots.iter().filter(|slot| slot.handle == handle).map(|slot| slot.bits);
        let piece = handle.and_then(|handle| dictionary.bytes(handle)).map(|_| before.sum());
        slots.push(Slot { handle, at_bit, bits, piece });
        at_bit += bits;
    }
    slots
}

impl Image {
    /// Resolves assignment and mapping.
    pub fn resolve(description: &Description, dictionary: &Dictionary) -> Self {
        let areas = |purpose| -> Vec<Area> {
            let managers = description.sync_managers.iter().enumerate();
            let carriers = managers.filter(|(_, manager)| manager.carries(purpose)).map(|(number, _)| number);
            let area = |manager| Area { manager, slots: slots(mapped(description, dictionary, manager), dictionary) };
            carriers.map(area).filter(|area| !area.slots.is_empty()).collect()
        };
        Self { outputs: areas(Purpose::Outputs), inputs: areas(Purpose::Inputs) }
    }

    /// Sync managers of the outputs.
    pub fn output_managers(&self) -> impl Iterator<Item = usize> + '_ {
        self.outputs.iter().map(|area| area.manager)
    }

    /// Bits of the output sync managers in the event masks.
    pub fn output_bits(&self) -> u8 {
        self.outputs.iter().fold(0, |bits, area| bits | 1 << area.manager)
    }

    /// Bits of the input sync managers in the event masks.
    pub fn input_bits(&self) -> u8 {
        self.inputs.iter().fold(0, |bits, area| bits | 1 << area.manager)
    }

    /// Outputs that are new into the dictionary. True if any is.
    pub fn take(&self, esc: &mut Esc, dictionary: &mut Dictionary) -> bool {
        self.outputs.iter().fold(false, |are_new, area| {
            let bytes = esc.take_outputs(area.manager);
            bytes.map(|bytes| unpack(&area.slots, bytes, dictionary)).is_some() || are_new
        })
    }

    /// Inputs out of the dictionary to the master.
    pub fn put(&self, esc: &mut Esc, dictionary: &Dictionary) {
        for area in &self.inputs {
            esc.put_inputs(area.manager, |bytes| pack(&area.slots, dictionary, bytes));
        }
    }
}

fn unpack(slots: &[Slot], bytes: &[u8], dictionary: &mut Dictionary) {
    for slot in slots {
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

fn pack(slots: &[Slot], dictionary: &Dictionary, bytes: &mut [u8]) {
    for slot in slots {
        if let (Some(handle), Some(piece)) = (slot.handle, slot.piece) {
            copy(dictionary.bytes(handle).unwrap_or_default(), piece, bytes, slot.at_bit, slot.bits);
            continue;
        }
        let value = slot.handle.map_or(0, |handle| dictionary.get(handle));
        put(bytes, slot.at_bit, slot.bits, value as u64);
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
