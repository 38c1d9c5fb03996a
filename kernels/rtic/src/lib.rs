// SPDX-License-Identifier: Apache-2.0
//! RTIC under the suite: the suite's main thread is the idle task, which all other tasks preempt.
#![no_std]

// riscv-slic names its handler by an attribute of riscv-rt, whose start-up is not used here.
#[cfg(target_arch = "riscv32")]
extern crate self as riscv_rt;
#[cfg(target_arch = "riscv32")]
#[doc(hidden)]
pub use {riscv_macros::core_interrupt, riscv_types::CoreInterruptNumber};

mod app;
mod framework;
mod machine;

#[cfg(not(feature = "minimal"))]
use kadenz_suite::{cyclic, irq, itc, micro, notify, register};

use crate::framework::Rtic;

#[cfg(feature = "minimal")]
kadenz_suite::minimal!(Rtic);

#[cfg(not(feature = "minimal"))]
register! {
    TO_HANDLER: irq::ToHandler<Rtic>,
    TO_TASK: irq::ToTask<Rtic>,
    TASK_SWITCH: micro::TaskSwitch<Rtic>,
    TASK_SWITCH_SAMPLED: micro::TaskSwitchSampled<Rtic>,
    PREEMPTION: micro::Preemption<Rtic>,
    PREEMPTION_SAMPLED: micro::PreemptionSampled<Rtic>,
    QUEUE: itc::Queue<Rtic>,
    QUEUE_ROUND_TRIP: itc::QueueRoundTrip<Rtic>,
    QUEUE_ONE_WAY: itc::QueueOneWay<Rtic>,
    FLAG_ONE_WAY: notify::OneWay<Rtic>,
    FLAG_ROUND_TRIP: notify::RoundTrip<Rtic>,
    WAKEUP_LATENCY: cyclic::WakeupLatency<Rtic>,
}
