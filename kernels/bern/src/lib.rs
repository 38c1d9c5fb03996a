// SPDX-License-Identifier: Apache-2.0
//! bern-kernel under the suite: its threads and semaphores as the calls of `kernel.h`.
#![no_std]

mod machine;
mod semaphores;
mod threads;
