// SPDX-License-Identifier: Apache-2.0
//! What Linux gives a real-time task: clock, scheduling, memory that stays, queues between tasks.

mod clock;
mod cyclic;
mod idle;
mod queue;
mod thread;

pub use clock::{cpu_time_ns, now_ns, Clock};
pub use cyclic::{in_cyclic_path, outside_cyclic_path, CyclicPath};
pub use idle::IdleStatesOff;
pub use queue::{Message, Queue, QueueError, Receiver, Sender};
pub use thread::{become_realtime, lock_memory, pin_to_cpu, RealtimeError};
