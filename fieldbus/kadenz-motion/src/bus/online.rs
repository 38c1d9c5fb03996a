// SPDX-License-Identifier: Apache-2.0
//! The bus in operation: one exchange a cycle, and the meaning of its answer.

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};

use ethercrab::error::Error;
use ethercrab::{Command, MainDevice, SubDeviceState};
use kadenz_rt::Clock;

use super::bring_up::{Found, Ring};
use super::mail::{emergency, Look, Mail, MAILBOX_STATUS};
use super::pump::{Patience, Stalled, AT_EASE};
use super::{Axis, AxisFeedback, AxisSetpoint, BusError, Emergency, Foreign, Pump, Wire};
use crate::supervise::{AlTrouble, Exchange};

/// Difference between a device's copy of the system time and the reference, sign and magnitude (ETG.1000.4 table 60).
const DC_DIFFERENCE: u16 = 0x092C;

/// AL control: the state a device shall go to, and whether an error is acknowledged (ETG.1000.6, table 10).
const AL_CONTROL: u16 = 0x0120;
const ACKNOWLEDGE: u16 = 0x10;
const OP: u16 = 0x08;
/// AL status: the state, its error flag; and the code of the error.
const AL_STATE: u16 = 0x0F;
const AL_FLAGGED: u16 = 0x10;
const AL_STATUS_CODE: u16 = 0x0134;

/// Result of an exchange.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// The counts of the last frame, for the supervision.
    pub exchange: Exchange,
    /// Every device is in OP.
    pub all_op: bool,
    /// Time since SYNC0 when the frame passed the reference clock, ns.
    pub since_sync0_ns: u64,
    /// System time of the reference clock when the frame passed it, ns.
    pub system_time_ns: u64,
}

/// A ring in operation or on its way there.
pub struct Bus<W: Wire> {
    pump: Pump<W>,
    master: &'static MainDevice<'static>,
    ring: Ring,
    axes: Vec<Axis>,
    expected_counter: u16,
    mail: Mail,
    trouble: Option<AlTrouble>,
}

impl<W: Wire> Bus<W> {
    /// Result of bring-up, and the pump for the next exchanges.
    pub(super) fn new(pump: Pump<W>, master: &'static MainDevice<'static>, found: Found) -> Self {
        let Found { ring, axes, expected_counter, mailboxes } = found;
        Self { pump, master, ring, axes, expected_counter, mail: Mail::new(mailboxes), trouble: None }
    }

    /// Axes in the order of the layout.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Working counter of a healthy exchange.
    pub fn expected_counter(&self) -> u16 {
        self.expected_counter
    }

    /// The clock of deadlines.
    pub fn clock(&self) -> &Clock {
        self.pump.clock()
    }

    /// Frames that were no answer to anything.
    pub fn strays(&self) -> u64 {
        self.pump.strays
    }

    /// Frames of another master on this cable, counted.
    pub fn foreign(&self) -> Foreign {
        self.pump.overheard.foreign
    }

    /// Commands axis `k` from the next exchange on.
    pub fn write(&self, k: usize, setpoint: &AxisSetpoint) {
        if let Some(axis) = self.axes.get(k) {
            self.outputs(axis.device, |bytes| axis.write(setpoint, bytes));
        }
    }

    /// State of axis `k` in the last exchange that was answered.
    pub fn read(&self, k: usize) -> Option<AxisFeedback> {
        let axis = self.axes.get(k)?;
        self.inputs(axis.device, |bytes| axis.read(bytes))
    }

    /// Outputs of a device.
    pub fn outputs<T>(&self, device: usize, work: impl FnOnce(&mut [u8]) -> T) -> Option<T> {
        let device = self.ring.subdevice(self.master, device).ok()?;
        let mut bytes = device.outputs_raw_mut();
        Some(work(&mut bytes))
    }

    /// Inputs of a device.
    pub fn inputs<T>(&self, device: usize, work: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let device = self.ring.subdevice(self.master, device).ok()?;
        let bytes = device.inputs_raw();
        Some(work(&bytes))
    }

