// SPDX-License-Identifier: Apache-2.0
//! Process data worked out in advance. A master sends the same few logical datagrams every cycle, and until a device is
//! configured anew each byte of them goes the same way: which sync manager of which device is found out once.

use crate::device::Device;
use crate::esc::Part;
use crate::passage::Visit;

/// Datagrams that are remembered; a master with more of them a cycle has each worked out anew.
const MOST: usize = 8;

/// Key that distinguishes logical datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// First logical byte.
    pub start: u32,
    /// Length of the piece, bytes.
    pub length: usize,
    /// Whether the master reads it.
    pub reads: bool,
    /// Whether the master writes it.
    pub writes: bool,
}

#[derive(Debug)]
struct Image {
    key: Key,
    /// Parts in the order in which the frame meets them; `None` if one is not exactly a sync manager.
    parts: Option<Vec<Stop>>,
}

/// A part, and where the frame meets it.
#[derive(Debug)]
struct Stop {
    device: usize,
    enters_ns: u64,
    part: Part,
}

/// The images of a ring.
#[derive(Debug, Default)]
pub(crate) struct Images {
    images: Vec<Image>,
    /// Of the devices, when the images were worked out.
    version: u32,
}

impl Images {
    /// The ring has changed.
    pub fn forget(&mut self) {
        self.images.clear();
    }

    /// Passes a datagram through the devices. Gives the step of its working counter; `None` if it is not made of whole
    /// sync managers alone.
    #[inline]
    pub fn exchange(
        &mut self,
        devices: &mut [Device],
        visits: &[(usize, Visit)],
        key: Key,
        data: &mut [u8],
        now_ns: u64,
    ) -> Option<u16> {
        let version = devices.iter().fold(0_u32, |sum, device| sum.wrapping_add(device.esc.version()));
        if self.version != version {
            self.forget();
            self.version = version;
        }
        let stops = match self.images.iter().find(|image| image.key == key) {
            Some(image) => image.parts.as_ref()?,
            None => self.work_out(devices, visits, key)?,
        };
        let mut steps = 0_u16;
        for Stop { device, enters_ns, part } in stops {
            let (Some(device), Some(data)) = (devices.get_mut(*device), part.of(data)) else { continue };
            if !device.is_deaf && device.esc.exchange_part(part, data, now_ns.saturating_add(*enters_ns)) {
                steps = steps.wrapping_add(part.counts);
            }
        }
        Some(steps)
    }

    #[cold]
    fn work_out(&mut self, devices: &[Device], visits: &[(usize, Visit)], key: Key) -> Option<&Vec<Stop>> {
        if self.images.len() == MOST {
            self.forget();
        }
        let mut stops = Vec::new();
        let mut is_whole = true;
        for (index, Visit { enters_ns, .. }) in visits.iter().copied() {
            let Some(device) = devices.get(index) else { continue };
            let stop = |part| stops.push(Stop { device: index, enters_ns, part });
            is_whole &= device.esc.parts(key.start, key.length, key.reads, key.writes, stop);
        }
        self.images.push(Image { key, parts: is_whole.then_some(stops) });
        self.images.last()?.parts.as_ref()
    }
}
