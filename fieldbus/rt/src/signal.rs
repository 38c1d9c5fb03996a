// SPDX-License-Identifier: Apache-2.0
//! Signals as a number: the handler counts them, and a program reads the count.

use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::{kill, sigaction, SaFlags, SigAction, SigHandler, SigSet};
use nix::unistd::Pid;

pub use nix::sys::signal::Signal;

static CAUGHT: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_: libc::c_int) {
    // A handler may interrupt anything, so it touches one atomic and nothing else.
    CAUGHT.fetch_add(1, Ordering::Relaxed);
}

/// Catches these signals from now on; they no longer end the process. Calls that wait for a frame return early, other
/// system calls restart.
///
/// # Panics
/// For SIGKILL and SIGSTOP, which nobody can catch.
pub fn catch(signals: &[Signal]) {
    let action = SigAction::new(SigHandler::Handler(count), SaFlags::SA_RESTART, SigSet::empty());
    for signal in signals {
        // SAFETY: the handler is async-signal-safe: it only adds to an atomic.
        unsafe { sigaction(*signal, &action) }.expect("a signal that can be caught");
    }
}

/// Signals caught since the program began.
pub fn caught() -> u32 {
    CAUGHT.load(Ordering::Relaxed)
}

/// Sends a signal to a child that nobody has waited for yet.
pub fn send(child: &Child, signal: Signal) -> std::io::Result<()> {
    Ok(kill(Pid::from_raw(child.id() as i32), signal)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caught_signal_is_counted_and_the_process_lives() {
        catch(&[Signal::SIGUSR1]);
        let before = caught();
        nix::sys::signal::raise(Signal::SIGUSR1).unwrap();
        nix::sys::signal::raise(Signal::SIGUSR1).unwrap();
        assert_eq!(caught() - before, 2);
    }
}
