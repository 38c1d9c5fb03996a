// SPDX-License-Identifier: Apache-2.0
//! The control socket: what it does for its user, and which harm to the loop it prevents.

use crate::support::eight;
use kadenz_segment::command::Command;
use kadenz_segment::control::server::{Server, Socket};
use kadenz_segment::control::{channel, client, LONGEST_MESSAGE};
use kadenz_segment::frame::{address, FrameBuilder};
use kadenz_segment::link::in_process::InProcess;
use kadenz_segment::register::at;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

/// A folder of this test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kadenz-control-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A segment with a loop of its own: a frame, then a look for orders.
struct Served {
    frames: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    _server: Server,
    path: PathBuf,
}

impl Served {
    fn new(folder: &Folder) -> Self {
        let path = folder.0.join("segment");
        let socket = Socket::bind(&path).unwrap();
        let mut segment = eight();
        let (desk, counter) = channel();
        segment.attend(desk);
        let server = socket.serve(counter, segment.places());
        let (frames, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, told) = (Arc::clone(&frames), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            let mut link = InProcess::new(segment);
            let frame = FrameBuilder::default().datagram(Command::Brd, 0, address(0, at::AL_STATUS), &[0; 2]).build();
            while !told.load(Ordering::Relaxed) {
                let is_back = link.exchange(&frame).is_some();
                count.fetch_add(u64::from(is_back), Ordering::Relaxed);
                link.advance_ns(250_000);
                let now_ns = link.now_ns();
                link.segment_mut().take_order(now_ns);
                std::thread::yield_now();
            }
        });
        Self { frames, is_over, thread: Some(thread), _server: server, path }
    }

    fn send(&self, message: &str) -> Result<String, String> {
        client::send(&self.path, message).map_err(|error| error.to_string())
    }

    /// Waits until the loop has passed as many frames more.
    fn passes(&self, more: u64) {
        let end = self.frames.load(Ordering::Relaxed) + more;
        while self.frames.load(Ordering::Relaxed) < end {
            std::thread::yield_now();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn faults_are_injected_listed_and_cleared_while_frames_pass() {
    let folder = Folder::new("use");
    let served = Served::new(&folder);
    assert_eq!(served.send("list").unwrap(), "");
    assert_eq!(served.send("inject device-gone@frame=1,device=j5").unwrap(), "fault 1\n");
    assert_eq!(served.send("inject lose-answer@sdo=0x1c12,nth=3,device=j0").unwrap(), "fault 2\n");
    served.passes(3);
    assert_eq!(
        served.send("list").unwrap(),
        "   1  active  begun 1     device-gone@frame=1,device=j5\n   \
         2  waits   begun 0     lose-answer@sdo=0x1c12,nth=3,device=j0\n"
    );
    assert!(served.send("status").unwrap().contains("faults: 1 wait, 1 active, 0 over"));
    assert_eq!(served.send("clear 1").unwrap(), "1 cleared\n");
    assert!(served.send("clear 1").unwrap_err().contains("no fault 1 that is not over"));
    assert_eq!(served.send("clear all").unwrap(), "1 cleared\n");
    served.passes(1);
}

#[test]
fn a_long_list_comes_whole() {
    let folder = Folder::new("list");
    let served = Served::new(&folder);
    for number in 1..=256 {
        assert_eq!(served.send("inject lose-frame@cycle=9").unwrap(), format!("fault {number}\n"));
    }
    assert!(served.send("inject lose-frame@cycle=9").unwrap_err().contains("256 injected faults are not over"));
    assert_eq!(served.send("list").unwrap().lines().count(), 256);
    assert_eq!(served.send("clear all").unwrap(), "256 cleared\n");
    assert_eq!(served.send("inject lose-frame@cycle=9").unwrap(), "fault 257\n", "those that are over make room");
}

#[test]
fn a_wrong_message_is_answered_and_nothing_else_happens() {
    let folder = Folder::new("wrong");
    let served = Served::new(&folder);
    for (message, part) in [
        ("", "unknown message"),
        ("list all", "unknown message"),
        ("clear x", "clear needs a number, or all"),
        ("inject", "unknown kind"),
        ("inject lose-frme@cycle=1", "Did you mean \"lose-frame\"?"),
        ("inject device-gone@cycle=1,device=j9", "no device \"j9\". Did you mean"),
        ("inject lose-frame@cycle=0", "Choose a whole number from 1"),
    ] {
        let said = served.send(message).unwrap_err();
        assert!(said.contains(part), "{message}: {said}");
    }
    let long = "x".repeat(LONGEST_MESSAGE + 1);
    assert!(served.send(&long).unwrap_err().contains("longer than 1024 bytes"));
    let mut stream = UnixStream::connect(&served.path).unwrap();
    stream.write_all(b"inject \xff\xfe\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.contains("not text"), "{said}");
    assert_eq!(served.send("list").unwrap(), "");
}

#[test]
fn clients_that_say_nothing_never_end_or_do_not_listen_hold_up_no_frame() {
    let folder = Folder::new("hostile");
    let served = Served::new(&folder);
    let silent: Vec<_> = (0..3).map(|_| UnixStream::connect(&served.path).unwrap()).collect();
    served.passes(100);
    let mut endless = UnixStream::connect(&served.path).unwrap();
    endless.write_all(&[b'a'; 1000]).unwrap();
    served.passes(100);
    drop((silent, endless));
    for _ in 0..100 {
        let mut gone = UnixStream::connect(&served.path).unwrap();
        let _ = gone.write_all(b"list\n");
    }
    served.passes(100);
    assert_eq!(served.send("list").unwrap(), "", "and the next client is served");
}

#[test]
fn the_socket_is_its_users_alone() {
    let folder = Folder::new("rights");
    let path = folder.0.join("segment");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let bound = Socket::bind(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
    let said = |path: &Path| Socket::bind(path).map(|_| ()).unwrap_err().to_string();
    assert!(said(&path).contains("another segment listens there"));
    drop(bound);
    assert!(path.exists(), "as after kill -9");
    drop(Socket::bind(&path).unwrap());
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "a file").unwrap();
    assert!(said(&path).contains("a file that is not a socket"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a file");
    std::fs::set_permissions(&folder.0, std::fs::Permissions::from_mode(0o770)).unwrap();
    assert!(said(&folder.0.join("s")).contains("others may write to folder"));
    assert!(
        said(Path::new("/dev/shm/s")).contains("others may write") || said(Path::new("/dev/shm/s")).contains("belongs")
    );
    assert!(said(&folder.0.join("none/s")).contains("Create the folder first"));
    assert!(said(&folder.0.join("x".repeat(200))).contains("others may write"));
}

#[test]
fn a_client_without_a_segment_is_refused() {
    let folder = Folder::new("client");
    let path = folder.0.join("segment");
    assert!(client::send(&path, "list").unwrap_err().to_string().contains("Start it with --control"));
    let listener = UnixListener::bind(&path).unwrap();
    let other = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let error = client::send(&path, "list").unwrap_err();
    assert_eq!(error.exit_code(), 1, "{error}");
    other.join().unwrap();
}
