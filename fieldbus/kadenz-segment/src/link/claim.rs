// SPDX-License-Identifier: Apache-2.0
//! One segment an interface: an abstract socket, whose name is free again as soon as its process has ended. Names are those
//! of a network namespace, as interfaces are.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;

/// Holds an interface as long as it lives.
#[derive(Debug)]
pub struct Claim {
    _socket: UnixDatagram,
}

impl Claim {
    /// Claims the interface of this number; the error names the process that has it.
    pub fn new(index: u32) -> io::Result<Self> {
        let name = format!("kadenz-segment/{index}");
        let address = SocketAddr::from_abstract_name(&name)?;
        match UnixDatagram::bind_addr(&address) {
            Ok(socket) => Ok(Self { _socket: socket }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                let holder = holder(&name).unwrap_or_else(|| "another process".into());
                Err(io::Error::new(error.kind(), format!("{holder} answers on it already")))
            }
            Err(error) => Err(error),
        }
    }
}

/// The process that holds an abstract socket, where it may be seen.
fn holder(name: &str) -> Option<String> {
    let sockets = std::fs::read_to_string("/proc/net/unix").ok()?;
    let line = sockets.lines().find(|line| line.split_whitespace().last() == Some(&format!("@{name}")))?;
    let link = format!("socket:[{}]", line.split_whitespace().nth(6)?);
    let holds = |process: &Path| {
        let open = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        open.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|target| target.as_os_str() == link.as_str())
    };
    let processes = std::fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
    let is_number = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok());
    let process = processes.filter(|path| is_number(path)).find(|path| holds(path))?;
    let program = std::fs::read_to_string(process.join("comm")).unwrap_or_default();
    Some(format!("process {} ({})", process.file_name()?.to_string_lossy(), program.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_claimed_once_and_free_again_afterwards() {
        // No interface has this number.
        let index = 0xFFFF_0000 + std::process::id() % 0xFFFF;
        let first = Claim::new(index).unwrap();
        let error = Claim::new(index).unwrap_err().to_string();
        assert!(error.contains(&format!("process {} (", std::process::id())), "{error}");
        drop(first);
        assert!(Claim::new(index).is_ok());
    }
}
