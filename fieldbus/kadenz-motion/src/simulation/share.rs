// SPDX-License-Identifier: Apache-2.0
//! What a simulated ring takes of its processor, which it may share with the master that is measured.

use std::fs;
use std::time::{Duration, Instant};

use kadenz_rt::cpu_time_ns;
use kadenz_rt::process::{cpu_time_of, waits_of_this_thread};

/// A ring that takes more than this of its processor disturbs what is measured there, or is late itself.
const LARGE: f64 = 0.5;

/// A ring that keeps up waits at every step, and without steps twenty times a second. One that waits less often than
/// this in a second has more to do than there is time; it may still wait for a lock.
const LOOK: Duration = Duration::from_secs(1);
const WAITS: u64 = 10;

/// A ring in a process or a thread of its own, watched.
#[derive(Debug)]
pub struct RingShare {
    /// `None`: it is the thread that asks.
    process: Option<u32>,
    cpu_ns: u64,
    begun: Instant,
}

impl RingShare {
    /// From now on: the ring of this process, or else the only one that this program simulates on this machine. `None`
    /// where there is none, as with real devices.
    pub fn watch(process: Option<u32>) -> Option<Self> {
        let process = process.or_else(the_only_ring)?;
        Some(Self { process: Some(process), cpu_ns: cpu_time_of(process)?, begun: Instant::now() })
    }

    /// From now on: the ring of this thread.
    pub fn watch_this_thread() -> Self {
        Self { process: None, cpu_ns: cpu_time_ns(), begun: Instant::now() }
    }

    /// A note if the ring has had more than half of the processor, with what that is of a period.
    pub fn note(&self, period_us: u64) -> Option<String> {
        let now_ns = self.process.map_or_else(|| Some(cpu_time_ns()), cpu_time_of)?;
        let cpu_ns = now_ns.saturating_sub(self.cpu_ns);
        sentence(cpu_ns as f64 / self.begun.elapsed().as_nanos().max(1) as f64, period_us)
    }
}

/// Whether the ring of this thread falls behind for good, so that nothing below its priority runs.
#[derive(Debug)]
pub struct Overload {
    share: RingShare,
    waits: u64,
}

impl Overload {
    /// From now on.
    pub fn watch_this_thread() -> Self {
        Self { share: RingShare::watch_this_thread(), waits: waits_of_this_thread().unwrap_or_default() }
    }

    /// The ring asks at every turn. A sentence after a second in which it worked and hardly ever waited.
    pub fn sentence(&mut self) -> Option<String> {
        let looked = self.share.begun.elapsed();
        if looked < LOOK {
            return None;
        }
        let before = std::mem::replace(self, Self::watch_this_thread());
        let share = (self.share.cpu_ns - before.share.cpu_ns) as f64 / looked.as_nanos() as f64;
        falls_behind(share, self.waits - before.waits)
    }
}

fn falls_behind(share: f64, waits: u64) -> Option<String> {
    let percent = 100.0 * share;
    (share > LARGE && waits < WAITS).then(|| {
        format!(
            "the ring takes {percent:.0} % of the processor and falls behind: give it fewer devices or a longer `tick_us`"
        )
    })
}

fn sentence(share: f64, period_us: u64) -> Option<String> {
    (share > LARGE).then(|| {
        let (percent, of_period_us) = (100.0 * share, share * period_us as f64);
        format!("the ring takes {percent:.0} % of the processor ({of_period_us:.0} µs of a period of {period_us} µs)")
    })
}

/// The process of this program that simulates a ring, if there is just one.
fn the_only_ring() -> Option<u32> {
    let name = std::env::args().next()?;
    let rings: Vec<u32> = fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|process| {
            let line = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
            let mut arguments = line.split('\0');
            arguments.next() == Some(name.as_str()) && arguments.next() == Some("ring")
        })
        .collect();
    match rings[..] {
        [ring] => Some(ring),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_that_takes_more_than_half_is_named_with_its_part_of_a_period() {
        assert_eq!(sentence(0.49, 1000), None);
        let said = "the ring takes 63 % of the processor (315 µs of a period of 500 µs)";
        assert_eq!(sentence(0.63, 500).as_deref(), Some(said));
    }

    #[test]
    fn a_ring_falls_behind_if_it_works_and_never_waits() {
        assert_eq!(falls_behind(0.98, 40_000), None);
        assert_eq!(falls_behind(0.3, 0), None, "others have the processor");
        let said = falls_behind(0.98, 2).unwrap();
        assert!(said.starts_with("the ring takes 98 % of the processor and falls behind"), "{said}");
    }

    #[test]
    fn a_process_that_works_has_its_share_and_one_that_is_gone_has_none() {
        let share = RingShare::watch(Some(std::process::id())).unwrap();
        let until_ns = cpu_time_ns() + 20_000_000;
        while cpu_time_ns() < until_ns {}
        let cpu_ns = cpu_time_of(std::process::id()).unwrap() - share.cpu_ns;
        assert!(cpu_ns >= 10_000_000);
        assert!(RingShare::watch(Some(u32::MAX)).is_none());
    }
}