    /// A device of the layout has at least this many bytes of outputs and inputs. `what` names the part that needs them.
    pub fn require(&self, device: usize, what: &str, outputs: usize, inputs: usize) -> Result<(), BusError> {
        let (position, what) = (device, what.to_owned());
        let Ok(device) = self.ring.subdevice(self.master, position) else {
            return Err(BusError::TooFewDevices { found: self.ring.len(), what, position });
        };
        let (has_outputs, has_inputs) = (device.outputs_raw().len(), device.inputs_raw().len());
        let sides = [("outputs", has_outputs, outputs), ("inputs", has_inputs, inputs)];
        match sides.into_iter().find(|(_, found, needed)| found < needed) {
            None => Ok(()),
            Some((direction, found, needed)) => {
                let device = device.name().to_owned();
                Err(BusError::ImageTooShort { what, needed, direction, position, device, found })
            }
        }
    }

    /// One exchange of process data with clock synchronisation; waits for the answer until the deadline. A panic of the
    /// master library becomes a failed exchange.
    pub fn exchange(&mut self, deadline_ns: u64) -> Answer {
        let failed = |exchange| Answer { exchange, all_op: false, since_sync0_ns: 0, system_time_ns: 0 };
        self.pump.overheard.begin();
        let work = AssertUnwindSafe(|| self.pump.run(self.ring.tx_rx_dc(self.master), Patience::Until(deadline_ns)));
        let response = match catch_unwind(work) {
            Err(_) => return failed(Exchange::Failed { code: code::PANIC }),
            Ok(Err(Stalled::NoAnswer)) => return failed(Exchange::Lost),
            Ok(Err(Stalled::WireFailed(errno))) => return failed(Exchange::Failed { code: errno.into() }),
            Ok(Ok(Err(error))) => return failed(Exchange::Failed { code: code::of(&error) }),
            Ok(Ok(Ok(response))) => response,
        };
        let states = &response.subdevice_states;
        let al = self.look_at_states(deadline_ns);
        let exchange = Exchange::Answered { working_counter: response.working_counter, al };
        Answer {
            exchange,
            all_op: states.len() == self.ring.len() && states.iter().all(|state| *state == SubDeviceState::Op),
            since_sync0_ns: response.extra.cycle_start_offset.as_nanos() as u64,
            system_time_ns: response.extra.dc_system_time,
        }
    }

    /// The device in trouble, by the answers just come. The code of a new error is one more frame.
    fn look_at_states(&mut self, deadline_ns: u64) -> Option<AlTrouble> {
        let al = self.pump.overheard.al();
        let first = |wrong: fn(u16) -> bool| al.iter().position(|status| wrong(*status));
        // A device that is gone has no state; it shows in the working counter.
        let strayed = first(|status| status != 0 && status & AL_STATE != OP);
        let found = strayed.or_else(|| first(|status| status & AL_FLAGGED != 0)).map(|k| (k as u16, al[k]));
        let Some((device, status)) = found else {
            self.trouble = None;
            return None;
        };
        let status = (status & (AL_STATE | AL_FLAGGED)) as u8;
        if self.trouble.is_none_or(|known| (known.device, known.status) != (device, status)) {
            let flagged = u16::from(status) & AL_FLAGGED != 0;
            let code = if flagged { self.al_status_code(device, deadline_ns) } else { Some(0) };
            self.trouble = Some(AlTrouble { device, status, code });
        }
        self.trouble
    }

    fn al_status_code(&mut self, device: u16, deadline_ns: u64) -> Option<u16> {
        let address = self.ring.subdevice(self.master, device.into()).ok()?.configured_address();
        let read = Command::fprd(address, AL_STATUS_CODE).receive::<u16>(self.master);
        let work = AssertUnwindSafe(|| self.pump.run(read, Patience::Until(deadline_ns)));
        catch_unwind(work).ok()?.ok()?.ok()
    }

    /// Mail was found and is not read to its end.
    pub fn has_mail(&self) -> bool {
        self.mail.is_busy()
    }

