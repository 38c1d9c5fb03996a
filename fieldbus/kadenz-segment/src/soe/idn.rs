// SPDX-License-Identifier: Apache-2.0
//! The identification numbers of a drive, and what the elements of each are (IEC 61800-7-204, annex of the IDNs).

use super::Refusal;
use crate::coe::object::Dictionary;

/// Where the operation data of an IDN are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A number of the drive, as an object: index and sub-index.
    Object(u16, u8),
    /// A number that the device keeps, and its default.
    Kept(i64),
    /// Text that a master may replace, of at most as many bytes.
    Text(u16),
    /// Name of the device type.
    TypeName,
    /// IDNs of all operation data.
    AllIdns,
    /// IDNs of all procedure commands.
    AllProcedures,
    /// A procedure command.
    Procedure(Procedure),
}

/// What a procedure command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Procedure {
    /// Resets a fault of the drive.
    ResetFault,
    /// Checks that the device is in PRE-OP or above.
    CheckPreOp,
    /// Checks that it is in SAFE-OP or above.
    CheckSafeOp,
    /// Gives the operation data their defaults.
    LoadDefaults,
}

/// Who may write operation data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    /// Nobody.
    Never,
    /// The master, in PRE-OP.
    PreOp,
    /// The master.
    Always,
}

/// Type of operation data, as the attribute gives it: length, whether a list, display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Shape {
    U16,
    I16,
    U32,
    I32,
    Hex16,
    Hex32,
    Text,
    IdnList,
    Command,
}

impl Shape {
    /// Bytes of a number; `None` for text and lists.
    pub fn bytes(self) -> Option<usize> {
        match self {
            Self::U16 | Self::I16 | Self::Hex16 | Self::Command => Some(2),
            Self::U32 | Self::I32 | Self::Hex32 => Some(4),
            Self::Text | Self::IdnList => None,
        }
    }

    /// Bits 16 to 22 of the attribute: length and list in 16 to 18, command in 19, display in 20 to 22.
    fn bits(self) -> u32 {
        let (length, display) = match self {
            Self::Command => (0b1001, 0),
            Self::U16 => (0b0001, 1),
            Self::I16 => (0b0001, 2),
            Self::Hex16 => (0b0001, 3),
            Self::U32 => (0b0010, 1),
            Self::I32 => (0b0010, 2),
            Self::Hex32 => (0b0010, 3),
            Self::Text => (0b0100, 4),
            Self::IdnList => (0b0101, 5),
        };
        length << 16 | display << 20
    }
}

/// One identification number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idn {
    /// Number; those of standard data (S-0-…) are below 32768.
    pub number: u16,
    /// Name.
    pub name: &'static str,
    /// Unit; empty where there is none.
    pub unit: &'static str,
    /// Type of the data.
    pub shape: Shape,
    /// Least and greatest value.
    pub range: Option<(i64, i64)>,
    /// Where the data are.
    pub source: Source,
    /// Who may write them.
    pub write: Write,
}

const I32S: Option<(i64, i64)> = Some((i32::MIN as i64, i32::MAX as i64));
const U31S: Option<(i64, i64)> = Some((0, i32::MAX as i64));
const I16S: Option<(i64, i64)> = Some((-32_768, 32_767));

/// A row of the table.
#[allow(clippy::too_many_arguments)]
const fn row(
    number: u16,
    name: &'static str,
    unit: &'static str,
    shape: Shape,
    range: Option<(i64, i64)>,
    source: Source,
    write: Write,
) -> Idn {
    Idn { number, name, unit, shape, range, source, write }
}

use Shape::{Command, Hex32, IdnList, Text as TextShape, I16, I32, U16, U32};
use Source::{AllIdns, AllProcedures, Kept, Object, Procedure as Runs, Text, TypeName};
use Write::{Always, Never, PreOp};

