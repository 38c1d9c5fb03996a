// SPDX-License-Identifier: Apache-2.0
//! SCHED_FIFO, processor affinity, locked memory.

use std::io;

use nix::sched::{sched_setaffinity, CpuSet};
use nix::sys::mman::{mlockall, MlockAllFlags};
use nix::unistd::Pid;

/// The calling thread, for the scheduler's calls.
const THIS_THREAD: i32 = 0;

/// Puts the calling thread under SCHED_FIFO.
pub fn become_realtime(priority: i32) -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: `parameter` lives through the call, and the call only reads it.
    if unsafe { libc::sched_setscheduler(THIS_THREAD, libc::SCHED_FIFO, &parameter) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Takes the calling thread out of every real-time policy: it waits for no turn of theirs.
pub fn become_ordinary() -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: `parameter` lives through the call, and the call only reads it.
    if unsafe { libc::sched_setscheduler(THIS_THREAD, libc::SCHED_OTHER, &parameter) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Binds the calling thread, and the threads it starts, to one processor.
pub fn pin_to_cpu(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    Ok(sched_setaffinity(Pid::from_raw(THIS_THREAD), &set)?)
}

/// Keeps every page of the process, present and future, in memory, so that no cycle has a page fault.
pub fn lock_memory() -> io::Result<()> {
    Ok(mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE)?)
}
