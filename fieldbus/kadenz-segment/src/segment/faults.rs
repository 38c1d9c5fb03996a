// SPDX-License-Identifier: Apache-2.0
//! Faults at work: they begin and end with frames, concern frames, devices and requests, and are logged with what the
//! master does next. Nothing here runs while there is no fault.

use super::{datagrams, Addressing, Passed, Segment, Verdict};
use crate::al::State;
use crate::coe::emergency::Emergency;
use crate::device::{Device, Function};
use crate::error::SegmentError;
use crate::fault::mailbox::Hit;
use crate::fault::reaction::{is_to, Reactions};
use crate::fault::{Base, Change, Event, Fault, Kind, Now, Place, Running, Scope};
use crate::foe::server::Busy;
use crate::happening::{Happening, What};
use crate::passage::CableChange;
use crate::ring::Ring;
use crate::topology::End;
use std::sync::Arc;

/// Happenings that are kept until they are taken.
const MOST_HAPPENINGS: usize = 1000;
/// Faults that may be injected and not be over.
const MOST_INJECTED: usize = 256;

/// What is remembered of frames and devices, to see what changes.
#[derive(Default)]
pub(super) struct Watched {
    reactions: Reactions,
    states: Vec<State>,
    requests: Vec<u64>,
    /// Working counter of the last exchange of process data.
    counter: u16,
    /// Number of the newest fault, and how many have been injected and not been forgotten.
    newest: u32,
    injected: usize,
}

impl Segment {
    /// The devices, as faults name them.
    pub fn places(&self) -> Vec<Place> {
        let topology = self.ring.topology();
        self.ring.devices.iter().enumerate().map(|(at, device)| Place::of(device, at, topology)).collect()
    }

    /// Adds faults, whose moments count from the start; a device that does not exist, or cannot have the fault, is an
    /// error.
    pub fn add_faults(&mut self, faults: impl IntoIterator<Item = Fault>) -> Result<(), SegmentError> {
        let places = self.places();
        for fault in faults {
            let wrong = |(message, remedy)| SegmentError::Usage { message: format!("fault {message}"), remedy };
            let positions = fault.places_in(&places).map_err(wrong)?;
            self.add(fault, positions, Base::default());
        }
        Ok(())
    }

    /// Adds a fault whose moments count from now on, at devices of these positions. Gives its number, or `None` if too
    /// many wait.
    pub fn inject(&mut self, fault: Fault, positions: (usize, usize), now_ns: u64) -> Option<u32> {
        if self.watched.injected >= MOST_INJECTED {
            let before = self.faults.len();
            self.faults.retain(|running| !running.is_over());
            self.watched.injected = self.watched.injected.saturating_sub(before - self.faults.len());
        }
        if self.watched.injected >= MOST_INJECTED {
            return None;
        }
        self.watched.injected += 1;
        let start_ns = *self.first_frame_ns.get_or_insert(now_ns);
        let base = Base {
            cycles: self.counters.cycles,
            frames: self.counters.frames,
            requests: self.requests_of(positions.1),
            since_start_ns: now_ns.saturating_sub(start_ns),
        };
        let number = self.add(fault, positions, base);
        self.say(number, now_ns, "injected");
        Some(number)
    }

    fn add(&mut self, fault: Fault, positions: (usize, usize), base: Base) -> u32 {
        if self.faults.is_empty() {
            self.watched.states = self.ring.devices.iter().map(|device| device.al.state()).collect();
            self.watched.requests = self.ring.devices.iter().map(requests).collect();
        }
        self.watched.newest += 1;
        let running = Running::new(fault, self.watched.newest, positions, base);
        if running.fault.kind.scope() == Scope::Mailbox && running.fault.counts_requests() {
            // A request is counted from power-on, an SDO request from when the fault came.
            let seen = if running.fault.request.is_some() { self.requests_of(positions.0) - base.requests } else { 0 };
            self.arm(&running, seen, 0);
        }
        self.faults.push(running);
        self.watched.newest
    }

    fn requests_of(&self, position: usize) -> u64 {
        self.ring.devices.get(position).map_or(0, requests)
    }

