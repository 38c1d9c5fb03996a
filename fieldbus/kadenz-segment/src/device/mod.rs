// SPDX-License-Identifier: Apache-2.0
//! One device: a slave controller and the application behind it.

pub mod analog;
pub mod channels;
pub mod digital_input;
pub mod digital_output;
pub mod edge_clock;
mod ethernet;
pub mod image;
mod protocols;

use crate::al::{Al, AlCode, State};
use crate::coe::emergency::Emergency;
use crate::coe::object::{Dictionary, Handle};
use crate::coe::standard;
use crate::description::{Description, Manager, Purpose};
use crate::drive::Drive;
use crate::esc::clock::Clock;
use crate::esc::Esc;
use crate::mailbox::Mailbox;
use crate::register::at;
use crate::sii::Sii;
use analog::{AnalogInput, AnalogOutput};
use channels::Place;
use digital_input::DigitalInput;
use digital_output::DigitalOutput;
use image::Image;
use std::ops::RangeInclusive;

/// The function behind a device's process data.
pub enum Function {
    /// Nothing: it begins a branch.
    Coupler,
    /// A CiA 402 servo drive.
    Drive(Box<Drive>),
    /// Digital outputs that keep the time of each edge.
    DigitalOutput(DigitalOutput),
    /// Digital inputs with time stamps.
    DigitalInput(Box<DigitalInput>),
    /// Analogue outputs of 16 bits.
    AnalogOutput(AnalogOutput),
    /// Analogue inputs of 16 bits: a wire, or a sine.
    AnalogInput(AnalogInput),
}

/// Reason of an outage: a fault has taken the device's power.
pub const GONE: u8 = 1;
/// Reason of an outage: its hot-connect group is not in the segment.
pub const AWAY: u8 = 2;

/// A device of the ring.
pub struct Device {
    /// Name in the ring file.
    pub name: String,
    /// What the device is: identity, memory, process data.
    pub description: Description,
    /// The slave controller: registers and memory.
    pub esc: Esc,
    /// The state machine of the application layer.
    pub al: Al,
    /// Its objects; reachable by SDO where it has a mailbox.
    pub dictionary: Dictionary,
    /// The objects as they leave the factory: nothing is stored (there is no 0x1010), so they are back after power-on.
    pristine: Dictionary,
    /// The mailbox; None if the device has none.
    pub mailbox: Option<Mailbox>,
    /// What the device does with its process data.
    pub function: Function,
    /// Where a terminal's channels are.
    pub channels: Vec<Place>,
    image: Image,
    /// SYNC0 pulses without new outputs since SAFE-OP (0x1C32:0B).
    missed: Option<Handle>,
    /// Why it has no power, and passes nothing on: [`GONE`], [`AWAY`], or both. One byte, since every step asks for it.
    outage: u8,
    /// Position of its ID switch.
    pub id_switch: u16,
    /// Fault: passes frames on and works on none.
    pub is_deaf: bool,
    /// Fault: DL status says that no port has a link.
    pub hides_links: bool,
    /// Fault: refuses to enter this state, with this code.
    pub refusal: Option<(State, u16)>,
    /// The oscillator's own error while a drift fault replaces it.
    own_ppm: Option<f64>,
}

impl Device {
    /// A device after power-on.
    pub fn new(
        name: String,
        description: Description,
        clock: Option<Clock>,
        make: impl FnOnce(&mut Dictionary) -> Function,
    ) -> Self {
        let mut dictionary = Dictionary::default();
        let device_type = if description.rx.iter().any(|pdo| pdo.entries.iter().any(|entry| entry.index == 0x6040)) {
            0x0002_0192
        } else {
            0
        };
        standard::add(&mut dictionary, &description, device_type);
        let function = make(&mut dictionary);
        let mut device = Self {
            name,
            esc: Esc::new(Sii::build(&description), clock),
            al: Al::default(),
            pristine: dictionary.clone(),
            dictionary,
            mailbox: description.has_mailbox().then(|| Mailbox::new(&description)),
            description,
            function,
            channels: Vec::new(),
            image: Image::default(),
            missed: None,
            outage: 0,
            id_switch: 0,
            is_deaf: false,
            hides_links: false,
            refusal: None,
            own_ppm: None,
        };
        device.missed = device.dictionary.handle(0x1C32, 11);
        device.publish_al();
        device
    }

