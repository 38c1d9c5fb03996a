// SPDX-License-Identifier: Apache-2.0
//! Errors on the way to operation.

use super::pump::Stalled;

/// Why the bus did not come up, with what to do.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // of a field: the message says what it is
pub enum BusError {
    /// The interface cannot be used.
    #[error(
        "cannot use interface `{name}` for EtherCAT: {source}. See `ip link` for its name, bring it up with \
         `ip link set {name} up`, and run as root or with CAP_NET_RAW"
    )]
    Interface { name: String, source: std::io::Error },
    /// Another master uses the ring.
    #[error(
        "{step}: another master is on the wire: {} frames that command devices, source address {source_address}. Two \
         masters cannot share a ring: end the other program, or name another interface{}",
        foreign.commands,
        failure.as_ref().map(|failure| format!(". What failed: {failure}")).unwrap_or_default()
    )]
    SecondMaster {
        /// The operation that failed.
        step: &'static str,
        /// The frames that were heard.
        foreign: super::Foreign,
        source_address: String,
        /// The failure they caused; none where nothing was sent yet.
        failure: Option<Box<BusError>>,
    },
    /// A frame got no answer in time, or the interface refused it.
    #[error("{step}: {stalled}. Check cable, link light and power of the first device")]
    Stalled {
        /// The operation that failed.
        step: &'static str,
        stalled: Stalled,
    },
    /// The master library refused.
    #[error("{step}: the master library says {error:?}. Check that the layout fits the devices (--layout), and their error lights")]
    Master {
        /// The operation that failed.
        step: &'static str,
        error: ethercrab::error::Error,
    },
    /// The master library panicked.
    #[error(
        "{step}: the master library panicked: {message}. Known causes: a device without link on its port, an emergency \
         message during an SDO dialogue. Switch the devices off and on and try again"
    )]
    MasterPanicked {
        /// The operation that failed.
        step: &'static str,
        message: String,
    },
    /// Frames come back and no device has touched them.
    #[error("{0}: no device answers. Check that the cable leads to the first device's input, and its power")]
    NoDevice(&'static str),
    /// The ring is not the one the layout describes.
    #[error("the ring has {found} devices, but {what} is device {position} of the layout. Adapt the layout (--layout) or the ring")]
    TooFewDevices {
        found: usize,
        what: String,
        /// Where it should be, from 0.
        position: usize,
    },
    /// A device that answers no request cannot be an axis.
    #[error(
        "{axis} is device {position} (`{device}`) of the layout, which has no mailbox and so is no drive. Give the position \
         of the drive in the ring, from 0"
    )]
    NoDrive {
        /// Name in the layout.
        axis: String,
        position: usize,
        /// Name of the device.
        device: String,
    },
    /// An object the application needs is not in the process data.
    #[error(
        "{axis} (device {position}, `{device}`) does not map object {index:#06x} in its {direction}. Map it with \
         `startup` entries in the layout (objects 0x1C12, 0x1C13, 0x1600, 0x1A00)"
    )]
    NotMapped {
        /// Name in the layout.
        axis: String,
        position: usize,
        /// Name of the device.
        device: String,
        index: u16,
        direction: &'static str,
    },
    /// A device has less process data than the layout or its own mapping states.
    #[error(
        "{what} needs {needed} bytes of {direction}, device {position} (`{device}`) has {found}. Correct the device or the \
         byte in the layout (--layout), or what the device maps"
    )]
    ImageTooShort {
        /// The part that needs them.
        what: String,
        needed: usize,
        direction: &'static str,
        position: usize,
        /// Name of the device.
        device: String,
        found: usize,
    },
    /// A drive reports a property that contradicts the layout.
    #[error("{axis} (device {position}, `{device}`): the drive says {drive}; the layout says {layout}. {remedy}")]
    Contradiction {
        /// Name in the layout.
        axis: String,
        position: usize,
        /// Name of the device.
        device: String,
        /// Value and object of the drive.
        drive: String,
        /// Value and key of the layout.
        layout: String,
        remedy: &'static str,
    },
    /// Feed-forward is configured for a drive that does not state its scale.
    #[error(
        "{axis} (device {position}, `{device}`): its rated torque (0x6076) is 0, so torque feed-forward has no scale. Set \
         it in the drive, or take `feed_forward` of this axis out of the layout"
    )]
    NoRatedTorque {
        /// Name in the layout.
        axis: String,
        position: usize,
        /// Name of the device.
        device: String,
    },
    /// A drive did not come to operation.
    #[error("devices are not in OP after {0} s. Their AL status codes are in the log above; the usual cause is a missing SYNC0 or a watchdog that is too short")]
    NoOperation(f64),
}
