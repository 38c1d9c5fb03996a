// SPDX-License-Identifier: Apache-2.0
//! A pair of virtual Ethernet interfaces: the cable between master and simulated ring.

use std::process::Command;

use crate::error::MotionError;

const REMEDY: &str = "Run as root with iproute2 installed and the veth module, or use --segment in-process";

/// The pair; removed when dropped.
#[derive(Debug)]
pub struct Veth {
    /// The master's end.
    pub master: String,
    /// The ring's end.
    pub ring: String,
}

impl Veth {
    /// Makes a pair with names of its own and brings it up.
    pub fn new() -> Result<Self, MotionError> {
        let id = std::process::id();
        let veth = Self { master: format!("kdzm{id}"), ring: format!("kdzs{id}") };
        ip(&["link", "add", &veth.master, "type", "veth", "peer", "name", &veth.ring])?;
        for end in [&veth.master, &veth.ring] {
            // No IPv6 chatter on the bus. Where there is no IPv6 there is nothing to switch off.
            let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{end}/disable_ipv6"), "1");
            ip(&["link", "set", end, "up"])?;
        }
        Ok(veth)
    }
}

impl Drop for Veth {
    fn drop(&mut self) {
        // Gone already when the ring's process removed it.
        let _ = ip(&["link", "delete", &self.master]);
    }
}

/// Removes an interface and with it its peer.
pub fn remove(interface: &str) {
    let _ = ip(&["link", "delete", interface]);
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
    let source = std::io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    Err(MotionError::System { action: action(), source, remedy: REMEDY })
}
