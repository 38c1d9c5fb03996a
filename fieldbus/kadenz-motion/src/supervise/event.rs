// SPDX-License-Identifier: Apache-2.0
//! An event, in a form that fits a message queue.

use bytemuck::{Pod, Zeroable};

use super::words;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// Kinds of events; numbers are part of the log.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum EventKind { $($(#[$doc])* $name = $code,)* }

        impl EventKind {
            /// Every kind of event, in the order of codes.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The kind with this code; None for an unknown one.
            pub fn from_code(code: u32) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }

            /// The meaning of `value` and `expected`, as text with `{}` for each; `{x}` is hexadecimal as in manuals,
            /// `{deg}` degrees from millionths; the others are packed numbers (`words.rs`).
            fn template(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

kinds! {
    /// No answer to the cycle's frame.
    FrameLost = 1, "no answer to the frame, {} in a row";
    /// The working counter is not the expected one, as when a device is gone.
    WorkingCounter = 2, "working counter {}, {} expected";
    /// A device left OP.
    DeviceState = 3, "device {} is in AL state {al}";
    /// A cycle began too late.
    Late = 4, "began {} ns late, {} allowed";
    /// Cycles that did not take place.
    Skipped = 5, "skipped cycles: {}";
    /// Distributed clocks are apart.
    ClockDifference = 6, "distributed clocks differ by {} ns, {} allowed";
    /// An axis does not follow.
    FollowingError = 7, "axis {} is {deg} degrees away from its setpoint";
    /// A drive stopped itself.
    DriveFault = 8, "drive of axis {} reports fault {error}";
    /// A drive left operation without a command.
    DriveDropped = 9, "drive of axis {} left operation, statusword {x}";
    /// The trajectory gave no setpoint in time.
    SetpointLate = 10, "no setpoint for {} cycles, {} allowed";
    /// The torque of the dynamic task is missing.
    TorqueLate = 11, "no torque for {} cycles";
    /// A message queue was full.
    QueueFull = 12, "queue {} refused {} messages in all";
    /// A stop was asked for.
    StopRequested = 13, "stop of category {} requested (reason {})";
    /// The cyclic code panicked.
    Panic = 14, "task {} panicked";
    /// The master library returned an error that is not a lost frame.
    MasterError = 15, "the master library failed, code {}";
    /// No finding any more.
    Recovered = 16, "recovered after {} cycles";
    /// The stop did not end in time.
    StopTimedOut = 17, "drives were still powered {} cycles after the stop";
    /// Every drive is without power.
    PowerRemoved = 18, "every drive was without power {} cycles after the stop";
    /// A drive was in fault before it was enabled.
    FaultAcknowledged = 19, "drive of axis {} had fault {error} before it was enabled; acknowledged once";
    /// The warning bit (7) of a statusword has risen.
    DriveWarning = 20, "drive of axis {} warns, statusword {x}";
    /// A limit inside a drive is active.
    InternalLimit = 21, "drive of axis {} is at an internal limit (statusword bit 11), cycle {} in a row";
    /// A drive does not take the setpoints.
    NotFollowing = 22, "drive of axis {} does not follow its setpoints (statusword bit 12), cycle {} in a row";
    /// A drive's own following error.
    DriveFollowingError = 23, "drive of axis {} has a following error (statusword bit 13), cycle {} in a row";
    /// A drive is in another mode of operation.
    DriveMode = 24, "drive of axis {} is in mode {}, expected cyclic synchronous position (8)";
    /// A device in OP has latched an error.
    AlError = 25, "device {} is in AL state {al}";
    /// A device sent an emergency.
    Emergency = 26, "device {} sent an emergency, {emergency}";
    /// Another master commands the devices.
    SecondMaster = 27, "another master is on the wire, {} frames that command devices, source address {mac}";
}

/// An event of one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Event {
    /// Cycle of the main task in which it was seen.
    pub cycle: u64,
    /// The finding; its meaning depends on the kind.
    pub value: i64,
    /// The value it was compared with; its meaning depends on the kind.
    pub expected: i64,
    kind: u32,
    reaction: u32,
}

