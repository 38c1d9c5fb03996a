// SPDX-License-Identifier: Apache-2.0
//! From power-on to "operation requested": PRE-OP, start-up objects, mapping, distributed clocks, SAFE-OP.

use std::cell::Cell;
use std::time::Duration;

use ethercrab::error::Error;
use ethercrab::subdevice_group::{DcConfiguration, HasDc, Op, PreOp};
use ethercrab::{DcSync, DefaultLock, MainDevice, SubDevice, SubDeviceGroup, SubDeviceRef};

use super::axis::{Axis, Offsets};
use super::image::{byte_of, mapping, Entry};
use super::mail::{self, Mailbox};
use super::scale::{optional, Contradiction, Said};
use super::BusError;
use crate::cia402::MODE_CSP;
use crate::layout::{AxisLayout, Layout, Startup};

/// Most devices of a ring. A power of two, as the master library wants it.
pub(super) const DEVICES_MAX: usize = 32;
/// Most bytes of process data: one frame.
pub(crate) const IMAGE_MAX_BYTES: usize = 1400;

/// A ring with distributed clocks that was asked into operation.
pub(super) type Ring = SubDeviceGroup<DEVICES_MAX, IMAGE_MAX_BYTES, DefaultLock, Op, HasDc>;
type FreshRing = SubDeviceGroup<DEVICES_MAX, IMAGE_MAX_BYTES, DefaultLock, PreOp>;

/// What bring-up found on the ring.
pub(super) struct Found {
    pub ring: Ring,
    pub axes: Vec<Axis>,
    /// Working counter of a healthy exchange: 1 for a device with inputs, 2 for one with outputs.
    pub expected_counter: u16,
    /// Mailboxes of the drives, in which emergencies arrive.
    pub mailboxes: Vec<Mailbox>,
}

/// SYNC0 starts this long after it was configured: later than the slowest way into operation begins.
const SYNC0_DELAY: Duration = Duration::from_millis(100);

/// Leads the ring to the request for OP. `began_ns`, by the wire's clock, becomes the ring's system time and so decides
/// where SYNC0 lies between cycles; with the clock of this machine, a simulation in virtual time would not be
/// repeatable. `step` names the present step, for messages.
pub(super) async fn bring_up(
    master: &'static MainDevice<'static>,
    layout: &Layout,
    axes: &[AxisLayout],
    began_ns: u64,
    step: &Cell<&'static str>,
) -> Result<Found, BusError> {
    let way = Way { master, layout, step };
    let mut ring = way.find_devices(began_ns).await?;
    let mailboxes = way.find_mailboxes(&ring).await?;
    let axes = way.prepare_axes(&ring, axes, &mailboxes).await?;
    step.set("distributed clocks");
    for (position, mut device) in ring.iter_mut(master).enumerate() {
        if axes.iter().any(|axis| axis.device == position) {
            device.set_dc_sync(DcSync::Sync0);
        }
    }
    let ring = ring.into_pre_op_pdi(master).await.map_err(|error| way.failed(error))?;
    let mut expected_counter = 0;
    for (position, device) in ring.iter(master).enumerate() {
        let (outputs, inputs) = (device.io_raw().outputs().len(), device.io_raw().inputs().len());
        expected_counter += u16::from(inputs > 0) + 2 * u16::from(outputs > 0);
        for axis in axes.iter().filter(|axis| axis.device == position) {
            has_room(axis, device.name(), outputs, inputs)?;
        }
    }
    let clocks = DcConfiguration {
        start_delay: SYNC0_DELAY,
        sync0_period: Duration::from_micros(layout.cycle.period_us.into()),
        sync0_shift: Duration::ZERO,
    };
    let ring = ring.configure_dc_sync(master, clocks).await.map_err(|error| way.failed(error))?;
    step.set("SAFE-OP");
    let ring = ring.into_safe_op(master).await.map_err(|error| way.failed(error))?;
    step.set("reading the mode of operation (0x6061)");
    for axis in axes.iter().filter(|axis| axis.offsets.mode_display.is_none()) {
        let device = ring.subdevice(master, axis.device).map_err(|error| way.failed(error))?;
        let mode = in_mode(&device, axis).await;
        mode.map_err(|refused| refused.into_error(&axis.name, axis.device, device.name(), step))?;
    }
    step.set("requesting OP");
    let ring = ring.request_into_op(master).await.map_err(|error| way.failed(error))?;
    Ok(Found { ring, axes, expected_counter, mailboxes })
}

/// The way from power-on to PRE-OP.
struct Way<'a> {
    master: &'static MainDevice<'static>,
    layout: &'a Layout,
    step: &'a Cell<&'static str>,
}

