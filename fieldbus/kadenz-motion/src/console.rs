// SPDX-License-Identifier: Apache-2.0
//! What the program says on standard error: events and progress, and panics as one line, because they are acted on.

use std::io::{self, IsTerminal, Write};

/// Standard error whose reader may go away: drives are not left to their watchdog because a pipe broke.
struct Unbroken;

impl Write for Unbroken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Says events and progress, warnings only if `quiet`; coloured for a terminal. Only the first call counts.
pub fn speak(quiet: bool) {
    let level = if quiet { tracing::Level::WARN } else { tracing::Level::INFO };
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let subscriber = tracing_subscriber::fmt().with_writer(|| Unbroken).with_ansi(colour).with_max_level(level);
    let _ = tracing::subscriber::set_global_default(subscriber.without_time().with_target(false).finish());
}

/// Panics are one line: they are caught and acted on.
pub fn panics_in_a_line() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        tracing::error!("{} panicked, which is handled: {panic}", thread.name().unwrap_or("a thread"));
    }));
}