    /// One frame that looks for emergencies: at all mailboxes at once, at each where one of them is full, or into one.
    pub fn look_for_mail(&mut self, deadline_ns: u64) -> Option<Emergency> {
        let (master, patience) = (self.master, Patience::Until(deadline_ns));
        let Look::Into(k) = self.mail.look else {
            let status = match self.mail.look {
                Look::At(k) => Command::fprd(self.mail.boxes[k].address, MAILBOX_STATUS),
                _ => Command::brd(MAILBOX_STATUS).ignore_wkc(),
            };
            let work = AssertUnwindSafe(|| self.pump.run(status.receive::<u8>(master), patience));
            let status = catch_unwind(work).ok().and_then(Result::ok).and_then(Result::ok);
            self.mail.saw_status(status);
            return None;
        };
        let mailbox = self.mail.boxes[k];
        let read = async {
            let mail = Command::fprd(mailbox.address, mailbox.start).receive_slice(master, mailbox.length).await?;
            Ok::<_, Error>(emergency(&mail))
        };
        let work = AssertUnwindSafe(|| self.pump.run(read, patience));
        let bytes = catch_unwind(work).ok().and_then(Result::ok).and_then(Result::ok).flatten();
        self.mail.saw_status(None);
        bytes.map(|bytes| Emergency { device: mailbox.device, bytes })
    }

    /// The same exchange and nothing around it: no reading of states, no panic kept inside. The yardstick of
    /// `benchmarks/motion.py`. Working counter, or `None` without a good answer until the deadline.
    pub fn exchange_bare(&mut self, deadline_ns: u64) -> Option<u16> {
        let answer = self.pump.run(self.ring.tx_rx_dc(self.master), Patience::Until(deadline_ns));
        Some(answer.ok()?.ok()?.working_counter)
    }

    /// Largest difference of the clocks to the reference, ns: one broadcast read, which ORs the magnitudes, so the value
    /// is at least the largest and less than twice it. `None` when no answer came.
    pub fn clock_difference_ns(&mut self, deadline_ns: u64) -> Option<u32> {
        let read = Command::brd(DC_DIFFERENCE).ignore_wkc().receive::<u32>(self.master);
        let work = AssertUnwindSafe(|| self.pump.run(read, Patience::Until(deadline_ns)));
        let value = catch_unwind(work).ok()?.ok()?.ok()?;
        Some(value & 0x7FFF_FFFF)
    }

    /// Asks a device that left OP, as its watchdog makes it when no frame comes, back into it: acknowledges its error in
    /// the state it is in, then requests OP. The answer is the state in one of the next exchanges.
    pub fn ask_back(&mut self, device: u16, state: u8, deadline_ns: u64) {
        let Ok(address) = self.ring.subdevice(self.master, device.into()).map(|device| device.configured_address())
        else {
            return;
        };
        let control = |value: u16| Command::fpwr(address, AL_CONTROL).ignore_wkc().send(self.master, value);
        let ask = async {
            control(u16::from(state) | ACKNOWLEDGE).await?;
            control(OP).await
        };
        // A lost request is repeated as long as the device is seen outside OP.
        let _ = catch_unwind(AssertUnwindSafe(|| self.pump.run(ask, Patience::Until(deadline_ns))));
    }

    /// Leads the ring back to PRE-OP. For a bus that answers; one that does not is left to its watchdogs.
    pub fn leave(self) -> Result<(), BusError> {
        let Self { mut pump, master, ring, .. } = self;
        let step = "leaving operation";
        let down = async {
            let ring = ring.into_safe_op(master).await?;
            ring.into_pre_op(master).await.map(drop)
        };
        catch_unwind(AssertUnwindSafe(|| pump.run(down, AT_EASE)))
            .map_err(|panic| BusError::MasterPanicked { step, message: message_of(&*panic) })?
            .map_err(|stalled| BusError::Stalled { step, stalled })?
            .map_err(|error| BusError::Master { step, error })
    }
}

pub(super) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

/// Numbers for the log in place of errors that do not fit a message.
mod code {
    use ethercrab::error::Error;

    pub const PANIC: i64 = -1;

    pub fn of(error: &Error) -> i64 {
        match error {
            Error::Timeout(_) => -2,
            Error::WorkingCounter { .. } => -3,
            Error::Pdu(_) => -4,
            Error::SendFrame | Error::PartialSend { .. } => -5,
            Error::ReceiveFrame => -6,
            Error::Internal => -7,
            _ => -8,
        }
    }
}
