// SPDX-License-Identifier: Apache-2.0
//! The second ring of the simulation: whoever plugs a cable in finds a coupler and a stamping input there, whose signal is
//! the output of the first ring. That ring has then no stamping input of its own.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kadenz_rt::cable::{Cable, Outlet};
use kadenz_rt::packet::wait_readable;
use kadenz_segment::link::packet::become_real_time;
use kadenz_segment::segment::{Segment, Verdict};

use crate::built_in::BuiltIn;
use crate::bus::FRAME_MAX_BYTES;
use crate::error::MotionError;

/// SCHED_FIFO of the second ring: above the acquisition, which it answers, below all else.
const PRIORITY: i32 = 41;
/// Longest wait, so that the end is noticed.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// What the second ring's cable is called, for the simulation behind this interface.
pub fn cable_of(interface: &str) -> String {
    format!("kadenz second ring of {interface}")
}

/// A segment in place of that behind the interface, and the beginning of its time.
pub(super) type Replaced = (Segment, Instant);

/// Where a replaced segment waits for the thread that serves the interface.
#[derive(Default)]
pub(super) struct Replacement {
    next: Mutex<Option<Replaced>>,
    waits: AtomicBool,
}

impl Replacement {
    fn put(&self, segment: Segment, start: Instant) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some((segment, start));
        self.waits.store(true, Ordering::Release);
    }

    /// Whether one waits. Does not lock.
    pub(super) fn waits(&self) -> bool {
        self.waits.load(Ordering::Acquire)
    }

    /// The one that waits.
    pub(super) fn take(&self) -> Option<Replaced> {
        self.waits.store(false, Ordering::Release);
        self.next.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The second ring, and how the first one looks next to it.
pub(super) struct Second<'a> {
    pub(super) outlet: Outlet,
    pub(super) built_in: BuiltIn,
    pub(super) faults: &'a [String],
    pub(super) realtime: bool,
}

impl Second<'_> {
    /// Answers at one cable after the other until `is_over`.
    pub(super) fn serve(&self, replacement: &Replacement, is_over: &AtomicBool) -> Result<(), MotionError> {
        if self.realtime {
            become_real_time(PRIORITY)?;
        }
        let system = |source| MotionError::System {
            action: "serve the second ring".into(),
            source,
            remedy: "The first ring goes on; start the program again",
        };
        while !is_over.load(Ordering::Relaxed) {
            let [waits] = wait_readable([self.outlet.as_fd()], LONGEST_WAIT).map_err(system)?;
            if !waits {
                continue;
            }
            let cable = self.outlet.accept().map_err(system)?;
            let (first, mut second) = self.built_in.two_segments(self.faults)?;
            let start = Instant::now();
            replacement.put(first, start);
            answer(&mut second, &cable, start, is_over).map_err(system)?;
            replacement.put(self.built_in.segment(self.faults)?, Instant::now());
        }
        Ok(())
    }
}

/// Answers at a cable until its other end is gone. Frames alone move the devices on: nothing else looks at them.
fn answer(segment: &mut Segment, cable: &Cable, start: Instant, is_over: &AtomicBool) -> std::io::Result<()> {
    let mut buffer = [0; FRAME_MAX_BYTES];
    while !is_over.load(Ordering::Relaxed) {
        wait_readable([cable.as_fd()], LONGEST_WAIT)?;
        let length = match cable.receive(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => return Err(error),
        };
        let now_ns = start.elapsed().as_nanos() as u64;
        let Some(frame) = buffer.get_mut(..length) else { continue };
        if segment.process(frame, now_ns) == Verdict::Returned && cable.send(frame).is_err() {
            break;
        }
        segment.settle(now_ns);
    }
    Ok(())
}
