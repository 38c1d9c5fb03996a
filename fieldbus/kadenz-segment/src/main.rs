// SPDX-License-Identifier: Apache-2.0
//! The command line: run, control, examine, embed, replay, check, describe.

use clap::{Parser, Subcommand};
use kadenz_rt::rights::{self, Still};
use kadenz_rt::signal::{self, Signal};
use kadenz_segment::command::Command as Datagram;
use kadenz_segment::control::{self, client, server::Socket};
use kadenz_segment::device::channels::Place;
use kadenz_segment::device::{Device, Function};
use kadenz_segment::eni;
use kadenz_segment::eni::replay::Replay;
use kadenz_segment::error::{SegmentError, EXIT_FAILED};
use kadenz_segment::examine::command::{self, Examination};
use kadenz_segment::fault::{Fault, FaultFile};
use kadenz_segment::link::log::Log;
use kadenz_segment::link::packet::{become_real_time, PacketSocket};
use kadenz_segment::link::{embedded, replay, serve, Event};
use kadenz_segment::pcap::{self, Writer};
use kadenz_segment::register::REGISTERS;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::{RingFile, EXAMPLE};
use kadenz_segment::xml::Problem;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A simulated EtherCAT segment that any master accepts.
#[derive(Parser)]
#[command(version, after_help = "Exit codes: 0 pass, 1 failed, 2 usage or a wrong file.")]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Serve an Ethernet interface until interrupted.
    Run {
        /// Interface on the segment's side, for example one end of a veth pair. Twice: a ring with cable redundancy.
        #[arg(long, required = true)]
        interface: Vec<String>,
        /// Ring file.
        #[arg(long)]
        ring: PathBuf,
        /// Fault file.
        #[arg(long)]
        faults: Option<PathBuf>,
        /// One fault: kind@moment=value,key=value… May be repeated.
        #[arg(long)]
        fault: Vec<String>,
        /// Record all frames to a pcapng file.
        #[arg(long)]
        record: Option<PathBuf>,
        /// Socket for `kadenz-segment control`, in a folder of yours.
        #[arg(long)]
        control: Option<PathBuf>,
        /// Stop after this number of seconds.
        #[arg(long)]
        seconds: Option<f64>,
        /// SCHED_FIFO priority, with locked memory.
        #[arg(long, value_parser = clap::value_parser!(i32).range(1..=99))]
        priority: Option<i32>,
    },
    /// Inject, list and clear faults of a segment that runs with --control.
    Control {
        /// Socket of the segment.
        socket: PathBuf,
        #[command(subcommand)]
        message: Message,
    },
    /// Examine a master by a catalogue of cases, each in namespaces of its own.
    Examine(Examination),
    /// Answer frames from standard input on standard output, at the times that come with them: a segment inside a test.
    Embed {
        /// Ring file.
        #[arg(long)]
        ring: PathBuf,
        /// Fault file.
        #[arg(long)]
        faults: Option<PathBuf>,
        /// One fault: kind@moment=value,key=value… May be repeated.
        #[arg(long)]
        fault: Vec<String>,
    },
    /// Plays one case of `examine`.
    #[command(hide = true)]
    PlayCase,
    /// Feed a recording to the segment and compare what comes back, byte by byte.
    Replay {
        /// Recording made by `run --record`.
        recording: PathBuf,
        /// Ring file of the recording.
        #[arg(long)]
        ring: PathBuf,
        /// Fault file of the recording.
        #[arg(long)]
        faults: Option<PathBuf>,
        /// Faults of the recording.
        #[arg(long)]
        fault: Vec<String>,
    },
    /// Check a ring file and, with it, a fault file.
    Check {
        /// Ring file.
        ring: PathBuf,
        /// Fault file.
        #[arg(long)]
        faults: Option<PathBuf>,
        /// ENI file: compare its network with the ring, and replay its commands until OP.
        #[arg(long)]
        eni: Option<PathBuf>,
    },
    /// Describe a ring, the file format, or what the segment knows.
    Describe {
        /// Ring file.
        ring: Option<PathBuf>,
        /// Print a ring file with every key.
        #[arg(long)]
        format: bool,
        /// Print the register map.
        #[arg(long)]
        registers: bool,
        /// Print the ring as an ENI file.
        #[arg(long, requires = "ring", conflicts_with_all = ["format", "registers"])]
        eni: bool,
    },
}

