// SPDX-License-Identifier: Apache-2.0
//! The segment: what a frame meets between leaving the master and coming back.

use crate::al::State;
use crate::coe::emergency::Emergency;
use crate::command::{Addressing, Command};
use crate::device::{Device, Function};
use crate::error::SegmentError;
use crate::esc::Arrival;
use crate::fault::{Change, Fault, Kind, Now, Running};
use crate::foe::server::Busy;
use crate::frame::{datagrams, mark_returned, Datagram};
use crate::happening::{Happening, What};
use crate::passage::{CableChange, Visit};
use crate::process_image::Key;
use crate::ring::Ring;
use crate::topology::End;

/// Fate of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is no EtherCAT frame: not ours to answer.
    Ignored,
    /// It comes back once, without delay.
    Returned,
    /// It does not come back.
    Lost,
    /// It comes back twice.
    Doubled,
    /// It comes back after this many ns.
    Late(u64),
}

/// A frame behind the segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed {
    /// Its fate.
    pub verdict: Verdict,
    /// The end at which it leaves, if it does.
    pub leaves: End,
}

/// Frames that have passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// EtherCAT frames that passed.
    pub frames: u64,
    /// Frames with process data that came in at the first end.
    pub cycles: u64,
    /// Frames that were no EtherCAT.
    pub ignored: u64,
    /// Frames that faults or broken cables kept from coming back.
    pub lost: u64,
}

/// Happenings that are kept until they are taken.
const MOST_HAPPENINGS: usize = 1000;

/// A simulated segment: a ring of devices, faults, a capture.
pub struct Segment {
    ring: Ring,
    faults: Vec<Running>,
    counters: Counters,
    first_frame_ns: Option<u64>,
    /// What happened to cables and to frames in them, for [`Segment::take_happenings`].
    happenings: Vec<Happening>,
}

impl Segment {
    /// A segment without faults.
    pub fn new(ring: Ring) -> Self {
        Self { ring, faults: Vec::new(), counters: Counters::default(), first_frame_ns: None, happenings: Vec::new() }
    }

    /// Adds faults; a device that does not exist, or cannot have the fault, is an error.
    pub fn add_faults(&mut self, faults: impl IntoIterator<Item = Fault>) -> Result<(), SegmentError> {
        for fault in faults {
            let wrong = |(message, remedy)| SegmentError::Usage { message: format!("fault {message}"), remedy };
            let device = fault.device_in(&self.ring).map_err(wrong)?;
            self.faults.push(Running::new(fault, device));
        }
        Ok(())
    }

    /// The devices, and the mechanism that they move.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// The devices, for tests and tools that reach inside.
    pub fn ring_mut(&mut self) -> &mut Ring {
        &mut self.ring
    }

    /// Frames that have passed.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// When the segment next has something to do by itself, ns.
    pub fn next_event_ns(&self) -> u64 {
        self.ring.next_event_ns()
    }

    /// Passes a frame that arrives at `now_ns` through all devices, in place. Call [`Segment::settle`] once it is
    /// sent back: as in the hardware, applications work after the frame has passed.
    #[inline]
    pub fn process(&mut self, frame: &mut [u8], now_ns: u64) -> Verdict {
        self.process_from(End::First, frame, now_ns).verdict
    }

    /// As [`Segment::process`], for a frame that comes in at either end of a ring.
    #[inline]
    pub fn process_from(&mut self, from: End, frame: &mut [u8], now_ns: u64) -> Passed {
        self.ring.take_leads();
        self.ring.catch_up(now_ns);
        if self.faults.is_empty() {
            return self.pass(from, frame, now_ns, None);
        }
        self.process_with_faults(from, frame, now_ns)
    }

    /// Takes what happened to cables, and to frames in them, since the last call: in order of time.
    pub fn take_happenings(&mut self) -> Vec<Happening> {
        let mut happenings = std::mem::take(&mut self.happenings);
        happenings.sort_by_key(|happening| happening.world_ns);
        happenings
    }