impl Way<'_> {
    fn failed(&self, error: Error) -> BusError {
        BusError::Master { step: self.step.get(), error }
    }

    async fn find_devices(&self, began_ns: u64) -> Result<FreshRing, BusError> {
        self.step.set("looking for devices");
        let found = self.master.init_single_group::<DEVICES_MAX, IMAGE_MAX_BYTES>(move || began_ns).await;
        let ring: FreshRing = found.map_err(|error| self.failed(error))?;
        if ring.is_empty() {
            return Err(BusError::NoDevice(self.step.get()));
        }
        for device in ring.iter(self.master) {
            tracing::info!(name = device.name(), address = device.configured_address(), "found");
        }
        Ok(ring)
    }

    async fn find_mailboxes(&self, ring: &FreshRing) -> Result<Vec<Mailbox>, BusError> {
        self.step.set("looking for mailboxes");
        let mut mailboxes = Vec::new();
        for (position, device) in ring.iter(self.master).enumerate() {
            mailboxes.extend(mail::find(&device, position).await.map_err(|error| self.failed(error))?);
        }
        Ok(mailboxes)
    }

    /// Checks and configures the drive of each axis.
    async fn prepare_axes(
        &self,
        ring: &FreshRing,
        axes: &[AxisLayout],
        mailboxes: &[Mailbox],
    ) -> Result<Vec<Axis>, BusError> {
        let mut prepared = Vec::new();
        for axis in axes {
            let device = ring.subdevice(self.master, axis.device).map_err(|_| BusError::TooFewDevices {
                found: ring.len(),
                what: axis.name.clone(),
                position: axis.device,
            })?;
            if !mailboxes.iter().any(|mailbox| usize::from(mailbox.device) == axis.device) {
                let (axis, position, device) = (axis.name.clone(), axis.device, device.name().to_owned());
                return Err(BusError::NoDrive { axis, position, device });
            }
            prepared.push(prepare(&device, axis, self.layout, self.step).await?);
        }
        Ok(prepared)
    }
}

/// The device has as much process data as the drive maps.
fn has_room(axis: &Axis, device: &str, outputs: usize, inputs: usize) -> Result<(), BusError> {
    let sides = [("outputs", outputs, axis.offsets.outputs_end()), ("inputs", inputs, axis.offsets.inputs_end())];
    match sides.into_iter().find(|(_, found, needed)| found < needed) {
        None => Ok(()),
        Some((direction, found, needed)) => Err(BusError::ImageTooShort {
            what: format!("the mapping of {}", axis.name),
            needed,
            direction,
            position: axis.device,
            device: device.to_owned(),
            found,
        }),
    }
}

/// An axis in PRE-OP: start-up objects, interpolation period, mapping, and whether the drive is the one of the layout.
async fn prepare(
    device: &SubDeviceRef<'_, &SubDevice>,
    axis: &AxisLayout,
    layout: &Layout,
    step: &Cell<&'static str>,
) -> Result<Axis, BusError> {
    let refused = |refused: Refused| refused.into_error(&axis.name, axis.device, device.name(), step);
    step.set("writing start-up objects");
    for startup in &axis.startup {
        write_startup(device, startup).await.map_err(|error| refused(error.into()))?;
    }
    step.set("setting the interpolation period (0x60C2)");
    let period_ms = (layout.cycle.period_us / 1000) as u8;
    set_interpolation_period(device, axis, period_ms).await.map_err(|error| refused(error.into()))?;
    step.set("reading the mapping of process data");
    let found = find_axis(device, axis).await.map_err(refused)?;
    step.set("reading scale, modes and limits of a drive");
    let said = Said::read(device).await.map_err(|error| refused(error.into()))?;
    if let Some(contradiction) = said.contradicts(axis, &layout.motion, found.rated_at_joint_nm.is_some()) {
        return Err(refused(Refused::Contradiction(contradiction)));
    }
    if !said.has_scale() {
        tracing::warn!(
            axis = axis.name,
            "the drive does not give its scale (0x6092, 0x608F): counts_per_turn = {} is not checked",
            axis.counts_per_turn
        );
    }
    Ok(found)
}

async fn write_startup(device: &SubDeviceRef<'_, &SubDevice>, startup: &Startup) -> Result<(), Error> {
    let (index, sub) = (startup.index, startup.sub);
    match startup.bits {
        8 => device.sdo_write(index, sub, startup.value as u8).await,
        16 => device.sdo_write(index, sub, startup.value as u16).await,
        _ => device.sdo_write(index, sub, startup.value as u32).await,
    }
}

/// One cycle, in milliseconds: where the drive has the object, or as the layout says.
async fn set_interpolation_period(
    device: &SubDeviceRef<'_, &SubDevice>,
    layout: &AxisLayout,
    period_ms: u8,
) -> Result<(), Error> {
    let wanted = match layout.interpolation_period {
        Some(wanted) => wanted,
        None => {
            let has = optional::<u8, _>(device, 0x60C2, 1).await?.is_some();
            if !has {
                tracing::info!(axis = layout.name, "the drive has no interpolation period (0x60C2): none is set");
            }
            has
        }
    };
    if wanted {
        device.sdo_write(0x60C2, 1, period_ms).await?;
        device.sdo_write(0x60C2, 2, -3i8).await?;
    }
    Ok(())
}

