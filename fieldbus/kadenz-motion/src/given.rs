// SPDX-License-Identifier: Apache-2.0
//! A master that is given: any program that drives the ring over an interface, started as it is and asked for nothing.
//!
//! This process simulates the ring on the other interface, counts the frames with process data, and ends the program
//! when enough have come. It stamps none of them: when a frame left is seen outside of this Linux (instruments/tap),
//! and the lab enters these times into the record. Both count the same frames in the same order.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kadenz_record::{Begin, Dtype, End, EndLane, Map, Proof, Status, Writer};
use kadenz_rt::process::await_end;
use kadenz_segment::al::State;
use kadenz_segment::error::SegmentError;
use kadenz_segment::link::packet::{become_real_time, PacketSocket};
use kadenz_segment::link::serve::serve;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::RingFile;

use crate::built_in::BuiltIn;
use crate::error::MotionError;
use crate::record::Wanted;
use crate::simulation::{Overload, RingShare};

/// Name of the record.
pub const LATENESS: &str = "control/lateness";
/// The lane that the lab fills.
const LANE: &str = "departure";
/// What a program may need until its ring operates, besides its cycles.
const BRING_UP: Duration = Duration::from_secs(20);
/// SCHED_FIFO of the ring: above every load, below every program that is given. It would take the processor away from
/// it, and lend its priority to whatever holds a lock that both need.
const PRIORITY: i32 = 1;
/// Until the ring answers.
const LEAD: Duration = Duration::from_millis(20);
/// Of a program's output: the bytes that are kept, and the lines that a failed record has.
const KEPT: usize = 4096;
const LINES: usize = 20;

/// The program and the ring.
#[derive(Debug, Clone)]
pub struct Given {
    /// Folder with `program`; `arguments`, one a line, the program's name first; perhaps `ring.toml`.
    pub folder: PathBuf,
    /// The program's interface, in its variable KADENZ_INTERFACE.
    pub interface: String,
    /// The interface of the ring.
    pub ring_interface: String,
    /// The ring, unless the folder has one.
    pub built_in: BuiltIn,
    /// Whether the ring runs under SCHED_FIFO.
    pub realtime: bool,
}

/// The frames of a record, among those with process data in the order of their leaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Count {
    /// Frames before the first that is measured.
    skip: u64,
    /// Frames in a cycle; the lab sees which is the first, and measures it.
    frames: u64,
    period_us: u64,
    samples: u64,
}

impl Count {
    fn of(wanted: &Wanted) -> Self {
        let value =
            |name: &str, initial| wanted.number(name).and_then(|value| u64::try_from(value).ok()).unwrap_or(initial);
        Self {
            skip: value("skip", SKIP as u64),
            frames: value("frames", 1).max(1),
            period_us: value("period_us", PERIOD_US as u64),
            samples: wanted.samples,
        }
    }

    /// Frames after which there is nothing left to see.
    fn enough(&self) -> u64 {
        self.skip + self.samples * self.frames
    }

    /// Samples in this many frames.
    fn samples_in(&self, cycles: u64) -> u64 {
        (cycles.saturating_sub(self.skip) / self.frames).min(self.samples)
    }

    /// Twice as long as the cycles take, and the time until the ring operates.
    fn patience(&self) -> Duration {
        BRING_UP + Duration::from_micros(2 * self.period_us * (self.samples + self.skip / self.frames))
    }
}

/// The period that is assumed, µs, and the frames that belong to the beginning of a master.
pub const PERIOD_US: i64 = 1000;
/// See [`PERIOD_US`].
pub const SKIP: i64 = 1000;

/// The frames that a program sent.
#[derive(Debug, Default)]
struct Seen {
    frames: u64,
    cycles: u64,
    /// The first device that did not operate when the first measured frame came.
    idle: Option<String>,
    /// If the ring took much of the processor from then on.
    share: Option<String>,
    /// If the ring fell behind, and therefore ended.
    overload: Option<String>,
}

