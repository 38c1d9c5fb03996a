// SPDX-License-Identifier: Apache-2.0
//! The socket of a segment that is served, and the thread behind it.

use super::{Counter, Order, Reply, LONGEST_MESSAGE, PART};
use crate::error::SegmentError;
use crate::fault::{Fault, Place, State};
use kadenz_rt::rights;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{chown, FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A client has this long for its message, and as long to take the answer.
pub const PATIENCE: Duration = Duration::from_secs(1);
/// The thread looks as often for a client and for a reply.
const PAUSE: Duration = Duration::from_millis(2);

/// A socket that is bound and has no thread yet.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Binds a socket that its user alone may open, in a folder that the user alone may write to. Call it before rights are
    /// given up and before other threads start. A socket that a killed segment left is replaced.
    pub fn bind(path: &Path) -> Result<Self, SegmentError> {
        let (user, group) = rights::heir();
        check_folder(path, user)?;
        replace_stale(path)?;
        let fail = |source| SegmentError::File {
            action: "bind control socket",
            path: path.into(),
            source,
            remedy: "Name a socket in a folder that exists and is yours; its path may have 107 bytes",
        };
        let listener = rights::for_the_user_alone(|| UnixListener::bind(path)).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        // Root hands it to the caller of sudo. Without one, it stays root's.
        let by_sudo =
            std::fs::metadata(path).is_ok_and(|about| about.uid() == 0) && std::env::var_os("SUDO_UID").is_some();
        if by_sudo {
            chown(path, Some(user), Some(group)).map_err(fail)?;
        }
        Ok(Self { listener, path: path.into() })
    }

    /// Starts the thread. `places` are the devices, for checks without the loop.
    pub fn serve(self, counter: Counter, places: Vec<Place>) -> Server {
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let Self { listener, path } = self;
        let thread = std::thread::spawn(move || {
            // The thread that started it may be a real-time one.
            let _ = kadenz_rt::become_ordinary();
            while !told.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        let _ = attend(stream, &counter, &places);
                    }
                    Err(_) => std::thread::sleep(PAUSE),
                }
            }
        });
        Server { thread: Some(thread), is_over, path }
    }
}

/// The thread behind a socket; ends, with the socket, when it is dropped.
#[derive(Debug)]
pub struct Server {
    thread: Option<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
    path: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // Without the right to, it stays and is replaced by the next segment.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A folder of somebody else's, or one that others may write to, would let them put their socket in place of ours.
fn check_folder(path: &Path, heir: u32) -> Result<(), SegmentError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let fail = |message: String, remedy: &str| {
        Err(SegmentError::Usage { message: format!("--control {}: {message}", path.display()), remedy: remedy.into() })
    };
    match std::fs::metadata(folder) {
        Err(error) => fail(format!("folder {}: {error}", folder.display()), "Create the folder first"),
        Ok(about) if !about.is_dir() => fail(format!("{} is not a folder", folder.display()), "Name a folder of yours"),
        Ok(about) if about.uid() != heir && about.uid() != rights::user() => fail(
            format!("folder {} belongs to user {}", folder.display(), about.uid()),
            "Name a folder of yours, for example $XDG_RUNTIME_DIR",
        ),
        Ok(about) if about.mode() & 0o022 != 0 => fail(
            format!("others may write to folder {}", folder.display()),
            "Take their right (chmod go-w), or name another folder, for example $XDG_RUNTIME_DIR",
        ),
        Ok(_) => Ok(()),
    }
}

/// Removes a socket that nobody listens to; any other file is an error.
fn replace_stale(path: &Path) -> Result<(), SegmentError> {
    let Ok(about) = std::fs::symlink_metadata(path) else { return Ok(()) };
    let usage = |message: &str, remedy: &str| {
        Err(SegmentError::Usage { message: format!("--control {}: {message}", path.display()), remedy: remedy.into() })
    };
    if !about.file_type().is_socket() {
        return usage("there is a file that is not a socket", "Name another path");
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            let _ = std::fs::remove_file(path);
            Ok(())
        }
        _ => usage("another segment listens there", "Name another path, or end that segment"),
    }
}

/// Speaks with one client: a line comes, an answer goes, the connection ends.
fn attend(mut stream: UnixStream, counter: &Counter, places: &[Place]) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let answer = match read_line(&mut stream)? {
        Ok(line) => answer(&line, counter, places),
        Err(message) => Err(message),
    };
    let text = match answer {
        Ok(text) => format!("ok\n{text}"),
        Err(message) => format!("error\n{message}\n"),
    };
    stream.write_all(text.as_bytes())
}

