// SPDX-License-Identifier: Apache-2.0
//! What a device is: identity, sync managers, process data. Made from TOML or ESI, read by SII and CoE.

use crate::eoe::settings::Abilities;
use crate::esc::{sync_manager, MEMORY_END};

/// Where the mailboxes lie, unless an ESI file says otherwise.
pub const MAILBOX_OUT: u16 = 0x1000;
/// Mailbox from the device to the master.
pub const MAILBOX_IN: u16 = 0x1080;
/// Bytes of each mailbox.
pub const MAILBOX_LENGTH: u16 = 128;
/// First byte of the outputs; three buffers follow.
pub const OUTPUTS: u16 = 0x1100;
/// First byte of the inputs; three buffers follow.
pub const INPUTS: u16 = 0x1500;

/// Data types of CoE entries (ETG.1000.6 table 64).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum DataType {
    Bool = 0x0001,
    I8 = 0x0002,
    I16 = 0x0003,
    I32 = 0x0004,
    U8 = 0x0005,
    U16 = 0x0006,
    U32 = 0x0007,
    Text = 0x0009,
    Octets = 0x000A,
    I64 = 0x0015,
    U64 = 0x001B,
    F32 = 0x0008,
    I24 = 0x0010,
    F64 = 0x0011,
    I40 = 0x0012,
    I48 = 0x0013,
    I56 = 0x0014,
    U24 = 0x0016,
    U40 = 0x0018,
    U48 = 0x0019,
    U56 = 0x001A,
    Byte = 0x001E,
    Word = 0x001F,
    Dword = 0x0020,
    Array8 = 0x002D,
    Array16 = 0x002E,
    Array32 = 0x002F,
    Bit1 = 0x0030,
    Bit2 = 0x0031,
    Bit3 = 0x0032,
    Bit4 = 0x0033,
    Bit5 = 0x0034,
    Bit6 = 0x0035,
    Bit7 = 0x0036,
    Bit8 = 0x0037,
}

/// Types of numbers with the names an ESI file uses, and bits. The first of a width that is unsigned stands for types of a
/// vendor's own.
const NUMBERS: [(DataType, &str, u16); 34] = [
    (DataType::Bool, "BOOL", 1),
    (DataType::Bit1, "BIT", 1),
    (DataType::Bit1, "BIT1", 1),
    (DataType::Bit2, "BIT2", 2),
    (DataType::Bit3, "BIT3", 3),
    (DataType::Bit4, "BIT4", 4),
    (DataType::Bit5, "BIT5", 5),
    (DataType::Bit6, "BIT6", 6),
    (DataType::Bit7, "BIT7", 7),
    (DataType::U8, "USINT", 8),
    (DataType::Bit8, "BIT8", 8),
    (DataType::Array8, "BITARR8", 8),
    (DataType::Byte, "BYTE", 8),
    (DataType::I8, "SINT", 8),
    (DataType::U16, "UINT", 16),
    (DataType::Array16, "BITARR16", 16),
    (DataType::Word, "WORD", 16),
    (DataType::I16, "INT", 16),
    (DataType::U24, "UINT24", 24),
    (DataType::I24, "INT24", 24),
    (DataType::U32, "UDINT", 32),
    (DataType::Array32, "BITARR32", 32),
    (DataType::Dword, "DWORD", 32),
    (DataType::I32, "DINT", 32),
    (DataType::F32, "REAL", 32),
    (DataType::U40, "UINT40", 40),
    (DataType::I40, "INT40", 40),
    (DataType::U48, "UINT48", 48),
    (DataType::I48, "INT48", 48),
    (DataType::U56, "UINT56", 56),
    (DataType::I56, "INT56", 56),
    (DataType::U64, "ULINT", 64),
    (DataType::I64, "LINT", 64),
    (DataType::F64, "LREAL", 64),
];