    /// Power off and on again. What the EEPROM holds stays, objects have their defaults; the mechanics go on.
    pub fn power_cycle(&mut self) {
        self.esc.power_on();
        self.al = Al::default();
        if let Some(mailbox) = &mut self.mailbox {
            mailbox.reset();
            if let Some(eoe) = &mut mailbox.eoe {
                eoe.power_on();
            }
            if let Some(soe) = &mut mailbox.soe {
                soe.power_on();
            }
        }
        self.stop_outputs(0);
        let before = std::mem::replace(&mut self.dictionary, self.pristine.clone());
        self.image = Image::default();
        match &mut self.function {
            Function::Drive(drive) => drive.power_cycle(&self.dictionary),
            Function::DigitalInput(inputs) => inputs.power_cycle(&before, &mut self.dictionary),
            _ => {}
        }
        self.show_id();
        self.publish_al();
    }

    /// The ID stands where the device's file says, as soon as there is power.
    pub fn show_id(&mut self) {
        if let Some(address) = self.description.identification.address {
            self.esc.put_word(address, self.id_switch);
        }
    }

    /// Has power, and works.
    #[inline]
    pub fn has_power(&self) -> bool {
        self.outage == 0
    }

    /// Its hot-connect group is not in the segment.
    pub fn is_away(&self) -> bool {
        self.outage & AWAY != 0
    }

    /// Takes its power for a reason, or gives it back; it starts anew.
    pub fn set_outage(&mut self, reason: u8, begins: bool) {
        self.power_cycle();
        self.outage = self.outage & !reason | if begins { reason } else { 0 };
    }

    /// In operational: outputs count.
    pub fn is_operational(&self) -> bool {
        self.al.state() == State::Op
    }

    /// Carries out the actions that the frame started: state changes, mailbox, process data outside synchronous operation.
    pub fn settle(&mut self, now_ns: u64) {
        if !self.has_power() {
            return;
        }
        self.esc.follow_reference();
        if std::mem::take(&mut self.esc.events.reset) {
            self.power_cycle();
            return;
        }
        if std::mem::take(&mut self.esc.events.al_control) {
            self.change_state(now_ns);
        }
        if let Some(mailbox) = &mut self.mailbox {
            if self.al.state() == State::Init {
                // Without the mailbox state nothing is served, and written data is lost.
                self.esc.events.written &= !1;
            } else {
                let has_mail = self.esc.events.written & 1 != 0 || self.esc.events.read & 2 != 0;
                if has_mail {
                    mailbox.release(now_ns);
                }
                mailbox.serve(&mut self.esc, &mut self.dictionary, self.al.state());
                if has_mail && mailbox.eoe.is_some() {
                    self.take_frames(now_ns);
                }
            }
        }
        let free_run = !self.esc.clock.as_ref().is_some_and(Clock::runs_sync0);
        if free_run && self.al.state() >= State::SafeOp {
            if self.esc.events.written & self.image.output_bits() != 0 {
                self.outputs(now_ns);
                self.inputs(now_ns);
            } else if self.esc.events.read & self.image.input_bits() != 0 {
                self.inputs(now_ns);
            }
        }
        self.esc.events.written &= 1;
        self.esc.events.read &= 2;
    }

    /// A step of the segment's grid: watchdog and, without SYNC0, inputs.
    #[inline]
    pub fn tick(&mut self, now_ns: u64) {
        if !self.has_power() {
            return;
        }
        if self.esc.watch(now_ns) && self.al.state() == State::Op {
            self.fail(State::SafeOp, AlCode::SyncManagerWatchdog as u16, now_ns);
        }
        if self.al.state() >= State::SafeOp && !self.esc.clock.as_ref().is_some_and(Clock::runs_sync0) {
            self.inputs(now_ns);
        }
        if self.mailbox.as_ref().is_some_and(Mailbox::works_by_itself) {
            self.continue_mail(now_ns);
        }
    }

    /// Late answers and frames that are due.
    #[inline(never)]
    fn continue_mail(&mut self, now_ns: u64) {
        let Some(mailbox) = &mut self.mailbox else { return };
        let (is_due, has_frames) = (mailbox.release(now_ns), mailbox.eoe.is_some());
        if is_due {
            self.deliver_mail();
        }
        if has_frames {
            self.continue_frames(now_ns);
        }
        self.continue_procedures(now_ns);
    }

