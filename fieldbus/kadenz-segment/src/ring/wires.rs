// SPDX-License-Identifier: Apache-2.0
//! Electrical connections between terminals, from the ring file.

use crate::device::{Device, Function};
use crate::error::{nearest, SegmentError};
use crate::settings::RingFile;
use std::path::Path;

/// A wire from an output channel to an input channel: device and channel of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire {
    pub from: (usize, u8),
    pub to: (usize, u8),
    pub delay_ns: u64,
}

/// The wires of a ring file; a wrong end is an error.
pub(super) fn read(file: &RingFile, devices: &[Device], path: &Path) -> Result<Vec<Wire>, SegmentError> {
    let end = |text: &str| -> Result<(usize, u8), SegmentError> {
        let parsed = text.rsplit_once('.').and_then(|(name, channel)| Some((name, channel.parse::<u8>().ok()?)));
        let Some((name, channel)) = parsed else {
            let message = format!("wire end \"{text}\" is not name.channel");
            return Err(SegmentError::config(path, message, "Write it like \"outputs.1\""));
        };
        let Some(device) = file.position(name) else {
            let known = nearest(name, file.device.iter().map(|device| device.name.as_str())).unwrap_or("");
            let message = format!("wire end \"{text}\": no device \"{name}\"");
            return Err(SegmentError::config(path, message, format!("Did you mean \"{known}.{channel}\"?")));
        };
        if !(1..=devices[device].channels.len()).contains(&usize::from(channel)) {
            let message = format!("wire end \"{text}\": {name} has no channel {channel}");
            return Err(SegmentError::config(path, message, "Channels count from 1"));
        }
        Ok((device, channel))
    };
    let mut wires = Vec::new();
    for settings in &file.wire {
        let wire = Wire { from: end(&settings.from)?, to: end(&settings.to)?, delay_ns: settings.delay_ns };
        let fits = matches!(
            (&devices[wire.from.0].function, &devices[wire.to.0].function),
            (Function::DigitalOutput(_), Function::DigitalInput(_))
                | (Function::AnalogOutput(_), Function::AnalogInput(_))
        );
        if !fits {
            let message = format!("wire from \"{}\" to \"{}\"", settings.from, settings.to);
            return Err(SegmentError::config(
                path,
                message,
                "A wire leads from an output to an input of the same sort",
            ));
        }
        wires.push(wire);
    }
    Ok(wires)
}