impl Event {
    /// An event that caused `reaction`.
    pub fn new(cycle: u64, kind: EventKind, value: i64, expected: i64, reaction: super::Reaction) -> Self {
        Self { cycle, value, expected, kind: kind as u32, reaction: reaction as u32 }
    }

    /// The kind of the event; None if its code is unknown.
    pub fn kind(&self) -> Option<EventKind> {
        EventKind::from_code(self.kind)
    }

    /// The reaction to it.
    pub fn reaction(&self) -> super::Reaction {
        super::Reaction::from_code(self.reaction)
    }
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cycle {}: ", self.cycle)?;
        let template = self.kind().map_or("unknown event {} {}", EventKind::template);
        let mut values = [self.value, self.expected].into_iter();
        for (k, part) in template.split('{').enumerate() {
            let Some((format, text)) = part.split_once('}').filter(|_| k > 0) else {
                f.write_str(part)?;
                continue;
            };
            let value = values.next().unwrap_or_default();
            match format {
                "x" => write!(f, "{value:#06x}")?,
                "al" => words::al(f, value)?,
                "error" => words::error_code(f, value as u16)?,
                "emergency" => words::emergency(f, value)?,
                "mac" => words::mac(f, value)?,
                "deg" => write!(f, "{:.3}", value as f64 * 1e-6)?,
                _ => write!(f, "{value}")?,
            }
            f.write_str(text)?;
        }
        write!(f, ": {}", self.reaction())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reaction;
    use super::*;

    #[test]
    fn an_event_names_cycle_values_and_reaction() {
        let event = Event::new(1234, EventKind::WorkingCounter, 18, 21, Reaction::Hold);
        assert_eq!(event.to_string(), "cycle 1234: working counter 18, 21 expected: holds the last setpoint");
        let fault = Event::new(7, EventKind::DriveFault, 2, 0x8611, Reaction::SafeState);
        assert_eq!(fault.to_string(), "cycle 7: drive of axis 2 reports fault 0x8611 (following error): power off");
        let error = Event::new(8, EventKind::FollowingError, 4, -5_500_000, Reaction::QuickStop);
        assert_eq!(error.to_string(), "cycle 8: axis 4 is -5.500 degrees away from its setpoint: quick stop");
    }

    #[test]
    fn numbers_of_the_standards_are_explained() {
        let said = |kind, value, expected| Event::new(9, kind, value, expected, Reaction::None).to_string();
        assert_eq!(
            said(EventKind::AlError, 2, 0x26_18),
            "cycle 9: device 2 is in AL state 0x0018 (OP with an error), AL status code 0x0026: Inconsistent Settings: continuing"
        );
        assert_eq!(said(EventKind::DeviceState, 2, 0x01), "cycle 9: device 2 is in AL state 0x0001 (INIT): continuing");
        assert!(said(EventKind::DeviceState, 2, 0x14 | words::CODE_UNREAD).contains("could not be read"));
        let bytes = [0x11, 0x86, 0x21, 0, 0, 0, 0, 0xAB];
        assert_eq!(
            said(EventKind::Emergency, 3, i64::from_le_bytes(bytes)),
            "cycle 9: device 3 sent an emergency, 0x8611 (following error), error register 0x21 (generic, device \
             profile), maker's data 0x00000000ab: continuing"
        );
        assert!(
            said(EventKind::Emergency, 3, 0).contains("0x0000 (no error, or gone), error register 0x00: continuing")
        );
        assert!(said(EventKind::SecondMaster, 5, 0x0301_0101_0101).contains("5 frames"));
        assert!(said(EventKind::SecondMaster, 5, 0x0301_0101_0101).contains("source address 03-01-01-01-01-01:"));
    }

    #[test]
    fn every_kind_survives_its_number() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_code(*kind as u32), Some(*kind));
        }
    }
}
