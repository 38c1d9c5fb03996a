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
    fn write(&mut self, time_ns: u64, direction: Direction, number: u64, bytes: &[u8]) -> Result<(), SegmentError> {
        self.writer.write(time_ns, direction, number, bytes).map_err(|source| self.error(source))
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

/// Serves an interface until `stop` says so or `duration` is over. Calls `report` when its link comes or goes. An
/// interface that is removed, a second segment at the other end, and a master's second port are errors.
pub fn serve<W: Write>(
    segment: &mut Segment,
    socket: &PacketSocket,
    recording: Option<Recording<W>>,
    stop: &dyn Fn(&Segment) -> bool,
    duration: Option<Duration>,
    report: &mut dyn FnMut(&Event),
) -> Result<Served, SegmentError> {
    serve_since(Instant::now(), segment, socket, recording, stop, duration, report)
}

/// As [`serve`], in a world whose time began at `start`: several segments share one.
pub fn serve_since<W: Write>(
    start: Instant,
    segment: &mut Segment,
    socket: &PacketSocket,
    recording: Option<Recording<W>>,
    stop: &dyn Fn(&Segment) -> bool,
    duration: Option<Duration>,
    report: &mut dyn FnMut(&Event),
) -> Result<Served, SegmentError> {
    let end_ns = duration.map_or(u64::MAX, |duration| duration.as_nanos() as u64);
    let mut service = Service::new(start, segment, socket, recording);
    let mut buffer = [0_u8; LONGEST + 4];
    let (mut state, mut has_changed) = (LinkState::Up, true);
    while !stop(service.segment) && service.now_ns() < end_ns {
        if std::mem::take(&mut has_changed) && socket.state() != state {
            state = socket.state();
            report(&Event { interface: socket.interface().into(), state, at: service.start.elapsed() });
        }
        if state == LinkState::Gone || service.facing.is_certain() || service.is_second_port {
            break;
        }
        // The time is read before the last look at the socket: every frame that arrived until then passes before the
        // devices reach this time.
        let looked_ns = service.now_ns();
        service.pass_arrived(&mut buffer)?;
        service.let_devices_work(looked_ns)?;
        has_changed = socket.wait(service.time_to_next_event(end_ns))?.change;
    }
    service.finish(state)
}

/// A segment at its interface.
struct Service<'a, W: Write> {
    segment: &'a mut Segment,
    socket: &'a PacketSocket,
    recording: Option<Recording<W>>,
    /// World time 0.
    start: Instant,
    /// Frames that wait for their time.
    outbox: Outbox,
    facing: Facing,
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
        socket: &'a PacketSocket,
        recording: Option<Recording<W>>,
    ) -> Self {
        Self {
            segment,
            socket,
            recording,
            start,
            outbox: Outbox::default(),
            facing: Facing::default(),
            is_second_port: false,
            served: Served::default(),
            number: 0,
            settled_ns: 0,
        }
    }

    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Passes all frames that wait through the devices.
    fn pass_arrived(&mut self, buffer: &mut [u8]) -> Result<(), SegmentError> {
        while let Some(Arrival { length, age }) = self.socket.receive(buffer)? {
            let Some(frame) = buffer.get_mut(..length) else { continue };
            // Hardware works on a frame when it comes, also while this process waits for a processor.
            let arrived_ns = self.now_ns().saturating_sub(age.as_nanos() as u64).max(self.settled_ns);
            self.is_second_port |= is_of_second_port(frame);
            if !self.facing.is_own_answer(frame, arrived_ns) {
                self.pass(frame, arrived_ns)?;
            }
        }
        Ok(())
    }

    /// Passes one frame through the devices and sends it back.
    fn pass(&mut self, frame: &mut [u8], arrived_ns: u64) -> Result<(), SegmentError> {
        self.number += 1;
        let counter_before = Facing::counter(frame);
        self.record(arrived_ns, Direction::In, self.number, frame)?;
        let began_ns = self.now_ns();
        let verdict = self.segment.process(frame, arrived_ns);
        let took_ns = self.now_ns() - began_ns;
        self.served.processing_ns += took_ns;
        self.served.longest_ns = self.served.longest_ns.max(took_ns);
        self.facing.answered(frame, counter_before, arrived_ns);
        let (socket, served) = (self.socket, &mut self.served);
        self.outbox.post(verdict, frame, self.number, arrived_ns, |bytes| {
            served.refused += u64::from(!socket.send(bytes)?);
            Ok::<(), SegmentError>(())
        })?;
        let copies = match verdict {
            Verdict::Returned => 1,
            Verdict::Doubled => 2,
            _ => 0,
        };
        for _ in 0..copies {
            self.record(arrived_ns, Direction::Out, self.number, frame)?;
        }
        self.segment.settle(arrived_ns);
        self.settled_ns = arrived_ns;
        Ok(())
    }

    /// Sends late frames that are due, and lets the devices work until `now_ns`.
    fn let_devices_work(&mut self, now_ns: u64) -> Result<(), SegmentError> {
        self.settled_ns = self.settled_ns.max(now_ns);
        while let Some(waiting) = self.outbox.take_due(self.settled_ns) {
            self.served.refused += u64::from(!self.socket.send(&waiting.bytes)?);
            self.record(self.settled_ns, Direction::Out, waiting.number, &waiting.bytes)?;
        }
        self.segment.settle(self.settled_ns);
        Ok(())
    }

    fn time_to_next_event(&self, end_ns: u64) -> Duration {
        let next_ns = self.segment.next_event_ns().min(self.outbox.next_due_ns().unwrap_or(u64::MAX)).min(end_ns);
        Duration::from_nanos(next_ns.saturating_sub(self.now_ns())).min(LONGEST_SLEEP)
    }

    fn record(&mut self, time_ns: u64, direction: Direction, number: u64, bytes: &[u8]) -> Result<(), SegmentError> {
        match &mut self.recording {
            Some(recording) => recording.write(time_ns, direction, number, bytes),
            None => Ok(()),
        }
    }

    /// Completes the recording. An interface that is gone, a second segment, or a master's second port is an error.
    fn finish(mut self, state: LinkState) -> Result<Served, SegmentError> {
        if let Some(recording) = &mut self.recording {
            recording.writer.flush().map_err(|source| recording.error(source))?;
        }
        let fail = |kind, message: &str, remedy| {
            let (action, interface) = ("continue to serve", self.socket.interface().into());
            let source = std::io::Error::new(kind, message.to_owned());
            Err(SegmentError::Interface { action, interface, source, remedy })
        };
        if state == LinkState::Gone {
            return fail(ErrorKind::NotFound, "it was removed", "Create it again, then restart the segment");
        }
        if self.facing.is_certain() {
            let message = "frames come back answered: a second segment is at the other end of the cable";
            let remedy = "End one of the two: a segment answers at one end, a master asks at the other";
            return fail(ErrorKind::AddrInUse, message, remedy);
        }
        if self.is_second_port {
            let message = "a master has its second port here: cable redundancy is not simulated";
            return fail(ErrorKind::Unsupported, message, "Give the master one port, at the segment's interface");
        }
        Ok(self.served)
    }
}
