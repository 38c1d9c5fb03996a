// SPDX-License-Identifier: Apache-2.0
//! A device's smaller protocols: ADS (AoE) and a vendor's own messages (VoE); and its ID switch.

use super::Device;
use crate::settings::DeviceSettings;

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
        let Some(vendor) = &settings.voe else { return Ok(()) };
        match self.mailbox.as_mut().and_then(|mailbox| mailbox.voe.as_mut()) {
            Some(known) => **known = vendor.clone(),
            None => return lacks("voe", "VoE"),
        }
        Ok(())
    }
}