    /// Lets a fault wait in the mailbox of its device.
    fn arm(&mut self, running: &Running, seen: u64, now_ns: u64) {
        let device = self.ring.devices.get_mut(running.device);
        let Some(mailbox) = device.and_then(|device| device.mailbox.as_mut()) else { return };
        if !mailbox.steps.add(running.number, running.fault.clone(), seen) {
            let text = "left out: too many wait for requests of the device".into();
            self.happen(now_ns, What::Fault { label: Arc::clone(&running.label), text });
        }
    }

    /// The faults, in the order in which they came.
    pub fn faults(&self) -> &[Running] {
        &self.faults
    }

    /// Ends faults, all or one by its number; gives how many had not been over.
    pub fn clear_faults(&mut self, number: Option<u32>, now_ns: u64) -> usize {
        let mut cleared = 0;
        for index in 0..self.faults.len() {
            let Some(running) = self.faults.get_mut(index) else { continue };
            if running.is_over() || number.is_some_and(|number| number != running.number) {
                continue;
            }
            cleared += 1;
            let was_active = running.is_active;
            running.end();
            let (label, device) = (Arc::clone(&running.label), running.device);
            if was_active && running.fault.kind.is_of_group() {
                let fault = running.fault.clone();
                self.move_group(&fault, &label, device, Change::Ends, now_ns);
            } else if was_active && running.fault.kind == Kind::BreakCable {
                let change = CableChange::before(device, running.fault.port(), now_ns, true);
                self.change_cable(change);
                self.ring.settle_cables(now_ns);
            } else if was_active {
                apply(&mut self.ring, &running.fault, device, Change::Ends, now_ns);
            }
            self.happen(now_ns, What::Fault { label, text: "cleared".into() });
        }
        for mailbox in self.ring.devices.iter_mut().filter_map(|device| device.mailbox.as_mut()) {
            mailbox.steps.remove(number);
        }
        cleared
    }

    /// Takes what happened since the last call: in order of time.
    pub fn take_happenings(&mut self) -> Vec<Happening> {
        let mut happenings = std::mem::take(&mut self.happenings);
        happenings.sort_by_key(|happening| happening.world_ns);
        happenings
    }

    pub(super) fn process_with_faults(&mut self, from: End, frame: &mut [u8], now_ns: u64) -> Passed {
        let mut parsed = match datagrams(frame) {
            Ok(parsed) => parsed,
            Err(error) => return self.ignore(from, error, now_ns),
        };
        let is_cyclic = parsed.any(|datagram| datagram.command().addressing() == Addressing::Logical);
        let start_ns = *self.first_frame_ns.get_or_insert(now_ns);
        let now = Now {
            frame: self.counters.frames + 1,
            cycle: self.counters.cycles + u64::from(is_cyclic && from == End::First),
            is_cyclic,
            world_ns: now_ns,
            since_start_ns: now_ns.saturating_sub(start_ns),
        };
        let (happenings, ring) = (&mut self.happenings, &self.ring);
        self.watched.reactions.see_time(now_ns, ring, &mut |happening| keep(happenings, happening));
        self.watched.reactions.see_frame(frame, ring, now_ns, &mut |happening| keep(happenings, happening));
        for index in 0..self.faults.len() {
            self.update(index, frame, &now, start_ns);
        }
        self.ring.settle_cables(now_ns);
        let passed = self.pass_in_flight(from, frame, &now, now_ns);
        if is_cyclic && from == End::First {
            self.judge(frame, passed.verdict, &now);
        }
        passed
    }

