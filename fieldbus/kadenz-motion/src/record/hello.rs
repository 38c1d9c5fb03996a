// SPDX-License-Identifier: Apache-2.0
//! Who speaks.

use kadenz_record::{Clock, Hello, Map, WIRE_VERSION};

/// CLOCK_MONOTONIC, as all stamps are.
pub fn monotonic_clock() -> Clock {
    Clock { name: "clock_monotonic".into(), hz: 1_000_000_000, bits: 64, on_target: true }
}

/// The first frame; `settings` is what changes figures.
pub fn hello(settings: Map<String>) -> Hello {
    // uname fails only for a wrong pointer, which nix does not pass.
    let (kernel, kernel_version) = kadenz_rt::process::kernel().unwrap_or_default();
    Hello {
        wire: WIRE_VERSION,
        suite: env!("CARGO_PKG_VERSION").into(),
        kernel,
        kernel_version,
        board: "indy7".into(),
        arch: std::env::consts::ARCH.into(),
        instrument: "counter".into(),
        clock: monotonic_clock(),
        tick_hz: 0,
        timer_hz: 0,
        cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        storage: 0,
        capabilities: vec!["motion".into(), "ethercat".into()],
        settings,
    }
}
