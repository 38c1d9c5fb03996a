// SPDX-License-Identifier: Apache-2.0
//! Single numbers that tasks share without a queue: written by one task, read by others, never locked.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};

use kadenz_rt::signal::{self, Signal};

/// Stop categories of IEC 60204-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum StopCategory {
    /// Power off at once.
    Zero = 0,
    /// The drives brake on their own ramp, then power off.
    One = 1,
    /// The path slows to a halt; the arm is held for a moment, then power off by category 1.
    Two = 2,
}

/// The time that is measured: nominal releases from `start_ns` until before `end_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First release that counts, ns.
    pub start_ns: u64,
    /// First that no longer counts, ns.
    pub end_ns: u64,
}

/// Shared by all tasks.
#[derive(Debug, Default)]
pub struct Shared {
    /// Releases are shifted by this much to stay on the reference clock of the ring, ns. Written by main.
    shift_ns: AtomicI64,
    window_start_ns: AtomicU64,
    window_end_ns: AtomicU64,
    /// Requested stop: 0 none, else category + 1. Anybody may write it.
    stop: AtomicU32,
    /// Request of the first signal, as `stop`; 0: signals stop nothing.
    on_signal: AtomicU32,
    /// Signals that were heeded, or came before this run.
    signals_seen: AtomicU32,
    /// Tasks that panicked, a bit each.
    panicked: AtomicU32,
    /// Main has ended; the others follow.
    over: AtomicBool,
}

impl Shared {
    /// How far the releases are shifted, ns.
    pub fn shift_ns(&self) -> i64 {
        self.shift_ns.load(Ordering::Relaxed)
    }

    pub(super) fn set_shift_ns(&self, shift_ns: i64) {
        self.shift_ns.store(shift_ns, Ordering::Relaxed);
    }

    /// The window, once it is known.
    pub fn window(&self) -> Option<Window> {
        // The end is written first, so a reader that sees the start sees the end.
        let start_ns = self.window_start_ns.load(Ordering::Acquire);
        (start_ns > 0).then(|| Window { start_ns, end_ns: self.window_end_ns.load(Ordering::Relaxed) })
    }

    /// Whether the cycle released at this moment is measured.
    pub fn measures(&self, release_ns: u64) -> bool {
        self.window().is_some_and(|window| (window.start_ns..window.end_ns).contains(&release_ns))
    }

    pub(super) fn open_window(&self, window: Window) {
        self.window_end_ns.store(window.end_ns, Ordering::Relaxed);
        self.window_start_ns.store(window.start_ns, Ordering::Release);
    }

    /// Asks for a stop; a stronger request replaces a weaker one.
    pub fn request_stop(&self, category: StopCategory) {
        let code = category as u32 + 1;
        let stronger = |now: u32| (now == 0 || code < now).then_some(code);
        let _ = self.stop.fetch_update(Ordering::Relaxed, Ordering::Relaxed, stronger);
    }

    /// From now on SIGINT, SIGTERM and SIGHUP stop this run: the first asks for `category`, the second for category 0.
    pub fn stop_on_signals(&self, category: StopCategory) {
        signal::catch(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
        self.signals_seen.store(signal::caught(), Ordering::Relaxed);
        self.on_signal.store(category as u32 + 1, Ordering::Relaxed);
    }

    fn heed_signals(&self) {
        let caught = signal::caught();
        let new = caught.wrapping_sub(self.signals_seen.swap(caught, Ordering::Relaxed));
        let Some(first) = category(self.on_signal.load(Ordering::Relaxed)) else { return };
        for _ in 0..new.min(2) {
            let is_first = self.stop.load(Ordering::Relaxed) == 0;
            self.request_stop(if is_first { first } else { StopCategory::Zero });
        }
    }

    /// The strongest stop that was asked for, by a signal or by [`Shared::request_stop`].
    pub fn stop_requested(&self) -> Option<StopCategory> {
        self.heed_signals();
        category(self.stop.load(Ordering::Relaxed))
    }

    pub(super) fn report_panic(&self, task: super::Task) {
        self.panicked.fetch_or(1 << task as u32, Ordering::Relaxed);
    }

    /// The task panicked at some time.
    pub fn panicked(&self, task: super::Task) -> bool {
        self.panicked.load(Ordering::Relaxed) & (1 << task as u32) != 0
    }

    /// Ends the other tasks.
    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Whether the main task has ended.
    pub fn over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

/// From its code: 0 none, else category + 1.
fn category(code: u32) -> Option<StopCategory> {
    match code {
        0 => None,
        1 => Some(StopCategory::Zero),
        2 => Some(StopCategory::One),
        _ => Some(StopCategory::Two),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends this process a signal and waits until it was caught: any of its threads may catch it, at any time.
    fn raise(name: &str) {
        let before = signal::caught();
        let sent = std::process::Command::new("kill").args(["-s", name, &std::process::id().to_string()]).status();
        assert!(sent.unwrap().success());
        let begin = std::time::Instant::now();
        while signal::caught() == before {
            assert!(begin.elapsed().as_secs() < 30, "{name} was never caught");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn the_first_signal_asks_for_its_category_and_the_second_for_power_off() {
        let (before, shared) = (Shared::default(), Shared::default());
        before.stop_on_signals(StopCategory::One);
        raise("INT");
        assert_eq!(before.stop_requested(), Some(StopCategory::One));
        shared.stop_on_signals(StopCategory::Two);
        assert_eq!(shared.stop_requested(), None, "the signal was for the run before");
        raise("TERM");
        assert_eq!(shared.stop_requested(), Some(StopCategory::Two));
        raise("HUP");
        assert_eq!(shared.stop_requested(), Some(StopCategory::Zero));
    }

    #[test]
    fn a_stronger_stop_replaces_a_weaker_one_and_not_the_other_way() {
        let shared = Shared::default();
        assert_eq!(shared.stop_requested(), None);
        shared.request_stop(StopCategory::Two);
        shared.request_stop(StopCategory::One);
        assert_eq!(shared.stop_requested(), Some(StopCategory::One));
        shared.request_stop(StopCategory::Two);
        assert_eq!(shared.stop_requested(), Some(StopCategory::One));
        shared.request_stop(StopCategory::Zero);
        assert_eq!(shared.stop_requested(), Some(StopCategory::Zero));
    }

    #[test]
    fn only_releases_in_the_window_count() {
        let shared = Shared::default();
        assert!(!shared.measures(5));
        shared.open_window(Window { start_ns: 10, end_ns: 20 });
        assert_eq!([9, 10, 19, 20].map(|at| shared.measures(at)), [false, true, true, false]);
    }
}
