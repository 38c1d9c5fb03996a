// SPDX-License-Identifier: Apache-2.0
//! The log of a segment that is served: a thread writes it, so that the loop of the frames never waits for a reader.

use super::Event;
use std::io::Write;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender, TryRecvError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Lines that may wait for the writer.
const MOST_WAITING: usize = 4096;
/// The writer looks as often for lines. It does not wait for them: a line would then have to wake it.
const PAUSE: Duration = Duration::from_millis(2);

/// Where the loop puts its lines.
#[derive(Debug)]
pub struct Log {
    lines: Option<SyncSender<Event>>,
    writer: Option<JoinHandle<()>>,
    left_out: u64,
}

impl Log {
    /// Starts the writer. It ends when the log is dropped, with every line that was taken.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        let (lines, taken) = sync_channel(MOST_WAITING);
        Self { lines: Some(lines), writer: Some(std::thread::spawn(move || write(&taken, out))), left_out: 0 }
    }

    /// Takes a line, or leaves it out where too many wait.
    pub fn take(&mut self, event: &Event) {
        let taken = self.lines.as_ref().is_some_and(|lines| lines.try_send(event.clone()).is_ok());
        self.left_out += u64::from(!taken);
    }

    /// Lines that were left out so far.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write(lines: &Receiver<Event>, mut out: impl Write) {
    // Whoever started it may be a real-time thread.
    let _ = kadenz_rt::become_ordinary();
    loop {
        match lines.try_recv() {
            // A reader that went away is no reason to end.
            Ok(event) => drop(writeln!(out, "{event}")),
            Err(TryRecvError::Empty) => std::thread::sleep(PAUSE),
            Err(TryRecvError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkState;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn event(number: u64) -> Event {
        Event::Interface { interface: format!("i{number}"), state: LinkState::Up, at: Duration::ZERO }
    }

    #[test]
    fn every_line_is_written_before_the_log_ends() {
        let kept = Kept::default();
        let mut log = Log::new(kept.clone());
        (0..100).for_each(|number| log.take(&event(number)));
        drop(log);
        assert_eq!(String::from_utf8(kept.0.lock().unwrap().clone()).unwrap().lines().count(), 100);
    }

    #[test]
    fn a_reader_that_stands_still_costs_lines_and_no_time() {
        let kept = Kept::default();
        let still = kept.0.lock().unwrap();
        let mut log = Log::new(kept.clone());
        (0..3 * MOST_WAITING as u64).for_each(|number| log.take(&event(number)));
        let left_out = log.left_out();
        assert!(left_out >= 2 * MOST_WAITING as u64 - 1, "{left_out}");
        drop(still);
        drop(log);
        let written = kept.0.lock().unwrap().iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(written as u64 + left_out, 3 * MOST_WAITING as u64);
    }
}
