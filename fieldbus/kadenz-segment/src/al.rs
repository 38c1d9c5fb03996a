// SPDX-License-Identifier: Apache-2.0
//! The application-layer state machine (ETG.1000.6): the transitions that a device allows, and how it refuses others.

/// States, with their codes in AL control and AL status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// No communication but registers.
    Init = 1,
    /// Mailbox; no process data.
    PreOp = 2,
    /// Bootstrap: a mailbox of its own, for files alone. It is reached from INIT and left to INIT.
    Boot = 3,
    /// Mailbox and inputs; outputs stay safe.
    SafeOp = 4,
    /// Mailbox, inputs and outputs.
    Op = 8,
}

impl State {
    /// As ETG.1000 writes it.
    pub fn name(self) -> &'static str {
        match self {
            State::Init => "INIT",
            State::PreOp => "PRE-OP",
            State::Boot => "BOOT",
            State::SafeOp => "SAFE-OP",
            State::Op => "OP",
        }
    }

    /// From the low nibble of AL control; `None` for codes that mean nothing.
    pub fn from_code(code: u16) -> Option<Self> {
        match code & 0x0F {
            1 => Some(State::Init),
            2 => Some(State::PreOp),
            3 => Some(State::Boot),
            4 => Some(State::SafeOp),
            8 => Some(State::Op),
            _ => None,
        }
    }

    /// Does a step lead from here to there, and is it upwards? `None` where there is no such step.
    fn climbs(self, to: Self) -> Option<bool> {
        use State::*;
        match (self, to) {
            (Init, PreOp | Boot) | (PreOp, SafeOp) | (SafeOp, Op) => Some(true),
            (Boot, PreOp) => None,
            (from, Boot) if from != Boot => None,
            (from, to) if to <= from => Some(false),
            _ => None,
        }
    }
}

/// AL status codes (ETG.1000.6 table 11) the segment uses; a fault script may set any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum AlCode {
    NoError = 0x0000,
    InvalidRequestedStateChange = 0x0011,
    UnknownRequestedState = 0x0012,
    BootstrapNotSupported = 0x0013,
    InvalidBootMailboxConfiguration = 0x0015,
    InvalidMailboxConfiguration = 0x0016,
    SyncManagerWatchdog = 0x001B,
    InvalidOutputConfiguration = 0x001D,
    InvalidInputConfiguration = 0x001E,
    InvalidDcSyncConfiguration = 0x0030,
    InvalidDcSyncCycleTime = 0x0035,
}

const ERROR: u16 = 0x10;
/// Bit of AL control that asks for the ID of the device, and of AL status that it stands in 0x0134 (ETG.1020, explicit
/// device identification).
const ID: u16 = 0x20;

/// Where a device stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Al {
    state: State,
    has_error: bool,
    code: u16,
    /// The code is the ID of the device.
    shows_id: bool,
}

impl Default for Al {
    fn default() -> Self {
        Self { state: State::Init, has_error: false, code: 0, shows_id: false }
    }
}

impl Al {
    /// The state of the device, which it has reached.
    pub fn state(&self) -> State {
        self.state
    }

    /// The AL status register, 0x0130.
    pub fn status(&self) -> u16 {
        self.state as u16 | if self.has_error { ERROR } else { 0 } | if self.shows_id { ID } else { 0 }
    }

    /// AL status code, or the ID that was asked for (0x0134).
    pub fn code(&self) -> u16 {
        self.code
    }

    /// Falls to `state` (if above it) with the error flag: a watchdog, or a fault.
    pub fn fail(&mut self, state: State, code: u16) {
        if self.state.climbs(state) == Some(false) {
            self.state = state;
        }
        *self = Self { has_error: true, code, shows_id: false, ..*self };
    }