impl DataType {
    /// Bits of a number; 0 for text and octets.
    #[inline]
    pub fn bits(self) -> u16 {
        use DataType::*;
        match self {
            Bool | Bit1 => 1,
            Bit2 => 2,
            Bit3 => 3,
            Bit4 => 4,
            Bit5 => 5,
            Bit6 => 6,
            Bit7 => 7,
            I8 | U8 | Byte | Array8 | Bit8 => 8,
            I16 | U16 | Word | Array16 => 16,
            I24 | U24 => 24,
            I32 | U32 | F32 | Dword | Array32 => 32,
            I40 | U40 => 40,
            I48 | U48 => 48,
            I56 | U56 => 56,
            I64 | U64 | F64 => 64,
            Text | Octets => 0,
        }
    }

    /// A whole number in two's complement.
    #[inline]
    pub fn is_signed(self) -> bool {
        use DataType::*;
        matches!(self, I8 | I16 | I24 | I32 | I40 | I48 | I56 | I64)
    }

    /// Whether values are whole numbers.
    pub fn is_whole(self) -> bool {
        self.bits() > 0 && !matches!(self, Self::F32 | Self::F64)
    }

    /// The type that an ESI file names, and the bits that the name says it has. Other types count as text or
    /// octets: strings, arrays, and types of a vendor's own of a width that no number has.
    pub fn from_esi(name: &str, bits: u16) -> (Self, Option<u32>) {
        if let Some((data_type, _, own)) = NUMBERS.iter().find(|(_, known, _)| *known == name) {
            return (*data_type, Some(u32::from(*own)));
        }
        let length = |prefix: &str| -> Option<u32> {
            name.strip_prefix(prefix)?.trim().strip_prefix('(')?.strip_suffix(')')?.trim().parse().ok()
        };
        for prefix in ["STRING", "VISIBLE_STRING"] {
            if name == prefix || length(prefix).is_some() {
                return (Self::Text, length(prefix).map(|characters| characters.saturating_mul(8)));
            }
        }
        for (prefix, width) in [("OCTET_STRING", 8), ("UNICODE_STRING", 16), ("WSTRING", 16)] {
            if name == prefix || length(prefix).is_some() {
                return (Self::Octets, length(prefix).map(|units| units.saturating_mul(width)));
            }
        }
        if name.starts_with("ARRAY") {
            return (Self::Octets, array_bits(name));
        }
        (Self::of_width(bits).unwrap_or(Self::Octets), None)
    }

    /// The name that ESI files use; `None` for text and octets that are no whole bytes.
    pub fn esi_name(self, bits: u16) -> Option<String> {
        let number = NUMBERS.iter().find(|(data_type, ..)| *data_type == self).map(|(_, name, _)| (*name).to_owned());
        number.or_else(|| {
            let name = if self == Self::Text { "STRING" } else { "OCTET_STRING" };
            (bits % 8 == 0).then(|| format!("{name}({})", bits / 8))
        })
    }

    /// An unsigned number of this width; `None` where no data type has it.
    pub fn of_width(bits: u16) -> Option<Self> {
        NUMBERS.iter().find(|(.., known)| *known == bits).map(|(data_type, ..)| *data_type)
    }
}

