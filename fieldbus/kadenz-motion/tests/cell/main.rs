// SPDX-License-Identifier: Apache-2.0
//! The whole robot cell in a time of its own, in one program: linked once, and its tests run in parallel. Tests
//! that need a process to themselves are programs of their own.

mod bring_up;
#[path = "../common/mod.rs"]
mod common;
mod drive_status;
mod edge;
mod faults;
mod feed_forward;
mod motion;
mod overheard;
mod pauses;
