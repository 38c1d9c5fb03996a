// SPDX-License-Identifier: Apache-2.0
//! A device's smaller protocols: ADS (AoE), a drive by IDN (SoE) and a vendor's own messages (VoE); and its ID switch.

use super::{Device, Function};
use crate::al::State;
use crate::settings::DeviceSettings;
use crate::soe::idn::Procedure;
use crate::soe::server;

impl Device {
    /// Sets the ID switch. The error is (message, remedy): a device without one.
    pub fn set_id(&mut self, id: Option<u16>) -> Result<(), (String, String)> {
        if id.is_some() && !self.description.identification.exists() {
            let message = format!("`device_id`, but {} has no ID switch", self.description.type_name);
            let remedy = "Remove the key, or name an ESI file whose Info has IdentificationReg134 or IdentificationAdo";
            return Err((message, remedy.into()));
        }
        self.id_switch = id.unwrap_or(0);
        self.show_id();
        Ok(())
    }

    /// Gives the protocols their settings. The error is (message, remedy): settings for a protocol that the device lacks.
    pub fn set_protocols(&mut self, settings: &DeviceSettings) -> Result<(), (String, String)> {
        let lacks = |key: &str, protocol: &str| {
            let message = format!("`{key}`, but {} has no {protocol}", self.description.type_name);
            let remedy = format!(
                "Remove the key, choose a kind with a mailbox, or name an ESI file whose Mailbox has {protocol}"
            );
            Err((message, remedy))
        };
        if settings.aoe && !self.description.aoe {
            return lacks("aoe", "AoE");
        }
        match self.mailbox.as_mut().and_then(|mailbox| mailbox.soe.as_mut()) {
            Some(server) => server.set(settings.soe.unwrap_or_default()),
            None if settings.soe.is_some() => return lacks("soe", "SoE"),
            None => {}
        }
        let Some(vendor) = &settings.voe else { return Ok(()) };
        match self.mailbox.as_mut().and_then(|mailbox| mailbox.voe.as_mut()) {
            Some(known) => **known = vendor.clone(),
            None => return lacks("voe", "VoE"),
        }
        Ok(())
    }

    /// A step of the segment's grid: procedure commands of SoE that are due end.
    pub(super) fn continue_procedures(&mut self, now_ns: u64) {
        let Some(mailbox) = &mut self.mailbox else { return };
        let Some(server) = mailbox.soe.as_mut().filter(|server| server.is_running()) else { return };
        let (state, function, dictionary) = (self.al.state(), &mut self.function, &mut self.dictionary);
        let pristine = &self.pristine;
        let has_ended = server.work(now_ns, |procedure| match (procedure, &mut *function) {
            (Procedure::ResetFault, Function::Drive(drive)) => drive.reset_fault(),
            (Procedure::ResetFault, _) => false,
            (Procedure::CheckPreOp, _) => state >= State::PreOp,
            (Procedure::CheckSafeOp, _) => state >= State::SafeOp,
            (Procedure::LoadDefaults, _) => {
                server::load_defaults(dictionary, pristine);
                true
            }
        });
        if has_ended {
            mailbox.deliver(&mut self.esc);
        }
    }
}
