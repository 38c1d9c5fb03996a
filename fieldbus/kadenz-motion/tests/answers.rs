// SPDX-License-Identifier: Apache-2.0
//! Whatever comes back, the application ends with an error or an event, and no drive keeps power: a random fuzzer at the
//! cable on the way back, on the way up and in operation. The other direction is `kadenz-segment/tests/fuzz.rs`.
//!
//! `KADENZ_FUZZ_SECONDS=600 cargo test --release -p kadenz-motion --test answers -- --nocapture` runs it for ten
//! minutes; by default it lives the same lives every time. `KADENZ_FUZZ_SEED` is the number of its first life, for one that failed.

mod common;

use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Cell, Tamper};
use kadenz_motion::built_in::BuiltIn;
use kadenz_motion::bus::BusError;
use kadenz_motion::layout::Layout;
use kadenz_motion::task::{Flow, Outcome};
use kadenz_segment::random::Random;

/// A motion takes some 9,000 cycles; each wait for devices or drives and each stop has a bound of its own, together less.
const CYCLES_MOST: u64 = 30_000;
/// The master library waits by this machine's clock: at most 10 s for a state, and a few of those. A hang takes longer,
/// however busy the machine is.
const LIFE_MOST: Duration = Duration::from_secs(900);
const LIVES: u64 = 8;
/// Ethernet and EtherCAT header.
const HEADERS: usize = 16;
/// Of a datagram: command, index, address, length, interrupt.
const DATAGRAM: usize = 10;
/// Where the simulated devices' replies are read (kadenz-segment, SII).
const MAILBOX: [u8; 2] = 0x1080_u16.to_le_bytes();

const UP: u32 = 1;
const OPERATION: u32 = 2;

/// Start of each datagram of a frame, and how many data it has.
fn datagrams(frame: &[u8]) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), HEADERS);
    while let Some(&[low, high]) = frame.get(at + 6..at + 8) {
        let length = usize::from(u16::from_le_bytes([low, high]));
        let data = length & 0x7FF;
        if at + DATAGRAM + data + 2 > frame.len() {
            break;
        }
        found.push((at, data));
        at += DATAGRAM + data + 2;
        if length & 0x8000 == 0 {
            break;
        }
    }
    found
}

/// Somebody at the cable.
struct Vandal {
    random: Random,
    /// Works in these phases only.
    phases: u32,
    /// One frame in this number.
    one_in: u64,
    /// Frames left alone at first.
    patience: u64,
    /// Frames harmed at most.
    most: u64,
    earlier: VecDeque<Vec<u8>>,
    held: Option<Vec<u8>>,
}

impl Vandal {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let phases = [UP, UP, OPERATION, UP | OPERATION][random.bits() as usize % 4];
        Self {
            phases,
            one_in: [1, 3, 30, 300, 1500][random.bits() as usize % 5],
            patience: random.bits() % if phases & UP == 0 { 6_000 } else { 12_000 },
            most: [2, 10, 100, u64::MAX][random.bits() as usize % 4],
            random,
            earlier: VecDeque::new(),
            held: None,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        (self.random.bits() % end.max(1) as u64) as usize
    }

    /// Another value for a byte, often one that means something.
    fn byte(&mut self, before: u8) -> u8 {
        match self.below(5) {
            0 => before ^ (1 << self.below(8)),
            1 => [0, 1, 2, 3, 4, 8, 0x7F, 0x80, 0xFF][self.below(9)],
            2 => before.wrapping_add(1),
            _ => self.random.bits() as u8,
        }
    }

    fn change(&mut self, bytes: &mut [u8], most: usize) {
        for _ in 0..1 + self.below(most) {
            if !bytes.is_empty() {
                let at = self.below(bytes.len());
                bytes[at] = self.byte(bytes[at]);
            }
        }
    }

