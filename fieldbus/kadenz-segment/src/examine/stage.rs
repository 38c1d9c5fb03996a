// SPDX-License-Identifier: Apache-2.0
//! Plays one case: the master at one end of a cable, the segment at the other, in a network and a process namespace that
//! end with this process. [`run`](super::run) makes the namespaces.

use super::catalogue::{self, Asks, Case, Scene};
use super::judge::{judge, Ending, Played};
use super::witness::witness;
use super::{Outcome, Row, Verdict};
use crate::error::SegmentError;
use crate::fault::Kind;
use crate::link::packet::{become_real_time, PacketSocket};
use crate::link::{serve, LinkState};
use crate::pcap::{self, Writer};
use crate::segment::Segment;
use kadenz_rt::rights::{self, Still};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Frames that a case takes: twenty seconds of 125 µs, and room.
pub const MOST_FRAMES: u64 = 200_000;
/// Time in operation after which a case is over.
const WATCHED: Duration = Duration::from_secs(2);
/// Time after a fault without recovery after which a case is over.
const PATIENCE: Duration = Duration::from_secs(6);
/// Time that the segment goes on when the master has ended.
const AFTERLIFE: Duration = Duration::from_millis(200);
/// Cycles in operation that a case needs.
const ENOUGH_CYCLES: u64 = 200;
/// Lines of the master that are kept, and bytes of each.
const MOST_LINES: usize = 20;
const LONGEST_LINE: u64 = 400;
/// Words of the master's command that the interfaces replace.
pub const INTERFACE: &str = "{interface}";
/// The second one.
pub const SECOND: &str = "{second}";

/// A case to play.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Play {
    /// Name of the case.
    pub case: String,
    /// Ring file; absent: the catalogue's.
    pub ring: Option<PathBuf>,
    /// Command of the master.
    pub master: String,
    /// Longest duration, s.
    pub seconds: f64,
    /// SCHED_FIFO priority of the segment.
    pub priority: Option<i32>,
    /// Where the recording goes; absent: it is not kept.
    pub recording: Option<PathBuf>,
}

/// A pair of interfaces by number: the master's end, the segment's end.
fn pair(number: usize) -> (String, String) {
    (format!("master{number}"), format!("segment{number}"))
}

/// Plays the case that is described by the first line of standard input, and ends when that input does.
pub fn play(play: &Play) -> Result<Outcome, SegmentError> {
    let Some(case) = catalogue::by_name(&play.case) else {
        return Err(usage(format!("no case \"{}\"", play.case), "kadenz-segment examine --list shows all"));
    };
    let began = Instant::now();
    let mut scene = match catalogue::build(case, play.ring.as_deref())? {
        Ok(scene) => scene,
        Err(reason) => return Ok(not_played(case, reason)),
    };
    let needs_two = case.asks == Asks::Redundancy;
    if needs_two && !play.master.contains(SECOND) {
        return Ok(not_played(case, format!("the master's command has no {SECOND}")));
    }
    let pairs: Vec<(String, String)> = (0..1 + usize::from(needs_two)).map(pair).collect();
    pairs.iter().try_for_each(|(master, segment)| connect(master, segment))?;
    let sockets = pairs.iter().map(|(_, segment)| open(segment)).collect::<Result<Vec<_>, _>>()?;
    let file = recording_file(play.recording.as_deref())?;
    if let Some(priority) = play.priority {
        become_real_time(priority)?;
    }
    let master = Master::start(&play.master, &pairs)?;
    // `run` names the rights that are kept, where they matter.
    let _ = rights::give_up(play.priority.map_or(&[], |_| &[Still::LockMemory]));
    end_with_input();
    let output = master.listen();
    let (ending, has_flooded, ended_ns) = serve_until_over(&mut scene.segment, &sockets, &file, master, play.seconds)?;
    let packets = read_back(file)?;
    let Ok(Scene { segment, faults }) = catalogue::build(case, play.ring.as_deref())? else {
        return Ok(not_played(case, "the ring has changed".into()));
    };
    let notes = witness(segment, &packets);
    let played = Played { notes, ending, ended_ns, has_flooded };
    let output = output.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
    Ok(Outcome {
        case: case.name.into(),
        faults,
        rows: judge(case, &played),
        seconds: began.elapsed().as_secs_f64(),
        frames: played.notes.frames,
        master: ending.to_string(),
        log: played.notes.log,
        output,
    })
}

