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
    SyncTiming = 12,
    ClearErrors = 13,
    Watchdog = 14,
    StationAddress = 15,
    DlControl = 16,
    ClearWatchdogCounter = 17,
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
}

/// First byte that is memory and not a register.
pub const MEMORY_START: usize = 0x1000;

/// FMMUs a device has.
pub const FMMUS: usize = 8;
/// Sync managers a device has.
pub const SYNC_MANAGERS: usize = 8;

macro_rules! registers {
    ($($address:literal $length:literal $access:ident $reset:literal $effect:ident $name:literal)*) => {
        &[$(Register { address: $address, length: $length, name: $name, access: Access::$access, reset: $reset,
            effect: Effect::$effect }),*]
    };
}

/// Every register the segment knows.
#[rustfmt::skip]
pub const REGISTERS: &[Register] = registers! {
    0x0000   1 Read  0x11   None           "type"
    0x0001   1 Read  0x02   None           "revision"
    0x0002   2 Read  0x01   None           "build"
    0x0004   1 Read  0x08   None           "FMMUs supported"
    0x0005   1 Read  0x08   None           "sync managers supported"
    0x0006   1 Read  0x08   None           "memory size, KiB"
    0x0007   1 Read  0x0F   None           "port descriptor"
    0x0008   2 Read  0x01FC None           "features"
    0x0010   2 Write 0      StationAddress "station address"
    0x0012   2 Read  0      None           "station alias"
    0x0020   2 Write 0      None           "write enable and protection"
    0x0030   2 Write 0      None           "ESC write enable and protection"
    0x0040   2 Write 0      Reset          "ESC reset by the master and by the PDI"
    0x0100   4 Write 0x00070001 DlControl  "DL control"
    0x0108   2 Write 0      None           "physical read/write offset"
    0x0110   2 Read  0      None           "DL status"
    0x0120   2 Write 0x01   AlControl      "AL control"
    0x0130   2 Read  0x01   None           "AL status"
    0x0134   2 Read  0      None           "AL status code"
    0x0138   2 Write 0      None           "RUN and ERR LED override"
    0x0140   2 Read  0x0C08 None           "PDI control"
    0x0150   4 Read  0      None           "PDI configuration"
    0x0200   2 Write 0      None           "ECAT event mask"
    0x0204   4 Read  0      None           "PDI event mask"
    0x0210   2 Read  0      None           "ECAT event request"
    0x0220   4 Read  0      None           "AL event request"
    0x0300   8 Write 0      ClearErrors    "receive error counters"
    0x0308   4 Write 0      ClearErrors    "forwarded receive error counters"
    0x030C   2 Write 0      ClearErrors    "processing unit and PDI error counters"
    0x0310   4 Write 0      ClearErrors    "lost link counters"
    0x0400   2 Write 0x09C2 Watchdog       "watchdog divider"
    0x0410   2 Write 0x03E8 Watchdog       "watchdog time PDI"
    0x0420   2 Write 0x03E8 Watchdog       "watchdog time process data"
    0x0440   2 Read  0x01   None           "watchdog status process data"
    0x0442   2 Write 0      ClearWatchdogCounter "watchdog counters"
    0x0500   2 Write 0      None           "EEPROM configuration and PDI access"
    0x0502   2 Write 0x0040 EepromControl  "EEPROM control and status"
    0x0504   4 Write 0      None           "EEPROM address"
    0x0508   8 Write 0      None           "EEPROM data"
    0x0510   6 Write 0      None           "MII management"
    0x0600 128 Write 0      Fmmu           "FMMU"
    0x0800  64 Write 0      SyncManager    "sync manager"
    0x0900  16 Write 0      LatchPorts     "port receive times"
    0x0910   8 Write 0      SystemTime     "system time"
    0x0918   8 Read  0      None           "processing unit receive time"
    0x0920   8 Write 0      Offset         "system time offset"
    0x0928   4 Write 0      Delay          "system time delay"
    0x092C   4 Read  0      None           "system time difference"
    0x0930   2 Write 0x1000 FilterStart    "speed counter start"
    0x0932   2 Read  0      None           "speed counter difference"
    0x0934   2 Write 0x0C04 None           "filter depths"
    0x0980   1 Write 0      SyncActivation "cyclic unit control"
    0x0981   1 Write 0      SyncActivation "SYNC activation"
    0x0982   2 Write 0x0064 SyncTiming     "SYNC pulse length"
    0x0984   1 Read  0      None           "SYNC activation status"
    0x098E   1 Read  0      None           "SYNC0 status"
    0x098F   1 Read  0      None           "SYNC1 status"
    0x0990   8 Write 0      SyncTiming     "SYNC start time, next SYNC0 pulse"
    0x0998   8 Read  0      None           "next SYNC1 pulse"
    0x09A0   4 Write 0      SyncTiming     "SYNC0 cycle time"
    0x09A4   4 Write 0      SyncTiming     "SYNC1 cycle time"
    0x09A8   2 Write 0      None           "latch control"
    0x09AE   2 Read  0      None           "latch status"
    0x09B0  32 Read  0      None           "latch times"
    0x0E00   8 Read  0      None           "product id"
    0x0E08   8 Read  0      None           "vendor id"
    0x0F00   4 Write 0      None           "digital output data"
    0x0F10   8 Write 0      None           "general purpose outputs and inputs"
    0x0F80 128 Write 0      None           "user memory"
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
    pub const ERROR_COUNTERS: usize = 0x0300;
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
    pub const SPEED_START: usize = 0x0930;
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