/// Bits of `ARRAY [0..7] OF USINT`, of any number of dimensions; `None` where a part of it is not known.
fn array_bits(name: &str) -> Option<u32> {
    let (dimensions, base) = name.strip_prefix("ARRAY")?.trim().strip_prefix('[')?.split_once(']')?;
    let base = base.trim().strip_prefix("OF")?.trim();
    let (.., width) = NUMBERS.iter().find(|(_, known, _)| *known == base)?;
    dimensions.split(',').try_fold(u32::from(*width), |bits, dimension| {
        let (first, last) = dimension.split_once("..")?;
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        bits.checked_mul(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// One mapped value. Index 0 is a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdoEntry {
    /// Object index; 0 for a gap.
    pub index: u16,
    /// Sub-index of the mapped object.
    pub sub: u8,
    /// Width. In a mapping object and in the EEPROM it has 8 bits: a longer one stands there in [`PdoEntry::pieces`].
    pub bits: u16,
    /// Name, as the EEPROM gives it; empty for a gap.
    pub name: String,
    /// Type of the value; means nothing in a gap.
    pub data_type: DataType,
}

/// Largest piece of an entry, whole bytes that 8 bits of width can say.
const LONGEST_PIECE: u16 = 248;
/// Pieces a PDO may have: sub-indices of its mapping object.
pub const MOST_PIECES: usize = 254;

impl PdoEntry {
    /// Widths of the pieces in which it is mapped: one, unless it has more than 255 bits.
    pub fn pieces(&self) -> impl Iterator<Item = u8> {
        let (count, longest) =
            if self.bits > 255 { (self.bits.div_ceil(LONGEST_PIECE), LONGEST_PIECE) } else { (1, 255) };
        let bits = self.bits;
        (0..count).map(move |piece| (bits - piece * longest).min(longest) as u8)
    }
}

/// One process-data object and what it maps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pdo {
    /// 0x1600… from the master, 0x1A00… to the master.
    pub index: u16,
    /// Name, as the EEPROM and the mapping object give it.
    pub name: String,
    /// Its content, in order.
    pub entries: Vec<PdoEntry>,
}

impl Pdo {
    /// Length of the object in the process data, bits.
    pub fn bits(&self) -> usize {
        self.entries.iter().map(|entry| usize::from(entry.bits)).sum()
    }

    /// Its mapping object: an entry and the width of a piece of it.
    pub fn pieces(&self) -> impl Iterator<Item = (&PdoEntry, u8)> {
        self.entries.iter().flat_map(|entry| entry.pieces().map(move |bits| (entry, bits)))
    }
}

/// How a master reads the ID of a device from its ID switch (ETG.1020, explicit device identification).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identification {
    /// On request (AL control bit 5), in the AL status code 0x0134.
    pub by_status: bool,
    /// At all times, as a word at this address of the controller.
    pub address: Option<u16>,
}

impl Identification {
    /// The device has an ID switch.
    pub fn exists(self) -> bool {
        self.by_status || self.address.is_some()
    }
}

/// Identity object, and word 8… of the EEPROM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity {
    /// Number of the vendor, from the ETG.
    pub vendor: u32,
    /// Product code: object 0x1018:2, EEPROM word 0x0A.
    pub product: u32,
    /// Revision: object 0x1018:3, EEPROM word 0x0C.
    pub revision: u32,
    /// Serial number: object 0x1018:4, EEPROM word 0x0E.
    pub serial: u32,
}

/// A bootstrap mailbox: first byte and length, to the device and to the master (EEPROM words 0x14 to 0x17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// Mailbox to the device.
    pub out: (u16, u16),
    /// Mailbox to the master.
    pub inward: (u16, u16),
}

/// The bootstrap mailbox of a device without an ESI file: process data give up their place for longer packets.
pub const BOOTSTRAP: Bootstrap = Bootstrap { out: (0x1000, 1024), inward: (0x1400, 1024) };

impl Bootstrap {
    /// A mailbox as bootstrap wants it, from the one of the other states; `None` for process data.
    pub fn manager(&self, usual: &Manager) -> Option<Manager> {
        let (start, size) = match usual.purpose {
            Purpose::MailboxOut => self.out,
            Purpose::MailboxIn => self.inward,
            _ => return None,
        };
        Some(Manager { start, size, sizes: (size, size), ..usual.clone() })
    }
}

/// CoE details: SDO, SDO information, PDO assign, PDO configuration, complete access (EEPROM category 30).
pub const COE_DETAILS: u8 = 0x01 | 0x02 | COE_ASSIGN | COE_CONFIGURE | 0x20;
/// The master may assign PDOs to sync managers.
pub const COE_ASSIGN: u8 = 0x04;
/// The master may change what a PDO holds.
pub const COE_CONFIGURE: u8 = 0x08;

/// Purpose of a sync manager (EEPROM category 41 and object 0x1C00).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Purpose {
    Unused = 0,
    MailboxOut = 1,
    MailboxIn = 2,
    Outputs = 3,
    Inputs = 4,
}

/// One sync manager as the device expects it, with the process data that are assigned to it from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManagerLayout {
    /// First byte in the device's memory.
    pub start: u16,
    /// Length, bytes.
    pub length: u16,
    /// Control byte of the sync manager.
    pub control: u8,
    /// Whether it holds process data or a mailbox, and whose.
    pub purpose: Purpose,
}