    /// Does what frames have set off, and everything due up to `now_ns`.
    pub fn settle(&mut self, now_ns: u64) {
        self.ring.settle(now_ns);
    }

    #[inline]
    fn pass(&mut self, from: End, frame: &mut [u8], now_ns: u64, wrong: Option<i16>) -> Passed {
        if self.ring.passage(from).loops_at.is_some() {
            return self.pass_closed_port_0(from, frame, now_ns, wrong);
        }
        self.pass_devices(from, frame, now_ns, wrong)
    }

    /// A frame that meets a closed port 0: marked there, or destroyed if it was marked before.
    #[cold]
    fn pass_closed_port_0(&mut self, from: End, frame: &mut [u8], now_ns: u64, wrong: Option<i16>) -> Passed {
        let is_marked = datagrams(frame).is_ok_and(|mut datagrams| datagrams.any(|datagram| datagram.circulates()));
        if is_marked {
            let usual = self.ring.passage(from).clone();
            let usual = self.ring.replace_passage(from, usual.of_marked());
            let passed = self.pass_devices(from, frame, now_ns, wrong);
            self.ring.replace_passage(from, usual);
            self.happen(now_ns, What::FrameDestroyed { number: self.counters.frames, from });
            return passed;
        }
        let passed = self.pass_devices(from, frame, now_ns, wrong);
        datagrams(frame).into_iter().flatten().for_each(|mut datagram| datagram.mark_circulating());
        passed
    }

    fn pass_devices(&mut self, from: End, frame: &mut [u8], now_ns: u64, wrong: Option<i16>) -> Passed {
        let Ok(datagrams) = datagrams(frame) else {
            self.counters.ignored += 1;
            return Passed { verdict: Verdict::Ignored, leaves: from };
        };
        let events = self.ring.frame_events(from);
        let mut is_cyclic = false;
        for mut datagram in datagrams {
            let command = datagram.command();
            let is_logical = command.addressing() == Addressing::Logical;
            is_cyclic |= is_logical;
            work(&mut self.ring, from, command, &mut datagram, now_ns);
            if events != 0 {
                datagram.add_events(events);
            }
            if let Some(delta) = wrong.filter(|_| is_logical) {
                datagram.force_working_counter(datagram.working_counter().wrapping_add_signed(delta));
            }
        }
        self.count(from, is_cyclic);
        let passage = self.ring.passage(from);
        // Devices that only pass a frame on leave its address as it is.
        if !passage.visits.is_empty() {
            mark_returned(frame);
        }
        let Some(leaves) = passage.leaves else { return self.lose(from) };
        Passed { verdict: Verdict::Returned, leaves }
    }

    #[inline]
    fn count(&mut self, from: End, is_cyclic: bool) {
        self.counters.frames += 1;
        // A master with two interfaces sends a cycle twice.
        self.counters.cycles += u64::from(is_cyclic && from == End::First);
    }

    #[cold]
    fn lose(&mut self, from: End) -> Passed {
        self.counters.lost += 1;
        Passed { verdict: Verdict::Lost, leaves: from }
    }