    /// Begins or ends a fault, if it is time.
    fn update(&mut self, index: usize, frame: &mut [u8], now: &Now, start_ns: u64) {
        let Some(running) = self.faults.get_mut(index) else { return };
        if running.is_over() {
            return;
        }
        if running.fault.datagram.is_some() && fitting(&running.fault, running.device, frame, &self.ring) != 0 {
            running.see_datagram();
        }
        let requests = self.ring.devices.get(running.source).map_or(0, requests);
        let change = if running.fault.kind == Kind::BreakCable {
            let horizon_ns = self.ring.topology().longest_passage_ns();
            running.update_cable(now, requests, horizon_ns).map(|(at, stands)| {
                let change = cable_change(running, at.map(|at| start_ns + at), stands, now.world_ns);
                (if stands { Change::Ends } else { Change::Begins }, Some(change))
            })
        } else {
            running.update(now, requests).map(|change| (change, None))
        };
        let Some((change, cable)) = change else { return };
        let number = running.number;
        if running.fault.kind.is_of_group() {
            let (fault, label, device) = (running.fault.clone(), Arc::clone(&running.label), running.device);
            self.say(number, now.world_ns, if change == Change::Begins { "begins" } else { "ends" });
            self.move_group(&fault, &label, device, change, now.world_ns);
            if change == Change::Begins {
                self.watch(index, now.world_ns);
            }
            return;
        }
        let at_ns = cable.map_or(now.world_ns, |cable| cable.at_ns);
        match (running.fault.kind.scope(), cable) {
            (_, Some(cable)) => self.change_cable(cable),
            (Scope::Device, None) => apply(&mut self.ring, &running.fault, running.device, change, now.world_ns),
            (Scope::Frame, None) => {}
            // It begins with the request that it meets.
            (Scope::Mailbox, None) => {
                if change == Change::Begins {
                    let running = running.clone();
                    self.arm(&running, 0, now.world_ns);
                }
                return;
            }
        }
        self.say(number, at_ns, if change == Change::Begins { "begins" } else { "ends" });
        if change == Change::Begins {
            self.watch(index, at_ns);
        }
    }

    fn pass_in_flight(&mut self, from: End, frame: &mut [u8], now: &Now, now_ns: u64) -> Passed {
        let Some(passage) = self.ring.passage_in_flight(from, now_ns) else {
            return self.apply_to_frame(from, frame, now, now_ns);
        };
        let (is_usual, leaves) = (passage == *self.ring.passage(from), passage.leaves.is_some());
        let usual = self.ring.replace_passage(from, passage);
        let passed = self.apply_to_frame(from, frame, now, now_ns);
        self.ring.replace_passage(from, usual);
        if !is_usual && !leaves {
            self.happen(now_ns, What::FrameLost { number: self.counters.frames, from });
        }
        passed
    }

    /// An exchange of process data is healthy in OP that comes back in time, undisturbed, and with the working counter of the
    /// one before.
    fn judge(&mut self, frame: &mut [u8], verdict: Verdict, now: &Now) {
        let is_disturbed =
            self.faults.iter().any(|running| running.fault.kind.scope() == Scope::Frame && running.concerns(now));
        let process_data =
            |datagram: &crate::frame::Datagram<'_>| datagram.command().addressing() == Addressing::Logical;
        let counters = datagrams(frame).into_iter().flatten().filter(process_data);
        let counter = counters.fold(0, |sum: u16, datagram| sum.wrapping_add(datagram.working_counter()));
        let before = std::mem::replace(&mut self.watched.counter, counter);
        let is_healthy =
            verdict == Verdict::Returned && !is_disturbed && counter != 0 && counter == before && self.is_operational();
        self.faults.iter_mut().for_each(|running| running.see_exchange(is_healthy));
    }

    /// Looks at what the devices did with the last frame: states that they entered, requests that they took.
    pub(super) fn observe(&mut self, now_ns: u64) {
        for at in 0..self.ring.devices.len() {
            let Some(device) = self.ring.devices.get_mut(at) else { continue };
            let (state, asked) = (device.al.state(), requests(device));
            let sdo = device.mailbox.as_mut().and_then(|mailbox| mailbox.steps.taken.take());
            let hits = device.mailbox.as_mut().map_or(Vec::new(), |mailbox| std::mem::take(&mut mailbox.steps.hits));
            if let Some(before) = self.watched.states.get_mut(at) {
                if std::mem::replace(before, state) != state {
                    self.faults.iter_mut().for_each(|running| running.see(Event::Entered(at, state)));
                }
            }
            if let Some(before) = self.watched.requests.get_mut(at) {
                if std::mem::replace(before, asked) != asked {
                    if let Some(sdo) = sdo {
                        self.faults.iter_mut().for_each(|running| running.see(Event::Sdo(at, sdo.index, sdo.sub)));
                    }
                }
            }
            hits.iter().for_each(|hit| self.meet(hit, now_ns));
        }
        let (happenings, ring) = (&mut self.happenings, &self.ring);
        self.watched.reactions.see_time(now_ns, ring, &mut |happening| keep(happenings, happening));
    }