    /// Puts the next mailbox for the master where there is place, at a moment of the segment's own: the bytes of the next
    /// frame do not depend on whether the loop has worked in front of it.
    pub fn deliver_mail(&mut self) {
        if let Some(mailbox) = self.mailbox.as_mut().filter(|_| self.al.state() != State::Init) {
            mailbox.deliver(&mut self.esc);
        }
    }

    /// SYNC0: outputs take effect, inputs are taken.
    pub fn pulse(&mut self, world_ns: u64) {
        if !self.has_power() || self.al.state() < State::SafeOp {
            return;
        }
        self.outputs(world_ns);
        self.inputs(world_ns);
    }

    /// Falls to `state` with an error code; outputs become safe.
    pub fn fail(&mut self, state: State, code: u16, now_ns: u64) {
        self.al.fail(state, code);
        self.after_state_change(now_ns);
    }

    /// Queues an emergency and sets the error register.
    pub fn raise(&mut self, emergency: Emergency) {
        if let Some(handle) = self.dictionary.handle(0x1001, 0) {
            self.dictionary.set(handle, i64::from(emergency.register));
        }
        if let Some(mailbox) = &mut self.mailbox {
            mailbox.raise(emergency);
        }
    }

    /// The oscillator's error changes to `ppm`; `None` gives it back its own.
    pub fn drift(&mut self, ppm: Option<f64>, now_ns: u64) {
        self.esc.follow_reference();
        let Some(clock) = &mut self.esc.clock else { return };
        let own = *self.own_ppm.get_or_insert(clock.ppm());
        clock.set_ppm(ppm.unwrap_or(own), now_ns);
    }

    fn outputs(&mut self, world_ns: u64) {
        if !self.is_operational() {
            // One buffer: it would stay full, and the master could never write again.
            self.image.output_managers().for_each(|manager| self.esc.empty_mailbox(manager));
            return;
        }
        let are_new = self.image.take(&mut self.esc, &mut self.dictionary);
        let is_missed = !are_new && self.image.output_bits() != 0;
        if let Some(missed) = self.missed.filter(|_| is_missed) {
            self.dictionary.set(missed, (self.dictionary.get(missed) + 1).min(0xFFFF));
        }
        let period_ns = self.esc.clock.as_ref().filter(|clock| clock.runs_sync0()).map(Clock::sync0_ns);
        match &mut self.function {
            Function::Drive(drive) => drive.latch(&self.dictionary, world_ns, period_ns, are_new),
            Function::DigitalOutput(outputs) => outputs.update(&self.dictionary, world_ns),
            Function::AnalogOutput(outputs) => outputs.update(&self.dictionary),
            _ => {}
        }
    }

    fn inputs(&mut self, world_ns: u64) {
        match &mut self.function {
            Function::Drive(drive) => drive.publish(&mut self.dictionary),
            Function::DigitalInput(inputs) => inputs.publish(&mut self.dictionary, world_ns),
            Function::AnalogInput(inputs) => inputs.publish(&mut self.dictionary, world_ns),
            _ => {}
        }
        self.image.put(&mut self.esc, &self.dictionary);
    }

    fn change_state(&mut self, now_ns: u64) {
        let control = self.esc.get(at::AL_CONTROL);
        let (esc, description, dictionary) = (&self.esc, &self.description, &self.dictionary);
        let before = self.al.state();
        let refusal = self.refusal;
        let id = description.identification.by_status.then_some(self.id_switch);
        self.al.request(control, id, |next| match refusal {
            Some((state, code)) if state == next => Err(code),
            _ => check(next, esc, description, dictionary).map_err(|code| code as u16),
        });
        if before < State::SafeOp && self.al.state() == State::SafeOp {
            self.image = Image::resolve(&self.description, &self.dictionary);
            if let Some(missed) = self.missed {
                self.dictionary.set(missed, 0);
            }
        }
        if before < State::Op && self.al.state() == State::Op {
            // Outputs that never come are missed as soon as outputs that stop.
            for manager in self.image.output_managers() {
                self.esc.expect_outputs(manager, now_ns);
            }
        }
        self.after_state_change(now_ns);
    }

