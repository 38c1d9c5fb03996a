// SPDX-License-Identifier: Apache-2.0
//! Every register the segment knows: its name, its type, and what it does, after the ESC data sheets (Beckhoff,
//! section II, register description).

use super::{Access, Behaviour, Effect, Register, Row};

macro_rules! registers {
    ($($name:ident: $type:ty = $address:literal $access:ident $reset:literal $effect:ident $behaviour:ident
        $text:literal)*) => {
        $(#[doc = concat!($text, " (", stringify!($address), ").")]
        pub const $name: Register<$type> = Register::new($address);)*

        pub(super) const ROWS: &[Row] = &[$(Row {
            address: $address,
            length: size_of::<$type>() as u16,
            name: $text,
            access: Access::$access,
            reset: $reset,
            effect: Effect::$effect,
            behaviour: Behaviour::$behaviour,
        }),*];
    };
}

#[rustfmt::skip]
registers! {
    TYPE: u8                      = 0x0000 Read  0x11       None                 Constant "type"
    REVISION: u8                  = 0x0001 Read  0x02       None                 Constant "revision"
    BUILD: u16                    = 0x0002 Read  0x01       None                 Constant "build"
    FMMUS_SUPPORTED: u8           = 0x0004 Read  0x08       None                 Constant "FMMUs supported"
    SYNC_MANAGERS_SUPPORTED: u8   = 0x0005 Read  0x08       None                 Constant "sync managers supported"
    MEMORY_KIB: u8                = 0x0006 Read  0x08       None                 Constant "memory size, KiB"
    PORT_DESCRIPTOR: u8           = 0x0007 Read  0x0F       None                 Constant "port descriptor"
    FEATURES: u16                 = 0x0008 Read  0x01FC     None                 Constant "features"
    STATION: u16                  = 0x0010 Write 0          StationAddress       Works    "station address"
    ALIAS: u16                    = 0x0012 Read  0          None                 Works    "station alias"
    WRITE_PROTECTION: u16         = 0x0020 Write 0          None                 Inert    "write enable and protection"
    ESC_WRITE_PROTECTION: u16     = 0x0030 Write 0          None                 Inert    "ESC write enable and protection"
    RESET: [u8; 2]                = 0x0040 Write 0          Reset                Works    "ESC reset by the master and by the PDI"
    DL_CONTROL: u32               = 0x0100 Write 0x00070001 DlControl            Works    "DL control"
    PHYSICAL_OFFSET: u16          = 0x0108 Write 0          None                 Inert    "physical read/write offset"
    DL_STATUS: u16                = 0x0110 Read  0          None                 Works    "DL status"
    AL_CONTROL: u16               = 0x0120 Write 0x01       AlControl            Works    "AL control"
    AL_STATUS: u16                = 0x0130 Read  0x01       None                 Works    "AL status"
    AL_CODE: u16                  = 0x0134 Read  0          None                 Works    "AL status code"
    LED_OVERRIDE: [u8; 2]         = 0x0138 Write 0          None                 Inert    "RUN and ERR LED override"
    PDI_CONTROL: u16              = 0x0140 Read  0x0C08     None                 Constant "PDI control"
    PDI_CONFIGURATION: u32        = 0x0150 Read  0          None                 Constant "PDI configuration"
    EVENT_MASK: u16               = 0x0200 Write 0          EventMask            Works    "ECAT event mask"
    PDI_EVENT_MASK: u32           = 0x0204 Read  0          None                 Constant "PDI event mask"
    EVENT_REQUEST: u16            = 0x0210 Read  0          None                 Works    "ECAT event request"
    AL_EVENT_REQUEST: u32         = 0x0220 Read  0          None                 Constant "AL event request"
    RECEIVE_ERRORS: [[u8; 2]; 4]  = 0x0300 Write 0          ClearErrors          Works    "invalid frame and receive error counters"
    FORWARDED_ERRORS: [u8; 4]     = 0x0308 Write 0          ClearErrors          Works    "forwarded receive error counters"
    UNIT_ERRORS: u8               = 0x030C Write 0          ClearErrors          Works    "processing unit error counter"
    PDI_ERRORS: u8                = 0x030D Write 0          ClearErrors          Inert    "PDI error counter"
    PDI_ERROR_CODE: u8            = 0x030E Read  0          None                 Constant "PDI error code"
    LOST_LINK: [u8; 4]            = 0x0310 Write 0          ClearErrors          Works    "lost link counters"
    WD_DIVIDER: u16               = 0x0400 Write 0x09C2     Watchdog             Works    "watchdog divider"
    WD_TIME_PDI: u16              = 0x0410 Write 0x03E8     Watchdog             Inert    "watchdog time PDI"
    WD_TIME: u16                  = 0x0420 Write 0x03E8     Watchdog             Works    "watchdog time process data"
    WD_STATUS: u16                = 0x0440 Read  0x01       None                 Works    "watchdog status process data"
    WD_COUNT: [u8; 2]             = 0x0442 Write 0          ClearWatchdogCounter Works    "watchdog counters"
    EEPROM_CONFIG: u16            = 0x0500 Write 0          None                 Works    "EEPROM configuration and PDI access"
    EEPROM_CONTROL: u16           = 0x0502 Write 0x0040     EepromControl        Works    "EEPROM control and status"
    EEPROM_ADDRESS: u32           = 0x0504 Write 0          None                 Works    "EEPROM address"
    EEPROM_DATA: [u8; 8]          = 0x0508 Write 0          None                 Works    "EEPROM data"
    MII: [u8; 6]                  = 0x0510 Write 0          None                 Inert    "MII management"
    FMMU: [[u8; 16]; 8]           = 0x0600 Write 0          Fmmu                 Works    "FMMU"
    SYNC_MANAGER: [[u8; 8]; 8]    = 0x0800 Write 0          SyncManager          Works    "sync manager"
    PORT_TIMES: [u32; 4]          = 0x0900 Write 0          LatchPorts           Works    "port receive times"
    SYSTEM_TIME: u64              = 0x0910 Write 0          SystemTime           Works    "system time"
    RECEIVE_TIME: u64             = 0x0918 Read  0          None                 Works    "processing unit receive time"
    OFFSET: u64                   = 0x0920 Write 0          Offset               Works    "system time offset"
    DELAY: u32                    = 0x0928 Write 0          Delay                Works    "system time delay"
    DIFFERENCE: u32               = 0x092C Read  0          None                 Works    "system time difference"
    SPEED_START: u16              = 0x0930 Write 0x1000     FilterStart          Works    "speed counter start"
    SPEED_DIFFERENCE: u16         = 0x0932 Read  0          None                 Works    "speed counter difference"
    FILTER: u16                   = 0x0934 Write 0x0C04     None                 Works    "filter depths"
    CYCLIC_CONTROL: u8            = 0x0980 Write 0          SyncActivation       Inert    "cyclic unit control"
    ACTIVATION: u8                = 0x0981 Write 0          SyncActivation       Works    "SYNC activation"
    PULSE_LENGTH: u16             = 0x0982 Write 0x0064     None                 Inert    "SYNC pulse length"
    ACTIVATION_STATUS: u8         = 0x0984 Read  0          None                 Works    "SYNC activation status"
    SYNC0_STATUS: u8              = 0x098E Read  0          None                 Constant "SYNC0 status"
    SYNC1_STATUS: u8              = 0x098F Read  0          None                 Constant "SYNC1 status"
    START_TIME: u64               = 0x0990 Write 0          None                 Works    "SYNC start time, next SYNC0 pulse"
    NEXT_SYNC1: u64               = 0x0998 Read  0          None                 Works    "next SYNC1 pulse"
    SYNC0_CYCLE: u32              = 0x09A0 Write 0          None                 Works    "SYNC0 cycle time"
    SYNC1_CYCLE: u32              = 0x09A4 Write 0          None                 Works    "SYNC1 cycle time"
    LATCH_CONTROL: u16            = 0x09A8 Write 0          None                 Inert    "latch control"
    LATCH_STATUS: u16             = 0x09AE Read  0          None                 Constant "latch status"
    LATCH_TIMES: [u64; 4]         = 0x09B0 Read  0          None                 Constant "latch times"
    PRODUCT_ID: u64               = 0x0E00 Read  0          None                 Constant "product id"
    VENDOR_ID: u64                = 0x0E08 Read  0          None                 Constant "vendor id"
    OUTPUT_DATA: u32              = 0x0F00 Write 0          None                 Inert    "digital output data"
    GENERAL_PURPOSE: [u8; 8]      = 0x0F10 Write 0          None                 Inert    "general purpose outputs and inputs"
    USER_MEMORY: [u8; 128]        = 0x0F80 Write 0          None                 Works    "user memory"
}