/// A sync manager of a device type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manager {
    /// First byte in the device's memory.
    pub start: u16,
    /// Control byte of the sync manager.
    pub control: u8,
    /// Whether it holds process data or a mailbox, and whose.
    pub purpose: Purpose,
    /// Length of a mailbox, bytes, as the EEPROM gives it; not used for process data.
    pub size: u16,
    /// Fewest and most bytes that a master may give a mailbox.
    pub sizes: (u16, u16),
    /// Enabled in OP alone.
    pub op_only: bool,
    /// PDOs that are assigned to it from the start.
    pub pdos: Vec<u16>,
}

impl Manager {
    /// A mailbox of this size alone.
    fn mailbox(start: u16, control: u8, purpose: Purpose) -> Self {
        let sizes = (MAILBOX_LENGTH, MAILBOX_LENGTH);
        Self { start, control, purpose, size: MAILBOX_LENGTH, sizes, op_only: false, pdos: Vec::new() }
    }

    /// Process data: all of these PDOs.
    fn buffers(start: u16, control: u8, purpose: Purpose, pdos: &[Pdo]) -> Self {
        let pdos = pdos.iter().map(|pdo| pdo.index).collect();
        Self { start, control, purpose, size: 0, sizes: (0, 0), op_only: false, pdos }
    }

    /// It carries process data in this direction.
    pub fn carries(&self, purpose: Purpose) -> bool {
        self.purpose == purpose && matches!(purpose, Purpose::Outputs | Purpose::Inputs)
    }
}

/// The sync managers of a device without an ESI file: mailboxes if it has them, then outputs, then inputs. A CoE device
/// keeps 2 and 3 for process data even when one direction is empty, as masters expect.
pub fn own_managers(has_mailbox: bool, rx: &[Pdo], tx: &[Pdo]) -> Vec<Manager> {
    let mut managers = Vec::new();
    if has_mailbox {
        managers.push(Manager::mailbox(MAILBOX_OUT, 0x26, Purpose::MailboxOut));
        managers.push(Manager::mailbox(MAILBOX_IN, 0x22, Purpose::MailboxIn));
    }
    if has_mailbox || !rx.is_empty() {
        managers.push(Manager::buffers(OUTPUTS, 0x64, Purpose::Outputs, rx));
    }
    if has_mailbox || !tx.is_empty() {
        managers.push(Manager::buffers(INPUTS, 0x20, Purpose::Inputs, tx));
    }
    managers
}

/// A device type with its process data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Name of the device type, as objects 0x1008 and the EEPROM give it.
    pub type_name: String,
    /// Identity in object 0x1018 and in the EEPROM.
    pub identity: Identity,
    /// Station alias in the EEPROM.
    pub alias: u16,
    /// How its ID switch is read.
    pub identification: Identification,
    /// CoE in its mailbox: the details of EEPROM category 30.
    pub coe: Option<u8>,
    /// FoE in its mailbox.
    pub foe: bool,
    /// EoE in its mailbox, and what it can do.
    pub eoe: Option<Abilities>,
    /// AoE in its mailbox.
    pub aoe: bool,
    /// SoE in its mailbox.
    pub soe: bool,
    /// VoE in its mailbox.
    pub voe: bool,
    /// Mailbox of the bootstrap state; `None` for a device without this state.
    pub bootstrap: Option<Bootstrap>,
    /// Whether the device has a distributed clock.
    pub has_clock: bool,
    /// From the master, assigned or not.
    pub rx: Vec<Pdo>,
    /// To the master, assigned or not.
    pub tx: Vec<Pdo>,
    /// Sync managers, by number.
    pub sync_managers: Vec<Manager>,
}

impl Description {
    /// It has a mailbox.
    pub fn has_mailbox(&self) -> bool {
        self.manager(Purpose::MailboxOut).is_some()
    }

    /// Protocols of its mailbox, for people.
    pub fn protocols(&self) -> String {
        if !self.has_mailbox() {
            return "no".into();
        }
        let protocols = [
            ("CoE", self.coe.is_some()),
            ("FoE", self.foe),
            ("EoE", self.eoe.is_some()),
            ("AoE", self.aoe),
            ("SoE", self.soe),
            ("VoE", self.voe),
        ];
        let names: Vec<&str> = protocols.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
        if names.is_empty() {
            "empty".into()
        } else {
            names.join(", ")
        }
    }