    fn process_with_faults(&mut self, from: End, frame: &mut [u8], now_ns: u64) -> Passed {
        let Ok(mut parsed) = datagrams(frame) else {
            self.counters.ignored += 1;
            return Passed { verdict: Verdict::Ignored, leaves: from };
        };
        let is_cyclic = parsed.any(|datagram| datagram.command().addressing() == Addressing::Logical);
        let start_ns = *self.first_frame_ns.get_or_insert(now_ns);
        let now = Now {
            frame: self.counters.frames + 1,
            cycle: self.counters.cycles + u64::from(is_cyclic && from == End::First),
            is_cyclic,
            since_start_ns: now_ns.saturating_sub(start_ns),
        };
        for index in 0..self.faults.len() {
            let Some(running) = self.faults.get_mut(index) else { continue };
            let device = self.ring.devices.get(running.device);
            let requests = device.and_then(|device| device.mailbox.as_ref()).map_or(0, |mailbox| mailbox.requests);
            if running.fault.kind == Kind::BreakCable {
                let horizon_ns = self.ring.topology().longest_passage_ns();
                if let Some((at, stands)) = running.update_cable(&now, requests, horizon_ns) {
                    let change = cable_change(running, at.map(|at| start_ns + at), stands, now_ns);
                    self.change_cable(change);
                }
            } else if let Some(change) = running.update(&now, requests) {
                apply(&mut self.ring, &running.fault, running.device, change, now_ns);
            }
        }
        self.ring.settle_cables(now_ns);
        let Some(passage) = self.ring.passage_in_flight(from, now_ns) else {
            return self.apply_to_frame(from, frame, &now, now_ns);
        };
        let (is_usual, leaves) = (passage == *self.ring.passage(from), passage.leaves.is_some());
        let usual = self.ring.replace_passage(from, passage);
        let passed = self.apply_to_frame(from, frame, &now, now_ns);
        self.ring.replace_passage(from, usual);
        if !is_usual && !leaves {
            self.happen(now_ns, What::FrameLost { number: self.counters.frames, from });
        }
        passed
    }

    fn change_cable(&mut self, change: CableChange) {
        let CableChange { device, port, at_ns, stands, .. } = change;
        let device = self.ring.devices.get(device).map_or_else(String::new, |device| device.name.clone());
        self.happen(at_ns, What::Cable { device, port, stands });
        self.ring.change_cable(change);
    }

    fn happen(&mut self, world_ns: u64, what: What) {
        // Nobody takes them where no interface is served.
        if self.happenings.len() < MOST_HAPPENINGS {
            self.happenings.push(Happening { world_ns, what });
        }
    }

