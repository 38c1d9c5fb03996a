// SPDX-License-Identifier: Apache-2.0
//! The segment and its command, in one program: linked once, and its tests run in parallel.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod bombs;
mod coe;
mod commands;
mod control;
mod device_files;
mod error_counters;
mod ethercrab_master;
mod ethernet;
mod examine;
mod fault_language;
mod file_access;
mod files;
mod hot_connect;
mod network_files;
mod other_protocols;
mod redundancy;
mod scenarios;
mod servo;
