// SPDX-License-Identifier: Apache-2.0
//! The live loop: receive, pass through, send back, let the devices work, sleep until something is due.

use super::facing::Facing;
use super::outbox::Outbox;
use super::packet::{Arrival, PacketSocket};
use super::{Event, LinkState};
use crate::error::SegmentError;
use crate::frame::{is_of_second_port, LONGEST};
use crate::pcap::{Direction, Writer};
use crate::segment::{Segment, Verdict};
use crate::topology::End;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest sleep, so that a signal is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// Where a recording goes.
pub struct Recording<W: Write> {
    /// The capture that receives every frame.
    pub writer: Writer<W>,
    /// Its file, for messages.
    pub path: PathBuf,
}

impl<W: Write> Recording<W> {
    fn write(&mut self, time_ns: u64, way: (End, Direction), number: u64, bytes: &[u8]) -> Result<(), SegmentError> {
        self.writer.write(time_ns, way, number, bytes).map_err(|source| self.error(source))
    }

    fn error(&self, source: std::io::Error) -> SegmentError {
        let remedy = "Is the disk full? Frames up to here are in the file";
        SegmentError::File { action: "write recording", path: self.path.clone(), source, remedy }
    }
}

/// Counters of a run beyond the segment's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Served {
    /// Frames the interface would not take back.
    pub refused: u64,
    /// Sum of the time from a frame's receipt to the end of its processing, ns; system calls not included.
    pub processing_ns: u64,
    /// Longest of these, ns.
    pub longest_ns: u64,
}

/// Serves an interface, or the two of a ring, until `stop` says so or `duration` is over. Calls `report` when a link comes
/// or goes, and when a cable breaks or heals. An interface that is removed, a second segment at the other end, and a
/// master's second port at the only interface are errors.
pub fn serve<W: Write>(
    segment: &mut Segment,
    sockets: &[PacketSocket],
    recording: Option<Recording<W>>,
    stop: &dyn Fn(&Segment) -> bool,
    duration: Option<Duration>,
    report: &mut dyn FnMut(&Event),
) -> Result<Served, SegmentError> {
    serve_since(Instant::now(), segment, sockets, recording, stop, duration, report)
}

/// As [`serve`], in a world whose time began at `start`: several segments share one.
pub fn serve_since<W: Write>(
    start: Instant,
    segment: &mut Segment,
    sockets: &[PacketSocket],
    recording: Option<Recording<W>>,
    stop: &dyn Fn(&Segment) -> bool,
    duration: Option<Duration>,
    report: &mut dyn FnMut(&Event),
) -> Result<Served, SegmentError> {
    let end_ns = duration.map_or(u64::MAX, |duration| duration.as_nanos() as u64);
    let mut service = Service::new(start, segment, sockets, recording);
    let mut buffers = [[0_u8; LONGEST + 4]; 2];
    let mut has_changed = true;
    while !stop(service.segment) && service.now_ns() < end_ns {
        if std::mem::take(&mut has_changed) {
            service.look_at_links(report);
        }
        if service.is_over() {
            break;
        }
        // The time is read before the last look at the sockets: every frame that arrived until then passes before the
        // devices reach this time.
        let looked_ns = service.now_ns();
        service.pass_arrived(&mut buffers)?;
        service.let_devices_work(looked_ns)?;
        service.segment.take_order(looked_ns);
        service.report_happenings(report);
        has_changed = PacketSocket::wait_any(sockets, service.time_to_next_event(end_ns))?;
    }
    service.finish()
}

/// A segment at its interface.
struct Service<'a, W: Write> {
    segment: &'a mut Segment,
    sockets: &'a [PacketSocket],
    recording: Option<Recording<W>>,
    /// World time 0.
    start: Instant,
    /// Frames that wait for their time.
    outbox: Outbox,
    /// By interface.
    facing: [Facing; 2],
    states: [LinkState; 2],
    /// A master has its second port here.
    is_second_port: bool,
    served: Served,
    /// Frames that came from the master.
    number: u64,
    /// World time that the devices have reached.
    settled_ns: u64,
}

impl<'a, W: Write> Service<'a, W> {
    fn new(
        start: Instant,
        segment: &'a mut Segment,
        sockets: &'a [PacketSocket],
        recording: Option<Recording<W>>,
    ) -> Self {
        Self {
            segment,
            sockets,
            recording,
            start,
            outbox: Outbox::default(),
            facing: Default::default(),
            states: [LinkState::Up; 2],
            is_second_port: false,
            served: Served::default(),
            number: 0,
            settled_ns: 0,
        }
    }

    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Reports links that came or went. In a ring a lost one closes the loop there, as a broken cable does.
    fn look_at_links(&mut self, report: &mut dyn FnMut(&Event)) {
        for (end, socket) in End::ALL.into_iter().zip(self.sockets) {
            let state = socket.state();
            if std::mem::replace(&mut self.states[end.index()], state) == state {
                continue;
            }
            let at = self.start.elapsed();
            report(&Event::Interface { interface: socket.interface().into(), state, at });
            if self.sockets.len() > 1 {
                self.segment.ring_mut().set_carrier(end, state == LinkState::Up);
            }
        }
    }

    fn report_happenings(&mut self, report: &mut dyn FnMut(&Event)) {
        for happening in self.segment.take_happenings() {
            report(&Event::Segment(happening));
        }
    }

    fn is_over(&self) -> bool {
        self.states.contains(&LinkState::Gone) || self.facing.iter().any(Facing::is_certain) || self.is_second_port
    }