/// Every IDN of a drive, by number. Numbers of the drive are those of its objects: counts, counts/s, per mille.
#[rustfmt::skip]
pub const IDNS: &[Idn] = &[
    row(1,   "NC cycle time (tNcyc)",                "us",     U16,       Some((62, 65_000)), Kept(1000),           PreOp),
    row(2,   "Communication cycle time (tScyc)",     "us",     U16,       Some((62, 65_000)), Kept(1000),           PreOp),
    row(17,  "IDN-list of all operation data",       "",       IdnList,   None,               AllIdns,              Never),
    row(25,  "IDN-list of all procedure commands",   "",       IdnList,   None,               AllProcedures,        Never),
    row(30,  "Manufacturer version",                 "",       TextShape, None,               TypeName,             Never),
    row(36,  "Velocity command value",               "inc/s",  I32,       I32S,               Object(0x60FF, 0),    Always),
    row(40,  "Velocity feedback value 1",            "inc/s",  I32,       I32S,               Object(0x606C, 0),    Never),
    row(47,  "Position command value",               "inc",    I32,       I32S,               Object(0x607A, 0),    Always),
    row(49,  "Positive position limit value",        "inc",    I32,       I32S,               Object(0x607D, 2),    Always),
    row(50,  "Negative position limit value",        "inc",    I32,       I32S,               Object(0x607D, 1),    Always),
    row(51,  "Position feedback value 1",            "inc",    I32,       I32S,               Object(0x6064, 0),    Never),
    row(80,  "Torque command value",                 "0.1%",   I16,       I16S,               Object(0x6071, 0),    Always),
    row(84,  "Torque feedback value",                "0.1%",   I16,       I16S,               Object(0x6077, 0),    Never),
    row(91,  "Bipolar velocity limit value",         "inc/s",  U32,       U31S,               Object(0x607F, 0),    Always),
    row(92,  "Bipolar torque limit value",           "0.1%",   U16,       Some((0, 32_767)),  Object(0x6072, 0),    Always),
    row(99,  "Reset class 1 diagnostic",             "",       Command,   None,               Runs(Procedure::ResetFault),  Always),
    row(127, "CP3 transition check",                 "",       Command,   None,               Runs(Procedure::CheckPreOp),  Always),
    row(128, "CP4 transition check",                 "",       Command,   None,               Runs(Procedure::CheckSafeOp), Always),
    row(142, "Application type",                     "",       TextShape, None,               Text(200),            Always),
    row(159, "Monitoring window",                    "inc",    U32,       U31S,               Object(0x6065, 0),    Always),
    row(189, "Following distance",                   "inc",    I32,       I32S,               Object(0x60F4, 0),    Never),
    row(262, "Load defaults procedure command",      "",       Command,   None,               Runs(Procedure::LoadDefaults), Always),
    row(390, "Diagnostic number",                    "",       Hex32,     None,               Object(0x603F, 0),    Never),
];

impl Idn {
    /// The IDN with this number, if a device with these objects has it.
    pub fn of(number: u16, dictionary: &Dictionary) -> Result<&'static Self, Refusal> {
        let at = IDNS.binary_search_by_key(&number, |idn| idn.number).map_err(|_| Refusal::NoIdn)?;
        IDNS.get(at).filter(|idn| idn.exists(dictionary)).ok_or(Refusal::NoIdn)
    }

    /// Whether a device with these objects has it.
    pub fn exists(&self, dictionary: &Dictionary) -> bool {
        match self.source {
            Object(index, sub) => dictionary.entry(index, sub).is_ok(),
            Runs(Procedure::ResetFault) => dictionary.entry(0x603F, 0).is_ok(),
            _ => true,
        }
    }

    /// Its procedure command.
    pub fn procedure(&self) -> Option<Procedure> {
        match self.source {
            Runs(procedure) => Some(procedure),
            _ => None,
        }
    }

    /// The attribute: conversion factor 1, type, and write protection in PRE-OP, SAFE-OP and OP (bits 28 to 30).
    pub fn attribute(&self) -> u32 {
        let protection = match self.write {
            Never => 0b111,
            PreOp => 0b110,
            Always => 0,
        };
        1 | self.shape.bits() | protection << 28
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idns_are_sorted_and_their_names_and_units_fit_the_standard() {
        assert!(IDNS.is_sorted_by_key(|idn| idn.number));
        assert!(IDNS.iter().all(|idn| idn.name.len() <= 60 && idn.unit.len() <= 12 && idn.name.is_ascii()));
        assert!(IDNS.iter().all(|idn| idn.range.is_none() || idn.shape.bytes().is_some()));
    }

    #[test]
    fn attributes_have_the_values_of_the_standard() {
        let attribute = |number| IDNS.iter().find(|idn| idn.number == number).unwrap().attribute();
        assert_eq!(attribute(47), 0x0022_0001, "4 bytes, signed");
        assert_eq!(attribute(2), 0x6011_0001, "2 bytes, unsigned, protected in SAFE-OP and OP");
        assert_eq!(attribute(99), 0x0009_0001, "a procedure command");
        assert_eq!(attribute(17), 0x7055_0001, "a list of IDNs, protected");
        assert_eq!(attribute(142), 0x0044_0001, "text");
    }
}
