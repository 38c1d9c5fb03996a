// SPDX-License-Identifier: Apache-2.0
//! Services of Linux for a real-time program: clocks, scheduling, locked memory, queues between tasks, packet sockets,
//! signals, rights. All `unsafe` code of the fieldbus is in this crate, except the C++ bridge of `kadenz-dynamics`; the other
//! crates forbid it. Most system calls go through `nix`, which is safe to call; only calls without a safe wrapper need
//! an `unsafe` block.

pub mod cable;
mod clock;
mod cyclic;
mod idle;
pub mod interface;
pub mod packet;
pub mod process;
mod queue;
pub mod rights;
pub mod signal;
mod thread;

pub use clock::{cpu_time_ns, now_ns, Clock, SoftTimer};
pub use cyclic::{in_cyclic_path, outside_cyclic_path, CyclicPath};
pub use idle::IdleStatesOff;
pub use queue::{Batch, Queue, QueueError, Receiver, Sender};
pub use thread::{become_ordinary, become_realtime, lock_memory, pin_to_cpu};
