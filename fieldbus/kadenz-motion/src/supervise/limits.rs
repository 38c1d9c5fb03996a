// SPDX-License-Identifier: Apache-2.0
//! How much is too much.

use serde::Deserialize;

/// Cycles for which the reference continues along its line without a new setpoint, before it holds: one period of the
/// trajectory task.
pub const SETPOINT_GRACE_CYCLES: u32 = 2;

/// Limits of the supervision. A count is of cycles in a row.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SupervisionLimits {
    /// Frames without an answer before a quick stop.
    pub lost_frames: u32,
    /// Wrong working counters before a quick stop.
    pub wrong_counters: u32,
    /// Cycles that begin later than `late_ns` before a quick stop.
    pub late_cycles: u32,
    /// A cycle that begins later than this after its release missed its deadline, ns.
    pub late_ns: u64,
    /// Cycles left out at once before a quick stop.
    pub skipped_cycles: u32,
    /// Largest difference of distributed clocks, ns.
    pub clock_difference_ns: u32,
    /// Readings of the difference beyond the limit before a quick stop.
    pub clock_readings: u32,
    /// Largest following error, degrees.
    pub following_error_deg: f64,
    /// Cycles for which a drive may say that a limit of its own holds it, that it does not follow, or that it has a
    /// following error (statusword bits 11, 12, 13) before a quick stop.
    pub status_cycles: u32,
    /// Cycles without a new setpoint before a quick stop.
    pub setpoint_cycles: u32,
    /// Cycles a quick stop may take until all drives are without power; then power is removed.
    pub stop_cycles: u32,
}

impl Default for SupervisionLimits {
    /// For 1 kHz and drives whose own watchdog is 100 ms.
    fn default() -> Self {
        Self {
            lost_frames: 5,
            wrong_counters: 5,
            late_cycles: 5,
            late_ns: 500_000,
            skipped_cycles: 20,
            clock_difference_ns: 2_000,
            clock_readings: 5,
            following_error_deg: 5.0,
            status_cycles: 10,
            setpoint_cycles: 10,
            stop_cycles: 1_000,
        }
    }
}