impl Given {
    /// The program's name, and its arguments.
    pub fn arguments(&self) -> Result<(String, Vec<String>), MotionError> {
        let path = self.folder.join("arguments");
        let text = std::fs::read_to_string(&path).map_err(|source| MotionError::System {
            action: format!("read {}", path.display()),
            source,
            remedy: "--given names a folder with `program` and `arguments`",
        })?;
        let mut lines = text.lines().map(str::to_owned);
        Ok((lines.next().unwrap_or_default(), lines.collect()))
    }

    fn segment(&self) -> Result<Segment, SegmentError> {
        let path = self.folder.join("ring.toml");
        if !path.exists() {
            return self.built_in.segment::<&str>(&[]);
        }
        Ok(Segment::new(Ring::new(&RingFile::read(&path)?, &path)?))
    }

    /// Measures one record. The error is that of this machine; what the program does wrong is in the record.
    pub fn measure<O: Write>(&self, wanted: &Wanted, mut writer: Writer<O>) -> Result<Writer<O>, MotionError> {
        let count = Count::of(wanted);
        let (name, arguments) = self.arguments()?;
        writer.begin(&begin(wanted, count))?;
        writer.flush()?;
        let mut segment = self.segment()?;
        let socket = PacketSocket::open(&self.ring_interface)?;
        let is_over = AtomicBool::new(false);
        let (ended, seen, said) = thread::scope(|scope| {
            let this = thread::current();
            let (is_over, socket, segment) = (&is_over, &socket, &mut segment);
            // It says so in any case, also where it cannot begin.
            let ring = scope.spawn(move || {
                let served = self.serve(segment, socket, count, is_over);
                is_over.store(true, Ordering::Relaxed);
                this.unpark();
                served
            });
            thread::sleep(LEAD);
            let outcome = self.run(&name, &arguments, count.patience(), is_over);
            is_over.store(true, Ordering::Relaxed);
            let seen = ring.join().unwrap_or_else(|_| Ok(Seen::default()))?;
            let (ended, said) = outcome?;
            Ok::<_, MotionError>((ended, seen, said))
        })?;
        seen.share.iter().try_for_each(|note| writer.text(note))?;
        let end = end(wanted, count, &name, ended, &seen);
        if end.status != Status::Ok {
            last_lines(&said).try_for_each(|line| writer.text(&format!("{name}: {line}")))?;
        }
        writer.end(&end)?;
        Ok(writer)
    }

    /// Answers frames until there were enough, or until `is_over`.
    fn serve(
        &self,
        segment: &mut Segment,
        socket: &PacketSocket,
        count: Count,
        is_over: &AtomicBool,
    ) -> Result<Seen, MotionError> {
        if self.realtime {
            become_real_time(PRIORITY)?;
        }
        let idle: RefCell<Option<Option<String>>> = RefCell::default();
        let share: RefCell<Option<RingShare>> = RefCell::default();
        let (watched, overload) = (RefCell::new(Overload::watch_this_thread()), RefCell::default());
        let stop = |segment: &Segment| {
            let cycles = segment.counters().cycles;
            if cycles > count.skip && idle.borrow().is_none() {
                share.replace(Some(RingShare::watch_this_thread()));
                let mut devices = segment.ring().devices.iter();
                let first = devices.find(|device| device.al.state() != State::Op);
                idle.replace(Some(first.map(|device| format!("{} is in {:?}", device.name, device.al.state()))));
            }
            let falls_behind = watched.borrow_mut().sentence().map(|said| overload.replace(Some(said))).is_some();
            cycles >= count.enough() || is_over.load(Ordering::Relaxed) || falls_behind
        };
        serve::<std::io::Sink>(segment, std::slice::from_ref(socket), None, &stop, None, &mut |_| {})?;
        let counters = segment.counters();
        let idle = idle.into_inner().flatten();
        let share = share.into_inner().and_then(|share| share.note(count.period_us));
        let overload = overload.into_inner();
        Ok(Seen { frames: counters.frames, cycles: counters.cycles, idle, share, overload })
    }

