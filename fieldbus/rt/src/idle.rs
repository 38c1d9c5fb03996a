// SPDX-License-Identifier: Apache-2.0
//! The processor's idle states, held off as `kadenz-suite` does for its own benchmarks.

use std::fs::{File, OpenOptions};
use std::io::Write;

const DEVICE: &str = "/dev/cpu_dma_latency";

/// In force as long as it lives (Documentation/power/pm_qos_interface.rst of the kernel).
#[derive(Debug)]
pub struct IdleStatesOff {
    _held: File,
}

impl IdleStatesOff {
    /// Asks for wake-ups without delay. An error says what the system refused.
    pub fn hold() -> std::io::Result<Self> {
        let mut held = OpenOptions::new().write(true).open(DEVICE)?;
        held.write_all(&0_i32.to_ne_bytes())?;
        Ok(Self { _held: held })
    }
}
