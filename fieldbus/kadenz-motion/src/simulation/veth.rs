// SPDX-License-Identifier: Apache-2.0
//! A pair of virtual Ethernet interfaces: the cable between master and simulated ring.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::error::MotionError;

const REMEDY: &str = "Run as root with iproute2 installed and the veth module, or use --segment in-process";

/// The pair. A process of its own keeps the right to remove it: when its input ends, because this value and every lease
/// are gone, however their processes ended.
#[derive(Debug)]
pub struct Veth {
    /// The interface of the master.
    pub master: String,
    /// The interface of the simulated ring.
    pub ring: String,
    remover: Child,
}

impl Veth {
    /// Makes a pair with names of its own and brings it up.
    pub fn new() -> Result<Self, MotionError> {
        let id = std::process::id();
        let (master, ring) = (format!("kdzm{id}"), format!("kdzs{id}"));
        ip(&["link", "add", &master, "type", "veth", "peer", "name", &ring])?;
        let remover = remover(&master).map_err(|source| MotionError::System {
            action: format!("start the process that removes {master}"),
            source,
            remedy: "Make sure that `sh` can be started, and remove the interface with `ip link delete`",
        })?;
        let veth = Self { master, ring, remover };
        for end in [&veth.master, &veth.ring] {
            // No IPv6 chatter on the bus. Where there is no IPv6 there is nothing to switch off.
            let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{end}/disable_ipv6"), "1");
            ip(&["link", "set", end, "up"])?;
        }
        Ok(veth)
    }

    /// As long as a process holds this, the pair exists.
    pub fn lease(&self) -> io::Result<Stdio> {
        let held = self.remover.stdin.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(held.as_fd().try_clone_to_owned()?.into())
    }
}

impl Drop for Veth {
    fn drop(&mut self) {
        // Closes its input first.
        let _ = self.remover.wait();
    }
}

/// In a process group of its own: Ctrl-C and whoever ends this program's group do not reach it.
fn remover(interface: &str) -> io::Result<Child> {
    let script = "cat >/dev/null; exec ip link delete \"$0\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, interface]).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

fn ip(arguments: &[&str]) -> Result<(), MotionError> {
    let action = || format!("run `ip {}`", arguments.join(" "));
    let output = Command::new("ip").args(arguments).output().map_err(|source| MotionError::System {
        action: action(),
        source,
        remedy: REMEDY,
    })?;
    if output.status.success() {
        return Ok(());
    }
    let source = io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    Err(MotionError::System { action: action(), source, remedy: REMEDY })
}
