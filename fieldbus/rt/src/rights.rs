// SPDX-License-Identifier: Apache-2.0
//! Rights with which a program opens its sockets, given up before it serves anybody.

use std::io;

use nix::sys::prctl::{get_pdeathsig, set_keepcaps, set_no_new_privs, set_pdeathsig};
use nix::sys::resource::{setrlimit, Resource, RLIM_INFINITY};
use nix::sys::stat::{umask, Mode};
use nix::unistd::{getegid, geteuid, setgid, setgroups, setuid, Gid, Uid};

/// User and group without rights on every Linux (/proc/sys/kernel/overflowuid).
const NOBODY: u32 = 65534;
/// capget(2): two words for each set.
const VERSION: u32 = 0x2008_0522;

/// What a program still does after it has given up its rights. A limit allows it instead of a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Still {
    /// Its threads come under SCHED_FIFO.
    BecomeRealtime,
    /// It locks memory, or all its memory is locked and grows.
    LockMemory,
}

impl Still {
    /// The limit and its value; number and name of the capability (capabilities(7)).
    fn limit(self) -> (Resource, u64, u32, &'static str) {
        match self {
            Self::BecomeRealtime => (Resource::RLIMIT_RTPRIO, 99, 23, "CAP_SYS_NICE"),
            Self::LockMemory => (Resource::RLIMIT_MEMLOCK, RLIM_INFINITY, 14, "CAP_IPC_LOCK"),
        }
    }
}

/// A right that the system did not allow to give up.
#[derive(Debug, thiserror::Error)]
#[error("cannot give up {right}: {source}")]
pub struct Kept {
    right: &'static str,
    source: io::Error,
}

/// Leaves the process no right of root's and no way to gain one: it runs as the caller of sudo, else as nobody, without
/// a capability. Returns the rights that stay.
///
/// All threads change the user, which takes their capabilities. Whatever else is a thread's own: call it before others
/// are started.
pub fn give_up(stills: &[Still]) -> Vec<Kept> {
    let mut kept = Vec::new();
    let permitted = permitted();
    let mut capabilities = 0;
    for (resource, value, number, right) in stills.iter().map(|still| still.limit()) {
        match setrlimit(resource, value, value) {
            Err(error) if permitted >> number & 1 == 1 => {
                capabilities |= 1 << number;
                kept.push(Kept { right, source: error.into() });
            }
            // Without the capability there is nothing to give up.
            _ => {}
        }
    }
    let mut note = |right, result: nix::Result<()>| {
        kept.extend(result.err().map(|error| Kept { right, source: error.into() }));
    };
    note("the user root", become_unprivileged());
    note("the capabilities of root", keep(capabilities));
    note("rights of setuid programs", gain_no_more());
    kept
}

/// The user that [`give_up`] leaves: root's caller by sudo, else nobody; another user stays.
pub fn heir() -> (u32, u32) {
    if !geteuid().is_root() {
        return (geteuid().as_raw(), getegid().as_raw());
    }
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let by_sudo = number("SUDO_UID").filter(|user| *user != 0).zip(number("SUDO_GID"));
    by_sudo.unwrap_or((NOBODY, NOBODY))
}

/// The user that the process is now.
pub fn user() -> u32 {
    geteuid().as_raw()
}

/// Runs `make` so that nobody but the user may open what it creates. For a process of one thread: the mask is that of all.
pub fn for_the_user_alone<T>(make: impl FnOnce() -> T) -> T {
    let before = umask(Mode::from_bits_truncate(0o177));
    let result = make();
    umask(before);
    result
}

/// From here on execve(2) adds no right to those of the calling thread and of threads that it starts, so that the
/// bounding set does not matter.
pub fn gain_no_more() -> nix::Result<()> {
    set_no_new_privs()
}

/// Root becomes the caller of sudo, else nobody; another user stays.
fn become_unprivileged() -> nix::Result<()> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let (user, group) = heir();
    set_keepcaps(true)?;
    // Another user's process is no longer told of its parent's end.
    let with_parent = get_pdeathsig()?;
    setgroups(&[])?;
    setgid(Gid::from_raw(group))?;
    setuid(Uid::from_raw(user))?;
    set_pdeathsig(with_parent)
}

/// The capabilities below 32 that the calling thread has; none if the system does not say.
fn permitted() -> u32 {
    let mut sets = [0; 6];
    capabilities(libc::SYS_capget, &mut sets).map_or(0, |()| sets[1])
}

/// Gives up all capabilities of the calling thread but these.
fn keep(kept: u32) -> nix::Result<()> {
    capabilities(libc::SYS_capset, &mut [kept, kept, 0, 0, 0, 0])
}

/// capget(2) or capset(2) of the calling thread: effective, permitted, inheritable, then the same from 32 on.
fn capabilities(call: libc::c_long, sets: &mut [u32; 6]) -> nix::Result<()> {
    let mut header = [VERSION, 0];
    // SAFETY: both calls take a header of two words and, for this version, sets of six; all of them live.
    nix::errno::Errno::result(unsafe { libc::syscall(call, header.as_mut_ptr(), sets.as_mut_ptr()) }).map(drop)
}