/// A line of a client. The inner error is for the client.
fn read_line(stream: &mut UnixStream) -> std::io::Result<Result<String, String>> {
    let (mut bytes, mut buffer) = (Vec::with_capacity(LONGEST_MESSAGE + 1), [0; 256]);
    let end = Instant::now() + PATIENCE;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let count = stream.read(&mut buffer)?;
        bytes.extend(buffer.iter().take(count));
        let line = bytes.iter().position(|byte| *byte == b'\n');
        if bytes.len() > LONGEST_MESSAGE {
            return Ok(Err(format!("the message is longer than {LONGEST_MESSAGE} bytes")));
        }
        if count == 0 || line.is_some() {
            bytes.truncate(line.unwrap_or(bytes.len()));
            return Ok(String::from_utf8(bytes).map_err(|_| "the message is not text (UTF-8)".into()));
        }
    }
}

/// Carries out a message, `inject FAULT`, `list`, `clear NUMBER`, `clear all` or `status`. The error is for the client.
pub fn answer(line: &str, counter: &Counter, places: &[Place]) -> Result<String, String> {
    let line = line.trim();
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    match (verb, rest.trim()) {
        ("inject", text) => inject(text, counter, places),
        ("list", "") => list(counter),
        ("clear", text) => clear(text, counter),
        ("status", "") => match ask(Order::Status, counter)? {
            Reply::Status(now_ns, counters, [waiting, active, over]) => Ok(format!(
                "running for {:.3} s\n{} frames ({} with process data), {} ignored, {} lost by faults\n\
                 faults: {waiting} wait, {active} active, {over} over\n",
                now_ns as f64 * 1.0e-9,
                counters.frames,
                counters.cycles,
                counters.ignored,
                counters.lost,
            )),
            _ => Err(OUT_OF_STEP.into()),
        },
        _ => Err("unknown message. Send inject FAULT, list, clear NUMBER, clear all or status".into()),
    }
}

const OUT_OF_STEP: &str = "the segment answered something else. Try again";

fn inject(text: &str, counter: &Counter, places: &[Place]) -> Result<String, String> {
    let fault = Fault::from_notation(text, "inject").map_err(|error| error.to_string())?;
    let wrong = |(message, remedy): (String, String)| format!("{message}. {remedy}");
    let positions = fault.places_in(places).map_err(wrong)?;
    match ask(Order::Inject(Box::new(fault), positions), counter)? {
        Reply::Injected(Some(number)) => Ok(format!("fault {number}\n")),
        Reply::Injected(None) => Err("256 injected faults are not over. Clear some first".into()),
        _ => Err(OUT_OF_STEP.into()),
    }
}

fn clear(text: &str, counter: &Counter) -> Result<String, String> {
    let number = match text {
        "all" => None,
        number => Some(number.parse().map_err(|_| "clear needs a number, or all. `list` shows the numbers")?),
    };
    match ask(Order::Clear(number), counter)? {
        Reply::Cleared(0) if number.is_some() => Err(format!("no fault {text} that is not over. `list` shows them")),
        Reply::Cleared(count) => Ok(format!("{count} cleared\n")),
        _ => Err(OUT_OF_STEP.into()),
    }
}

fn list(counter: &Counter) -> Result<String, String> {
    let (mut text, mut from) = (String::new(), 0);
    loop {
        let Reply::List(part) = ask(Order::List(from, Vec::with_capacity(PART)), counter)? else {
            return Err(OUT_OF_STEP.into());
        };
        for progress in &part {
            let state = match progress.state {
                State::Waits => "waits",
                State::Active => "active",
                State::Over => "over",
            };
            let _ =
                writeln!(text, "{:>4}  {state:<6}  begun {:<4}  {}", progress.number, progress.begun, progress.text);
        }
        match part.last() {
            Some(last) if part.len() == PART => from = last.number + 1,
            _ => return Ok(text),
        }
    }
}

/// Hands an order to the loop and waits for its reply. The loop comes by at least every 50 ms.
fn ask(order: Order, counter: &Counter) -> Result<Reply, String> {
    // A reply that came too late for its client.
    while counter.replies.try_recv().is_ok() {}
    let gone = || "the segment does not answer. It may be at its end".to_owned();
    counter.orders.try_send(order).map_err(|_| gone())?;
    let end = Instant::now() + PATIENCE;
    // Looking instead of waiting: a reply then wakes nobody, and costs the loop no lock.
    while Instant::now() < end {
        match counter.replies.try_recv() {
            Ok(reply) => return Ok(reply),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
    Err(gone())
}
