// SPDX-License-Identifier: Apache-2.0
//! The register map of an EtherCAT slave controller, as data.
//!
//! Addresses, access and reset values after the ESC data sheets (Beckhoff, section II, register description). What a
//! register does beyond holding bytes is its [`Effect`]; `esc.rs` carries the effects out.

/// Who may write a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Not there: reads give nothing and count nothing.
    Absent,
    /// The master reads.
    Read,
    /// The master reads and writes.
    Write,
}

/// What an access sets off.
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
    /// It reads as its reset value for ever.
    Constant,
    /// It keeps what is written, or reads 0 where it would count, and nothing comes of it.
    Inert,
}

impl Behaviour {
    /// In words.
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
pub struct Register {
    /// First byte.
    pub address: u16,
    /// Bytes.
    pub length: u16,
    /// Name, as in the conformance table.
    pub name: &'static str,
    /// Access by the master.
    pub access: Access,
    /// Value after power-on, repeated over the length in steps of eight bytes.
    pub reset: u64,
    /// What an access does beyond holding bytes.
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

macro_rules! registers {
    ($($address:literal $length:literal $access:ident $reset:literal $effect:ident $behaviour:ident
        $name:literal)*) => {
        &[$(Register { address: $address, length: $length, name: $name, access: Access::$access, reset: $reset,
            effect: Effect::$effect, behaviour: Behaviour::$behaviour }),*]
    };
}

/// Every register the segment knows.
#[rustfmt::skip]
pub const REGISTERS: &[Register] = registers! {
    0x0000   1 Read  0x11       None                 Constant "type"
    0x0001   1 Read  0x02       None                 Constant "revision"
    0x0002   2 Read  0x01       None                 Constant "build"
    0x0004   1 Read  0x08       None                 Constant "FMMUs supported"
    0x0005   1 Read  0x08       None                 Constant "sync managers supported"
    0x0006   1 Read  0x08       None                 Constant "memory size, KiB"
    0x0007   1 Read  0x0F       None                 Constant "port descriptor"
    0x0008   2 Read  0x01FC     None                 Constant "features"
    0x0010   2 Write 0          StationAddress       Works    "station address"
    0x0012   2 Read  0          None                 Works    "station alias"
    0x0020   2 Write 0          None                 Inert    "write enable and protection"
    0x0030   2 Write 0          None                 Inert    "ESC write enable and protection"
    0x0040   2 Write 0          Reset                Works    "ESC reset by the master and by the PDI"
    0x0100   4 Write 0x00070001 DlControl            Works    "DL control"
    0x0108   2 Write 0          None                 Inert    "physical read/write offset"
    0x0110   2 Read  0          None                 Works    "DL status"
    0x0120   2 Write 0x01       AlControl            Works    "AL control"
    0x0130   2 Read  0x01       None                 Works    "AL status"
    0x0134   2 Read  0          None                 Works    "AL status code"
    0x0138   2 Write 0          None                 Inert    "RUN and ERR LED override"
    0x0140   2 Read  0x0C08     None                 Constant "PDI control"
    0x0150   4 Read  0          None                 Constant "PDI configuration"
    0x0200   2 Write 0          EventMask            Works    "ECAT event mask"
    0x0204   4 Read  0          None                 Constant "PDI event mask"
    0x0210   2 Read  0          None                 Works    "ECAT event request"
    0x0220   4 Read  0          None                 Constant "AL event request"
    0x0300   8 Write 0          ClearErrors          Inert    "receive error counters"
    0x0308   4 Write 0          ClearErrors          Inert    "forwarded receive error counters"
    0x030C   2 Write 0          ClearErrors          Inert    "processing unit and PDI error counters"
    0x0310   4 Write 0          ClearErrors          Works    "lost link counters"
    0x0400   2 Write 0x09C2     Watchdog             Works    "watchdog divider"
    0x0410   2 Write 0x03E8     Watchdog             Inert    "watchdog time PDI"
    0x0420   2 Write 0x03E8     Watchdog             Works    "watchdog time process data"
    0x0440   2 Read  0x01       None                 Works    "watchdog status process data"
    0x0442   2 Write 0          ClearWatchdogCounter Works    "watchdog counters"
    0x0500   2 Write 0          None                 Works    "EEPROM configuration and PDI access"
    0x0502   2 Write 0x0040     EepromControl        Works    "EEPROM control and status"
    0x0504   4 Write 0          None                 Works    "EEPROM address"
    0x0508   8 Write 0          None                 Works    "EEPROM data"
    0x0510   6 Write 0          None                 Inert    "MII management"
    0x0600 128 Write 0          Fmmu                 Works    "FMMU"
    0x0800  64 Write 0          SyncManager          Works    "sync manager"
    0x0900  16 Write 0          LatchPorts           Works    "port receive times"
    0x0910   8 Write 0          SystemTime           Works    "system time"
    0x0918   8 Read  0          None                 Works    "processing unit receive time"
    0x0920   8 Write 0          Offset               Works    "system time offset"
    0x0928   4 Write 0          Delay                Works    "system time delay"
    0x092C   4 Read  0          None                 Works    "system time difference"
    0x0930   2 Write 0x1000     FilterStart          Works    "speed counter start"
    0x0932   2 Read  0          None                 Works    "speed counter difference"
    0x0934   2 Write 0x0C04     None                 Works    "filter depths"
    0x0980   1 Write 0          SyncActivation       Inert    "cyclic unit control"
    0x0981   1 Write 0          SyncActivation       Works    "SYNC activation"
    0x0982   2 Write 0x0064     None                 Inert    "SYNC pulse length"
    0x0984   1 Read  0          None                 Works    "SYNC activation status"
    0x098E   1 Read  0          None                 Constant "SYNC0 status"
    0x098F   1 Read  0          None                 Constant "SYNC1 status"
    0x0990   8 Write 0          None                 Works    "SYNC start time, next SYNC0 pulse"
    0x0998   8 Read  0          None                 Works    "next SYNC1 pulse"
    0x09A0   4 Write 0          None                 Works    "SYNC0 cycle time"
    0x09A4   4 Write 0          None                 Works    "SYNC1 cycle time"
    0x09A8   2 Write 0          None                 Inert    "latch control"
    0x09AE   2 Read  0          None                 Constant "latch status"
    0x09B0  32 Read  0          None                 Constant "latch times"
    0x0E00   8 Read  0          None                 Constant "product id"
    0x0E08   8 Read  0          None                 Constant "vendor id"
    0x0F00   4 Write 0          None                 Inert    "digital output data"
    0x0F10   8 Write 0          None                 Inert    "general purpose outputs and inputs"
    0x0F80 128 Write 0          None                 Works    "user memory"
};

/// Addresses the segment itself uses.
#[allow(missing_docs)]
pub mod at {
    pub const STATION: usize = 0x0010;
    pub const ALIAS: usize = 0x0012;
    pub const RESET: usize = 0x0040;
    pub const DL_CONTROL: usize = 0x0100;
    pub const DL_STATUS: usize = 0x0110;
    pub const AL_CONTROL: usize = 0x0120;
    pub const AL_STATUS: usize = 0x0130;
    pub const AL_CODE: usize = 0x0134;
    pub const EVENT_MASK: usize = 0x0200;
    pub const EVENT_REQUEST: usize = 0x0210;
    pub const LOST_LINK: usize = 0x0310;
    pub const WD_DIVIDER: usize = 0x0400;
    pub const WD_TIME: usize = 0x0420;
    pub const WD_STATUS: usize = 0x0440;
    pub const WD_COUNT: usize = 0x0442;
    pub const EEPROM_CONFIG: usize = 0x0500;
    pub const EEPROM_CONTROL: usize = 0x0502;
    pub const EEPROM_ADDRESS: usize = 0x0504;
    pub const EEPROM_DATA: usize = 0x0508;
    pub const FMMU: usize = 0x0600;
    pub const SYNC_MANAGER: usize = 0x0800;
    pub const PORT_TIMES: usize = 0x0900;
    pub const SYSTEM_TIME: usize = 0x0910;
    pub const RECEIVE_TIME: usize = 0x0918;
    pub const OFFSET: usize = 0x0920;
    pub const DELAY: usize = 0x0928;
    pub const DIFFERENCE: usize = 0x092C;
    pub const SPEED_DIFFERENCE: usize = 0x0932;
    pub const FILTER: usize = 0x0934;
    pub const ACTIVATION: usize = 0x0981;
    pub const ACTIVATION_STATUS: usize = 0x0984;
    pub const START_TIME: usize = 0x0990;
    pub const NEXT_SYNC1: usize = 0x0998;
    pub const SYNC0_CYCLE: usize = 0x09A0;
    pub const SYNC1_CYCLE: usize = 0x09A4;
}

/// Feature bits of 0x0008: distributed clocks, their 64-bit and enhanced forms.
pub const FEATURES_OF_CLOCKS: u16 = 0x010C;

/// The register that holds an address.
pub fn find(address: u16) -> Option<&'static Register> {
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
    let mut manager = 0;
    while manager < SYNC_MANAGERS {
        map.access[at::SYNC_MANAGER + 8 * manager + 5] = Access::Read;
        map.access[at::SYNC_MANAGER + 8 * manager + 7] = Access::Read;
        manager += 1;
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
        assert_eq!(MAP.reset[at::WD_DIVIDER], 0xC2);
        assert_eq!(MAP.reset[at::WD_DIVIDER + 1], 0x09);
        assert_eq!(find(0x0912).map(|row| row.name), Some("system time"));
    }
}
