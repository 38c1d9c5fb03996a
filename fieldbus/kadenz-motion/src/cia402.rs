// SPDX-License-Identifier: Apache-2.0
//! The state machine of a servo drive as its master sees it (IEC 61800-7-201, CiA 402): from statusword to controlword.

/// Power drive system states, decoded from the statusword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveState {
    /// Self test after power-on; the drive leaves it by itself.
    NotReady,
    /// Power may not be switched on yet.
    SwitchOnDisabled,
    /// High-level power may be applied.
    ReadyToSwitchOn,
    /// The power stage is on; the motor has no torque.
    SwitchedOn,
    /// The motor has torque and follows the setpoint.
    OperationEnabled,
    /// The drive brakes along its own ramp, then does what object 0x605A says.
    QuickStop,
    /// A fault, still reacting to it.
    FaultReaction,
    /// A fault; waits for a reset.
    Fault,
    /// No pattern of the standard.
    Unknown,
}

impl DriveState {
    /// From object 0x6041 (table 30 of the standard: bits 0-3, 5, 6).
    pub fn from_statusword(word: u16) -> Self {
        match word & 0x4F {
            0x00 => Self::NotReady,
            0x40 => Self::SwitchOnDisabled,
            0x0F => Self::FaultReaction,
            0x08 => Self::Fault,
            _ => match word & 0x6F {
                0x21 => Self::ReadyToSwitchOn,
                0x23 => Self::SwitchedOn,
                0x27 => Self::OperationEnabled,
                0x07 => Self::QuickStop,
                _ => Self::Unknown,
            },
        }
    }

    /// The motor may have torque.
    pub fn powered(self) -> bool {
        matches!(self, Self::OperationEnabled | Self::QuickStop | Self::FaultReaction)
    }

    /// The drive stopped by itself because of a fault.
    pub fn faulted(self) -> bool {
        matches!(self, Self::FaultReaction | Self::Fault)
    }
}

/// Cyclic synchronous position (objects 0x6060 and 0x6061).
pub const MODE_CSP: i8 = 8;
/// Cyclic synchronous position among the supported modes (object 0x6502).
pub const SUPPORTS_CSP: u32 = 1 << 7;

/// Bits of the statusword beside the state (object 0x6041); 12 and 13 as in cyclic synchronous position.
pub mod status {
    /// The drive warns of something.
    pub const WARNING: u16 = 1 << 7;
    /// A limit of the drive holds it: position, velocity or torque.
    pub const INTERNAL_LIMIT: u16 = 1 << 11;
    /// The target position is what the loops follow.
    pub const FOLLOWS: u16 = 1 << 12;
    /// The drive's own following error is beyond its window.
    pub const FOLLOWING_ERROR: u16 = 1 << 13;
}

/// Commands of object 0x6040.
pub mod controlword {
    /// Remove power: the motor runs out, the brake falls.
    pub const DISABLE_VOLTAGE: u16 = 0x00;
    /// Brake along the drive's own ramp, then as object 0x605A says.
    pub const QUICK_STOP: u16 = 0x02;
    /// To ready to switch on.
    pub const SHUTDOWN: u16 = 0x06;
    /// Controlword: from ready to switched on.
    pub const SWITCH_ON: u16 = 0x07;
    /// Controlword: from switched on to operation enabled.
    pub const ENABLE: u16 = 0x0F;
    /// Rising edge acknowledges a fault.
    pub const FAULT_RESET: u16 = 0x80;
}

/// The next command on the way to operation enabled. A fault is acknowledged once, by the edge with which the bit comes
/// behind any other command; it stays until the drive has left the fault.
pub fn towards_enabled(state: DriveState) -> u16 {
    match state {
        DriveState::Fault => controlword::FAULT_RESET,
        DriveState::ReadyToSwitchOn => controlword::SWITCH_ON,
        DriveState::SwitchedOn | DriveState::OperationEnabled => controlword::ENABLE,
        DriveState::SwitchOnDisabled => controlword::SHUTDOWN,
        _ => controlword::DISABLE_VOLTAGE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuswords_of_the_standard_are_recognised_with_any_other_bits() {
        let table = [
            (0x0000, DriveState::NotReady),
            (0x0250, DriveState::SwitchOnDisabled),
            (0x0231, DriveState::ReadyToSwitchOn),
            (0x0233, DriveState::SwitchedOn),
            (0x1637, DriveState::OperationEnabled),
            (0x0217, DriveState::QuickStop),
            (0x021F, DriveState::FaultReaction),
            (0x0218, DriveState::Fault),
            (0x0238, DriveState::Fault),
        ];
        for (word, state) in table {
            assert_eq!(DriveState::from_statusword(word), state, "{word:#06x}");
        }
    }

    #[test]
    fn a_drive_is_led_to_operation_step_by_step() {
        let steps = [
            (DriveState::SwitchOnDisabled, 0x06),
            (DriveState::ReadyToSwitchOn, 0x07),
            (DriveState::SwitchedOn, 0x0F),
            (DriveState::OperationEnabled, 0x0F),
        ];
        for (state, command) in steps {
            assert_eq!(towards_enabled(state), command);
        }
    }

    #[test]
    fn a_fault_is_acknowledged_by_an_edge_that_stays() {
        assert_eq!(towards_enabled(DriveState::FaultReaction), controlword::DISABLE_VOLTAGE);
        assert_eq!(towards_enabled(DriveState::Fault), controlword::FAULT_RESET);
        assert_eq!(towards_enabled(DriveState::Fault), controlword::FAULT_RESET);
    }
}