    /// Starts the program and waits for its end, for `is_over`, or for as long as it may take; then ends it. Gives how
    /// it ended if it did so itself, and the last of what it said.
    fn run(
        &self,
        name: &str,
        arguments: &[String],
        patience: Duration,
        is_over: &AtomicBool,
    ) -> Result<(Option<ExitStatus>, String), MotionError> {
        let system = |action: &str, source| MotionError::System {
            action: format!("{action} {name}"),
            source,
            remedy: "It is to be an executable of this instruction set",
        };
        let (ours, theirs) = UnixStream::pair().map_err(|source| system("listen to", source))?;
        let output = |end: UnixStream| Stdio::from(OwnedFd::from(end));
        let errors = theirs.try_clone().map_err(|source| system("listen to", source))?;
        let mut child = Command::new(self.folder.join("program"))
            .arg0(name)
            .args(arguments)
            .env("KADENZ_INTERFACE", &self.interface)
            .stdin(Stdio::null())
            .stdout(output(theirs))
            .stderr(output(errors))
            .spawn()
            .map_err(|source| system("start", source))?;
        thread::scope(|scope| {
            let (this, ours, id) = (thread::current(), &ours, child.id());
            let listener = scope.spawn(move || last_words(ours));
            // Its output may end before Linux has its status, or long before it does.
            scope.spawn(move || {
                let _ = await_end(id);
                this.unpark();
            });
            let ended = wait(&mut child, patience, is_over);
            let _ = child.kill();
            let _ = child.wait();
            // Also where a child of its own still holds the other end.
            let _ = ours.shutdown(Shutdown::Both);
            let said = listener.join().unwrap_or_default();
            Ok((ended.map_err(|source| system("wait for", source))?, said))
        })
    }
}

/// How a child ended by itself; `None` if it still runs when it is to end. This thread sleeps until it is woken, by the
/// ring or by the child's end: looking now and then would disturb what is measured.
fn wait(child: &mut Child, patience: Duration, is_over: &AtomicBool) -> std::io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    while !is_over.load(Ordering::Relaxed) && begun.elapsed() < patience {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::park_timeout(patience.saturating_sub(begun.elapsed()));
    }
    Ok(None)
}

/// Reads until the end, and keeps the last bytes as text.
fn last_words(mut stream: &UnixStream) -> String {
    let mut kept = VecDeque::with_capacity(2 * KEPT);
    let mut piece = [0; 512];
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        kept.extend(piece.iter().take(count));
        kept.drain(..kept.len().saturating_sub(KEPT));
    }
    String::from_utf8_lossy(kept.make_contiguous()).into_owned()
}

/// The last lines that are text; a program may write anything.
fn last_lines(said: &str) -> impl Iterator<Item = &str> {
    let is_text = |line: &&str| !line.trim().is_empty() && !line.contains(|c: char| c.is_control() || c == '\u{fffd}');
    let lines: Vec<&str> = said.lines().filter(is_text).collect();
    let first = lines.len().saturating_sub(LINES);
    lines.into_iter().skip(first)
}

fn begin(wanted: &Wanted, count: Count) -> Begin {
    let params = [("period_us", count.period_us), ("n", count.samples), ("skip", count.skip), ("frames", count.frames)];
    Begin {
        record: wanted.record,
        bench: LATENESS.into(),
        planned: wanted.samples,
        lanes: vec![LANE.into()],
        dtype: Dtype::F8,
        unit: "ns".into(),
        params: params.map(|(name, value)| (name.to_owned(), (value as i64).into())).into(),
        ranks: Map::new(),
    }
}

fn end(wanted: &Wanted, count: Count, name: &str, ended: Option<ExitStatus>, seen: &Seen) -> End {
    let taken = count.samples_in(seen.cycles);
    let reason = if taken < wanted.samples {
        why_too_few(count, name, ended, seen)
    } else {
        seen.idle.as_ref().map_or_else(String::new, |device| {
            let others = count.skip;
            format!(
                "{device} when the first measured frame came, behind {others} others: raise `skip` if it still starts"
            )
        })
    };
    End {
        record: wanted.record,
        status: if reason.is_empty() { Status::Ok } else { Status::Failed },
        reason,
        lanes: vec![EndLane { taken, missed: 0, overrun: 0 }],
        proof: Proof { checked: taken, ..Proof::default() },
        drains: vec![],
    }
}

