// SPDX-License-Identifier: Apache-2.0
//! A device's network (EoE): its frames, and what its web page shows.

use super::Device;
use crate::al::State;
use crate::eoe::page::{html, Facts};
use crate::eoe::parameters::Parameters;
use crate::eoe::server::{Counters, Server};
use crate::eoe::settings::EthernetSettings;

impl Device {
    /// Gives a device with EoE its network; it stands at a position of a ring with this seed. The error is (message,
    /// remedy): settings for a device without EoE.
    pub fn connect_network(
        &mut self,
        settings: Option<&EthernetSettings>,
        position: usize,
        seed: u64,
    ) -> Result<(), (String, String)> {
        let Some((abilities, mailbox)) = self.description.eoe.zip(self.mailbox.as_mut()) else {
            let message = || format!("`ethernet`, but {} has no EoE", self.description.type_name);
            let remedy = "Remove the key, choose a kind with a mailbox, or name an ESI file whose Mailbox has EoE";
            return settings.map_or(Ok(()), |_| Err((message(), remedy.into())));
        };
        let parameters = settings.cloned().unwrap_or_default().parameters(position);
        let seed = seed.wrapping_add(position as u64);
        mailbox.eoe = Some(Box::new(Server::new(abilities, parameters, seed)));
        Ok(())
    }

    /// Lets the network stack take the frames that a mailbox has brought, or has made place for.
    pub(super) fn take_frames(&mut self, now_ns: u64) {
        self.work_on_frames(now_ns, Server::has_arrivals);
    }

    /// A step of the segment's grid: lets the network stack do what is due, for example repeat lost segments.
    pub(super) fn continue_frames(&mut self, now_ns: u64) {
        if !matches!(self.al.state(), State::Init | State::Boot) {
            self.work_on_frames(now_ns, |server| server.is_due(now_ns));
        }
    }

    fn work_on_frames(&mut self, now_ns: u64, has_work: impl Fn(&Server) -> bool) {
        let Some(mailbox) = &mut self.mailbox else { return };
        let Some(server) = mailbox.eoe.as_mut().filter(|server| has_work(server)) else { return };
        let stamp = self.esc.clock.as_ref().map_or(now_ns, |clock| clock.system_ns(now_ns)) as u32;
        let facts = Facts {
            name: &self.name,
            description: &self.description,
            dictionary: &self.dictionary,
            state: (self.al.state(), self.al.code()),
        };
        server.work(now_ns, stamp, &|parameters: &Parameters, counters: &Counters| html(&facts, parameters, counters));
        mailbox.deliver(&mut self.esc);
    }
}
