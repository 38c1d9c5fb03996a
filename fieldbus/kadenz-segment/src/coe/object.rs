// SPDX-License-Identifier: Apache-2.0
//! The object dictionary: typed entries, sorted by index, reached by handle from inside and by SDO from outside.

use super::abort::Abort;
use crate::al::State;
use crate::description::{DataType, Purpose};
use crate::register::SYNC_MANAGERS;

/// Object of sync manager 0's assignment; each sync manager has the next one.
pub const ASSIGNMENTS: u16 = 0x1C10;
/// Types of the sync managers, from sub-index 1.
pub const TYPES: u16 = 0x1C00;

/// Shape of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Shape {
    /// One value, at sub-index 0.
    Variable = 7,
    /// Values of one type.
    Array = 8,
    /// Values of several types.
    Record = 9,
}

/// Who may do what with an entry by SDO, and whether it may be mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// By SDO, in any state with a mailbox.
    pub read: bool,
    /// Whether SDO may write it.
    pub write: bool,
    /// Writable in pre-operational only: assignment and mapping of process data.
    pub pre_op_only: bool,
    /// May be mapped from the master.
    pub rx: bool,
    /// May be mapped to the master.
    pub tx: bool,
}

/// SDO may read it, and not write it.
pub const RO: Rights = Rights { read: true, write: false, pre_op_only: false, rx: false, tx: false };
/// Read by SDO, mappable to the master.
pub const RO_TX: Rights = Rights { tx: true, ..RO };
/// Read and written by SDO.
pub const RW: Rights = Rights { write: true, ..RO };
/// Read and written by SDO, mappable from the master.
pub const RW_RX: Rights = Rights { rx: true, ..RW };
/// Read, and written in pre-operational.
pub const RW_PREOP: Rights = Rights { pre_op_only: true, ..RW };

impl Rights {
    /// The access word of the entry description (ETG.1000.6 table 57).
    pub fn word(self) -> u16 {
        let read = if self.read { 0x07 } else { 0 };
        let write = match (self.write, self.pre_op_only) {
            (true, true) => 0x08,
            (true, false) => 0x38,
            _ => 0,
        };
        read | write | u16::from(self.rx) << 6 | u16::from(self.tx) << 7
    }
}

/// The value of an entry, by its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// The low bits of a number, whatever its sign.
    Number(u64),
    /// Text or octets, of fixed length.
    Bytes(Vec<u8>),
}

/// One sub-index of an object, with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Sub-index; entry 0 of an array or record counts the others.
    pub sub: u8,
    /// Name, as SDO information gives it.
    pub name: String,
    /// Type of the value; it gives a number its width and sign.
    pub data_type: DataType,
    /// Access by SDO, and whether the entry may be mapped.
    pub rights: Rights,
    /// Present value, for SDO and application alike.
    pub value: Value,
    /// Numbers a write may give, as signed numbers; absent: all.
    pub allowed: Option<&'static [i64]>,
}

impl Entry {
    /// Bits of the value.
    pub fn bits(&self) -> usize {
        match &self.value {
            Value::Number(_) => usize::from(self.data_type.bits()),
            Value::Bytes(bytes) => 8 * bytes.len(),
        }
    }

    /// Length of the value in an SDO, bytes.
    pub fn length(&self) -> usize {
        self.bits().div_ceil(8)
    }

    fn signed(&self, raw: u64) -> i64 {
        let bits = u32::from(self.data_type.bits().clamp(1, 64));
        if self.data_type.is_signed() {
            ((raw << (64 - bits)) as i64) >> (64 - bits)
        } else {
            raw as i64
        }
    }

    /// Appends the value's bytes.
    pub fn append_to(&self, bytes: &mut Vec<u8>) {
        match &self.value {
            Value::Number(number) => bytes.extend(number.to_le_bytes().iter().take(self.length())),
            Value::Bytes(value) => bytes.extend(value),
        }
    }

    fn checked(&self, bytes: &[u8]) -> Result<Value, Abort> {
        let length = self.length();
        match bytes.len().cmp(&length) {
            std::cmp::Ordering::Greater => return Err(Abort::TooLong),
            std::cmp::Ordering::Less => return Err(Abort::TooShort),
            std::cmp::Ordering::Equal => {}
        }
        let Value::Number(_) = self.value else { return Ok(Value::Bytes(bytes.to_vec())) };
        let mut raw = [0_u8; 8];
        raw.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let number = u64::from_le_bytes(raw);
        if self.allowed.is_some_and(|allowed| !allowed.contains(&self.signed(number))) {
            return Err(Abort::Range);
        }
        Ok(Value::Number(number))
    }
}

