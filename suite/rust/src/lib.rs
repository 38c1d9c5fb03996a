// SPDX-License-Identifier: Apache-2.0
//! A benchmark in Rust.
//!
//! [`abi`] holds the C ABI of the suite and all `unsafe` code: the same structures, the same linker
//! section, the same recorder as benchmarks in C. [`framework`] says what an asynchronous framework
//! offers. The other modules are benchmarks of any such framework, under the names of those in C:
//! `docs/explanation/async-and-rtos.md` says what is compared with what.
#![no_std]

pub mod abi;
pub mod cyclic;
pub mod framework;
pub mod irq;
pub mod itc;
pub mod micro;
#[cfg(feature = "minimal")]
pub mod minimal;
pub mod notify;
pub mod number;
pub mod resting;

pub use abi::{About, Benchmark, Lanes, Nature, Param, Point, Refusal};
