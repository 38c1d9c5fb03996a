// SPDX-License-Identifier: Apache-2.0
//! Objects every CoE device has: identity, assignment, mapping, synchronisation (ETG.1020, ETG.5001).

use super::object::{
    bytes_entry, number_entry, Dictionary, Entry, Mapped, Rights, Shape, ASSIGNMENTS, RO, RO_TX, RW, RW_PREOP, RW_RX,
    TYPES,
};
use crate::description::{DataType, Description, Manager, Pdo, PdoEntry, Purpose, COE_ASSIGN, COE_CONFIGURE};

/// Entries a mapping object has room for.
const MAPPING_PLACES: u8 = 16;
/// PDOs a sync manager has room for at least.
const ASSIGNMENT_PLACES: u8 = 4;

/// Fills the dictionary; `device_type` is 0x1000 (0x00020192 for a servo drive under CiA 402).
pub fn add(dictionary: &mut Dictionary, device: &Description, device_type: u32) {
    dictionary.variable(0x1000, "device type", DataType::U32, RO, i64::from(device_type));
    dictionary.variable(0x1001, "error register", DataType::U8, RO_TX, 0);
    dictionary.text(0x1008, "device name", &device.type_name);
    dictionary.text(0x1009, "hardware version", "simulated");
    dictionary.text(0x100A, "software version", env!("CARGO_PKG_VERSION"));
    let identity = device.identity;
    let fields = [
        ("vendor", identity.vendor),
        ("product code", identity.product),
        ("revision", identity.revision),
        ("serial number", identity.serial),
    ];
    let entries =
        (1..).zip(fields).map(|(sub, (name, value))| number_entry(sub, name, DataType::U32, RO, i64::from(value)));
    dictionary.list(0x1018, "identity", Shape::Record, RO, entries.collect());
    let details = device.coe.unwrap_or(0);
    for pdo in device.rx.iter().chain(&device.tx) {
        add_mapping(dictionary, pdo, if details & COE_CONFIGURE != 0 { RW_PREOP } else { RO });
    }
    for (number, manager) in device.sync_managers.iter().enumerate() {
        if manager.carries(Purpose::Outputs) || manager.carries(Purpose::Inputs) {
            add_assignment(dictionary, number, manager, if details & COE_ASSIGN != 0 { RW_PREOP } else { RO });
        }
    }
    let entries = (1..).zip(&device.sync_managers).map(|(sub, manager)| {
        number_entry(sub, &format!("sync manager {}", sub - 1), DataType::U8, RO, i64::from(manager.purpose as u8))
    });
    dictionary.list(TYPES, "sync manager types", Shape::Array, RO, entries.collect());
    for (index, name) in [(0x1C32, "synchronisation of outputs"), (0x1C33, "synchronisation of inputs")] {
        let mut entries = vec![
            number_entry(1, "synchronisation type", DataType::U16, RW, 1),
            number_entry(2, "cycle time, ns", DataType::U32, RW, 0),
            number_entry(3, "shift time, ns", DataType::U32, RO, 0),
            number_entry(4, "synchronisation types supported", DataType::U16, RO, 0x07),
            number_entry(5, "minimum cycle time, ns", DataType::U32, RO, 100_000),
            number_entry(6, "calculation and copy time, ns", DataType::U32, RO, 0),
            number_entry(32, "synchronisation error", DataType::Bool, RO, 0),
        ];
        if index == 0x1C32 {
            entries.insert(6, number_entry(11, "SM events missed", DataType::U16, RO, 0));
        }
        dictionary.list(index, name, Shape::Record, RO, entries);
    }
    add_mapped_objects(dictionary, device);
}

fn add_assignment(dictionary: &mut Dictionary, number: usize, manager: &Manager, rights: Rights) {
    let places = (1..=ASSIGNMENT_PLACES.max(manager.pdos.len().min(255) as u8))
        .map(|sub| {
            let index = manager.pdos.get(usize::from(sub) - 1).copied().unwrap_or(0);
            number_entry(sub, &format!("PDO {sub}"), DataType::U16, rights, i64::from(index))
        })
        .collect();
    let direction = if manager.purpose == Purpose::Outputs { "outputs" } else { "inputs" };
    let index = ASSIGNMENTS + number as u16;
    dictionary.list(index, &format!("{direction}: assigned PDOs"), Shape::Array, rights, places);
    set_count(dictionary, index, manager.pdos.len());
}

fn add_mapping(dictionary: &mut Dictionary, pdo: &Pdo, rights: Rights) {
    let pieces: Vec<Mapped> =
        pdo.pieces().map(|(entry, bits)| Mapped { index: entry.index, sub: entry.sub, bits }).collect();
    let places = MAPPING_PLACES.max(pieces.len().min(255) as u8);
    let entries = (1..=places)
        .map(|sub| {
            let word = pieces.get(usize::from(sub) - 1).map_or(0, |mapped| mapped.word());
            number_entry(sub, &format!("mapping {sub}"), DataType::U32, rights, i64::from(word))
        })
        .collect();
    dictionary.list(pdo.index, &pdo.name, Shape::Record, rights, entries);
    set_count(dictionary, pdo.index, pieces.len());
}

fn set_count(dictionary: &mut Dictionary, index: u16, count: usize) {
    if let Some(handle) = dictionary.handle(index, 0) {
        dictionary.set(handle, count.min(255) as i64);
    }
}

/// Objects that are mapped and that no profile adds: one place each, so that every mapping can be resolved.
fn add_mapped_objects(dictionary: &mut Dictionary, device: &Description) {
    for (pdos, rights) in [(&device.rx, RW_RX), (&device.tx, RO_TX)] {
        let mut indices: Vec<u16> = pdos.iter().flat_map(|pdo| &pdo.entries).map(|entry| entry.index).collect();
        indices.sort_unstable();
        indices.dedup();
        for index in indices.into_iter().filter(|index| *index != 0) {
            let mut entries: Vec<_> =
                pdos.iter().flat_map(|pdo| &pdo.entries).filter(|entry| entry.index == index).collect();
            entries.sort_by_key(|entry| entry.sub);
            entries.dedup_by_key(|entry| entry.sub);
            match entries.as_slice() {
                [only] if only.sub == 0 => dictionary.single(index, value_entry(only, rights)),
                _ => dictionary.list(
                    index,
                    &entries.first().map_or(String::new(), |entry| entry.name.clone()),
                    Shape::Record,
                    RO,
                    entries.iter().map(|entry| value_entry(entry, rights)).collect(),
                ),
            }
        }
    }
}

/// A place for a mapped value: a number, or as many bytes as it takes.
fn value_entry(entry: &PdoEntry, rights: Rights) -> Entry {
    match entry.data_type {
        DataType::Text | DataType::Octets => bytes_entry(entry.sub, &entry.name, entry.data_type, rights, entry.bits),
        _ => number_entry(entry.sub, &entry.name, entry.data_type, rights, 0),
    }
}