/// An object of the dictionary, with its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Index, by which the dictionary is sorted.
    pub index: u16,
    /// Name, as SDO information gives it.
    pub name: String,
    /// One value, an array or a record, as SDO information gives it.
    pub shape: Shape,
    /// Sub-indices, in order.
    pub entries: Vec<Entry>,
}

/// Where an entry is, for access without search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    object: u16,
    entry: u16,
}

/// A change made by SDO, for the application to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Index of the object that was written.
    pub index: u16,
    /// Sub-index, or the first of a complete access.
    pub sub: u8,
}

/// All objects of a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dictionary {
    objects: Vec<Object>,
}

impl Dictionary {
    /// Adds an object with one value at sub-index 0.
    pub fn variable(&mut self, index: u16, name: &str, data_type: DataType, rights: Rights, number: i64) {
        self.single(index, number_entry(0, name, data_type, rights, number));
    }

    /// Adds an object of this one entry, at sub-index 0.
    pub fn single(&mut self, index: u16, entry: Entry) {
        self.insert(Object { index, name: entry.name.clone(), shape: Shape::Variable, entries: vec![entry] });
    }

    /// Adds a text object.
    pub fn text(&mut self, index: u16, name: &str, text: &str) {
        let value = Value::Bytes(text.as_bytes().to_vec());
        self.single(
            index,
            Entry { sub: 0, name: name.into(), data_type: DataType::Text, rights: RO, value, allowed: None },
        );
    }

    /// Adds a record or array; sub-index 0, the count, comes by itself.
    pub fn list(&mut self, index: u16, name: &str, shape: Shape, count_rights: Rights, entries: Vec<Entry>) {
        let count = entries.last().map_or(0, |entry| i64::from(entry.sub));
        let mut all = vec![number_entry(0, "count", DataType::U8, count_rights, count)];
        all.extend(entries);
        self.insert(Object { index, name: name.into(), shape, entries: all });
    }

    /// Adds or replaces an object. Handles given before stay valid only if nothing is inserted in front: build first,
    /// take handles afterwards.
    fn insert(&mut self, object: Object) {
        let index = object.index;
        match self.objects.binary_search_by_key(&index, |known| known.index) {
            Ok(at) => self.objects[at] = object,
            Err(at) => self.objects.insert(at, object),
        }
    }

    /// All objects, by index.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The object with this index; None if there is none.
    pub fn object(&self, index: u16) -> Option<&Object> {
        let at = self.objects.binary_search_by_key(&index, |object| object.index).ok()?;
        self.objects.get(at)
    }

    /// The entry. An abort code if object or sub-index do not exist.
    pub fn entry(&self, index: u16, sub: u8) -> Result<&Entry, Abort> {
        let object = self.object(index).ok_or(Abort::NoObject)?;
        object.entries.iter().find(|entry| entry.sub == sub).ok_or(Abort::NoSubIndex)
    }

    /// Where an entry is. Valid until an object is added.
    pub fn handle(&self, index: u16, sub: u8) -> Option<Handle> {
        let object = self.objects.binary_search_by_key(&index, |object| object.index).ok()?;
        let entry = self.objects.get(object)?.entries.iter().position(|entry| entry.sub == sub)?;
        Some(Handle { object: object as u16, entry: entry as u16 })
    }

    fn at(&self, handle: Handle) -> Option<&Entry> {
        self.objects.get(usize::from(handle.object))?.entries.get(usize::from(handle.entry))
    }

    /// The number behind a handle, signed as its type says.
    #[inline]
    pub fn get(&self, handle: Handle) -> i64 {
        match self.at(handle) {
            Some(entry @ Entry { value: Value::Number(raw), .. }) => entry.signed(*raw),
            _ => 0,
        }
    }

    /// Sets the number behind a handle: the application's side, without rights or range.
    #[inline]
    pub fn set(&mut self, handle: Handle, number: i64) {
        let entry = self
            .objects
            .get_mut(usize::from(handle.object))
            .and_then(|object| object.entries.get_mut(usize::from(handle.entry)));
        if let Some(Entry { value: Value::Number(raw), data_type, .. }) = entry {
            let bits = u32::from(data_type.bits().clamp(1, 64));
            *raw = number as u64 & (u64::MAX >> (64 - bits));
        }
    }

    /// The bytes behind a handle; `None` where there is a number.
    #[inline]
    pub fn bytes(&self, handle: Handle) -> Option<&[u8]> {
        match self.at(handle) {
            Some(Entry { value: Value::Bytes(bytes), .. }) => Some(bytes),
            _ => None,
        }
    }