#[derive(Subcommand)]
enum Message {
    /// Inject a fault; its moment counts from now.
    Inject {
        /// kind@moment=value,key=value…, as --fault takes it.
        fault: String,
    },
    /// List the faults, and how far each is.
    List,
    /// End a fault, or all.
    Clear {
        /// Its number, or "all".
        number: String,
    },
    /// Show counters of frames and faults.
    Status,
}

impl Message {
    /// As the socket takes it.
    fn line(&self) -> String {
        match self {
            Self::Inject { fault } => format!("inject {fault}"),
            Self::List => "list".into(),
            Self::Clear { number } => format!("clear {number}"),
            Self::Status => "status".into(),
        }
    }
}

/// A line on standard output. A reader that went away (`| head`) is no reason to panic, nor to leave a master alone.
macro_rules! say {
    ($($line:tt)*) => {{
        let _ = writeln!(std::io::stdout(), $($line)*);
    }};
}

fn main() -> ExitCode {
    match act(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(EXIT_FAILED),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Does what the command line asks for. False if a master failed a case.
fn act(action: Action) -> Result<bool, SegmentError> {
    match action {
        Action::Examine(examination) => return command::examine(&examination),
        Action::Embed { ring, faults, fault } => {
            let mut segment = build(&ring, 1, faults.as_deref(), &fault)?;
            embedded::answer(&mut segment, &mut std::io::stdin().lock(), &mut std::io::stdout().lock()).map(drop)
        }
        Action::PlayCase => command::play_case(),
        Action::Run { interface, ring, faults, fault, record, control, seconds, priority } => {
            let interfaces = number_of_interfaces(&interface)?;
            let mut segment = build(&ring, interfaces, faults.as_deref(), &fault)?;
            run(&mut segment, &interface, Options { record, control, seconds, priority })
        }
        Action::Control { socket, message } => {
            let answer = client::send(&socket, &message.line())?;
            say!("{}", answer.trim_end());
            Ok(())
        }
        Action::Replay { recording, ring, faults, fault } => {
            let recording = pcap::read(&recording)?;
            let mut segment = build(&ring, recording.interfaces, faults.as_deref(), &fault)?;
            let replayed = replay::replay(&mut segment, &recording.packets)?;
            for happening in &replayed.happenings {
                let _ = writeln!(std::io::stderr(), "{happening}");
            }
            say!("{} frames sent, {} returned: all as recorded", replayed.sent, replayed.returned);
            Ok(())
        }
        Action::Check { ring, faults, eni } => {
            // A fault may be at the cable of a second interface.
            let segment = build(&ring, 2, faults.as_deref(), &[])?;
            segment.faults().iter().for_each(|running| say!("fault {}: {}", running.number, running.text));
            say!("{}: {} devices, no error", ring.display(), segment.ring().devices.len());
            eni.map_or(Ok(()), |eni| check_network(&ring, &eni))
        }
        Action::Describe { ring: Some(ring), eni: true, .. } => {
            let network = eni::plan(&Ring::new(&RingFile::read(&ring)?, &ring)?);
            let _ = write!(std::io::stdout(), "{}", eni::write(&network));
            Ok(())
        }
        Action::Describe { ring, format, registers, .. } => describe(ring.as_deref(), format, registers),
    }
    .map(|()| true)
}

/// How many interfaces there are: one, or the two of a ring.
fn number_of_interfaces(interfaces: &[String]) -> Result<usize, SegmentError> {
    let usage = |message: String, remedy: &str| Err(SegmentError::Usage { message, remedy: remedy.into() });
    match interfaces {
        [one, two] if one == two => {
            usage(format!("--interface {one} twice"), "Name the interface of the other end of the ring")
        }
        [_] | [_, _] => Ok(interfaces.len()),
        _ => usage(format!("{} interfaces", interfaces.len()), "Give one, or the two of a ring with cable redundancy"),
    }
}

fn build(ring: &Path, interfaces: usize, faults: Option<&Path>, arguments: &[String]) -> Result<Segment, SegmentError> {
    let mut devices = Ring::new(&RingFile::read(ring)?, ring)?;
    if interfaces > 1 {
        devices.close_ring();
    }
    let mut segment = Segment::new(devices);
    if let Some(path) = faults {
        let file = FaultFile::read(path)?;
        let faults = file.faults(&segment.places(), path)?;
        segment.add_faults(faults)?;
    }
    let faults: Result<Vec<_>, _> = arguments.iter().map(|text| Fault::from_argument(text)).collect();
    segment.add_faults(faults?)?;
    Ok(segment)
}

/// Compares an ENI file with a ring; without a difference its commands are replayed until OP.
fn check_network(ring: &Path, path: &Path) -> Result<(), SegmentError> {
    let network = eni::read(path)?;
    let segment = build(ring, 1, None, &[])?;
    let differences = eni::compare::compare(&network, segment.ring());
    differences.iter().for_each(|difference| say!("{}: {difference}", path.display()));
    if !differences.is_empty() {
        return Err(SegmentError::NetworkDiffers { path: path.into(), count: differences.len() });
    }
    let wrong = |problem: Problem| SegmentError::NetworkFails {
        path: path.into(),
        message: problem.message,
        remedy: problem.remedy,
    };
    let mut master = Replay::new(&network, segment).map_err(wrong)?;
    master.bring_up().map_err(wrong)?;
    say!("{}: {} devices as in the ring, OP after {} frames", path.display(), network.slaves.len(), master.frames());
    Ok(())
}

/// How a segment is served.
struct Options {
    record: Option<PathBuf>,
    control: Option<PathBuf>,
    seconds: Option<f64>,
    priority: Option<i32>,
}

fn run(segment: &mut Segment, interfaces: &[String], options: Options) -> Result<(), SegmentError> {
    let Options { record, control, seconds, priority } = options;
    let duration = seconds.map(Duration::try_from_secs_f64).transpose().map_err(|error| SegmentError::Usage {
        message: format!("--seconds: {error}"),
        remedy: "Give a number of seconds from 0".into(),
    })?;
    let sockets = interfaces.iter().map(|name| PacketSocket::open(name)).collect::<Result<Vec<_>, _>>()?;
    let socket = control.as_deref().map(Socket::bind).transpose()?;
    let recording = record.map(|path| open_recording(path, sockets.len())).transpose()?;
    if let Some(priority) = priority {
        become_real_time(priority)?;
    }
    // Locked memory grows with a recording.
    for kept in rights::give_up(priority.map_or(&[], |_| &[Still::LockMemory])) {
        let _ = writeln!(std::io::stderr(), "note: {kept}");
    }
    for device in &segment.ring().devices {
        check_files(device)?;
    }
    signal::catch(&[Signal::SIGINT, Signal::SIGTERM]);
    say!("{} devices on {}; Ctrl-C ends", segment.ring().devices.len(), interfaces.join(" and "));
    let _server = socket.map(|socket| {
        let (desk, counter) = control::channel();
        segment.attend(desk);
        socket.serve(counter, segment.places())
    });
    let mut log = Log::new(std::io::stderr());
    let mut report = |event: &Event| log.take(event);
    let served = serve::serve(segment, &sockets, recording, &|_| signal::caught() > 0, duration, &mut report);
    let left_out = log.left_out();
    drop(log);
    if left_out > 0 {
        let _ = writeln!(std::io::stderr(), "note: {left_out} lines of the log are left out: its reader was too slow");
    }
    let served = served?;
    let counters = segment.counters();
    let mean = served.processing_ns as f64 / counters.frames.max(1) as f64 / 1000.0;
    say!(
        "{} frames ({} with process data), {} ignored, {} lost by faults, {} refused by the interface",
        counters.frames,
        counters.cycles,
        counters.ignored,
        counters.lost,
        served.refused
    );
    say!("processing without system calls: mean {mean:.2} us, longest {:.1} us", served.longest_ns as f64 / 1000.0);
    Ok(())
}

/// Tries a folder of files with the rights that are left: a master would not see what is wrong.
fn check_files(device: &Device) -> Result<(), SegmentError> {
    let server = device.mailbox.as_ref().and_then(|mailbox| mailbox.foe.as_ref());
    server.map_or(Ok(()), |server| server.files.check()).map_err(|source| SegmentError::File {
        action: "keep files in",
        path: server.and_then(|server| server.files.folder()).unwrap_or(Path::new("")).into(),
        source,
        remedy: "Let the user write there that the segment becomes: the caller of sudo, else nobody",
    })
}

fn open_recording(path: PathBuf, interfaces: usize) -> Result<serve::Recording<BufWriter<File>>, SegmentError> {
    let fail = |source| SegmentError::File {
        action: "create recording",
        path: path.clone(),
        source,
        remedy: "Name a file in a folder that exists and may be written",
    };
    let epoch_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let file = File::create(&path).map_err(fail)?;
    let writer = Writer::with_interfaces(BufWriter::with_capacity(1 << 20, file), epoch_s, interfaces).map_err(fail)?;
    Ok(serve::Recording { writer, path })
}

fn describe(ring: Option<&Path>, format: bool, registers: bool) -> Result<(), SegmentError> {
    if format {
        say!("{}", EXAMPLE.trim_end());
    }
    if registers {
        say!("{:<7} {:>6}  {:<7} {:<12} {:<10} name", "address", "bytes", "access", "reset", "is");
        for row in REGISTERS {
            let access = format!("{:?}", row.access).to_lowercase();
            let (reset, is) = (row.reset, row.behaviour.name());
            say!("{:#06x} {:>7}  {access:<7} {reset:<#12x} {is:<10} {}", row.address, row.length, row.name);
        }
        let names: Vec<String> =
            (1..=14).map(|code| format!("{:?}", Datagram::from_byte(code)).to_uppercase()).collect();
        say!("commands: {}", names.join(" "));
    }
    if let Some(path) = ring {
        let ring = Ring::new(&RingFile::read(path)?, path)?;
        say!("{:>2}  {:<16} {:<24} {:>8} {:>8}  {:<13} clock", "", "name", "type", "outputs", "inputs", "mailbox");
        for (position, device) in ring.devices.iter().enumerate() {
            let description = &device.description;
            let what = match &device.function {
                Function::Drive(_) => ring.axis_of(position).map_or(String::new(), |axis| format!(", axis {axis}")),
                _ if device.channels.is_empty() => String::new(),
                _ => {
                    format!(", channels {}", device.channels.iter().map(Place::to_string).collect::<Vec<_>>().join(" "))
                }
            };
            say!(
                "{position:>2}  {:<16} {:<24} {:>6} B {:>6} B  {:<13} {}{what}",
                device.name,
                description.type_name,
                description.output_length(),
                description.input_length(),
                description.protocols(),
                device.esc.clock.as_ref().map_or("no".into(), |clock| format!("{:+.2} ppm", clock.ppm())),
            );
        }
    }
    if !format && !registers && ring.is_none() {
        return Err(SegmentError::Usage {
            message: "nothing to describe".into(),
            remedy: "Name a ring file, or pass --format or --registers".into(),
        });
    }
    Ok(())
}