    /// A write to AL control. `check(next)` says whether the device can enter a state above; `id` is the ID that a request
    /// for it (bit 5) gets, `None` where the device has none.
    ///
    /// A refused step keeps the state, sets the error flag and the code. While the flag stands, only an acknowledged
    /// request (bit 4) or one that leads downwards is heard.
    pub fn request(&mut self, control: u16, id: Option<u16>, check: impl FnOnce(State) -> Result<(), u16>) {
        let acknowledged = control & ERROR != 0;
        let wanted = State::from_code(control);
        if self.has_error
            && !acknowledged
            && wanted.is_none_or(|wanted| wanted == self.state || self.state.climbs(wanted) != Some(false))
        {
            return;
        }
        if acknowledged {
            (self.has_error, self.code) = (false, 0);
        }
        let outcome = match wanted {
            None => Err(AlCode::UnknownRequestedState as u16),
            Some(wanted) => match self.state.climbs(wanted) {
                Some(true) => check(wanted).map(|()| wanted),
                Some(false) => Ok(wanted),
                None => Err(AlCode::InvalidRequestedStateChange as u16),
            },
        };
        match outcome {
            Ok(state) => {
                let id = id.filter(|_| control & ID != 0);
                *self = Self { state, has_error: false, code: id.unwrap_or(0), shows_id: id.is_some() };
            }
            Err(code) => *self = Self { has_error: true, code, shows_id: false, ..*self },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yes(_: State) -> Result<(), u16> {
        Ok(())
    }

    #[test]
    fn states_are_climbed_one_by_one() {
        let mut al = Al::default();
        al.request(8, None, yes);
        assert_eq!((al.status(), al.code()), (0x11, 0x11));
        for state in [0x12, 4, 8] {
            al.request(state, None, yes);
        }
        assert_eq!((al.status(), al.code()), (8, 0));
    }

    #[test]
    fn an_error_stands_until_acknowledged() {
        let mut al = Al::default();
        al.request(2, None, |_| Err(AlCode::InvalidMailboxConfiguration as u16));
        al.request(2, None, yes);
        assert_eq!((al.status(), al.code()), (0x11, 0x16));
        al.request(0x11, None, yes);
        al.request(2, None, yes);
        assert_eq!((al.status(), al.code()), (2, 0));
    }

    #[test]
    fn going_down_is_always_allowed() {
        let mut al = Al { state: State::Op, ..Al::default() };
        al.fail(State::SafeOp, AlCode::SyncManagerWatchdog as u16);
        assert_eq!(al.status(), 0x14);
        al.request(1, None, |_| Err(1));
        assert_eq!((al.status(), al.code()), (1, 0));
    }

    #[test]
    fn nonsense_is_refused_by_its_own_code() {
        for control in [7, 0] {
            let mut al = Al::default();
            al.request(control, None, yes);
            assert_eq!((al.status(), al.code()), (0x11, 0x12));
        }
    }

    #[test]
    fn an_id_stands_in_the_code_until_it_is_asked_for_no_more() {
        let mut al = Al::default();
        al.request(0x21, Some(5), yes);
        assert_eq!((al.status(), al.code()), (0x21, 5));
        al.request(1, Some(5), yes);
        assert_eq!((al.status(), al.code()), (1, 0));
        al.request(0x22, Some(5), yes);
        assert_eq!((al.status(), al.code()), (0x22, 5), "with a step");
        al.request(0x28, Some(5), yes);
        assert_eq!((al.status(), al.code()), (0x12, 0x11), "an error has the code");
        al.request(0x22, Some(5), yes);
        assert_eq!((al.status(), al.code()), (0x12, 0x11), "not heard without its acknowledge");
        al.request(0x32, Some(5), yes);
        assert_eq!((al.status(), al.code()), (0x22, 5));
        al.fail(State::Init, 7);
        assert_eq!((al.status(), al.code()), (0x11, 7));
        al.request(0x31, None, yes);
        assert_eq!((al.status(), al.code()), (1, 0), "a device without an ID");
    }

    #[test]
    fn bootstrap_is_entered_from_init_and_left_to_init() {
        for (from, to, code) in [
            (1, 3, 0),
            (2, 3, 0x11),
            (4, 3, 0x11),
            (8, 3, 0x11),
            (3, 3, 0),
            (3, 1, 0),
            (3, 2, 0x11),
            (3, 4, 0x11),
            (3, 8, 0x11),
        ] {
            let mut al = Al { state: State::from_code(from).unwrap(), ..Al::default() };
            al.request(to, None, yes);
            let status = if code == 0 { to } else { from | 0x10 };
            assert_eq!((al.status(), al.code()), (status, code), "{from} to {to}");
        }
        let mut al = Al { state: State::Boot, ..Al::default() };
        al.fail(State::PreOp, 1);
        assert_eq!(al.status(), 0x13, "PRE-OP is not below");
        al.request(2, None, yes);
        assert_eq!((al.status(), al.code()), (0x13, 1), "nor a way out of an error");
        al.request(1, None, yes);
        assert_eq!((al.status(), al.code()), (1, 0));
    }
}
