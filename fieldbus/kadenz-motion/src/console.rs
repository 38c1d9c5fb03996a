// SPDX-License-Identifier: Apache-2.0
//! Standard error: events and progress, and each panic as one line, because the program handles it.

use std::io::{self, IsTerminal, Write};

/// Standard error whose reader may go away: a broken pipe must not leave the drives to their watchdog.
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

/// Prints events and progress, only warnings if `quiet`; in colour on a terminal. Only the first call counts.
pub fn speak(quiet: bool) {
    let level = if quiet { tracing::Level::WARN } else { tracing::Level::INFO };
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let subscriber = tracing_subscriber::fmt().with_writer(|| Unbroken).with_ansi(colour).with_max_level(level);
    let _ = tracing::subscriber::set_global_default(subscriber.without_time().with_target(false).finish());
}

/// Prints a panic as one line: it is caught and handled.
pub fn panics_in_a_line() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        tracing::error!("{} panicked, which is handled: {panic}", thread.name().unwrap_or("a thread"));
    }));
}
