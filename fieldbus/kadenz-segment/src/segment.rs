// SPDX-License-Identifier: Apache-2.0
//! The segment: what a frame meets between leaving the master and coming back.

use crate::al::State;
use crate::coe::emergency::Emergency;
use crate::command::{Addressing, Command};
use crate::device::{Device, Function};
use crate::error::SegmentError;
use crate::esc::Arrival;
use crate::fault::{Change, Fault, Kind, Now, Running};
use crate::frame::{datagrams, mark_returned, Datagram};
use crate::process_image::Key;
use crate::ring::Ring;
use crate::topology::Visit;

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

/// Frames that have passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// EtherCAT frames that passed.
    pub frames: u64,
    /// Frames with process data.
    pub cycles: u64,
    /// Frames that were no EtherCAT.
    pub ignored: u64,
    /// Frames that faults kept from coming back.
    pub lost: u64,
}

/// A simulated segment: a ring of devices, faults, a capture.
pub struct Segment {
    ring: Ring,
    faults: Vec<Running>,
    counters: Counters,
    first_frame_ns: Option<u64>,
}

impl Segment {
    /// A segment without faults.
    pub fn new(ring: Ring) -> Self {
        Self { ring, faults: Vec::new(), counters: Counters::default(), first_frame_ns: None }
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
        self.ring.take_leads();
        self.ring.catch_up(now_ns);
        if self.faults.is_empty() {
            return self.pass(frame, now_ns, None);
        }
        self.process_with_faults(frame, now_ns)
    }

    /// Does what frames have set off, and everything due up to `now_ns`.
    pub fn settle(&mut self, now_ns: u64) {
        self.ring.settle(now_ns);
    }

    fn pass(&mut self, frame: &mut [u8], now_ns: u64, wrong: Option<i16>) -> Verdict {
        let Ok(datagrams) = datagrams(frame) else {
            self.counters.ignored += 1;
            return Verdict::Ignored;
        };
        let events = self.ring.frame_events();
        let mut is_cyclic = false;
        for mut datagram in datagrams {
            let command = datagram.command();
            let is_logical = command.addressing() == Addressing::Logical;
            is_cyclic |= is_logical;
            work(&mut self.ring, command, &mut datagram, now_ns);
            if events != 0 {
                datagram.add_events(events);
            }
            if let Some(delta) = wrong.filter(|_| is_logical) {
                datagram.force_working_counter(datagram.working_counter().wrapping_add_signed(delta));
            }
        }
        self.counters.frames += 1;
        self.counters.cycles += u64::from(is_cyclic);
        mark_returned(frame);
        Verdict::Returned
    }

    fn process_with_faults(&mut self, frame: &mut [u8], now_ns: u64) -> Verdict {
        let Ok(mut parsed) = datagrams(frame) else {
            self.counters.ignored += 1;
            return Verdict::Ignored;
        };
        let is_cyclic = parsed.any(|datagram| datagram.command().addressing() == Addressing::Logical);
        let start_ns = *self.first_frame_ns.get_or_insert(now_ns);
        let now = Now {
            frame: self.counters.frames + 1,
            cycle: self.counters.cycles + u64::from(is_cyclic),
            is_cyclic,
            since_start_ns: now_ns.saturating_sub(start_ns),
        };
        for index in 0..self.faults.len() {
            let Some(running) = self.faults.get_mut(index) else { continue };
            let device = self.ring.devices.get(running.device);
            let requests = device.and_then(|device| device.mailbox.as_ref()).map_or(0, |mailbox| mailbox.requests);
            if let Some(change) = running.update(&now, requests) {
                apply(&mut self.ring, &running.fault, running.device, change, now_ns);
            }
        }
        self.apply_to_frame(frame, &now, now_ns)
    }