/// Why a drive cannot be an axis.
enum Refused {
    Unmapped { index: u16, direction: &'static str },
    NoRatedTorque,
    Contradiction(Contradiction),
    Master(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Master(error)
    }
}

impl Refused {
    fn into_error(self, axis: &str, position: usize, device: &str, step: &Cell<&'static str>) -> BusError {
        let (axis, device) = (axis.to_owned(), device.to_owned());
        match self {
            Self::Unmapped { index, direction } => BusError::NotMapped { axis, position, device, index, direction },
            Self::NoRatedTorque => BusError::NoRatedTorque { axis, position, device },
            Self::Contradiction(Contradiction { drive, layout, remedy }) => {
                BusError::Contradiction { axis, position, device, drive, layout, remedy }
            }
            Self::Master(error) => BusError::Master { step: step.get(), error },
        }
    }
}

async fn find_axis(device: &SubDeviceRef<'_, &SubDevice>, layout: &AxisLayout) -> Result<Axis, Refused> {
    let outputs = mapping(device, 0x1C12).await?;
    let inputs = mapping(device, 0x1C13).await?;
    let need = |entries: &[Entry], index, bits, direction| {
        byte_of(entries, index, bits).ok_or(Refused::Unmapped { index, direction })
    };
    let offsets = Offsets {
        controlword: need(&outputs, 0x6040, 16, "outputs")?,
        target_position: need(&outputs, 0x607A, 32, "outputs")?,
        velocity_offset: byte_of(&outputs, 0x60B1, 32),
        torque_offset: byte_of(&outputs, 0x60B2, 16),
        mode: byte_of(&outputs, 0x6060, 8),
        statusword: need(&inputs, 0x6041, 16, "inputs")?,
        position: need(&inputs, 0x6064, 32, "inputs")?,
        velocity: need(&inputs, 0x606C, 32, "inputs")?,
        error_code: byte_of(&inputs, 0x603F, 16),
        mode_display: byte_of(&inputs, 0x6061, 8),
    };
    let rated_at_joint_nm = rated_torque(device, layout, &offsets).await?;
    if offsets.mode.is_none() || offsets.mode_display.is_none() {
        device.sdo_write(0x6060, 0, MODE_CSP).await?;
    }
    Ok(Axis {
        name: layout.name.clone(),
        device: layout.device,
        counts_per_rad: Axis::counts_per_rad(layout.counts_per_turn),
        rated_at_joint_nm,
        offsets,
    })
}

/// Readings of the mode of operation before it counts as another one; each takes a few frames.
const MODE_READINGS: u32 = 50;

/// The drive is in the mode that was written. For drives that do not map their mode display: no cycle sees it.
async fn in_mode<S>(device: &SubDeviceRef<'_, S>, axis: &Axis) -> Result<(), Refused>
where
    S: std::ops::Deref<Target = SubDevice>,
{
    tracing::warn!(axis = axis.name, "the drive does not map its mode of operation (0x6061): no cycle watches it");
    let mut mode = None;
    for _ in 0..MODE_READINGS {
        mode = optional::<i8, _>(device, 0x6061, 0).await?;
        if mode.is_none_or(|mode| mode == MODE_CSP) {
            return Ok(());
        }
    }
    Err(Refused::Contradiction(Contradiction {
        drive: format!("mode of operation {} (0x6061)", mode.unwrap_or_default()),
        layout: format!("an axis in cyclic synchronous position ({MODE_CSP})"),
        remedy: "Map 0x6060 and 0x6061 with `startup` entries, or set the drive up for this mode",
    }))
}

/// Joint torque at a torque offset of 1000 ‰, N·m; `None` where this drive gets no torque feed-forward.
async fn rated_torque(
    device: &SubDeviceRef<'_, &SubDevice>,
    layout: &AxisLayout,
    offsets: &Offsets,
) -> Result<Option<f64>, Refused> {
    let axis = layout.name.as_str();
    let Some(feed_forward) = &layout.feed_forward else {
        tracing::info!(axis, "no torque feed-forward: the layout has no `feed_forward` for it");
        return Ok(None);
    };
    let vendor = device.identity().vendor_id;
    if let Some(wanted) = feed_forward.vendor.filter(|wanted| *wanted != vendor) {
        tracing::warn!(
            axis,
            "no torque feed-forward: it is configured for drives of vendor {wanted:#x}, this one is of {vendor:#x}. Give \
             a layout (--layout) with gear, friction and vendor of this drive"
        );
        return Ok(None);
    }
    if offsets.torque_offset.is_none() {
        tracing::warn!(axis, "no torque feed-forward: the drive does not map its torque offset (0x60B2)");
        return Ok(None);
    }
    let rated_mnm: u32 = device.sdo_read(0x6076, 0).await?;
    if rated_mnm == 0 {
        return Err(Refused::NoRatedTorque);
    }
    let rated_nm = Axis::rated_at_joint_nm(rated_mnm, feed_forward, layout.counts_per_turn);
    tracing::info!(axis, rated_nm, "torque feed-forward");
    Ok(Some(rated_nm))
}
