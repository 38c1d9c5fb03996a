// SPDX-License-Identifier: Apache-2.0
//! Six-axis motion control over EtherCAT in four real-time tasks (yoo2024, section 5), with the supervision that master
//! libraries leave to the application.

pub mod built_in;
pub mod bus;
pub mod cia402;
pub mod cli;
pub mod console;
pub mod edge;
pub mod error;
pub mod given;
pub mod layout;
pub mod message;
pub mod plan;
pub mod profile;
pub mod realtime;
pub mod record;
pub mod robot;
pub mod run;
pub mod simulation;
pub mod supervise;
pub mod task;

/// Joints of the arm.
pub const AXES: usize = kadenz_dynamics::indy7::JOINTS;
