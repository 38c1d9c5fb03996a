// SPDX-License-Identifier: Apache-2.0
//! Embassy under the suite: two interrupt executors, whose tasks run above the suite's main thread.
#![no_std]

mod framework;
mod machine;
mod time;

#[cfg(not(feature = "minimal"))]
use kadenz_suite::{cyclic, irq, itc, micro, notify, register};

use crate::framework::Embassy;

#[cfg(feature = "minimal")]
kadenz_suite::minimal!(Embassy);

#[cfg(not(feature = "minimal"))]
register! {
    TO_HANDLER: irq::ToHandler<Embassy>,
    TO_TASK: irq::ToTask<Embassy>,
    TASK_SWITCH: micro::TaskSwitch<Embassy>,
    TASK_SWITCH_SAMPLED: micro::TaskSwitchSampled<Embassy>,
    PREEMPTION: micro::Preemption<Embassy>,
    PREEMPTION_SAMPLED: micro::PreemptionSampled<Embassy>,
    QUEUE: itc::Queue<Embassy>,
    QUEUE_ROUND_TRIP: itc::QueueRoundTrip<Embassy>,
    QUEUE_ONE_WAY: itc::QueueOneWay<Embassy>,
    FLAG_ONE_WAY: notify::OneWay<Embassy>,
    FLAG_ROUND_TRIP: notify::RoundTrip<Embassy>,
    WAKEUP_LATENCY: cyclic::WakeupLatency<Embassy>,
}