    /// PDOs assigned to a sync manager from the start.
    pub fn assigned<'a>(&'a self, manager: &'a Manager) -> impl Iterator<Item = &'a Pdo> {
        let known = if manager.purpose == Purpose::Outputs { &self.rx } else { &self.tx };
        manager.pdos.iter().filter_map(|index| known.iter().find(|pdo| pdo.index == *index))
    }

    /// Entries of the process data of a direction: of those assigned from the start, or of all where none is.
    pub fn entries(&self, purpose: Purpose) -> Vec<&PdoEntry> {
        let carriers = self.sync_managers.iter().filter(|manager| manager.carries(purpose));
        let assigned: Vec<&Pdo> = carriers.flat_map(|manager| self.assigned(manager)).collect();
        let all = if purpose == Purpose::Outputs { &self.rx } else { &self.tx };
        let pdos = if assigned.is_empty() { all.iter().collect() } else { assigned };
        pdos.into_iter().flat_map(|pdo| &pdo.entries).filter(|entry| entry.index != 0).collect()
    }

    /// Number of the sync manager that a PDO is assigned to from the start.
    pub fn manager_of(&self, pdo: u16) -> Option<usize> {
        self.sync_managers.iter().position(|manager| manager.pdos.contains(&pdo))
    }

    fn length(&self, manager: &Manager) -> usize {
        match manager.purpose {
            Purpose::MailboxOut | Purpose::MailboxIn => usize::from(manager.size),
            _ => self.assigned(manager).map(Pdo::bits).sum::<usize>().div_ceil(8),
        }
    }

    fn image_length(&self, purpose: Purpose) -> usize {
        self.sync_managers.iter().filter(|manager| manager.carries(purpose)).map(|manager| self.length(manager)).sum()
    }

    /// Bytes from the master.
    pub fn output_length(&self) -> usize {
        self.image_length(Purpose::Outputs)
    }

    /// Bytes to the master.
    pub fn input_length(&self) -> usize {
        self.image_length(Purpose::Inputs)
    }

    /// Sync managers in order, with the lengths of the PDOs assigned from the start.
    pub fn managers(&self) -> Vec<ManagerLayout> {
        let layout = |manager: &Manager| ManagerLayout {
            start: manager.start,
            length: self.length(manager) as u16,
            control: manager.control,
            purpose: manager.purpose,
        };
        self.sync_managers.iter().map(layout).collect()
    }

    /// Number of the first sync manager with this purpose.
    pub fn manager(&self, purpose: Purpose) -> Option<usize> {
        self.sync_managers.iter().position(|manager| manager.purpose == purpose)
    }

    /// What does not fit into the controller's memory: (message, remedy).
    pub fn misfit(&self) -> Option<(String, String)> {
        let starts: Vec<usize> = self.sync_managers.iter().map(|manager| usize::from(manager.start)).collect();
        self.sync_managers.iter().enumerate().find_map(|(number, manager)| {
            let (start, length) = (usize::from(manager.start), self.length(manager));
            let next = starts.iter().copied().filter(|other| *other > start).min().unwrap_or(MEMORY_END);
            let room = sync_manager::room(start, next, manager.control);
            (length > room).then(|| {
                let message = format!(
                    "sync manager {number} ({:?}) at {start:#06x} has {length} bytes and room for {room}",
                    manager.purpose
                );
                let remedy = "A controller has 8 KiB from 0x1000 here, and process data with three buffers take them three times";
                (message, remedy.into())
            })
        })
    }
}

/// Short form for tables of entries.
pub fn entry(index: u16, sub: u8, data_type: DataType, name: impl Into<String>) -> PdoEntry {
    PdoEntry { index, sub, bits: data_type.bits(), name: name.into(), data_type }
}

/// A gap that keeps what follows aligned.
pub fn gap(bits: u16) -> PdoEntry {
    PdoEntry { index: 0, sub: 0, bits, name: String::new(), data_type: DataType::Bool }
}
