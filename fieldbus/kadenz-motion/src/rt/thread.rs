// SPDX-License-Identifier: Apache-2.0
//! SCHED_FIFO, processor affinity, locked memory.

/// What Linux refused, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum RealtimeError {
    /// SCHED_FIFO.
    #[error(
        "cannot run a task under SCHED_FIFO {priority}: {source}. Run as root or with CAP_SYS_NICE; in a control group \
         give it a real-time budget (cpu.rt_runtime_us), or pass --no-realtime for a trial whose figures mean little"
    )]
    Scheduling {
        /// Wanted priority.
        priority: i32,
        /// Why not.
        source: std::io::Error,
    },
    /// Locked memory.
    #[error("cannot lock memory: {0}. Run as root or raise `ulimit -l`, or pass --no-realtime")]
    Lock(std::io::Error),
    /// Affinity.
    #[error("cannot run on CPU {cpu}: {source}. Choose one of those online with --cpu (see `nproc`)")]
    Affinity {
        /// Wanted processor.
        cpu: usize,
        /// Why not.
        source: std::io::Error,
    },
}

/// Puts the calling thread under SCHED_FIFO.
pub fn become_realtime(priority: i32) -> Result<(), RealtimeError> {
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: `parameter` is valid; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter) } == 0 {
        Ok(())
    } else {
        Err(RealtimeError::Scheduling { priority, source: std::io::Error::last_os_error() })
    }
}

/// Binds the calling thread, and threads it starts, to one processor.
pub fn pin_to_cpu(cpu: usize) -> Result<(), RealtimeError> {
    let fail = |source| RealtimeError::Affinity { cpu, source };
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(fail(std::io::Error::from_raw_os_error(libc::EINVAL)));
    }
    // SAFETY: an all-zero cpu_set_t is the empty set, and `cpu` was checked to lie in it.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        set
    };
    // SAFETY: `set` is valid and of the size given; 0 is the calling thread.
    if unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) } == 0 {
        Ok(())
    } else {
        Err(fail(std::io::Error::last_os_error()))
    }
}

/// Keeps every page of the process, present and future, in memory: no page fault in a cycle.
pub fn lock_memory() -> Result<(), RealtimeError> {
    // SAFETY: takes no pointers.
    if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } == 0 {
        Ok(())
    } else {
        Err(RealtimeError::Lock(std::io::Error::last_os_error()))
    }
}
