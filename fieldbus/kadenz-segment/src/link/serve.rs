// SPDX-License-Identifier: Apache-2.0
//! The live loop: receive, pass through, send back, let the devices work, sleep until something is due.

use super::facing::Facing;
use super::outbox::Outbox;
use super::packet::{Arrival, PacketSocket};
use super::{Event, LinkState};
use crate::error::SegmentError;
use crate::frame::LONGEST;
use crate::pcap::{Direction, Writer};
use crate::segment::{Segment, Verdict};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest sleep, so that a signal is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// Where a recording goes.
pub struct Recording<W: Write> {
    /// Its writer.
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

/// What a run has seen beyond the segment's own counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Served {
    /// Frames the interface would not take back.
    pub refused: u64,
    /// Sum of the time from a frame's receipt to the end of its processing, ns; system calls not included.
    pub processing_ns: u64,
    /// Longest of these, ns.
    pub longest_ns: u64,
}

/// Serves an interface until `stop` says so or `duration` is over. Says by `report` when its link comes or goes; an interface
/// that is removed, and a second segment at the other end, are errors.
pub fn serve<W: Write>(
    segment: &mut Segment,
    socket: &PacketSocket,
    mut recording: Option<Recording<W>>,
    stop: &dyn Fn() -> bool,
    duration: Option<Duration>,
    report: &mut dyn FnMut(&Event),
) -> Result<Served, SegmentError> {
    let start = Instant::now();
    let now_ns = || start.elapsed().as_nanos() as u64;
    let end_ns = duration.map_or(u64::MAX, |duration| duration.as_nanos() as u64);
    let (mut buffer, mut outbox, mut served, mut number) =
        ([0_u8; LONGEST + 4], Outbox::default(), Served::default(), 0);
    let (mut settled_ns, mut facing, mut state) = (0, Facing::default(), LinkState::Up);
    let mut has_changed = true;
    while !stop() && now_ns() < end_ns {
        if std::mem::take(&mut has_changed) && socket.state() != state {
            state = socket.state();
            report(&Event { interface: socket.interface().into(), state, at: start.elapsed() });
        }
        if state == LinkState::Gone || facing.is_certain() {
            break;
        }
        // Read before the last look at the socket: whatever arrived until then has passed when devices reach it.
        let mut now = now_ns();
        while let Some(Arrival { length, age }) = socket.receive(&mut buffer)? {
            let Some(frame) = buffer.get_mut(..length) else { continue };
            // Hardware works on a frame when it comes, also while this process waits for a processor.
            let arrived_ns = now_ns().saturating_sub(age.as_nanos() as u64).max(settled_ns);
            if facing.is_own_answer(frame, arrived_ns) {
                continue;
            }
            number += 1;
            let counter_before = Facing::counter(frame);
            if let Some(recording) = &mut recording {
                recording.write(arrived_ns, Direction::In, number, frame)?;
            }
            let began_ns = now_ns();
            let verdict = segment.process(frame, arrived_ns);
            let took_ns = now_ns() - began_ns;
            served.processing_ns += took_ns;
            served.longest_ns = served.longest_ns.max(took_ns);
            facing.answered(frame, counter_before, arrived_ns);
            outbox.post(verdict, frame, number, arrived_ns, |bytes| {
                served.refused += u64::from(!socket.send(bytes)?);
                Ok(())
            })?;
            if let Some(recording) = &mut recording {
                let copies = match verdict {
                    Verdict::Returned => 1,
                    Verdict::Doubled => 2,
                    _ => 0,
                };
                for _ in 0..copies {
                    recording.write(arrived_ns, Direction::Out, number, frame)?;
                }
            }
            segment.settle(arrived_ns);
            settled_ns = arrived_ns;
        }
        now = now.max(settled_ns);
        settled_ns = now;
        while let Some(waiting) = outbox.take_due(now) {
            served.refused += u64::from(!socket.send(&waiting.bytes)?);
            if let Some(recording) = &mut recording {
                recording.write(now, Direction::Out, waiting.number, &waiting.bytes)?;
            }
        }
        segment.settle(now);
        let next_ns = segment.next_event_ns().min(outbox.next_due_ns().unwrap_or(u64::MAX)).min(end_ns);
        let sleep = Duration::from_nanos(next_ns.saturating_sub(now_ns())).min(LONGEST_SLEEP);
        has_changed = socket.wait(sleep)?.change;
    }
    if let Some(recording) = &mut recording {
        recording.writer.flush().map_err(|source| recording.error(source))?;
    }
    let fail = |action, kind, message: &str, remedy| {
        let source = std::io::Error::new(kind, message.to_owned());
        Err(SegmentError::Interface { action, interface: socket.interface().into(), source, remedy })
    };
    if state == LinkState::Gone {
        let remedy = "Make it again and start the segment anew";
        return fail("go on serving", std::io::ErrorKind::NotFound, "it was removed", remedy);
    }
    if facing.is_certain() {
        let message = "frames come back answered: a second segment is at the other end of the cable";
        let remedy = "End one of the two: a segment answers at one end, a master asks at the other";
        return fail("go on serving", std::io::ErrorKind::AddrInUse, message, remedy);
    }
    Ok(served)
}
