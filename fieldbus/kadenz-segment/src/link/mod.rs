// SPDX-License-Identifier: Apache-2.0
//! Where frames come from and go back to.

pub mod in_process;
pub mod outbox;
pub mod packet;
pub mod replay;
pub mod serve;
