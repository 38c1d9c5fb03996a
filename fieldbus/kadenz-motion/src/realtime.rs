// SPDX-License-Identifier: Apache-2.0
//! What a real-time task asks of Linux, with errors that name this program's options.

/// Refusal of Linux, and a remedy.
#[derive(Debug, thiserror::Error)]
pub enum RealtimeError {
    /// A thread may not run under SCHED_FIFO.
    #[error(
        "cannot run a task under SCHED_FIFO {priority}: {source}. Run as root or with CAP_SYS_NICE; in a control group \
         give it a real-time budget (cpu.rt_runtime_us), or pass --no-realtime for a trial whose figures mean little"
    )]
    Scheduling {
        /// SCHED_FIFO priority of the task.
        priority: i32,
        /// The refusal of Linux.
        source: std::io::Error,
    },
    /// The pages of the process may not be locked in memory.
    #[error("cannot lock memory: {0}. Run as root or raise `ulimit -l`, or pass --no-realtime")]
    Lock(std::io::Error),
    /// A thread may not run on this processor.
    #[error("cannot run on CPU {cpu}: {source}. Choose one of those online with --cpu (see `nproc`)")]
    Affinity {
        /// Number of the processor, from 0.
        cpu: usize,
        /// The refusal of Linux.
        source: std::io::Error,
    },
}

/// Puts the calling thread under SCHED_FIFO.
pub fn become_realtime(priority: i32) -> Result<(), RealtimeError> {
    kadenz_rt::become_realtime(priority).map_err(|source| RealtimeError::Scheduling { priority, source })
}

/// Binds the calling thread, and the threads it starts, to one processor.
pub fn pin_to_cpu(cpu: usize) -> Result<(), RealtimeError> {
    kadenz_rt::pin_to_cpu(cpu).map_err(|source| RealtimeError::Affinity { cpu, source })
}

/// Keeps every page of the process in memory.
pub fn lock_memory() -> Result<(), RealtimeError> {
    kadenz_rt::lock_memory().map_err(RealtimeError::Lock)
}