    /// The bytes behind a handle, to change them: the application's side, without rights.
    #[inline]
    pub fn bytes_mut(&mut self, handle: Handle) -> Option<&mut [u8]> {
        let object = self.objects.get_mut(usize::from(handle.object))?;
        match object.entries.get_mut(usize::from(handle.entry)) {
            Some(Entry { value: Value::Bytes(bytes), .. }) => Some(bytes),
            _ => None,
        }
    }

    /// The number at an index, 0 if there is none: for set-up and tests.
    pub fn number(&self, index: u16, sub: u8) -> i64 {
        self.handle(index, sub).map_or(0, |handle| self.get(handle))
    }

    /// Limits what an SDO may write.
    pub fn allow(&mut self, index: u16, sub: u8, numbers: &'static [i64]) {
        let object = self.objects.iter_mut().find(|object| object.index == index);
        if let Some(entry) = object.and_then(|object| object.entries.iter_mut().find(|entry| entry.sub == sub)) {
            entry.allowed = Some(numbers);
        }
    }

    /// SDO upload of one entry, appended to `bytes`.
    pub fn upload(&self, index: u16, sub: u8, bytes: &mut Vec<u8>) -> Result<(), Abort> {
        let entry = self.entry(index, sub)?;
        if !entry.rights.read {
            return Err(Abort::WriteOnly);
        }
        entry.append_to(bytes);
        Ok(())
    }

    /// SDO upload of an object from `sub` (0 or 1) on. Sub-index 0 takes two bytes, as complete access lays it out.
    pub fn upload_complete(&self, index: u16, sub: u8, bytes: &mut Vec<u8>) -> Result<(), Abort> {
        let object = self.complete(index, sub)?;
        let count = object.entries.first().map_or(0, |entry| match entry.value {
            Value::Number(number) => number,
            Value::Bytes(_) => 0,
        });
        for entry in object.entries.iter().filter(|entry| entry.sub >= sub) {
            if entry.sub == 0 {
                bytes.extend([count as u8, 0]);
            } else if u64::from(entry.sub) <= count {
                entry.append_to(bytes);
            }
        }
        Ok(())
    }

    fn complete(&self, index: u16, sub: u8) -> Result<&Object, Abort> {
        let object = self.object(index).ok_or(Abort::NoObject)?;
        if sub > 1 || object.shape == Shape::Variable {
            return Err(Abort::Unsupported);
        }
        Ok(object)
    }

    /// SDO download of one entry.
    pub fn download(&mut self, index: u16, sub: u8, bytes: &[u8], state: State) -> Result<Written, Abort> {
        let entry = self.entry(index, sub)?;
        if !entry.rights.write {
            return Err(Abort::ReadOnly);
        }
        if entry.rights.pre_op_only && state != State::PreOp {
            return Err(Abort::State);
        }
        let value = entry.checked(bytes)?;
        self.check_mapping(index, sub, &value)?;
        let object = self.objects.iter_mut().find(|object| object.index == index);
        if let Some(entry) = object.and_then(|object| object.entries.iter_mut().find(|entry| entry.sub == sub)) {
            entry.value = value;
        }
        Ok(Written { index, sub })
    }

    /// SDO download of an object from `sub` (0 or 1) on: all of it or nothing.
    pub fn download_complete(&mut self, index: u16, sub: u8, bytes: &[u8], state: State) -> Result<Written, Abort> {
        let object = self.complete(index, sub)?;
        let mut changed = object.clone();
        let mut rest = bytes;
        // Sub-index 0 is written as 0 first and to its value last, as the order of mapping demands.
        let mut count = None;
        for entry in changed.entries.iter_mut().filter(|entry| entry.sub >= sub) {
            if rest.is_empty() {
                break;
            }
            if !entry.rights.write || (entry.rights.pre_op_only && state != State::PreOp) {
                return Err(if entry.rights.write { Abort::State } else { Abort::ReadOnly });
            }
            let length = if entry.sub == 0 { 2 } else { entry.length() };
            let (own, after) = rest.split_at_checked(length).ok_or(Abort::TooShort)?;
            let own = if entry.sub == 0 { own.get(..1).unwrap_or(own) } else { own };
            entry.value = entry.checked(own)?;
            if entry.sub == 0 {
                count = Some(entry.value.clone());
            } else {
                self.check_entry_mapping(index, &entry.value)?;
            }
            rest = after;
        }
        if !rest.is_empty() {
            return Err(Abort::TooLong);
        }
        if let Some(Value::Number(count)) = count {
            if count as usize >= changed.entries.len() {
                return Err(Abort::Range);
            }
        }
        if let Some(object) = self.objects.iter_mut().find(|object| object.index == index) {
            *object = changed;
        }
        Ok(Written { index, sub })
    }