    fn apply_to_frame(&mut self, from: End, frame: &mut [u8], now: &Now, now_ns: u64) -> Passed {
        let find = |kind| self.faults.iter().find(|running| running.fault.kind == kind && running.concerns(now));
        let late = find(Kind::LateFrame).and_then(|running| running.fault.delay_us);
        let corrupt = find(Kind::CorruptFrame).map(|running| running.fault.byte);
        let wrong = find(Kind::WrongCounter).and_then(|running| running.fault.delta);
        let (never, back, twice) =
            (find(Kind::LoseFrame).is_some(), find(Kind::LoseReturn).is_some(), find(Kind::DoubleFrame).is_some());
        if never {
            self.count(from, now.is_cyclic);
            return self.lose(from);
        }
        let Passed { verdict, leaves } = self.pass(from, frame, now_ns, wrong);
        if verdict == Verdict::Lost {
            return Passed { verdict, leaves };
        }
        if let Some(byte) = corrupt {
            let last = frame.len().saturating_sub(1);
            if let Some(byte) = frame.get_mut(byte.unwrap_or(last).min(last)) {
                *byte ^= 0xFF;
            }
        }
        let verdict = match late {
            _ if back => return self.lose(from),
            Some(us) => Verdict::Late(u64::from(us) * 1000),
            None if twice => Verdict::Doubled,
            None => verdict,
        };
        Passed { verdict, leaves }
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

/// One datagram through all devices.
#[inline]
fn work(ring: &mut Ring, from: End, command: Command, datagram: &mut Datagram<'_>, now_ns: u64) {
    match command.addressing() {
        Addressing::None => {}
        Addressing::Logical => work_logical(ring, from, command, datagram, now_ns),
        Addressing::Broadcast => work_broadcast(ring, from, command, datagram, now_ns),
        Addressing::Position => work_at_one::<true>(ring, from, command, datagram, now_ns),
        Addressing::Station => work_at_one::<false>(ring, from, command, datagram, now_ns),
    }
}

fn work_logical(ring: &mut Ring, from: End, command: Command, datagram: &mut Datagram<'_>, now_ns: u64) {
    let (start, reads, writes) = (datagram.logical(), command.reads(), command.writes());
    let key = Key { start, length: datagram.data.len(), reads, writes };
    if let Some(steps) = ring.exchange_image(from, key, datagram.data, now_ns) {
        return datagram.add_working_counter(steps);
    }
    let for_write = if reads { 2 } else { 1 };
    let mut steps = 0_u16;
    ring.for_each_reached(from, |device, visit| {
        if !device.is_deaf {
            let (read, written) = device.esc.logical(start, datagram.data, reads, writes, &arrival(visit, now_ns));
            steps = steps.wrapping_add(u16::from(read) + for_write * u16::from(written));
        }
    });
    datagram.add_working_counter(steps);
}

fn work_broadcast(ring: &mut Ring, from: End, command: Command, datagram: &mut Datagram<'_>, now_ns: u64) {
    let offset = datagram.offset();
    let (mut steps, mut passed) = (0_u16, 0_u16);
    ring.for_each_reached(from, |device, visit| {
        passed = passed.wrapping_add(1);
        if !device.is_deaf {
            let step = exchange::<true>(device, command, offset, datagram.data, &arrival(visit, now_ns));
            steps = steps.wrapping_add(step);
        }
    });
    datagram.set_address(datagram.address().wrapping_add(passed));
    datagram.add_working_counter(steps);
}

/// To one device, by its position or by its station address; a multiple write is written by all others.
fn work_at_one<const BY_POSITION: bool>(
    ring: &mut Ring,
    from: End,
    command: Command,
    datagram: &mut Datagram<'_>,
    now_ns: u64,
) {
    let (offset, mut address, others_write) = (datagram.offset(), datagram.address(), command.multiple_write());
    let mut steps = 0_u16;
    ring.for_each_reached(from, |device, visit| {
        let is_meant = if BY_POSITION { address == 0 } else { device.esc.is_station(address) };
        if BY_POSITION {
            address = address.wrapping_add(1);
        }
        if device.is_deaf || !(is_meant || others_write) {
            return;
        }
        let arrival = arrival(visit, now_ns);
        let step = if is_meant {
            exchange::<false>(device, command, offset, datagram.data, &arrival)
        } else {
            u16::from(device.esc.write(offset, datagram.data, &arrival))
        };
        steps = steps.wrapping_add(step);
    });
    datagram.set_address(address);
    datagram.add_working_counter(steps);
}

#[inline]
fn arrival(visit: &Visit, now_ns: u64) -> Arrival<'_> {
    Arrival { world_ns: now_ns.saturating_add(visit.enters_ns), sent_ns: now_ns, ports_after_ns: &visit.ports_ns }
}

/// Reads, writes or both at one device. Gives the step of the working counter.
#[inline]
fn exchange<const OR: bool>(
    device: &mut Device,
    command: Command,
    offset: u16,
    data: &mut [u8],
    arrival: &Arrival<'_>,
) -> u16 {
    let (reads, writes) = (command.reads(), command.writes());
    if !(reads && writes) {
        if reads {
            return u16::from(device.esc.read::<OR>(offset, data, arrival));
        }
        return u16::from(device.esc.write(offset, data, arrival));
    }
    // The reference's time in every frame is 8 bytes; the longest datagram has 11 bits of length.
    if data.len() <= 8 {
        both::<OR, 8>(device, offset, data, arrival)
    } else {
        both::<OR, 2048>(device, offset, data, arrival)
    }
}

/// Memory takes the value of the frame, the frame takes the old value of memory.
#[inline]
fn both<const OR: bool, const MOST: usize>(
    device: &mut Device,
    offset: u16,
    data: &mut [u8],
    arrival: &Arrival<'_>,
) -> u16 {
    let mut incoming = [0_u8; MOST];
    let Some(incoming) = incoming.get_mut(..data.len()) else { return 0 };
    incoming.copy_from_slice(data);
    let read = device.esc.read::<OR>(offset, data, arrival);
    let written = device.esc.write(offset, incoming, arrival);
    u16::from(read) + 2 * u16::from(written)
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
