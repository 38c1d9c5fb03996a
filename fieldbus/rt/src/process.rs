// SPDX-License-Identifier: Apache-2.0
//! The process: its system, its rights, its parent.

use std::io;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::sys::utsname::uname;
use nix::sys::wait::{waitid, Id, WaitPidFlag};
use nix::unistd::{geteuid, Pid};

/// Name and release of the running kernel, as `uname -s` and `uname -r` print them.
pub fn kernel() -> io::Result<(String, String)> {
    let names = uname()?;
    Ok((names.sysname().to_string_lossy().into_owned(), names.release().to_string_lossy().into_owned()))
}

/// The kernel's kind of preemption, from the text of its version: "#1 SMP PREEMPT_RT Debian …".
pub fn preemption() -> io::Result<&'static str> {
    let names = uname()?;
    let version = names.version().to_string_lossy();
    let kinds = ["PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT_LAZY", "PREEMPT"];
    Ok(kinds.into_iter().find(|kind| version.contains(kind)).unwrap_or("none or voluntary"))
}

/// The process runs as root.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// SIGTERM reaches this process when its parent ends.
pub fn end_with_parent() -> io::Result<()> {
    Ok(set_pdeathsig(Signal::SIGTERM)?)
}

/// Time that the threads of a process have had a processor, ns; `None` if there is no such process, or Linux does not
/// count it (CONFIG_SCHED_INFO).
pub fn cpu_time_of(process: u32) -> Option<u64> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let times = threads.flatten().map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    times.sum()
}

/// Waits until a child of this process has ended, and leaves its status to whoever takes it.
pub fn await_end(child: u32) -> io::Result<()> {
    let child = Id::Pid(Pid::from_raw(child as i32));
    Ok(waitid(child, WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT).map(drop)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_a_process_is_counted_and_one_that_does_not_exist_has_none() {
        let before_ns = cpu_time_of(std::process::id()).expect("a kernel that counts");
        let used_ns = crate::cpu_time_ns();
        while crate::cpu_time_ns() < used_ns + 20_000_000 {}
        assert!(cpu_time_of(std::process::id()).unwrap() >= before_ns + 10_000_000);
        assert_eq!(cpu_time_of(u32::MAX), None);
    }
}