fn why_too_few(count: Count, name: &str, ended: Option<ExitStatus>, seen: &Seen) -> String {
    if let Some(overload) = &seen.overload {
        return overload.clone();
    }
    let how = ended.map_or_else(
        || format!("{name} was ended after {} s of the guest's clock", count.patience().as_secs()),
        |status| format!("{name} ended by itself ({status})"),
    );
    let has_died = ended.is_some_and(|status| !status.success());
    match (seen.frames, seen.cycles) {
        (0, _) if has_died => format!("{how} and sent no frame"),
        (0, _) => format!("{how} and sent no frame: does it open the interface that KADENZ_INTERFACE names?"),
        (frames, 0) => format!("{how}; it sent {frames} frames, none with process data"),
        (_, cycles) => format!("{how}; it sent {cycles} of {} frames with process data", count.enough()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(samples: u64, params: &[(&str, i64)]) -> Wanted {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        Wanted { record: 7, bench: LATENESS.into(), params, samples }
    }

    #[test]
    fn enough_frames_have_as_many_samples_as_were_wanted() {
        for (skip, frames, samples) in [(0, 1, 1), (1000, 1, 5000), (3, 2, 10), (0, 4, 7)] {
            let count = Count::of(&wanted(samples, &[("skip", skip), ("frames", frames)]));
            assert_eq!(count.samples_in(count.enough()), samples);
            assert_eq!(count.samples_in(count.enough() - 1), samples - 1);
            assert_eq!(count.samples_in(u64::MAX), samples);
        }
    }

    #[test]
    fn a_record_says_why_it_has_too_few_samples() {
        let wanted = wanted(100, &[("skip", 10)]);
        let count = Count::of(&wanted);
        let said = |frames, cycles| {
            let seen = Seen { frames, cycles, ..Seen::default() };
            let end = end(&wanted, count, "m", None, &seen);
            assert_eq!((end.status, end.lanes[0].missed), (Status::Failed, 0));
            end.reason
        };
        assert!(said(0, 0).contains("sent no frame: does it open the interface"));
        assert!(said(12, 0).contains("it sent 12 frames, none with process data"));
        assert!(said(90, 60).contains("it sent 60 of 110 frames with process data"));
    }

    #[test]
    fn a_ring_that_does_not_operate_yet_is_named() {
        let wanted = wanted(100, &[("skip", 10)]);
        let idle = Some("drive is in SafeOp".to_owned());
        let end =
            end(&wanted, Count::of(&wanted), "m", None, &Seen { frames: 200, cycles: 110, idle, ..Seen::default() });
        assert!(end.reason.starts_with("drive is in SafeOp when the first measured frame came, behind 10 others"));
        assert_eq!((end.status, end.lanes[0].taken), (Status::Failed, 100));
    }

    #[test]
    fn a_program_that_ends_long_after_its_output_has_ended_by_itself() {
        let folder = std::env::temp_dir().join(format!("kadenz-given-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink("/bin/sh", folder.join("program")).unwrap();
        let (interface, ring_interface) = ("a".into(), "b".into());
        let built_in = BuiltIn::Terminals;
        let given = Given { folder: folder.clone(), interface, ring_interface, built_in, realtime: false };
        let arguments = ["-c", "echo over; exec >&- 2>&-; sleep 0.2; exit 3"].map(str::to_owned);
        let (ended, said) = given.run("m", &arguments, Duration::from_secs(60), &AtomicBool::new(false)).unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        assert_eq!((ended.and_then(|status| status.code()), said.as_str()), (Some(3), "over\n"));
    }

    #[test]
    fn the_last_of_a_long_output_is_kept() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let writing = thread::spawn(move || (0..3000).for_each(|line| writeln!(theirs, "line {line}").unwrap()));
        let said = last_words(&ours);
        writing.join().unwrap();
        assert!(said.len() <= KEPT && said.ends_with("line 2999\n"), "{said}");
        assert_eq!(last_lines(&said).next(), Some("line 2980"));
        assert_eq!(last_lines("a\n\u{1b}[2J\n\n\u{fffd}\nb\n").collect::<Vec<_>>(), ["a", "b"]);
    }
}