    /// One datagram of the frame: its header, its data, its mailbox reply or its working counter.
    fn change_datagram(&mut self, frame: &mut [u8]) {
        let parts = datagrams(frame);
        let Some(&(at, data)) = parts.get(self.below(parts.len())) else { return };
        let mailbox = frame[at + 4..at + 6] == MAILBOX && data >= 16;
        match self.below(if mailbox { 12 } else { 6 }) {
            0 => self.change(&mut frame[at..at + DATAGRAM], 3),
            1 => frame[at + DATAGRAM + data..at + DATAGRAM + data + 2].fill(self.random.bits() as u8),
            2 => self.change(&mut frame[at + DATAGRAM + data..at + DATAGRAM + data + 2], 2),
            3 => frame[at + DATAGRAM..at + DATAGRAM + data].fill([0, 0xFF, 0x80, 1][self.below(4)]),
            4 => frame[at + DATAGRAM..at + DATAGRAM + data].iter_mut().for_each(|b| *b = self.random.bits() as u8),
            5 => self.change(&mut frame[at + DATAGRAM..at + DATAGRAM + data], 8),
            // Mailbox header, CoE header, SDO header, the length of a normal upload, the data.
            6 => self.change(&mut frame[at + DATAGRAM..at + DATAGRAM + 6], 3),
            7 => self.change(&mut frame[at + DATAGRAM + 6..at + DATAGRAM + 8], 2),
            8 => self.change(&mut frame[at + DATAGRAM + 8..at + DATAGRAM + 12], 2),
            9 => self.change(&mut frame[at + DATAGRAM + 12..at + DATAGRAM + 16], 4),
            10 => {
                // A refusal, with a code that may exist.
                frame[at + DATAGRAM + 8] = 0x80;
                self.change(&mut frame[at + DATAGRAM + 12..at + DATAGRAM + 16], 4);
            }
            _ => {
                // An emergency message in place of the reply.
                let body = &mut frame[at + DATAGRAM + 6..at + DATAGRAM + 16];
                body.copy_from_slice(&[0, 0x10, 0x34, 0x12, 1, 0, 0, 0, 0, 0]);
            }
        }
    }

    fn harm(&mut self, mut frame: Vec<u8>, out: &mut VecDeque<Vec<u8>>) {
        match self.below(16) {
            0 => frame.truncate(self.below(frame.len())),
            1 => {
                let more = self.below(1600 - frame.len().min(1599));
                frame.extend((0..more).map(|_| self.random.bits() as u8));
            }
            2 => return self.held = Some(frame),
            3 => return,
            4 => out.push_back(frame.clone()),
            5 => {
                let which = self.below(self.earlier.len());
                frame.clone_from(&self.earlier[which]);
            }
            6 => self.change(&mut frame, 6),
            7 => self.change(&mut frame[..HEADERS], 3),
            8 => frame.iter_mut().skip(14).for_each(|byte| *byte = self.random.bits() as u8),
            _ => self.change_datagram(&mut frame),
        }
        out.push_back(frame);
    }

    fn see(&mut self, phase: u32, frame: Vec<u8>, out: &mut VecDeque<Vec<u8>>) -> bool {
        if phase & self.phases == 0 {
            out.push_back(frame);
            return false;
        }
        if self.earlier.len() == 8 {
            self.earlier.pop_front();
        }
        self.earlier.push_back(frame.clone());
        self.patience = self.patience.saturating_sub(1);
        // Replies of mailboxes are rare among the frames of the way up and richest in what can be wrong.
        let reply = datagrams(&frame).iter().any(|(at, data)| frame[at + 4..at + 6] == MAILBOX && *data >= 16);
        let one_in = if reply { self.one_in.min(20) } else { self.one_in };
        let harms = self.patience == 0 && self.most > 0 && self.random.bits() % one_in == 0;
        let held = self.held.take();
        if harms {
            self.most -= 1;
            self.harm(frame, out);
        } else {
            out.push_back(frame);
        }
        // Out of order: the held answer comes after its successor.
        out.extend(held);
        harms
    }
}

#[derive(Debug, Default)]
struct Counts {
    frames: u64,
    harmed: u64,
    /// Runs that ended with an error, at start-up or in operation; panics of the master library are counted too.
    errors: u64,
    panics: u64,
    faulted: u64,
    done: u64,
}

