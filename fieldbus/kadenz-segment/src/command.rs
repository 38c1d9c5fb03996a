// SPDX-License-Identifier: Apache-2.0
//! The datagram commands and what each does to data and working counter.

/// Which device a command speaks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressing {
    /// The device that finds position 0; every device counts up.
    Position,
    /// The device with this station address (or alias, where enabled).
    Station,
    /// Every device; every device counts up.
    Broadcast,
    /// Whatever a device's FMMUs map.
    Logical,
    /// No device: NOP, and every command that is not known.
    None,
}

impl Addressing {
    /// The second half of the address is a register or a place in memory.
    pub fn is_physical(self) -> bool {
        matches!(self, Self::Position | Self::Station | Self::Broadcast)
    }
}

/// A datagram command (ETG.1000.4, table of commands).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Command {
    Nop = 0,
    Aprd = 1,
    Apwr = 2,
    Aprw = 3,
    Fprd = 4,
    Fpwr = 5,
    Fprw = 6,
    Brd = 7,
    Bwr = 8,
    Brw = 9,
    Lrd = 10,
    Lwr = 11,
    Lrw = 12,
    /// Position addressed: that device reads, every other writes.
    Armw = 13,
    /// Station addressed: that device reads, every other writes. Feeds the distributed clocks.
    Frmw = 14,
}

impl Command {
    /// Names of the commands, by their number.
    pub const NAMES: [&str; 15] = [
        "NOP", "APRD", "APWR", "APRW", "FPRD", "FPWR", "FPRW", "BRD", "BWR", "BRW", "LRD", "LWR", "LRW", "ARMW", "FRMW",
    ];

    /// By its name, in capitals or not.
    pub fn from_name(name: &str) -> Option<Self> {
        let number = Self::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        Some(Self::from_byte(number as u8))
    }

    /// From the wire; a device does nothing about a command it does not know.
    #[inline]
    pub fn from_byte(byte: u8) -> Self {
        use Command::*;
        match byte {
            1 => Aprd,
            2 => Apwr,
            3 => Aprw,
            4 => Fprd,
            5 => Fpwr,
            6 => Fprw,
            7 => Brd,
            8 => Bwr,
            9 => Brw,
            10 => Lrd,
            11 => Lwr,
            12 => Lrw,
            13 => Armw,
            14 => Frmw,
            _ => Nop,
        }
    }

    /// The addressed device puts memory into the frame.
    #[inline]
    pub fn reads(self) -> bool {
        use Command::*;
        matches!(self, Aprd | Aprw | Fprd | Fprw | Brd | Brw | Lrd | Lrw | Armw | Frmw)
    }

    /// The addressed device takes the frame's data into memory.
    #[inline]
    pub fn writes(self) -> bool {
        use Command::*;
        matches!(self, Apwr | Aprw | Fpwr | Fprw | Bwr | Brw | Lwr | Lrw)
    }

    /// Whom it speaks to.
    #[inline]
    pub fn addressing(self) -> Addressing {
        use Command::*;
        match self {
            Nop => Addressing::None,
            Aprd | Apwr | Aprw | Armw => Addressing::Position,
            Fprd | Fpwr | Fprw | Frmw => Addressing::Station,
            Brd | Bwr | Brw => Addressing::Broadcast,
            Lrd | Lwr | Lrw => Addressing::Logical,
        }
    }

    /// Read by one, written by all others.
    #[inline]
    pub fn multiple_write(self) -> bool {
        matches!(self, Command::Armw | Command::Frmw)
    }
}