    /// A fault of a mailbox has met its request.
    fn meet(&mut self, hit: &Hit, now_ns: u64) {
        let Some(index) = self.faults.iter().position(|running| running.number == hit.number) else { return };
        if let Some(running) = self.faults.get_mut(index) {
            running.hit(hit.is_last);
        }
        let what = hit.sdo.map_or("a request".into(), |sdo| {
            let verb = if sdo.writes { "write" } else { "read" };
            format!("the SDO {verb} of {:#06x}:{:02}", sdo.index, sdo.sub)
        });
        self.say(hit.number, now_ns, &format!("meets {what}"));
        self.watch(index, now_ns);
    }

    /// A fault has taken effect: what the master does from now on is logged.
    fn watch(&mut self, index: usize, now_ns: u64) {
        if let Some(running) = self.faults.get(index) {
            self.watched.reactions.begin(running, now_ns);
        }
    }

    fn say(&mut self, number: u32, world_ns: u64, text: &str) {
        let running = self.faults.iter().find(|running| running.number == number);
        let Some(label) = running.map(|running| Arc::clone(&running.label)) else { return };
        self.happen(world_ns, What::Fault { label, text: text.into() });
    }

    fn change_cable(&mut self, change: CableChange) {
        let CableChange { device, port, at_ns, stands, .. } = change;
        let device = self.ring.devices.get(device).map_or_else(String::new, |device| device.name.clone());
        self.happen(at_ns, What::Cable { device, port, stands });
        self.ring.change_cable(change);
    }

    pub(super) fn happen(&mut self, world_ns: u64, what: What) {
        keep(&mut self.happenings, Happening { world_ns, what });
    }

    fn apply_to_frame(&mut self, from: End, frame: &mut [u8], now: &Now, now_ns: u64) -> Passed {
        // Datagrams that each fault of frames concerns, by their number; before devices change an address.
        let mut concerned: [(Option<u128>, usize); 6] = [(None, 0); 6];
        const OF_FRAMES: [Kind; 6] = [
            Kind::LoseFrame,
            Kind::LoseReturn,
            Kind::DoubleFrame,
            Kind::LateFrame,
            Kind::CorruptFrame,
            Kind::WrongCounter,
        ];
        for (kind, place) in OF_FRAMES.into_iter().zip(&mut concerned) {
            let of_kind = self.faults.iter().enumerate();
            let mut of_kind = of_kind.filter(|(_, running)| running.fault.kind == kind && running.concerns(now));
            if let Some((mask, index)) = of_kind.find_map(|(index, running)| {
                let mask = fitting(&running.fault, running.device, frame, &self.ring);
                (mask != 0 || !running.fault.has_filter()).then_some((mask, index))
            }) {
                *place = (Some(mask), index);
            }
        }
        let [never, back, twice, late, corrupt, wrong] = concerned;
        if never.0.is_some() {
            self.count(from, now.is_cyclic);
            return self.lose(from);
        }
        let Passed { verdict, leaves } = match self.first_bit_error(from, frame, now, now_ns) {
            Some(at) => self.pass_with_bit_error(from, frame, &at, now_ns),
            None => self.pass(from, frame, now_ns),
        };
        if verdict == Verdict::Lost {
            return Passed { verdict, leaves };
        }
        let fault = |(mask, index): (Option<u128>, usize)| self.faults.get(index).filter(|_| mask.is_some());
        if let Some(delta) = fault(wrong).and_then(|running| running.fault.delta) {
            miscount(frame, wrong.0.unwrap_or(0), delta);
        }
        if let Some(running) = fault(corrupt) {
            let last = frame.len().saturating_sub(1);
            if let Some(byte) = frame.get_mut(running.fault.byte.unwrap_or(last).min(last)) {
                *byte ^= 0xFF;
            }
        }
        let late = fault(late).and_then(|running| running.fault.delay_us);
        let verdict = match late {
            _ if back.0.is_some() => return self.lose(from),
            Some(us) => Verdict::Late(u64::from(us) * 1000),
            None if twice.0.is_some() => Verdict::Doubled,
            None => verdict,
        };
        Passed { verdict, leaves }
    }
}