/// One life with one vandal; panics where a promise is broken.
fn live(seed: u64, layout: &Layout, counts: &mut Counts) {
    let (phase, frames, harmed) =
        (Arc::new(AtomicU32::new(UP)), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let tamper: Tamper = {
        let (phase, frames, harmed) = (Arc::clone(&phase), Arc::clone(&frames), Arc::clone(&harmed));
        let mut vandal = Vandal::new(seed);
        Box::new(move |frame, out| {
            frames.fetch_add(1, Ordering::Relaxed);
            let harms = vandal.see(phase.load(Ordering::Relaxed), frame, out);
            harmed.fetch_add(u64::from(harms), Ordering::Relaxed);
        })
    };
    let segment = common::segment(&[]);
    match Cell::on(&segment, layout, Some(tamper)) {
        Err(error) => {
            counts.errors += 1;
            counts.panics += u64::from(matches!(error, BusError::MasterPanicked { .. }));
            assert!(error.to_string().contains(". "), "no remedy: {error}");
            let powered = common::powered(&segment);
            assert_eq!(powered, 0, "{powered} drives with power although none was enabled: {error}");
        }
        Ok(mut cell) => {
            phase.store(OPERATION, Ordering::Relaxed);
            let mut cycles = 0;
            while cell.cycle() == Flow::Continue {
                cycles += 1;
                assert!(cycles < CYCLES_MOST, "no end after {cycles} cycles: {:?}", cell.events.last());
            }
            cell.drain();
            match cell.main.outcome() {
                Outcome::Done => counts.done += 1,
                Outcome::Faulted { .. } => counts.faulted += 1,
                Outcome::Stopped(_) => panic!("nobody asked for a stop"),
            }
            assert!(!cell.events.is_empty(), "it ended without a word");
            // The watchdogs' time, and that of the ramp.
            cell.silence(1_000);
            assert_eq!(cell.powered(), 0, "{:?}, {:#?}", cell.main.outcome(), cell.events);
            assert!(cell.fastest_rad_s() < 0.01, "{} rad/s", cell.fastest_rad_s());
            if let Err(error) = cell.main.finish().1.leave() {
                assert!(error.to_string().contains(". "), "no remedy: {error}");
            }
            assert_eq!(common::powered(&segment), 0, "leaving gave power");
        }
    }
    counts.frames += frames.load(Ordering::Relaxed);
    counts.harmed += harmed.load(Ordering::Relaxed);
}

fn from_environment<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn no_answer_makes_the_application_panic_hang_or_leave_a_drive_with_power() {
    let seconds: Option<f64> = from_environment("KADENZ_FUZZ_SECONDS");
    let first: u64 = from_environment("KADENZ_FUZZ_SEED").unwrap_or(1);
    // Panics of the master library are caught and become errors: no need to print each of them.
    std::panic::set_hook(Box::new(|_| ()));
    let began = Instant::now();
    // The life under way and when it has to be over, ms; a hang cannot be asserted from inside.
    let (current, deadline_ms) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(u64::MAX)));
    let watch = (Arc::clone(&current), Arc::clone(&deadline_ms));
    std::thread::spawn(move || loop {
        std::thread::sleep(Duration::from_millis(500));
        if began.elapsed().as_millis() as u64 > watch.1.load(Ordering::Relaxed) {
            eprintln!("life {} hangs", watch.0.load(Ordering::Relaxed));
            std::process::abort();
        }
    });
    let layout = BuiltIn::Indy7.layout().unwrap();
    let (mut counts, mut lives) = (Counts::default(), 0);
    while seconds.map_or(lives < LIVES, |seconds| began.elapsed().as_secs_f64() < seconds) {
        let seed = first + lives;
        current.store(seed, Ordering::Relaxed);
        deadline_ms.store((began.elapsed() + LIFE_MOST).as_millis() as u64, Ordering::Relaxed);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| live(seed, &layout, &mut counts))) {
            let _ = std::panic::take_hook();
            let said = panic.downcast_ref::<String>().map(String::as_str);
            panic!("life {seed}: {}", said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message"));
        }
        lives += 1;
    }
    let _ = std::panic::take_hook();
    println!("{lives} lives from {first}: {counts:?}");
    assert!(counts.harmed > 0 && counts.errors + counts.faulted + counts.done == lives);
}