    fn apply_to_frame(&mut self, frame: &mut [u8], now: &Now, now_ns: u64) -> Verdict {
        let find = |kind| self.faults.iter().find(|running| running.fault.kind == kind && running.concerns(now));
        let late = find(Kind::LateFrame).and_then(|running| running.fault.delay_us);
        let corrupt = find(Kind::CorruptFrame).map(|running| running.fault.byte);
        let wrong = find(Kind::WrongCounter).and_then(|running| running.fault.delta);
        let (never, back, twice) =
            (find(Kind::LoseFrame).is_some(), find(Kind::LoseReturn).is_some(), find(Kind::DoubleFrame).is_some());
        if never {
            self.counters.frames += 1;
            self.counters.cycles += u64::from(now.is_cyclic);
            self.counters.lost += 1;
            return Verdict::Lost;
        }
        let verdict = self.pass(frame, now_ns, wrong);
        if let Some(byte) = corrupt {
            let last = frame.len().saturating_sub(1);
            if let Some(byte) = frame.get_mut(byte.unwrap_or(last).min(last)) {
                *byte ^= 0xFF;
            }
        }
        match late {
            _ if back => {
                self.counters.lost += 1;
                Verdict::Lost
            }
            Some(us) => Verdict::Late(u64::from(us) * 1000),
            None if twice => Verdict::Doubled,
            None => verdict,
        }
    }
}

/// One datagram through all devices.
#[inline]
fn work(ring: &mut Ring, command: Command, datagram: &mut Datagram<'_>, now_ns: u64) {
    match command.addressing() {
        Addressing::None => {}
        Addressing::Logical => work_logical(ring, command, datagram, now_ns),
        Addressing::Broadcast => work_broadcast(ring, command, datagram, now_ns),
        Addressing::Position => work_at_one::<true>(ring, command, datagram, now_ns),
        Addressing::Station => work_at_one::<false>(ring, command, datagram, now_ns),
    }
}

fn work_logical(ring: &mut Ring, command: Command, datagram: &mut Datagram<'_>, now_ns: u64) {
    let (start, reads, writes) = (datagram.logical(), command.reads(), command.writes());
    let key = Key { start, length: datagram.data.len(), reads, writes };
    if let Some(steps) = ring.exchange_image(key, datagram.data, now_ns) {
        return datagram.add_working_counter(steps);
    }
    let for_write = if reads { 2 } else { 1 };
    let mut steps = 0_u16;
    for (device, visit) in ring.reached().filter(|(device, _)| !device.is_deaf) {
        let (read, written) = device.esc.logical(start, datagram.data, reads, writes, &arrival(visit, now_ns));
        steps = steps.wrapping_add(u16::from(read) + for_write * u16::from(written));
    }
    datagram.add_working_counter(steps);
}

fn work_broadcast(ring: &mut Ring, command: Command, datagram: &mut Datagram<'_>, now_ns: u64) {
    let offset = datagram.offset();
    let (mut steps, mut passed) = (0_u16, 0_u16);
    for (device, visit) in ring.reached() {
        passed = passed.wrapping_add(1);
        if !device.is_deaf {
            let step = exchange::<true>(device, command, offset, datagram.data, &arrival(visit, now_ns));
            steps = steps.wrapping_add(step);
        }
    }
    datagram.set_address(datagram.address().wrapping_add(passed));
    datagram.add_working_counter(steps);
}

/// To one device, by its position or by its station address; a multiple write is written by all others.
fn work_at_one<const BY_POSITION: bool>(ring: &mut Ring, command: Command, datagram: &mut Datagram<'_>, now_ns: u64) {
    let (offset, mut address, others_write) = (datagram.offset(), datagram.address(), command.multiple_write());
    let mut steps = 0_u16;
    for (device, visit) in ring.reached() {
        let is_meant = if BY_POSITION { address == 0 } else { device.esc.is_station(address) };
        if BY_POSITION {
            address = address.wrapping_add(1);
        }
        if device.is_deaf || !(is_meant || others_write) {
            continue;
        }
        let arrival = arrival(visit, now_ns);
        let step = if is_meant {
            exchange::<false>(device, command, offset, datagram.data, &arrival)
        } else {
            u16::from(device.esc.write(offset, datagram.data, &arrival))
        };
        steps = steps.wrapping_add(step);
    }
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
        Kind::BreakCable => return ring.set_link(position, !begins),
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
            }
        }
    }
}
