// SPDX-License-Identifier: Apache-2.0
//! What the segment costs a frame: ring of eight devices behind a coupler, frames as the two masters send them.
//!
//! Included: parsing, every device's work on every datagram, working counters, feeding the clocks. Not included: system
//! calls (printed by `benchmarks/segment.py` over a veth pair) and what the devices' applications do after the frame
//! has left (printed here as `settle`). `cargo bench -p kadenz-segment`. `--frames N --only soem` sends fewer, of one master:
//! `benchmarks/segment.py` has callgrind count their instructions so.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kadenz_segment::command::Command;
use kadenz_segment::frame::{address, datagrams, FrameBuilder};
use kadenz_segment::register::at;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::RingFile;
use std::path::Path;
use std::time::Instant;

const STATION: u16 = 0x1001;
const CYCLE_NS: u64 = 1_000_000;
const WARM_UP: usize = 10_000;
const FRAMES: usize = 200_000;

struct Bench {
    segment: Segment,
    now_ns: u64,
}

impl Bench {
    fn new() -> Self {
        let path = Path::new("rings/eight.toml"); // cargo runs benchmarks in the folder of their package
        let file = RingFile::read(path).expect("ring file");
        Self { segment: Segment::new(Ring::new(&file, path).expect("ring")), now_ns: 0 }
    }

    fn send(&mut self, command: Command, address: u32, data: &[u8]) -> Vec<u8> {
        let mut frame = FrameBuilder::default().datagram(command, 0, address, data).build();
        self.now_ns += 10_000;
        self.segment.process(&mut frame, self.now_ns);
        self.segment.settle(self.now_ns);
        frame
    }

    fn write(&mut self, device: u16, offset: impl Into<u16>, data: &[u8]) {
        self.send(Command::Fpwr, address(STATION + device, offset), data);
    }

    /// Brings the ring to OP, process data mapped byte by byte as ethercrab does. Gives the bytes of the image.
    fn bring_up(&mut self) -> usize {
        let mut logical = 0_usize;
        for device in 0..self.segment.ring().devices.len() as u16 {
            self.send(
                Command::Apwr,
                address(0_u16.wrapping_sub(device), at::STATION),
                &(STATION + device).to_le_bytes(),
            );
            let description = self.segment.ring().devices[usize::from(device)].description.clone();
            for (number, manager) in description.managers().iter().enumerate() {
                let mut raw = manager.start.to_le_bytes().to_vec();
                raw.extend(manager.length.to_le_bytes());
                raw.extend([manager.control, 0, u8::from(manager.length > 0), 0]);
                self.write(device, at::SYNC_MANAGER.element(number), &raw);
                let kind = match manager.control & 0x0F {
                    4 => 2,
                    0 => 1,
                    _ => continue,
                };
                if manager.length == 0 {
                    continue;
                }
                let mut fmmu = (logical as u32).to_le_bytes().to_vec();
                fmmu.extend(manager.length.to_le_bytes());
                fmmu.extend([0, 7]);
                fmmu.extend(manager.start.to_le_bytes());
                fmmu.extend([0, kind, 1, 0, 0, 0]);
                self.write(device, at::FMMU.element(usize::from(kind - 1)), &fmmu);
                logical += usize::from(manager.length);
            }
            for state in [2, 4, 8] {
                self.write(device, at::AL_CONTROL, &[state, 0]);
            }
        }
        for device in &self.segment.ring().devices {
            assert_eq!(device.al.status(), 8, "{} is not in OP", device.name);
        }
        logical
    }

    /// Times `process` and, apart, `settle`, of one frame a millisecond: sorted ns of each.
    fn measure(&mut self, frame: &[u8], counter: u16, frames: usize) -> (Vec<u64>, Vec<u64>) {
        let (mut process, mut settle) = (Vec::with_capacity(frames), Vec::with_capacity(frames));
        let mut buffer = frame.to_vec();
        for number in 0..WARM_UP.min(frames) + frames {
            buffer.copy_from_slice(frame);
            self.now_ns += CYCLE_NS;
            // What is due between two frames is done between them, as the live loop does when its timer wakes it.
            self.segment.settle(self.now_ns - 1);
            let start = Instant::now();
            self.segment.process(&mut buffer, self.now_ns);
            let passed = Instant::now();
            self.segment.settle(self.now_ns);
            let settled = Instant::now();
            if number >= WARM_UP.min(frames) {
                process.push((passed - start).as_nanos() as u64);
                settle.push((settled - passed).as_nanos() as u64);
            }
        }
        let mut last = datagrams(&mut buffer).expect("frame");
        assert!(last.any(|datagram| datagram.working_counter() == counter), "the frame did its work");
        process.sort_unstable();
        settle.sort_unstable();
        (process, settle)
    }
}

fn row(name: &str, bytes: usize, sorted: &[u64], clock_ns: u64) {
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    let mean = sorted.iter().sum::<u64>() as f64 / sorted.len() as f64;
    let own = mean - clock_ns as f64;
    println!("| {name} | {bytes} | {own:.0} | {} | {} | {} |", at(0.5), at(0.99), at(0.999));
}

/// The value that follows a word on the command line.
fn argument(word: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != word).nth(1)
}

fn main() {
    let frames = argument("--frames").map_or(FRAMES, |text| text.parse().expect("a number of frames"));
    let only = argument("--only").unwrap_or_default();
    let mut reads: Vec<u64> = (0..100_000)
        .map(|_| {
            let start = Instant::now();
            start.elapsed().as_nanos() as u64
        })
        .collect();
    reads.sort_unstable();
    let clock_ns = reads[reads.len() / 2];

    let mut bench = Bench::new();
    let image = bench.bring_up();
    let frmw = address(STATION, at::SYSTEM_TIME);
    let soem = FrameBuilder::default()
        .datagram(Command::Lrw, 0, 0, &vec![0; image])
        .datagram(Command::Frmw, 1, frmw, &[0; 8])
        .build();
    let mut crab =
        FrameBuilder::default().datagram(Command::Frmw, 0, frmw, &[0; 8]).datagram(Command::Lrw, 1, 0, &vec![0; image]);
    for device in 0..9 {
        crab = crab.datagram(Command::Fprd, 2, address(STATION + device, at::AL_STATUS), &[0; 2]);
    }
    let crab = crab.build();
    let whole = 6 * 3 + 2 + 1;
    println!(
        "ring: coupler and eight devices in OP, {image} bytes of process data; {frames} frames each, one a millisecond"
    );
    println!("one reading of the clock: {clock_ns} ns, taken off the mean and left in the percentiles\n");
    println!("| frame | bytes | mean ns | p50 ns | p99 ns | p99.9 ns |");
    println!("|---|---|---|---|---|---|");
    for (name, frame) in [("SOEM: LRW, FRMW", &soem), ("ethercrab: FRMW, LRW, 9 FPRD", &crab)] {
        if !name.starts_with(&only) {
            continue;
        }
        let (process, settle) = bench.measure(frame, whole, frames);
        row(name, frame.len(), &process, clock_ns);
        row("  settle after it (applications)", frame.len(), &settle, clock_ns);
    }
}
