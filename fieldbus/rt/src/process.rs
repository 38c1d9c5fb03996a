// SPDX-License-Identifier: Apache-2.0
//! The process: its system, its rights, its parent.

use std::io;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::sys::utsname::uname;
use nix::unistd::geteuid;

/// Name and release of the running kernel, as `uname -s` and `uname -r` print them.
pub fn kernel() -> io::Result<(String, String)> {
    let names = uname()?;
    Ok((names.sysname().to_string_lossy().into_owned(), names.release().to_string_lossy().into_owned()))
}

/// The kernel's kind of preemption, from the text of its version: "#1 SMP PREEMPT_RT Debian …".
pub fn preemption() -> io::Result<&'static str> {
    let names = uname()?;
    let version = names.version().to_string_lossy();
    let kinds = ["PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT_LAZY", "PREEMPT"];
    Ok(kinds.into_iter().find(|kind| version.contains(kind)).unwrap_or("none or voluntary"))
}

/// The process runs as root.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// SIGTERM reaches this process when its parent ends.
pub fn end_with_parent() -> io::Result<()> {
    Ok(set_pdeathsig(Signal::SIGTERM)?)
}