fn usage(message: String, remedy: &str) -> SegmentError {
    SegmentError::Usage { message, remedy: remedy.into() }
}

/// A case that does not apply to the ring or to the command.
fn not_played(case: &Case, reason: String) -> Outcome {
    let row = Row { feature: case.feature.into(), case: case.name.into(), verdict: Verdict::NotApplicable, reason };
    Outcome {
        case: case.name.into(),
        faults: Vec::new(),
        rows: vec![row],
        seconds: 0.0,
        frames: 0,
        master: "was not started".into(),
        log: Vec::new(),
        output: Vec::new(),
    }
}

/// Makes a pair of interfaces and brings it up.
fn connect(master: &str, segment: &str) -> Result<(), SegmentError> {
    ip(&["link", "add", master, "type", "veth", "peer", "name", segment])?;
    for end in [master, segment] {
        // Neighbour discovery would put foreign frames between those of the master.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{end}/disable_ipv6"), "1");
        ip(&["link", "set", end, "up"])?;
    }
    ip(&["link", "set", "lo", "up"])
}

fn ip(arguments: &[&str]) -> Result<(), SegmentError> {
    let fail = |source| SegmentError::Interface {
        action: "make",
        interface: arguments.join(" "),
        source,
        remedy: "Install iproute2, and run where network namespaces are allowed",
    };
    let output = Command::new("ip").args(arguments).output().map_err(fail)?;
    match output.status.success() {
        true => Ok(()),
        false => Err(fail(std::io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))),
    }
}

/// Opens the segment's end once it has a link.
fn open(interface: &str) -> Result<PacketSocket, SegmentError> {
    let socket = PacketSocket::open(interface)?;
    let deadline = Instant::now() + Duration::from_secs(5);
    while socket.state() != LinkState::Up && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(socket)
}

/// The file of the recording. One that is not kept has no name: it goes with this process.
fn recording_file(kept: Option<&Path>) -> Result<File, SegmentError> {
    let path = kept.map_or_else(
        || {
            std::env::temp_dir().join(format!(
                "kadenz-{}",
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
            ))
        },
        Path::to_path_buf,
    );
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true);
    if kept.is_none() {
        options.create_new(true);
    }
    let file = options.open(&path).map_err(|error| file_error("create recording", &path, error))?;
    if kept.is_none() {
        std::fs::remove_file(&path).map_err(|error| file_error("remove", &path, error))?;
    }
    Ok(file)
}

fn file_error(action: &'static str, path: &Path, source: std::io::Error) -> SegmentError {
    SegmentError::File { action, path: path.into(), source, remedy: "Name a folder that exists and may be written" }
}

/// The frames of a recording that was written just now.
fn read_back(mut file: File) -> Result<Vec<pcap::Packet>, SegmentError> {
    let path = Path::new("the recording");
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).map_err(|error| file_error("read", path, error))?;
    file.read_to_end(&mut bytes).map_err(|error| file_error("read", path, error))?;
    let damaged = |(offset, message)| SegmentError::Capture { path: path.into(), message, offset };
    Ok(pcap::parse(&bytes).map_err(damaged)?.packets)
}

/// The process of the master.
struct Master {
    child: RefCell<Child>,
}

type Lines = Arc<Mutex<VecDeque<String>>>;

impl Master {
    /// Starts the command with the names of the interfaces in it.
    fn start(command: &str, pairs: &[(String, String)]) -> Result<Self, SegmentError> {
        let mut text = command.to_owned();
        for (word, (master, _)) in [INTERFACE, SECOND].into_iter().zip(pairs) {
            text = text.replace(word, master);
        }
        // A second port without a cable: the name of no interface.
        let text = text.replace(SECOND, "none");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec 2>&1\n{text}")]).process_group(0);
        let spawned = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let child = spawned.map_err(|error| file_error("start", Path::new("sh"), error))?;
        Ok(Self { child: RefCell::new(child) })
    }