    fn after_state_change(&mut self, now_ns: u64) {
        self.publish_al();
        if self.al.state() == State::Init {
            if let Some(mailbox) = &mut self.mailbox {
                mailbox.reset();
            }
        }
        if self.al.state() < State::Op {
            self.stop_outputs(now_ns);
        }
        if self.al.state() >= State::SafeOp {
            self.inputs(now_ns);
        }
    }

    /// Outputs go to their safe value.
    fn stop_outputs(&mut self, now_ns: u64) {
        match &mut self.function {
            Function::DigitalOutput(outputs) => outputs.switch_off(now_ns),
            Function::AnalogOutput(outputs) => outputs.switch_off(),
            Function::Drive(drive) => drive.lose_control(),
            _ => {}
        }
    }

    fn publish_al(&mut self) {
        let (status, code) = (self.al.status(), self.al.code());
        self.esc.set_al_status(status, code);
    }
}

/// Can the device enter `next`?
fn check(next: State, esc: &Esc, description: &Description, dictionary: &Dictionary) -> Result<(), AlCode> {
    let all = |good: &dyn Fn(usize, &Manager) -> bool| {
        let mut managers = description.sync_managers.iter().enumerate();
        managers.find(|(number, manager)| !good(*number, manager)).map_or(Ok(()), |(_, manager)| Err(refused(manager)))
    };
    let is_mapped = |number: usize, manager: &Manager| {
        let wanted = image::assigned_length(description, dictionary, number);
        is_configured(esc, number, manager, wanted..=wanted)
    };
    match next {
        State::Boot => {
            let bootstrap = description.bootstrap.ok_or(AlCode::BootstrapNotSupported)?;
            let is_set = |number: usize, manager: &Manager| {
                let expected = bootstrap.manager(manager);
                expected.is_none_or(|expected| {
                    let bytes = usize::from(expected.size);
                    is_configured(esc, number, &expected, bytes..=bytes)
                })
            };
            all(&is_set).map_err(|_| AlCode::InvalidBootMailboxConfiguration)
        }
        State::PreOp => all(&|number, manager| {
            let (least, most) = manager.sizes;
            !is_mailbox(manager) || is_configured(esc, number, manager, usize::from(least)..=usize::from(most))
        }),
        State::SafeOp => {
            all(&|number, manager| {
                let waits = manager.op_only && esc.manager(number).is_some_and(|found| !found.enabled());
                is_mailbox(manager) || waits || is_mapped(number, manager)
            })?;
            let Some(clock) = &esc.clock else { return Ok(()) };
            let cycle_ns = esc.get(at::SYNC0_CYCLE);
            let is_implausible = cycle_ns != 0 && cycle_ns < crate::esc::clock::SHORTEST_CYCLE_NS;
            match (clock.wants_sync0(), clock.runs_sync0()) {
                (true, _) if is_implausible => Err(AlCode::InvalidDcSyncCycleTime),
                (true, false) => Err(AlCode::InvalidDcSyncConfiguration),
                _ => Ok(()),
            }
        }
        State::Op => all(&|number, manager| !manager.op_only || is_mapped(number, manager)),
        _ => Ok(()),
    }
}

fn is_mailbox(manager: &Manager) -> bool {
    matches!(manager.purpose, Purpose::MailboxOut | Purpose::MailboxIn)
}

/// Did the master set this sync manager up as the device expects it, with as many bytes?
fn is_configured(esc: &Esc, number: usize, expected: &Manager, bytes: RangeInclusive<usize>) -> bool {
    let Some(manager) = esc.manager(number) else { return true };
    if expected.purpose == Purpose::Unused {
        return true;
    }
    if *bytes.end() == 0 {
        return !manager.enabled();
    }
    manager.enabled()
        && manager.start() == usize::from(expected.start)
        && bytes.contains(&manager.length())
        // Mode and direction; interrupts and the watchdog trigger are the master's choice.
        && manager.control() & 0x0F == expected.control & 0x0F
}

fn refused(manager: &Manager) -> AlCode {
    match manager.purpose {
        Purpose::Outputs => AlCode::InvalidOutputConfiguration,
        Purpose::Inputs => AlCode::InvalidInputConfiguration,
        _ => AlCode::InvalidMailboxConfiguration,
    }
}
