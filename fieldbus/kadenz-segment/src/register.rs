// SPDX-License-Identifier: Apache-2.0
//! The register map of an EtherCAT slave controller: names with types ([`at`]), and the rows behind them as data.
//!
//! The [`Effect`] of a register is its action beyond holding bytes; `esc` carries the effects out.

pub mod at;
mod typed;

pub use typed::{Register, Value};

/// Who may write a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Not there: a read returns no data and leaves the working counter.
    Absent,
    /// The master reads; its writes change nothing.
    Read,
    /// The master reads and writes.
    Write,
}

/// Effect of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Effect {
    None = 0,
    AlControl = 1,
    Reset = 2,
    EepromControl = 3,
    Fmmu = 4,
    SyncManager = 5,
    LatchPorts = 6,
    SystemTime = 7,
    Offset = 8,
    Delay = 9,
    FilterStart = 10,
    SyncActivation = 11,
    EventMask = 12,
    ClearErrors = 13,
    Watchdog = 14,
    StationAddress = 15,
    DlControl = 16,
    ClearWatchdogCounter = 17,
}

/// How much of a register there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// As in a device.
    Works,
    /// It always reads as its reset value.
    Constant,
    /// It keeps the written value, or reads 0 instead of counting, without further effect.
    Inert,
}

impl Behaviour {
    /// The name of the register in messages.
    pub fn name(self) -> &'static str {
        match self {
            Behaviour::Works => "works",
            Behaviour::Constant => "constant",
            Behaviour::Inert => "no effect",
        }
    }
}

/// One row of the map.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Address of the first byte.
    pub address: u16,
    /// Length, bytes.
    pub length: u16,
    /// Name, as in the conformance table.
    pub name: &'static str,
    /// Access by the master.
    pub access: Access,
    /// Value after power-on, repeated over the length in steps of eight bytes.
    pub reset: u64,
    /// Effect of an access beyond holding bytes.
    pub effect: Effect,
    /// How much of it there is.
    pub behaviour: Behaviour,
}

/// First byte that is memory and not a register.
pub const MEMORY_START: usize = 0x1000;

/// FMMUs a device has.
pub const FMMUS: usize = 8;
/// Sync managers a device has.
pub const SYNC_MANAGERS: usize = 8;

/// Every register the segment knows, in the order of addresses.
pub const REGISTERS: &[Row] = at::ROWS;

/// Offsets in the eight bytes of a sync manager ([`at::SYNC_MANAGER`]).
pub mod manager {
    /// Control byte: buffers in bits 0 and 1, direction in bits 2 and 3.
    pub const CONTROL: usize = 4;
    /// Status byte, written by the device.
    pub const STATUS: usize = 5;
    /// Activation byte: enable in bit 0, repeat request in bit 1.
    pub const ACTIVATION: usize = 6;
    /// PDI control byte, written by the device.
    pub const PDI_CONTROL: usize = 7;
}

/// Bits of [`at::FEATURES`]: distributed clocks, their 64-bit and enhanced forms.
pub const FEATURES_OF_CLOCKS: u16 = 0x010C;

/// The register that holds an address.
pub fn find(address: u16) -> Option<&'static Row> {
    REGISTERS.iter().find(|row| (row.address..row.address + row.length).contains(&address))
}

/// The table turned into one lookup a byte, made once at compile time.
pub struct Map {
    /// Access of each byte.
    pub access: [Access; MEMORY_START],
    /// Effect of each byte.
    pub effect: [Effect; MEMORY_START],
    /// Reset value of each byte.
    pub reset: [u8; MEMORY_START],
}

/// The map of every device; what a device lacks is masked in its own memory.
pub static MAP: Map = build();

const fn build() -> Map {
    let mut map =
        Map { access: [Access::Absent; MEMORY_START], effect: [Effect::None; MEMORY_START], reset: [0; MEMORY_START] };
    let mut row = 0;
    while row < REGISTERS.len() {
        let register = &REGISTERS[row];
        let mut byte = 0;
        while byte < register.length as usize {
            let address = register.address as usize + byte;
            map.access[address] = register.access;
            map.effect[address] = register.effect;
            if byte < 8 {
                map.reset[address] = (register.reset >> (8 * byte)) as u8;
            }
            byte += 1;
        }
        row += 1;
    }
    // The status byte of a sync manager, and its PDI control, belong to the device.
    let mut number = 0;
    while number < SYNC_MANAGERS {
        let bytes = at::SYNC_MANAGER.element(number);
        map.access[bytes.byte(manager::STATUS).address() as usize] = Access::Read;
        map.access[bytes.byte(manager::PDI_CONTROL).address() as usize] = Access::Read;
        number += 1;
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_sorted_and_do_not_overlap() {
        for pair in REGISTERS.windows(2) {
            assert!(pair[0].address + pair[0].length <= pair[1].address, "{} and {}", pair[0].name, pair[1].name);
        }
    }

    #[test]
    fn reset_values_reach_the_map() {
        assert_eq!(MAP.reset[at::WD_DIVIDER.range()], [0xC2, 0x09]);
        assert_eq!(find(0x0912).map(|row| row.name), Some("system time"));
    }
}