    /// Passes all frames that wait through the devices, in the order of their arrival.
    fn pass_arrived(&mut self, buffers: &mut [[u8; LONGEST + 4]; 2]) -> Result<(), SegmentError> {
        // Length and time of the frame that waits at each end.
        let mut waiting: [Option<(usize, u64)>; 2] = [None; 2];
        loop {
            for ((socket, buffer), waiting) in self.sockets.iter().zip(&mut *buffers).zip(&mut waiting) {
                if waiting.is_none() {
                    // Hardware works on a frame when it comes, also while this process waits for a processor.
                    let received = socket.receive(buffer)?;
                    let time_ns = |age: Duration| self.now_ns().saturating_sub(age.as_nanos() as u64);
                    *waiting = received.map(|Arrival { length, age }| (length, time_ns(age)));
                }
            }
            let arrived = End::ALL.into_iter().filter_map(|end| Some((waiting[end.index()]?.1, end)));
            let Some((arrived_ns, end)) = arrived.min_by_key(|(arrived_ns, _)| *arrived_ns) else { return Ok(()) };
            let Some((length, _)) = waiting[end.index()].take() else { return Ok(()) };
            let Some(frame) = buffers[end.index()].get_mut(..length) else { continue };
            let arrived_ns = arrived_ns.max(self.settled_ns);
            self.is_second_port |= self.sockets.len() == 1 && is_of_second_port(frame);
            if !self.facing[end.index()].is_own_answer(frame, arrived_ns) {
                self.pass(end, frame, arrived_ns)?;
            }
        }
    }

    /// Passes one frame through the devices and sends it back.
    fn pass(&mut self, from: End, frame: &mut [u8], arrived_ns: u64) -> Result<(), SegmentError> {
        self.number += 1;
        let counter_before = Facing::counter(frame);
        self.record(arrived_ns, (from, Direction::In), self.number, frame)?;
        let began_ns = self.now_ns();
        let passed = self.segment.process_from(from, frame, arrived_ns);
        let took_ns = self.now_ns() - began_ns;
        self.served.processing_ns += took_ns;
        self.served.longest_ns = self.served.longest_ns.max(took_ns);
        let leaves = passed.leaves;
        self.facing[leaves.index()].answered(frame, counter_before, arrived_ns);
        let (socket, served) = (self.sockets.get(leaves.index()), &mut self.served);
        self.outbox.post(passed, frame, self.number, arrived_ns, |bytes| {
            served.refused += u64::from(!send(socket, bytes)?);
            Ok::<(), SegmentError>(())
        })?;
        let copies = match passed.verdict {
            Verdict::Returned => 1,
            Verdict::Doubled => 2,
            _ => 0,
        };
        for _ in 0..copies {
            self.record(arrived_ns, (leaves, Direction::Out), self.number, frame)?;
        }
        self.segment.settle(arrived_ns);
        self.settled_ns = arrived_ns;
        Ok(())
    }

    /// Sends late frames that are due, and lets the devices work until `now_ns`.
    fn let_devices_work(&mut self, now_ns: u64) -> Result<(), SegmentError> {
        self.settled_ns = self.settled_ns.max(now_ns);
        while let Some(waiting) = self.outbox.take_due(self.settled_ns) {
            let socket = self.sockets.get(waiting.leaves.index());
            self.served.refused += u64::from(!send(socket, &waiting.bytes)?);
            self.record(self.settled_ns, (waiting.leaves, Direction::Out), waiting.number, &waiting.bytes)?;
        }
        self.segment.settle(self.settled_ns);
        Ok(())
    }

    fn time_to_next_event(&self, end_ns: u64) -> Duration {
        let next_ns = self.segment.next_event_ns().min(self.outbox.next_due_ns().unwrap_or(u64::MAX)).min(end_ns);
        Duration::from_nanos(next_ns.saturating_sub(self.now_ns())).min(LONGEST_SLEEP)
    }

    fn record(&mut self, time_ns: u64, way: (End, Direction), number: u64, bytes: &[u8]) -> Result<(), SegmentError> {
        match &mut self.recording {
            Some(recording) => recording.write(time_ns, way, number, bytes),
            None => Ok(()),
        }
    }

    /// Completes the recording. An interface that is gone, a second segment, or a master's second port is an error.
    fn finish(mut self) -> Result<Served, SegmentError> {
        if let Some(recording) = &mut self.recording {
            recording.writer.flush().map_err(|source| recording.error(source))?;
        }
        let fail = |number: usize, kind, message: &str, remedy| {
            let interface = self.sockets.get(number).map_or("", PacketSocket::interface).into();
            let source = std::io::Error::new(kind, message.to_owned());
            Err(SegmentError::Interface { action: "continue to serve", interface, source, remedy })
        };
        if let Some(gone) = self.states.iter().position(|state| *state == LinkState::Gone) {
            return fail(gone, ErrorKind::NotFound, "it was removed", "Create it again, then restart the segment");
        }
        if let Some(facing) = self.facing.iter().position(Facing::is_certain) {
            let message = "frames come back answered: a second segment is at the other end of the cable";
            let remedy = "End one of the two: a segment answers at one end, a master asks at the other";
            return fail(facing, ErrorKind::AddrInUse, message, remedy);
        }
        if self.is_second_port {
            let message = "a master has its second port here, at the only interface of the segment";
            let remedy = "Give the segment a second interface, for the end of the ring: --interface A --interface B";
            return fail(0, ErrorKind::Unsupported, message, remedy);
        }
        Ok(self.served)
    }
}

/// Sends a frame at the interface where it leaves. True unless it was refused.
fn send(socket: Option<&PacketSocket>, bytes: &[u8]) -> Result<bool, SegmentError> {
    socket.map_or(Ok(false), |socket| socket.send(bytes))
}
