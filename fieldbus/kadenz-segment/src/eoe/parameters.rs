// SPDX-License-Identifier: Apache-2.0
//! The network parameters that a master sets and gets: addresses and the name (ETG.1000.6, set IP parameter).

use std::net::Ipv4Addr;

/// Bytes of the name in a message.
const NAME: usize = 32;
/// Bytes of the flags in front of the parameters.
const FLAGS: usize = 4;

/// Addresses of a device. 0.0.0.0 is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// Ethernet address.
    pub mac: [u8; 6],
    /// Internet address.
    pub ip: Ipv4Addr,
    /// Mask of its network.
    pub mask: Ipv4Addr,
    /// Way out of its network.
    pub gateway: Ipv4Addr,
    /// Server of names; kept, and not asked.
    pub dns: Ipv4Addr,
    /// Name of the device in the network, at most 32 bytes.
    pub name: String,
}

/// Why parameters are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The message ends before the parameters that its flags announce.
    Short,
    /// Addresses that no device can have.
    Impossible,
}

/// Which parameters a message has, from bit 0.
#[derive(Debug, Clone, Copy)]
struct Included {
    mac: bool,
    ip: bool,
    mask: bool,
    gateway: bool,
    dns: bool,
    name: bool,
}

impl Included {
    fn from_byte(byte: u8) -> Self {
        let bit = |number: u8| byte >> number & 1 != 0;
        Self { mac: bit(0), ip: bit(1), mask: bit(2), gateway: bit(3), dns: bit(4), name: bit(5) }
    }

    fn byte(self) -> u8 {
        let bits = [self.mac, self.ip, self.mask, self.gateway, self.dns, self.name];
        bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit))
    }
}

/// Takes the fields of a message one after the other.
struct Fields<'a> {
    rest: &'a [u8],
    /// Every field has its place, also those that do not count.
    is_fixed: bool,
}

impl Fields<'_> {
    fn take<const N: usize>(&mut self, counts: bool) -> Result<Option<[u8; N]>, Fault> {
        if !counts && !self.is_fixed {
            return Ok(None);
        }
        let (field, rest) = self.rest.split_first_chunk::<N>().ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(counts.then_some(*field))
    }

    /// An address is a number of 32 bits, the low byte first.
    fn address(&mut self, counts: bool) -> Result<Option<Ipv4Addr>, Fault> {
        Ok(self.take::<4>(counts)?.map(|bytes| Ipv4Addr::from(u32::from_le_bytes(bytes))))
    }

    /// A name is as long as the rest of the message, at most 32 bytes, and ends before the first zero.
    fn name(&mut self, counts: bool) -> Option<String> {
        let bytes = self.rest.get(..self.rest.len().min(NAME)).filter(|_| counts)?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(text.iter().map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '?' }).collect())
    }
}

/// Does the request set the Ethernet address?
pub fn sets_mac(request: &[u8]) -> bool {
    request.first().is_some_and(|byte| Included::from_byte(*byte).mac)
}

impl Parameters {
    /// The parameters after a request: the flags, and the fields behind them. SOEM leaves out the fields without a flag, IgH
    /// gives every field its place: a message of that length has all of them.
    pub fn changed_by(&self, request: &[u8]) -> Result<Self, Fault> {
        const ALL: usize = 6 + 4 * 4 + NAME;
        let ([flags, ..], rest) = request.split_first_chunk::<FLAGS>().ok_or(Fault::Short)?;
        let included = Included::from_byte(*flags);
        let mut fields = Fields { rest, is_fixed: rest.len() == ALL };
        let changed = Self {
            mac: fields.take::<6>(included.mac)?.unwrap_or(self.mac),
            ip: fields.address(included.ip)?.unwrap_or(self.ip),
            mask: fields.address(included.mask)?.unwrap_or(self.mask),
            gateway: fields.address(included.gateway)?.unwrap_or(self.gateway),
            dns: fields.address(included.dns)?.unwrap_or(self.dns),
            name: fields.name(included.name).unwrap_or_else(|| self.name.clone()),
        };
        changed.is_possible().then_some(changed).ok_or(Fault::Impossible)
    }