    /// Keeps the last lines of its output.
    fn listen(&self) -> Lines {
        let lines = Lines::default();
        let kept = Arc::clone(&lines);
        if let Some(output) = self.child.borrow_mut().stdout.take() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(output);
                let mut line = Vec::new();
                while reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                    let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    if kept.len() == MOST_LINES {
                        kept.pop_front();
                    }
                    kept.push_back(text);
                    line.clear();
                }
            });
        }
        lines
    }

    /// How it stands. A shell reports the signal of its child as 128 and its number.
    fn ending(&self) -> Ending {
        match self.child.borrow_mut().try_wait() {
            Ok(Some(status)) => match (status.signal(), status.code()) {
                (Some(signal), _) => Ending::Signal(signal),
                (None, Some(code @ 129..=192)) => Ending::Signal(code - 128),
                (None, code) => Ending::Code(code.unwrap_or(0)),
            },
            _ => Ending::Runs,
        }
    }
}

/// Ends this process, and with it the namespace of the case, when standard input ends: the examiner is gone.
fn end_with_input() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(1);
    });
}

/// Decides when a case is over.
struct Watch {
    /// Since when all is well after the fault, and how many cycles there had been.
    well: Option<(Instant, u64)>,
    fault: Option<Instant>,
    ended: Option<Instant>,
    looked: Instant,
    ending: Ending,
}

impl Watch {
    /// Looks at the segment and at the master. True when the case is over.
    fn is_over(&mut self, segment: &Segment, master: &Master) -> bool {
        let counters = segment.counters();
        if counters.frames + counters.ignored > MOST_FRAMES {
            return true;
        }
        let running = segment.faults().first();
        let has_begun = running.is_none_or(|running| running.is_active || running.progress().begun > 0);
        // A fallen device stays fallen until the master leads it back; a clock drifts on.
        let lasts = |kind| matches!(kind, Kind::AlError | Kind::RefuseState | Kind::ClockDrift | Kind::Emergency);
        let is_past = has_begun && running.is_none_or(|running| !running.is_active || lasts(running.fault.kind));
        if is_past && segment.is_operational() {
            let (since, cycles) = *self.well.get_or_insert((Instant::now(), counters.cycles));
            if since.elapsed() >= WATCHED && counters.cycles - cycles >= ENOUGH_CYCLES {
                return true;
            }
        } else {
            self.well = None;
        }
        if has_begun && running.is_some() && self.fault.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return true;
        }
        if self.looked.elapsed() > Duration::from_millis(10) {
            self.looked = Instant::now();
            self.ending = master.ending();
            if self.ending != Ending::Runs {
                self.ended.get_or_insert_with(Instant::now);
            }
        }
        self.ended.is_some_and(|ended| ended.elapsed() > AFTERLIFE)
    }
}

/// Serves the master until the case is over: how the master stood, whether it flooded the segment, and the time, ns.
fn serve_until_over(
    segment: &mut Segment,
    sockets: &[PacketSocket],
    file: &File,
    master: Master,
    seconds: f64,
) -> Result<(Ending, bool, u64), SegmentError> {
    let path = PathBuf::from("the recording");
    let copy = file.try_clone().map_err(|error| file_error("write", &path, error))?;
    let epoch_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let writer = Writer::with_interfaces(BufWriter::with_capacity(1 << 20, copy), epoch_s, sockets.len())
        .map_err(|error| file_error("write", &path, error))?;
    let recording = Some(serve::Recording { writer, path });
    let begun = Instant::now();
    let watch = RefCell::new(Watch { well: None, fault: None, ended: None, looked: begun, ending: Ending::Runs });
    let stop = |segment: &Segment| watch.borrow_mut().is_over(segment, &master);
    let duration = Some(Duration::from_secs_f64(seconds));
    serve::serve_since(begun, segment, sockets, recording, &stop, duration, &mut |_| {})?;
    let counters = segment.counters();
    let has_flooded = counters.frames + counters.ignored > MOST_FRAMES;
    Ok((master.ending(), has_flooded, begun.elapsed().as_nanos() as u64))
}
