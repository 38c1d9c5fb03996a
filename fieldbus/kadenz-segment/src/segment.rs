// SPDX-License-Identifier: Apache-2.0
//! The segment: what a frame meets between leaving the master and coming back.

mod bit_errors;
mod faults;
mod groups;

use crate::al::State;
use crate::command::{Addressing, Command};
use crate::control::Desk;
use crate::device::Device;
use crate::error::SegmentError;
use crate::esc::Arrival;
use crate::fault::{Fault, Running};
use crate::frame::{datagrams, mark_returned, Datagram};
use crate::happening::{Happening, What};
use crate::passage::Visit;
use crate::process_image::Key;
use crate::ring::Ring;
use crate::settings::RingFile;
use crate::topology::End;
use faults::Watched;
use std::path::Path;

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

/// A simulated segment: a ring of devices, and faults.
pub struct Segment {
    ring: Ring,
    faults: Vec<Running>,
    counters: Counters,
    first_frame_ns: Option<u64>,
    /// What happened to cables and to frames in them, and what faults did, for [`Segment::take_happenings`].
    happenings: Vec<Happening>,
    watched: Watched,
    /// Where orders come from while the segment is served.
    pub(crate) desk: Option<Desk>,
}

impl Segment {
    /// A segment without faults.
    pub fn new(ring: Ring) -> Self {
        Self {
            ring,
            faults: Vec::new(),
            counters: Counters::default(),
            first_frame_ns: None,
            happenings: Vec::new(),
            watched: Watched::default(),
            desk: None,
        }
    }

    /// A segment without faults, from a ring file: its devices in the order in which a frame passes them.
    ///
    /// # Errors
    /// [`SegmentError::Config`] with file, line and column if it cannot be read or is wrong.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, SegmentError> {
        let path = path.as_ref();
        Ok(Self::new(Ring::new(&RingFile::read(path)?, path)?))
    }

    /// As [`Segment::from_file`], from the text of a ring file. Files that it names are relative to the working directory.
    ///
    /// # Errors
    /// [`SegmentError::Config`] with line and column if it is wrong.
    pub fn from_text(text: &str) -> Result<Self, SegmentError> {
        let path = Path::new("ring");
        Ok(Self::new(Ring::new(&RingFile::parse(text, path)?, path)?))
    }

    /// Adds a fault in the notation of the command line, for example `lose-frame@cycle=1000,count=3`. Its moment counts
    /// from the start.
    ///
    /// # Errors
    /// [`SegmentError::Usage`] if it is no fault, or if its device does not exist or cannot have it.
    pub fn add_fault(&mut self, fault: &str) -> Result<(), SegmentError> {
        self.add_faults([Fault::from_argument(fault)?])
    }

    /// The state of a device by its name; none if there is no such device.
    pub fn state_of(&self, device: &str) -> Option<State> {
        self.ring.devices.get(self.ring.position(device)?).map(|device| device.al.state())
    }

    /// Every device has power and is in OP, without an error. Groups that have not joined do not count.
    pub fn is_operational(&self) -> bool {
        let mut present = self.ring.devices.iter().filter(|device| !device.is_away());
        present.all(|device| device.has_power() && device.al.status() == State::Op as u16)
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

    /// Passes a frame through all devices, in place, and gives its fate. `frame` begins at its destination address and has
    /// no FCS; `now_ns` is the time at which it arrives, ns from 0, and never goes back. What comes back is in `frame`.
    ///
    /// Call [`Segment::settle`] with the same time once it is sent back: as in the hardware, applications work after the
    /// frame has passed. The same frames at the same times give the same bytes.
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
            return self.pass(from, frame, now_ns);
        }
        self.process_with_faults(from, frame, now_ns)
    }

    /// Does what frames have set off, and everything due up to `now_ns`.
    pub fn settle(&mut self, now_ns: u64) {
        self.ring.settle(now_ns);
        if !self.faults.is_empty() {
            self.observe(now_ns);
        }
    }

    #[inline]
    fn pass(&mut self, from: End, frame: &mut [u8], now_ns: u64) -> Passed {
        if self.ring.passage(from).loops_at.is_some() {
            return self.pass_closed_port_0(from, frame, now_ns);
        }
        self.pass_devices(from, frame, now_ns)
    }

    /// A frame that meets a closed port 0: marked there, or destroyed if it was marked before.
    #[cold]
    fn pass_closed_port_0(&mut self, from: End, frame: &mut [u8], now_ns: u64) -> Passed {
        let is_marked = datagrams(frame).is_ok_and(|mut datagrams| datagrams.any(|datagram| datagram.circulates()));
        if is_marked {
            let usual = self.ring.passage(from).clone();
            let usual = self.ring.replace_passage(from, usual.of_marked());
            let passed = self.pass_devices(from, frame, now_ns);
            self.ring.replace_passage(from, usual);
            self.happen(now_ns, What::FrameDestroyed { number: self.counters.frames, from });
            return passed;
        }
        let passed = self.pass_devices(from, frame, now_ns);
        datagrams(frame).into_iter().flatten().for_each(|mut datagram| datagram.mark_circulating());
        passed
    }

    fn pass_devices(&mut self, from: End, frame: &mut [u8], now_ns: u64) -> Passed {
        let datagrams = match datagrams(frame) {
            Ok(datagrams) => datagrams,
            Err(error) => return self.ignore(from, error, now_ns),
        };
        let events = self.ring.frame_events(from);
        let mut is_cyclic = false;
        for mut datagram in datagrams {
            let command = datagram.command();
            is_cyclic |= command.addressing() == Addressing::Logical;
            work(&mut self.ring, from, command, &mut datagram, now_ns);
            if events != 0 {
                datagram.add_events(events);
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
