// SPDX-License-Identifier: Apache-2.0
//! The power state machine of CiA 402 (IEC 61800-7-201, section 6.2).

/// States of the power drive system (CiA 402).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// After power-on; left by itself.
    NotReady,
    /// The power stage is off, and may not be switched on yet.
    SwitchOnDisabled,
    /// Power may be applied.
    ReadyToSwitchOn,
    /// Power stage on, no torque.
    SwitchedOn,
    /// The motor has torque and follows the mode of operation.
    OperationEnabled,
    /// Braking, or braked, by quick stop.
    QuickStopActive,
    /// Braking after a fault.
    FaultReactionActive,
    /// Fault; reset by a rising edge of bit 7.
    Fault,
}

impl Power {
    /// The state's bits of the statusword (0x6041): 0-3, 5, 6.
    pub fn status_bits(self) -> u16 {
        match self {
            Power::NotReady => 0x0000,
            Power::SwitchOnDisabled => 0x0040,
            Power::ReadyToSwitchOn => 0x0021,
            Power::SwitchedOn => 0x0023,
            Power::OperationEnabled => 0x0027,
            Power::QuickStopActive => 0x0007,
            Power::FaultReactionActive => 0x000F,
            Power::Fault => 0x0008,
        }
    }

    /// The motor makes torque.
    pub fn has_torque(self) -> bool {
        matches!(self, Power::OperationEnabled | Power::QuickStopActive | Power::FaultReactionActive)
    }
}

/// Commands coded in the controlword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Shutdown,
    SwitchOn,
    EnableOperation,
    DisableVoltage,
    QuickStop,
}

fn decode(controlword: u16) -> Command {
    match controlword & 0x0F {
        bits if bits & 0x02 == 0 => Command::DisableVoltage,
        bits if bits & 0x04 == 0 => Command::QuickStop,
        bits if bits & 0x01 == 0 => Command::Shutdown,
        bits if bits & 0x08 == 0 => Command::SwitchOn,
        _ => Command::EnableOperation,
    }
}

/// The machine: state and the last controlword, for the edge of fault reset.
#[derive(Debug, Clone, Copy)]
pub struct StateMachine {
    state: Power,
    reset_bit: bool,
}

impl Default for StateMachine {
    fn default() -> Self {
        Self { state: Power::NotReady, reset_bit: false }
    }
}

impl StateMachine {
    /// The state that the drive has reached.
    pub fn state(&self) -> Power {
        self.state
    }

    /// A fault: from any state with torque by way of the reaction, else at once.
    pub fn fail(&mut self) {
        self.state = match self.state {
            Power::Fault | Power::FaultReactionActive => self.state,
            state if state.has_torque() => Power::FaultReactionActive,
            _ => Power::Fault,
        };
    }

    /// The axis has come to rest in a quick stop or a fault reaction. `stays` keeps quick stop active (0x605A of 5 or 6).
    pub fn stopped(&mut self, stays: bool) {
        self.state = match self.state {
            Power::FaultReactionActive => Power::Fault,
            Power::QuickStopActive if !stays => Power::SwitchOnDisabled,
            state => state,
        };
    }

    /// Removes power without a fault.
    pub fn disable(&mut self) {
        if !matches!(self.state, Power::Fault | Power::FaultReactionActive | Power::NotReady) {
            self.state = Power::SwitchOnDisabled;
        }
    }

    /// Resets a fault; one that the drive still reacts to stays. False if there is still one.
    pub fn reset_fault(&mut self) -> bool {
        if self.state == Power::Fault {
            self.state = Power::SwitchOnDisabled;
        }
        self.state != Power::FaultReactionActive
    }

    /// Takes a controlword. True if a fault was reset.
    pub fn command(&mut self, controlword: u16) -> bool {
        use Command::*;
        let reset_bit = controlword & 0x80 != 0;
        let rising = reset_bit && !self.reset_bit;
        self.reset_bit = reset_bit;
        let command = decode(controlword);
        let before = self.state;
        self.state = match (self.state, command) {
            (Power::NotReady, _) => Power::SwitchOnDisabled,
            (Power::Fault, _) => {
                if rising {
                    Power::SwitchOnDisabled
                } else {
                    Power::Fault
                }
            }
            (Power::FaultReactionActive, _) => Power::FaultReactionActive,
            (_, DisableVoltage) => Power::SwitchOnDisabled,
            (Power::SwitchOnDisabled, Shutdown) => Power::ReadyToSwitchOn,
            (Power::SwitchOnDisabled, _) => Power::SwitchOnDisabled,
            (Power::OperationEnabled, QuickStop) => Power::QuickStopActive,
            (Power::QuickStopActive, EnableOperation) => Power::OperationEnabled,
            (Power::QuickStopActive, _) => Power::QuickStopActive,
            (_, QuickStop) => Power::SwitchOnDisabled,
            (_, Shutdown) => Power::ReadyToSwitchOn,
            // Switch on and enable in one step from ready is allowed, but passes through switched on.
            (Power::ReadyToSwitchOn, SwitchOn | EnableOperation) => Power::SwitchedOn,
            (Power::SwitchedOn, EnableOperation) => Power::OperationEnabled,
            (Power::OperationEnabled, SwitchOn) => Power::SwitchedOn,
            (state, _) => state,
        };
        before == Power::Fault && self.state != Power::Fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(words: &[u16]) -> Power {
        let mut machine = StateMachine::default();
        words.iter().for_each(|word| {
            machine.command(*word);
        });
        machine.state()
    }

    #[test]
    fn the_usual_three_words_enable_operation() {
        assert_eq!(after(&[0, 6, 7, 15]), Power::OperationEnabled);
    }

    #[test]
    fn every_way_down_leads_where_the_profile_says() {
        assert_eq!(after(&[0, 6, 7, 15, 7]), Power::SwitchedOn);
        assert_eq!(after(&[0, 6, 7, 15, 6]), Power::ReadyToSwitchOn);
        assert_eq!(after(&[0, 6, 7, 15, 0]), Power::SwitchOnDisabled);
        assert_eq!(after(&[0, 6, 7, 15, 2]), Power::QuickStopActive);
        assert_eq!(after(&[0, 6, 7, 2]), Power::SwitchOnDisabled);
    }

    #[test]
    fn a_fault_is_reset_by_an_edge_and_not_by_a_level() {
        let mut machine = StateMachine::default();
        machine.command(0x80);
        machine.fail();
        assert!(!machine.command(0x80), "bit 7 was high before the fault");
        assert!(!machine.command(0x00));
        assert!(machine.command(0x80));
        assert_eq!(machine.state(), Power::SwitchOnDisabled);
    }

    #[test]
    fn a_fault_under_torque_brakes_first() {
        let mut machine = StateMachine::default();
        [0, 6, 7, 15].iter().for_each(|word| {
            machine.command(*word);
        });
        machine.fail();
        assert_eq!(machine.state(), Power::FaultReactionActive);
        machine.stopped(false);
        assert_eq!(machine.state(), Power::Fault);
    }
}
