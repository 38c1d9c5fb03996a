// SPDX-License-Identifier: Apache-2.0
//! Settings of a device's network: key `ethernet` of the ring file.

use super::parameters::Parameters;
use serde::Deserialize;
use std::net::Ipv4Addr;

/// What a device can do by EoE, as `Mailbox/EoE` of an ESI file says (ETG.2000).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// A master may set addresses.
    pub ip: bool,
    /// A master may set the Ethernet address.
    pub mac: bool,
    /// Frames from the device have time stamps.
    pub stamps: bool,
}

/// An address and the length of its network, "192.168.0.2/24".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Address {
    /// The address.
    pub ip: Ipv4Addr,
    /// Bits of the network.
    pub prefix: u8,
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(ip, prefix)| Some((ip.parse().ok()?, prefix.parse().ok()?)));
        match parts {
            Some((ip, prefix @ 1..=30)) => Ok(Self { ip, prefix }),
            _ => Err(format!("\"{text}\" is no address and network: write it like \"192.168.0.2/24\"")),
        }
    }
}

/// An Ethernet address of one device, "02:00:00:00:00:01".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Mac(pub [u8; 6]);

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let byte = |part: &str| (part.len() == 2).then(|| u8::from_str_radix(part, 16).ok()).flatten();
        let bytes: Option<Vec<u8>> = text.split(':').map(byte).collect();
        let mac = bytes.and_then(|bytes| <[u8; 6]>::try_from(bytes).ok());
        match mac {
            Some(mac @ [first, ..]) if first & 1 == 0 && mac != [0; 6] => Ok(Self(mac)),
            _ => Err(format!("\"{text}\" is no Ethernet address of a device: write it like \"02:00:00:00:00:01\"")),
        }
    }
}

/// Settings of a device's network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EthernetSettings {
    /// Address after power-on; absent: none until a master sets it.
    pub address: Option<Address>,
    /// Way out of the network; absent: none.
    pub gateway: Option<Ipv4Addr>,
    /// Ethernet address; absent: by the position.
    pub mac: Option<Mac>,
    /// Frames from a device without an ESI file have time stamps.
    pub time_stamps: bool,
}

impl EthernetSettings {
    /// What a device without an ESI file can do.
    pub fn abilities(&self) -> Abilities {
        Abilities { ip: true, mac: true, stamps: self.time_stamps }
    }

    /// The parameters after power-on of the device at a position of the ring.
    pub fn parameters(&self, position: usize) -> Parameters {
        let [high, low] = (position as u16).to_be_bytes();
        let mask = |prefix: u8| Ipv4Addr::from(u32::MAX << (32 - u32::from(prefix.clamp(1, 32))));
        Parameters {
            // Locally administered: no card of a vendor has it.
            mac: self.mac.map_or([0x02, 0x6B, 0x64, 0x7A, high, low], |Mac(mac)| mac),
            ip: self.address.map_or(Ipv4Addr::UNSPECIFIED, |address| address.ip),
            mask: self.address.map_or(Ipv4Addr::UNSPECIFIED, |address| mask(address.prefix)),
            gateway: self.gateway.unwrap_or(Ipv4Addr::UNSPECIFIED),
            dns: Ipv4Addr::UNSPECIFIED,
            name: String::new(),
        }
    }

    /// An impossible setting: (message, remedy).
    pub fn problem(&self) -> Option<(String, String)> {
        let parameters = self.parameters(0);
        // What a master could not set, a file cannot either.
        let unchanged = parameters.changed_by(&[0; 4]);
        unchanged.is_err().then(|| {
            let (ip, gateway) = (parameters.ip, parameters.gateway);
            (format!("ethernet: no device has address {ip} and gateway {gateway}"), "Choose addresses of hosts".into())
        })
    }
}