    /// The rules for assignment (0x1C10 and one for each sync manager) and mapping (0x16xx, 0x1Axx).
    fn check_mapping(&self, index: u16, sub: u8, value: &Value) -> Result<(), Abort> {
        if !is_assignment(index) && !is_mapping(index) {
            return Ok(());
        }
        let Value::Number(number) = value else { return Ok(()) };
        if sub == 0 {
            let places = self.object(index).map_or(0, |object| object.entries.len() - 1);
            return if *number as usize <= places { Ok(()) } else { Err(Abort::Range) };
        }
        if self.number(index, 0) != 0 {
            return Err(Abort::CountNotZero);
        }
        self.check_entry_mapping(index, value)
    }

    fn check_entry_mapping(&self, index: u16, value: &Value) -> Result<(), Abort> {
        let Value::Number(number) = value else { return Ok(()) };
        if is_assignment(index) {
            let known = *number == 0 || (is_mapping(*number as u16) && self.object(*number as u16).is_some());
            let carries_inputs =
                self.number(TYPES, (index - ASSIGNMENTS + 1) as u8) == i64::from(Purpose::Inputs as u8);
            let right_way = *number == 0 || (*number as u16 >= 0x1A00) == carries_inputs;
            return if known && right_way { Ok(()) } else { Err(Abort::NotMappable) };
        }
        let mapped = Mapped::from_word(*number as u32);
        if !is_mapping(index) || mapped.index == 0 {
            return Ok(());
        }
        let entry = self.entry(mapped.index, mapped.sub)?;
        let allowed = if index < 0x1A00 { entry.rights.rx } else { entry.rights.tx };
        if !allowed {
            return Err(Abort::NotMappable);
        }
        let (bits, own) = (usize::from(mapped.bits), entry.bits());
        let fits = match entry.value {
            Value::Number(_) => bits == own,
            // Bytes are mapped whole, but for bits that fill the last, or in pieces of whole bytes.
            Value::Bytes(_) => bits.next_multiple_of(8) == own || (own > 255 && bits > 0 && bits % 8 == 0),
        };
        if fits {
            Ok(())
        } else {
            Err(Abort::Length)
        }
    }

    /// Entries mapped by the PDOs that an assignment object holds, in order.
    pub fn assigned(&self, assignment: u16) -> Vec<Mapped> {
        let mut mapped = Vec::new();
        for place in 1..=self.number(assignment, 0).clamp(0, 255) as u8 {
            let pdo = self.number(assignment, place) as u16;
            for entry in 1..=self.number(pdo, 0).clamp(0, 255) as u8 {
                mapped.push(Mapped::from_word(self.number(pdo, entry) as u32));
            }
        }
        mapped
    }
}

/// One mapped entry, as a mapping object holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapped {
    /// Object; 0 is a gap.
    pub index: u16,
    /// Sub-index of the mapped entry; means nothing in a gap.
    pub sub: u8,
    /// Length of the object in the process data, bits.
    pub bits: u8,
}

impl Mapped {
    /// From a mapping word: index, sub-index, bits.
    pub fn from_word(word: u32) -> Self {
        let [bits, sub, low, high] = word.to_le_bytes();
        Self { index: u16::from_le_bytes([low, high]), sub, bits }
    }

    /// To a mapping word.
    pub fn word(self) -> u32 {
        let [low, high] = self.index.to_le_bytes();
        u32::from_le_bytes([self.bits, self.sub, low, high])
    }
}

fn is_assignment(index: u16) -> bool {
    (ASSIGNMENTS..ASSIGNMENTS + SYNC_MANAGERS as u16).contains(&index)
}

fn is_mapping(index: u16) -> bool {
    matches!(index, 0x1600..=0x17FF | 0x1A00..=0x1BFF)
}

/// A number at a sub-index.
pub fn number_entry(sub: u8, name: &str, data_type: DataType, rights: Rights, number: i64) -> Entry {
    let bits = u32::from(data_type.bits().clamp(1, 64));
    let value = Value::Number(number as u64 & (u64::MAX >> (64 - bits)));
    Entry { sub, name: name.into(), data_type, rights, value, allowed: None }
}

/// Bytes at a sub-index, as many as `bits` take.
pub fn bytes_entry(sub: u8, name: &str, data_type: DataType, rights: Rights, bits: u16) -> Entry {
    let value = Value::Bytes(vec![0; usize::from(bits.div_ceil(8))]);
    Entry { sub, name: name.into(), data_type, rights, value, allowed: None }
}
