// SPDX-License-Identifier: Apache-2.0
//! lilos under the suite: one executor, and the suite's main thread while all its tasks wait.
#![no_std]

mod framework;
mod machine;

#[cfg(not(feature = "minimal"))]
use kadenz_suite::{cyclic, irq, itc, micro, notify, register};

use crate::framework::Lilos;

#[cfg(feature = "minimal")]
kadenz_suite::minimal!(Lilos);

#[cfg(not(feature = "minimal"))]
register! {
    TO_HANDLER: irq::ToHandler<Lilos>,
    TO_TASK: irq::ToTask<Lilos>,
    TASK_SWITCH: micro::TaskSwitch<Lilos>,
    TASK_SWITCH_SAMPLED: micro::TaskSwitchSampled<Lilos>,
    PREEMPTION: micro::Preemption<Lilos>,
    PREEMPTION_SAMPLED: micro::PreemptionSampled<Lilos>,
    QUEUE: itc::Queue<Lilos>,
    QUEUE_ROUND_TRIP: itc::QueueRoundTrip<Lilos>,
    QUEUE_ONE_WAY: itc::QueueOneWay<Lilos>,
    FLAG_ONE_WAY: notify::OneWay<Lilos>,
    FLAG_ROUND_TRIP: notify::RoundTrip<Lilos>,
    WAKEUP_LATENCY: cyclic::WakeupLatency<Lilos>,
}