    /// The parameters of the answer to a request for them: those that are set.
    pub fn bytes(&self) -> Vec<u8> {
        let addresses = [self.ip, self.mask, self.gateway, self.dns];
        let [ip, mask, gateway, dns] = addresses.map(|address| !address.is_unspecified());
        let included = Included { mac: true, ip, mask, gateway, dns, name: !self.name.is_empty() };
        let mut bytes = vec![included.byte(), 0, 0, 0];
        bytes.extend(self.mac);
        for address in addresses.iter().filter(|address| !address.is_unspecified()) {
            bytes.extend(u32::from(*address).to_le_bytes());
        }
        if included.name {
            bytes.extend(self.name.bytes().chain(std::iter::repeat(0)).take(NAME));
        }
        bytes
    }

    /// Bits of the network in the mask; `None` for a mask with gaps.
    pub fn prefix(&self) -> Option<u8> {
        let mask = u32::from(self.mask);
        (mask.leading_ones() + mask.trailing_zeros() == 32 || mask == 0).then_some(mask.leading_ones() as u8)
    }

    fn is_possible(&self) -> bool {
        let is_host = |address: Ipv4Addr| !address.is_broadcast() && !address.is_multicast() && !address.is_loopback();
        let is_of_one = |mac: [u8; 6]| mac != [0; 6] && mac.first().is_some_and(|byte| byte & 1 == 0);
        is_of_one(self.mac) && is_host(self.ip) && is_host(self.gateway) && self.prefix().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        Parameters {
            mac: [2, 0, 0, 0, 0, 9],
            ip: Ipv4Addr::new(192, 168, 1, 5),
            mask: Ipv4Addr::new(255, 255, 255, 0),
            gateway: Ipv4Addr::UNSPECIFIED,
            dns: Ipv4Addr::UNSPECIFIED,
            name: String::new(),
        }
    }

    /// The bytes that SOEM 2 sends for an address and a mask, worked out from its source: the low byte of the number first.
    #[test]
    fn only_the_fields_with_a_flag_are_in_a_compact_message() {
        let changed = parameters().changed_by(&[0x06, 0, 0, 0, 7, 0, 0, 10, 0, 0, 255, 255]).unwrap();
        assert_eq!(changed.ip, Ipv4Addr::new(10, 0, 0, 7));
        assert_eq!((changed.mask, changed.prefix()), (Ipv4Addr::new(255, 255, 0, 0), Some(16)));
        assert_eq!((changed.mac, changed.gateway), (parameters().mac, parameters().gateway));
    }

    #[test]
    fn a_message_with_a_place_for_every_field_counts_those_with_a_flag() {
        let mut request = vec![0x22, 0, 0, 0];
        request.extend([0xFF; 6]);
        request.extend([7, 0, 0, 10]);
        request.extend([0xFF; 12]);
        request.extend(b"axis-1".iter().copied().chain(std::iter::repeat(0)).take(32));
        let changed = parameters().changed_by(&request).unwrap();
        assert_eq!((changed.ip, changed.name.as_str()), (Ipv4Addr::new(10, 0, 0, 7), "axis-1"));
        assert_eq!((changed.mac, changed.mask), (parameters().mac, parameters().mask));
    }

    #[test]
    fn the_answer_sets_another_device_to_the_same() {
        let all = Parameters {
            gateway: Ipv4Addr::new(192, 168, 1, 1),
            dns: Ipv4Addr::new(9, 9, 9, 9),
            name: "n".repeat(32),
            ..parameters()
        };
        for parameters in [all, parameters()] {
            let other =
                Parameters { ip: Ipv4Addr::UNSPECIFIED, name: parameters.name.clone(), ..super::tests::parameters() };
            assert_eq!(other.changed_by(&parameters.bytes()), Ok(parameters));
        }
    }

    #[test]
    fn addresses_that_no_device_can_have_change_nothing() {
        for (request, fault) in [
            (&[][..], Fault::Short),
            (&[0x02, 0, 0], Fault::Short),
            (&[0x02, 0, 0, 0, 1, 2, 3], Fault::Short),
            (&[0x01, 0, 0, 0, 1, 0, 0, 0, 0, 9], Fault::Impossible),
            (&[0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0], Fault::Impossible),
            (&[0x02, 0, 0, 0, 1, 0, 0, 224], Fault::Impossible),
            (&[0x02, 0, 0, 0, 255, 255, 255, 255], Fault::Impossible),
            (&[0x02, 0, 0, 0, 1, 0, 0, 127], Fault::Impossible),
            (&[0x04, 0, 0, 0, 0, 255, 0, 255], Fault::Impossible),
        ] {
            assert_eq!(parameters().changed_by(request), Err(fault), "{request:?}");
        }
        assert!(parameters().changed_by(&[0x02, 0, 0, 0, 0, 0, 0, 0]).is_ok(), "no address at all");
    }
}
