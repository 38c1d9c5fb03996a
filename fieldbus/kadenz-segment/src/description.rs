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
}

impl DataType {
    /// Bits of a number; 0 for text and octets.
    pub fn bits(self) -> u16 {
        match self {
            DataType::Bool => 1,
            DataType::I8 | DataType::U8 => 8,
            DataType::I16 | DataType::U16 => 16,
            DataType::I32 | DataType::U32 => 32,
            DataType::I64 | DataType::U64 => 64,
            DataType::Text | DataType::Octets => 0,
        }
    }

    /// From the name an ESI file uses.
    pub fn from_esi(name: &str) -> Option<Self> {
        Some(match name {
            "BOOL" | "BIT" => DataType::Bool,
            "SINT" => DataType::I8,
            "INT" => DataType::I16,
            "DINT" => DataType::I32,
            "USINT" | "BYTE" => DataType::U8,
            "UINT" | "WORD" => DataType::U16,
            "UDINT" | "DWORD" => DataType::U32,
            "LINT" => DataType::I64,
            "ULINT" => DataType::U64,
            _ => return None,
        })
    }
}

/// One mapped value. Index 0 is a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdoEntry {
    /// Object index; 0 for a gap.
    pub index: u16,
    /// Sub-index.
    pub sub: u8,
    /// Width.
    pub bits: u8,
    /// Name.
    pub name: String,
    /// Type.
    pub data_type: DataType,
}

/// One process-data object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pdo {
    /// 0x1600… from the master, 0x1A00… to the master.
    pub index: u16,
    /// Name.
    pub name: String,
    /// What it carries, in order.
    pub entries: Vec<PdoEntry>,
}

impl Pdo {
    /// Bits it takes.
    pub fn bits(&self) -> usize {
        self.entries.iter().map(|entry| usize::from(entry.bits)).sum()
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

/// What a sync manager carries (EEPROM category 41 and object 0x1C00).
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
    /// What it carries.
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
    PdoEntry { index, sub, bits: data_type.bits() as u8, name: name.into(), data_type }
}

/// A gap that keeps what follows aligned.
pub fn gap(bits: u8) -> PdoEntry {
    PdoEntry { index: 0, sub: 0, bits, name: String::new(), data_type: DataType::Bool }
}