fn keep(happenings: &mut Vec<Happening>, happening: Happening) {
    // Nobody takes them where no interface is served.
    if happenings.len() < MOST_HAPPENINGS {
        happenings.push(happening);
    }
}

fn requests(device: &Device) -> u64 {
    device.mailbox.as_ref().map_or(0, |mailbox| mailbox.requests)
}

/// The datagrams of a frame that a fault concerns, a bit each: those that it names, else those with process data.
pub(super) fn fitting(fault: &Fault, position: usize, frame: &mut [u8], ring: &Ring) -> u128 {
    let fits = |datagram: &crate::frame::Datagram<'_>| match fault.has_filter() {
        true => fault.fits(datagram, || is_to(datagram, position, ring)),
        false => datagram.command().addressing() == Addressing::Logical,
    };
    let numbered = datagrams(frame).into_iter().flatten().enumerate();
    numbered
        .filter(|(_, datagram)| fits(datagram))
        .fold(0, |mask, (at, _)| mask | 1_u128.checked_shl(at as u32).unwrap_or(0))
}

/// Shifts the working counters of datagrams, a bit each.
fn miscount(frame: &mut [u8], mask: u128, delta: i16) {
    for (at, mut datagram) in datagrams(frame).into_iter().flatten().enumerate() {
        if mask.checked_shr(at as u32).unwrap_or(0) & 1 == 1 {
            datagram.force_working_counter(datagram.working_counter().wrapping_add_signed(delta));
        }
    }
}

/// The change that a fault of a cable begins or ends with. `at_ns` is its moment; absent: that of the frame.
fn cable_change(running: &Running, at_ns: Option<u64>, stands: bool, now_ns: u64) -> CableChange {
    let (device, port) = (running.device, running.fault.port());
    let in_frame = || running.fault.after_ns.map(|after_ns| now_ns.saturating_add(after_ns.into()));
    match at_ns.or_else(in_frame) {
        Some(at_ns) => CableChange::at(device, port, at_ns, stands),
        None => CableChange::before(device, port, now_ns, stands),
    }
}

/// Begins or ends a fault of a device.
fn apply(ring: &mut Ring, fault: &Fault, position: usize, change: Change, now_ns: u64) {
    let begins = change == Change::Begins;
    match fault.kind {
        Kind::DeviceGone => return ring.set_power(position, !begins),
        Kind::DeviceReset if begins => return ring.set_power(position, true),
        Kind::NoLink => return ring.hide_links(position, begins),
        _ => {}
    }
    let Some(device) = ring.devices.get_mut(position) else { return };
    let code = fault.code.unwrap_or(0);
    let state = fault.state.and_then(|state| State::from_code(u16::from(state)));
    let emergency = Emergency { code, register: 0x81, data: [0; 5] };
    match (fault.kind, begins) {
        (Kind::DeviceDeaf, _) => device.is_deaf = begins,
        (Kind::AlError, true) => device.fail(state.unwrap_or(State::Init), code, now_ns),
        (Kind::RefuseState, _) => device.refusal = state.filter(|_| begins).map(|state| (state, code)),
        (Kind::DriveFault, true) => {
            if let Function::Drive(drive) = &mut device.function {
                drive.fail(code);
            }
        }
        (Kind::ClockDrift, _) => device.drift(fault.ppm.filter(|_| begins), now_ns),
        (Kind::Emergency, true) => device.raise(emergency),
        (Kind::EepromChecksum, _) => device.esc.sii.flip_checksum(),
        (kind, _) => {
            if let Some(mailbox) = &mut device.mailbox {
                match kind {
                    Kind::MailboxSilent => mailbox.is_silent = begins,
                    Kind::EmergencyDuringRequest => mailbox.interrupting = begins.then_some(emergency),
                    _ => {}
                }
                if let Some(server) = &mut mailbox.foe {
                    let packet = fault.packet.unwrap_or(0);
                    match kind {
                        Kind::FoeBusy => {
                            let times = fault.times.unwrap_or(1);
                            server.busy = begins.then_some(Busy { packet, times });
                        }
                        Kind::FoeError => server.abort = begins.then_some((packet, u32::from(code))),
                        _ => {}
                    }
                }
            }
        }
    }
}
