// SPDX-License-Identifier: Apache-2.0
//! The process: its system, its rights, its parent.

use std::io;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::signal::Signal;
use nix::sys::utsname::uname;
use nix::sys::wait::{waitid, Id, WaitPidFlag};
use nix::time::{clock_getcpuclockid, clock_gettime};
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

/// Time that a process has had a processor, ns, with that of its threads which have ended; `None` if there is no such
/// process.
pub fn cpu_time_of(process: u32) -> Option<u64> {
    let clock = clock_getcpuclockid(Pid::from_raw(i32::try_from(process).ok()?)).ok()?;
    let time = clock_gettime(clock).ok()?;
    Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// How often the calling thread has waited, and so left its processor to others (getrusage(2)).
pub fn waits_of_this_thread() -> io::Result<u64> {
    Ok(getrusage(UsageWho::RUSAGE_THREAD)?.voluntary_context_switches() as u64)
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
    fn a_thread_that_sleeps_waits_and_one_that_works_does_not() {
        let before = waits_of_this_thread().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
        let slept = waits_of_this_thread().unwrap();
        let used_ns = crate::cpu_time_ns();
        while crate::cpu_time_ns() < used_ns + 5_000_000 {}
        assert!(slept > before);
        assert_eq!(waits_of_this_thread().unwrap(), slept);
    }

    #[test]
    fn work_of_a_process_is_counted_and_one_that_does_not_exist_has_none() {
        let before_ns = cpu_time_of(std::process::id()).expect("this process");
        let used_ns = crate::cpu_time_ns();
        while crate::cpu_time_ns() < used_ns + 20_000_000 {}
        assert!(cpu_time_of(std::process::id()).unwrap() >= before_ns + 10_000_000);
        assert_eq!(cpu_time_of(u32::MAX), None);
    }
}
