// SPDX-License-Identifier: Apache-2.0
//! What a device is: identity, sync managers, process data. Made from TOML or ESI, read by SII and CoE.

/// Where the mailboxes lie. All CoE devices of the segment use the same.
pub const MAILBOX_OUT: u16 = 0x1000;
/// Mailbox from the device to the master.
pub const MAILBOX_IN: u16 = 0x1080;
/// Bytes of each mailbox.
pub const MAILBOX_LENGTH: u16 = 128;
/// First byte of the outputs; three buffers follow.
pub const OUTPUTS: u16 = 0x1100;
/// First byte of the inputs; three buffers follow.
pub const INPUTS: u16 = 0x1500;
/// Longest output image.
pub const LONGEST_OUTPUTS: usize = (INPUTS - OUTPUTS) as usize / 3;
/// Longest input image.
pub const LONGEST_INPUTS: usize = (0x3000 - INPUTS as usize) / 3;

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
    /// Sub-index.
    pub sub: u8,
    /// Width. In a mapping object and in the EEPROM it has 8 bits: a longer one stands there in [`PdoEntry::pieces`].
    pub bits: u16,
    /// Name.
    pub name: String,
    /// Type.
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

/// One process-data object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pdo {
    /// 0x1600… from the master, 0x1A00… to the master.
    pub index: u16,
    /// Name.
    pub name: String,
    /// Its content, in order.
    pub entries: Vec<PdoEntry>,
}

impl Pdo {
    /// Bits it takes.
    pub fn bits(&self) -> usize {
        self.entries.iter().map(|entry| usize::from(entry.bits)).sum()
    }

    /// Its mapping object: an entry and the width of a piece of it.
    pub fn pieces(&self) -> impl Iterator<Item = (&PdoEntry, u8)> {
        self.entries.iter().flat_map(|entry| entry.pieces().map(move |bits| (entry, bits)))
    }
}

/// Identity object, and word 8… of the EEPROM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity {
    /// Vendor, by number.
    pub vendor: u32,
    /// Product code.
    pub product: u32,
    /// Revision.
    pub revision: u32,
    /// Serial number.
    pub serial: u32,
}

/// Purpose of a sync manager (EEPROM category 41 and object 0x1C00).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Purpose {
    MailboxOut = 1,
    MailboxIn = 2,
    Outputs = 3,
    Inputs = 4,
}

/// One sync manager as the device expects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManagerLayout {
    /// First byte.
    pub start: u16,
    /// Bytes.
    pub length: u16,
    /// Control byte.
    pub control: u8,
    /// Its purpose.
    pub purpose: Purpose,
}

/// A device type with its process data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Name of the device type, as objects 0x1008 and the EEPROM give it.
    pub type_name: String,
    /// Identity.
    pub identity: Identity,
    /// Station alias in the EEPROM.
    pub alias: u16,
    /// Mailbox with CoE.
    pub has_mailbox: bool,
    /// Distributed clock.
    pub has_clock: bool,
    /// From the master.
    pub rx: Vec<Pdo>,
    /// To the master.
    pub tx: Vec<Pdo>,
}

impl Description {
    /// Bytes from the master.
    pub fn output_length(&self) -> usize {
        self.rx.iter().map(Pdo::bits).sum::<usize>().div_ceil(8)
    }

    /// Bytes to the master.
    pub fn input_length(&self) -> usize {
        self.tx.iter().map(Pdo::bits).sum::<usize>().div_ceil(8)
    }

    /// Sync managers in order: mailboxes if it has them, then outputs, then inputs. A CoE device keeps 2 and 3 for
    /// process data even when one direction is empty, as masters expect.
    pub fn managers(&self) -> Vec<ManagerLayout> {
        let mut managers = Vec::new();
        let mut add = |start, length: usize, control, purpose| {
            managers.push(ManagerLayout { start, length: length as u16, control, purpose });
        };
        if self.has_mailbox {
            add(MAILBOX_OUT, usize::from(MAILBOX_LENGTH), 0x26, Purpose::MailboxOut);
            add(MAILBOX_IN, usize::from(MAILBOX_LENGTH), 0x22, Purpose::MailboxIn);
        }
        if self.has_mailbox || !self.rx.is_empty() {
            add(OUTPUTS, self.output_length(), 0x64, Purpose::Outputs);
        }
        if self.has_mailbox || !self.tx.is_empty() {
            add(INPUTS, self.input_length(), 0x20, Purpose::Inputs);
        }
        managers
    }

    /// Number of the sync manager with this purpose.
    pub fn manager(&self, purpose: Purpose) -> Option<usize> {
        self.managers().iter().position(|manager| manager.purpose == purpose)
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
