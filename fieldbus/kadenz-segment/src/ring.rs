// SPDX-License-Identifier: Apache-2.0
//! The devices together: built from a ring file, moved through time, wired to each other and to the plant.

mod groups;
mod wires;

use crate::coe::object::Dictionary;
use crate::description::{own_managers, Description, Identification, Identity, Pdo, Purpose, BOOTSTRAP, COE_DETAILS};
use crate::device::channels::{self, Place};
use crate::device::digital_input::{self, DigitalInput};
use crate::device::digital_output::{self, DigitalOutput};
use crate::device::edge_clock::EdgeClock;
use crate::device::{analog, Device, Function, GONE};
use crate::drive::{objects, settings::DriveSettings, Drive};
use crate::eoe::settings::EthernetSettings;
use crate::error::SegmentError;
use crate::esc::clock::Clock;
use crate::esi::{self, Choice};
use crate::foe::files::{FileSettings, Files};
use crate::lead::{Incoming, Outgoing};
use crate::passage::{in_flight, walk, ways, CableChange, Passage, Step, Visit};
use crate::plant::{AxisInput, Inertias, Plant};
use crate::process_image::{Images, Key};
use crate::random::Random;
use crate::settings::{DeviceSettings, Kind, RingFile};
use crate::topology::{dl_status, End, Topology};
use std::path::Path;
use wires::Wire;

/// Vendor of the simulated devices: not assigned by the ETG, so that no real driver takes one for its own.
pub const VENDOR: u32 = 0x0000_0BAD;
/// Channels a terminal may have.
const MOST_CHANNELS: usize = 16;
/// After a longer pause the segment continues from now: the process was stopped.
const LONGEST_PAUSE_NS: u64 = 60_000_000_000;

/// All devices, and what connects them.
pub struct Ring {
    /// Devices by position.
    pub devices: Vec<Device>,
    topology: Topology,
    /// By the end at which a frame comes in.
    images: [Images; 2],
    /// Breaks and healings that not every frame meets alike, in order of time.
    changes: Vec<CableChange>,
    wires: Vec<Wire>,
    /// Wires to other rings, and from them.
    pub(crate) outgoing: Vec<Outgoing>,
    pub(crate) incoming: Vec<Incoming>,
    plant: Box<dyn Plant>,
    axes: Vec<usize>,
    inputs: Vec<AxisInput>,
    tick_ns: u64,
    next_tick_ns: u64,
    next_event_ns: u64,
    /// An event of a device waits that the master wants to see in its frames.
    has_events: bool,
    /// Time does not go back, wherever a master's write has put a pulse.
    last_event_ns: u64,
}

impl Ring {
    /// Builds a ring with the default plant, one inertia a drive.
    pub fn new(file: &RingFile, path: &Path) -> Result<Self, SegmentError> {
        let drives = file.device.iter().filter(|device| device.kind == Kind::Drive);
        let axes = drives.map(|device| device.drive.clone().unwrap_or_default().plant.inertia());
        Self::with_plant(file, path, Box::new(Inertias::new(axes)))
    }

    /// Builds a ring that moves this plant; it needs an axis for every drive.
    pub fn with_plant(file: &RingFile, path: &Path, mut plant: Box<dyn Plant>) -> Result<Self, SegmentError> {
        let topology = Topology::new(file).map_err(|(message, remedy)| SegmentError::config(path, message, remedy))?;
        let mut random = Random::new(file.ring.seed);
        let mut devices = Vec::with_capacity(file.device.len());
        for (position, settings) in file.device.iter().enumerate() {
            devices.push(build(position, settings, file, &mut random, path)?);
        }
        let is_drive = |device: &Device| matches!(device.function, Function::Drive(_));
        let axes: Vec<usize> = (0..devices.len()).filter(|at| is_drive(&devices[*at])).collect();
        if plant.axes() < axes.len() {
            let message = format!("{} drives, but the plant has {} axes", axes.len(), plant.axes());
            return Err(SegmentError::config(path, message, "Remove drives or choose another plant"));
        }
        for (axis, device) in axes.iter().enumerate() {
            if let Function::Drive(drive) = &devices[*device].function {
                plant.place(axis, drive.settings().start_rad);
            }
        }
        let tick_ns = u64::from(file.ring.tick_us) * 1000;
        let mut ring = Self {
            wires: wires::read(file, &devices, path)?,
            outgoing: Vec::new(),
            incoming: Vec::new(),
            // A brake on every axis until its drive has spoken.
            inputs: vec![AxisInput { torque_nm: 0.0, brake: true }; plant.axes()],
            devices,
            topology,
            images: Default::default(),
            changes: Vec::new(),
            plant,
            axes,
            tick_ns,
            next_tick_ns: tick_ns,
            next_event_ns: tick_ns,
            has_events: false,
            last_event_ns: 0,
        };
        ring.take_away_absent();
        ring.refresh_topology();
        Ok(ring)
    }

    /// Lets every device that works on a frame do so, in the order in which it passes them.
    #[inline]
    pub(crate) fn for_each_reached(&mut self, from: End, mut work: impl FnMut(&mut Device, &Visit)) {
        for (device, visit) in &self.topology.passage(from).visits {
            if let Some(device) = self.devices.get_mut(*device) {
                work(device, visit);
            }
        }
    }

    /// The way of a frame that comes in at an end.
    #[inline]
    pub(crate) fn passage(&self, from: End) -> &Passage {
        self.topology.passage(from)
    }

    /// The cables between the devices.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Connects a second interface of the master to the last device: a ring with cable redundancy.
    pub fn close_ring(&mut self) {
        self.topology.close_ring();
        self.refresh_topology();
    }

    /// The mechanism that the drives move.
    pub fn plant(&self) -> &dyn Plant {
        &*self.plant
    }

    /// Axis a device moves.
    pub fn axis_of(&self, device: usize) -> Option<usize> {
        self.axes.iter().position(|drive| *drive == device)
    }

    /// Position of a device by name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.devices.iter().position(|device| device.name == name)
    }

    /// When the segment next has something to do by itself, ns.
    pub fn next_event_ns(&self) -> u64 {
        self.next_event_ns
    }

    /// Breaks or heals the cable at a port, between two frames; both ends count the lost link.
    pub fn set_link(&mut self, device: usize, port: usize, stands: bool) {
        self.topology.set_link(device, port, stands);
        self.refresh_topology();
    }

    /// Takes the link of a master's interface, or gives it back.
    pub fn set_carrier(&mut self, end: End, stands: bool) {
        self.topology.set_carrier(end, stands);
        self.refresh_topology();
    }

    /// Breaks or heals a cable at a moment of its own: also a frame that is under way meets it.
    pub(crate) fn change_cable(&mut self, change: CableChange) {
        let at = self.changes.partition_point(|earlier| earlier.at_ns <= change.at_ns);
        self.changes.insert(at, change);
    }

    /// Makes changes of cables lasting that every later frame meets alike.
    #[inline]
    pub(crate) fn settle_cables(&mut self, now_ns: u64) {
        while self.changes.first().is_some_and(|change| change.noticed_ns <= now_ns) {
            let CableChange { device, port, stands, .. } = self.changes.remove(0);
            self.set_link(device, port, stands);
        }
    }

    /// The way of a frame that enters now, where it is not that of every frame.
    #[inline]
    pub(crate) fn passage_in_flight(&self, from: End, now_ns: u64) -> Option<Passage> {
        let end_ns = now_ns.saturating_add(self.topology.longest_passage_ns());
        let is_met = self.changes.first().is_some_and(|change| change.at_ns <= end_ns);
        is_met.then(|| in_flight(&self.topology, from, now_ns, &self.changes))
    }

    /// What happens on its way to a frame that enters now, step by step.
    pub(crate) fn steps(&self, from: End, now_ns: u64) -> Vec<Step> {
        let mut steps = Vec::new();
        walk(&self.topology, from, &ways(&self.topology, now_ns, &self.changes), &mut |step, _| steps.push(step));
        steps
    }

    /// Lets one frame take another way. Gives the usual one, to be put back.
    pub(crate) fn replace_passage(&mut self, from: End, passage: Passage) -> Passage {
        self.images.iter_mut().for_each(Images::forget);
        self.topology.replace_passage(from, passage)
    }

    /// Takes a device's power or gives it back; it starts anew.
    pub fn set_power(&mut self, device: usize, on: bool) {
        if let Some(device) = self.devices.get_mut(device) {
            device.set_outage(GONE, !on);
        }
        self.refresh_topology();
    }

    /// Lets a device's DL status deny its links, or tell them again.
    pub fn hide_links(&mut self, device: usize, hides: bool) {
        if let Some(device) = self.devices.get_mut(device) {
            device.hides_links = hides;
        }
        self.refresh_topology();
    }

    /// Events for the IRQ field of a frame; none is the usual answer.
    #[inline]
    pub(crate) fn frame_events(&mut self, from: End) -> u16 {
        if !self.has_events {
            return 0;
        }
        let mut events = 0;
        self.for_each_reached(from, |device, _| {
            if !device.is_deaf {
                events |= device.esc.frame_events();
            }
        });
        events
    }

    /// Process data through all devices it reaches, if it is made of whole sync managers: the working counter's step.
    #[inline]
    pub(crate) fn exchange_image(&mut self, from: End, key: Key, data: &mut [u8], now_ns: u64) -> Option<u16> {
        let visits = &self.topology.passage(from).visits;
        self.images[from.index()].exchange(&mut self.devices, visits, key, data, now_ns)
    }

    fn refresh_topology(&mut self) {
        self.images.iter_mut().for_each(Images::forget);
        let devices = &self.devices;
        let links_before: Vec<u8> = (0..devices.len()).map(|at| self.topology.links(at)).collect();
        for (at, device) in devices.iter().enumerate() {
            self.topology.set_closed(at, device.esc.closed_ports());
        }
        self.topology.refresh(&|device| devices.get(device).is_some_and(Device::has_power));
        for (at, (device, before)) in self.devices.iter_mut().zip(links_before).enumerate() {
            let (open, links) = (self.topology.open(at), self.topology.links(at));
            if device.has_power() {
                device.esc.lose_links(before & !links);
            }
            device.esc.set_dl_status(if device.hides_links { dl_status(0, 0) } else { dl_status(open, links) });
        }
        self.plan();
    }

    /// Everything the segment does by itself up to `now_ns`: grid steps and SYNC pulses, in order of time.
    #[inline]
    pub fn catch_up(&mut self, now_ns: u64) {
        if self.next_event_ns <= now_ns {
            self.advance(now_ns);
        }
    }

    fn advance(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.next_tick_ns) > LONGEST_PAUSE_NS {
            self.next_tick_ns = now_ns - now_ns % self.tick_ns;
        }
        while self.next_event_ns <= now_ns {
            let event_ns = self.next_event_ns.max(self.last_event_ns);
            self.last_event_ns = event_ns;
            for device in &mut self.devices {
                while let Some((world_ns, sync)) = device.esc.take_pulse(event_ns) {
                    if sync == 0 {
                        device.pulse(world_ns.min(event_ns));
                    }
                }
            }
            if self.next_tick_ns <= event_ns {
                self.tick(event_ns);
                self.next_tick_ns += self.tick_ns;
            }
            self.connect();
            self.plan();
        }
    }

    /// Carries out the actions that the last frame started.
    pub fn settle(&mut self, now_ns: u64) {
        self.catch_up(now_ns);
        let mut are_loops_new = false;
        for device in &mut self.devices {
            device.settle(now_ns);
            are_loops_new |= device.esc.events.loops;
        }
        if are_loops_new {
            self.devices.iter_mut().for_each(|device| device.esc.events.loops = false);
            self.refresh_topology();
        }
        self.connect();
        self.plan();
    }

    fn plan(&mut self) {
        let pulses = self.devices.iter().filter_map(|device| device.esc.clock.as_ref()?.next_pulse_world_ns());
        self.next_event_ns = pulses.fold(self.next_tick_ns, u64::min);
        self.has_events = self.devices.iter().any(|device| device.esc.frame_events() != 0);
    }

    fn tick(&mut self, now_ns: u64) {
        let dt_s = self.tick_ns as f64 * 1.0e-9;
        self.plant.step(dt_s, &self.inputs);
        for (axis, device) in self.axes.iter().enumerate() {
            let Some(device) = self.devices.get_mut(*device) else { continue };
            let (position, velocity) = (self.plant.position_rad(axis), self.plant.velocity_rad_s(axis));
            let (has_power, Function::Drive(drive)) = (device.has_power(), &mut device.function) else { continue };
            let mut input = drive.step(&mut device.dictionary, position, velocity, dt_s);
            if !has_power {
                // Without power the spring closes the brake.
                input = AxisInput { torque_nm: 0.0, brake: true };
            }
            if let Some(place) = self.inputs.get_mut(axis) {
                *place = input;
            }
        }
        for device in &mut self.devices {
            device.tick(now_ns);
        }
    }

    /// Carries edges and values along the wires, and emergencies to the mailboxes.
    fn connect(&mut self) {
        for at in 0..self.devices.len() {
            let Some(device) = self.devices.get_mut(at) else { continue };
            match &mut device.function {
                Function::Drive(drive) => {
                    if let Some(emergency) = drive.take_emergency() {
                        device.raise(emergency);
                        device.deliver_mail();
                    }
                }
                Function::DigitalOutput(_) => self.connect_edges(at),
                Function::AnalogOutput(_) => self.connect_values(at),
                _ => {}
            }
        }
    }

    fn connect_edges(&mut self, from: usize) {
        if let Some(Function::DigitalOutput(outputs)) = self.devices.get(from).map(|device| &device.function) {
            for lead in self.outgoing.iter().filter(|lead| lead.from.0 == from) {
                outputs.edges().iter().filter(|edge| edge.channel == lead.from.1).for_each(|edge| lead.carry(*edge));
            }
        }
        for wire in self.wires.iter().filter(|wire| wire.from.0 == from) {
            let Ok([source, sink]) = self.devices.get_disjoint_mut([from, wire.to.0]) else { continue };
            if let (Function::DigitalOutput(outputs), Function::DigitalInput(inputs)) =
                (&mut source.function, &mut sink.function)
            {
                for edge in outputs.edges().iter().filter(|edge| edge.channel == wire.from.1) {
                    inputs.edge(wire.to.1, edge.level, edge.world_ns + wire.delay_ns);
                }
            }
        }
        if let Some(Function::DigitalOutput(outputs)) = self.devices.get_mut(from).map(|device| &mut device.function) {
            outputs.forget_edges();
        }
    }

    fn connect_values(&mut self, from: usize) {
        for wire in self.wires.iter().filter(|wire| wire.from.0 == from) {
            let Ok([source, sink]) = self.devices.get_disjoint_mut([from, wire.to.0]) else { continue };
            if let (Function::AnalogOutput(outputs), Function::AnalogInput(inputs)) =
                (&source.function, &mut sink.function)
            {
                inputs.set(wire.to.1, outputs.value(wire.from.1));
            }
        }
    }
}

fn build(
    position: usize,
    settings: &DeviceSettings,
    file: &RingFile,
    random: &mut Random,
    path: &Path,
) -> Result<Device, SegmentError> {
    let description = describe(position, settings, &file.folder)?;
    let wrong = |(message, remedy): (String, String)| {
        SegmentError::config(path, format!("device {position} ({}): {message}", settings.name), remedy)
    };
    description.misfit().map_or(Ok(()), |problem| Err(wrong(problem)))?;
    let terminal = Terminal::of(settings, &description).map_err(wrong)?;
    // Drawn for every device, so that a change to one does not move the others.
    let (ppm, start_ns, stamp_seed) = (40.0 * random.uniform() - 20.0, random.bits() % 10_000_000_000, random.bits());
    let clock = settings.distributed_clock.then(|| {
        let seed = Random::new(!stamp_seed).bits();
        Clock::new(settings.clock_ppm.unwrap_or(ppm), settings.clock_start_ns.unwrap_or(start_ns)).stamped(
            file.ring.clock_step_ns,
            file.ring.clock_noise_ns,
            seed,
        )
    });
    let function = |dictionary: &mut Dictionary| function(settings, &terminal, stamp_seed, dictionary);
    let mut device = Device::new(settings.name.clone(), description, clock, function);
    device.channels = terminal.channels;
    if let Some(files) = &settings.files {
        keep_files(&mut device, files, &file.folder).map_err(wrong)?;
    }
    device.connect_network(settings.ethernet.as_ref(), position, file.ring.seed).map_err(wrong)?;
    device.set_protocols(settings).map_err(wrong)?;
    device.set_id(settings.device_id).map_err(wrong)?;
    Ok(device)
}

/// Gives a device's files their settings. The error is (message, remedy): without FoE, or without the folder.
fn keep_files(device: &mut Device, settings: &FileSettings, base: &Path) -> Result<(), (String, String)> {
    let Some(server) = device.mailbox.as_mut().and_then(|mailbox| mailbox.foe.as_mut()) else {
        let message = format!("`files`, but {} has no FoE", device.description.type_name);
        return Err((message, "Remove the key, or name an ESI file whose Mailbox has FoE".into()));
    };
    server.files = Files::new(settings.clone(), base);
    match server.files.folder() {
        Some(folder) if !folder.is_dir() => {
            let message = format!("files.folder {} is not a folder", folder.display());
            Err((message, "Make it; a path in a ring file is relative to the ring file".into()))
        }
        _ => Ok(()),
    }
}

/// Channels of a terminal: where they are, and how many have stamps.
struct Terminal {
    channels: Vec<Place>,
    stamped: u8,
}

impl Terminal {
    /// The error is (message, remedy): a channel or a drive that the device's file has no process data for.
    fn of(settings: &DeviceSettings, description: &Description) -> Result<Self, (String, String)> {
        let (mut channels, what) = match settings.kind {
            Kind::Coupler => return Ok(Self { channels: Vec::new(), stamped: 0 }),
            Kind::Drive => {
                check_drive(description)?;
                return Ok(Self { channels: Vec::new(), stamped: 0 });
            }
            Kind::DigitalOutput => (channels::digital(description, Purpose::Outputs), "digital output"),
            Kind::DigitalInput => (channels::digital(description, Purpose::Inputs), "digital input"),
            Kind::AnalogOutput => (channels::analog(description, Purpose::Outputs), "analogue output"),
            Kind::AnalogInput => (channels::analog(description, Purpose::Inputs), "analogue input"),
        };
        let (known, name) = (channels.len().min(MOST_CHANNELS), &description.type_name);
        let wanted = settings.channels.map_or(known, usize::from);
        if known == 0 {
            let message = format!("{name} has no {what} in its process data");
            return Err((message, "Choose the kind that it is, or another device of the ESI file".into()));
        }
        if wanted > known {
            let places: Vec<String> = channels.iter().map(Place::to_string).collect();
            let message = format!("channels = {wanted}, but {name} has {known} of {what}s: {}", places.join(", "));
            return Err((message, format!("Write channels = {known}, or remove the key")));
        }
        channels.truncate(wanted);
        let has = digital_input::stamped(&description.entries(Purpose::Inputs)).min(wanted as u8);
        let stamped = settings.stamped_channels.unwrap_or(has);
        if stamped > has {
            let message =
                format!("stamped_channels = {stamped}, but {name} has the objects of {has} (0x6100, 0x6110 …)");
            return Err((message, format!("Write stamped_channels = {has}")));
        }
        Ok(Self { channels, stamped })
    }
}

/// A drive obeys the objects of CiA 402, and no others.
fn check_drive(description: &Description) -> Result<(), (String, String)> {
    for (purpose, index, name) in [(Purpose::Outputs, 0x6040, "controlword"), (Purpose::Inputs, 0x6041, "statusword")] {
        if !description.entries(purpose).iter().any(|entry| entry.index == index) {
            let message = format!("{} maps no {name} ({index:#06x})", description.type_name);
            let remedy =
                "kind = \"drive\" is a CiA 402 drive; kind = \"coupler\" takes any process data and does nothing";
            return Err((message, remedy.into()));
        }
    }
    Ok(())
}

/// Channels of a terminal without an ESI file, and how many of them have stamps.
fn own_channels(settings: &DeviceSettings) -> (u8, u8) {
    let channels = settings.channels.unwrap_or(4);
    let stamped = if settings.kind == Kind::DigitalInput { channels.min(2) } else { 0 };
    (channels, settings.stamped_channels.unwrap_or(stamped))
}

/// Description of the device: its kind's process data and identity, or those of its ESI file.
fn describe(position: usize, settings: &DeviceSettings, folder: &Path) -> Result<Description, SegmentError> {
    let (channels, stamped) = own_channels(settings);
    let is_terminal = !matches!(settings.kind, Kind::Coupler | Kind::Drive);
    let (type_name, product, has_mailbox, rx, tx): (&str, u32, bool, Vec<Pdo>, Vec<Pdo>) = match settings.kind {
        Kind::Coupler => ("kadenz coupler", 1, false, vec![], vec![]),
        Kind::Drive => ("kadenz servo drive", 2, true, objects::rx_pdos(), objects::tx_pdos()),
        Kind::DigitalOutput => ("kadenz digital output", 3, false, digital_output::pdos(channels), vec![]),
        Kind::DigitalInput => ("kadenz digital input", 4, false, vec![], digital_input::pdos(channels, stamped)),
        Kind::AnalogOutput => ("kadenz analogue output", 5, true, analog::output_pdos(channels), vec![]),
        Kind::AnalogInput => ("kadenz analogue input", 6, true, vec![], analog::input_pdos(channels)),
    };
    // Channels and stamps make another product: the revision's low half says which.
    let revision = 0x0001_0000 | u32::from(if is_terminal { channels } else { 0 }) | u32::from(stamped) << 8;
    let mut description = Description {
        type_name: type_name.into(),
        identity: Identity { vendor: VENDOR, product, revision, serial: settings.serial.unwrap_or(position as u32) },
        alias: settings.alias,
        identification: Identification { by_status: settings.device_id.is_some(), address: None },
        coe: has_mailbox.then_some(COE_DETAILS),
        foe: has_mailbox,
        eoe: settings.ethernet.as_ref().filter(|_| has_mailbox).map(EthernetSettings::abilities),
        aoe: settings.aoe && has_mailbox,
        soe: settings.soe.is_some() && has_mailbox,
        voe: settings.voe.is_some() && has_mailbox,
        bootstrap: has_mailbox.then_some(BOOTSTRAP),
        has_clock: settings.distributed_clock,
        sync_managers: own_managers(has_mailbox, &rx, &tx),
        rx,
        tx,
    };
    if let Some(esi_file) = &settings.esi {
        let path = folder.join(esi_file);
        let choice = Choice { product: settings.esi_product, revision: settings.esi_revision };
        esi::read(&path, choice)?.apply(&mut description);
        // A device that does something with process data must not silently keep those of its kind.
        if let Some((message, remedy)) = esi::lack(&description).filter(|_| settings.kind != Kind::Coupler) {
            return Err(SegmentError::config(&path, message, remedy));
        }
    }
    Ok(description)
}

/// What the device does with its process data. `stamp_seed` gives an edge clock its noise.
fn function(settings: &DeviceSettings, terminal: &Terminal, stamp_seed: u64, dictionary: &mut Dictionary) -> Function {
    let channels = &terminal.channels;
    match settings.kind {
        Kind::Coupler => Function::Coupler,
        Kind::Drive => drive_function(settings.drive.clone().unwrap_or_default(), dictionary),
        Kind::DigitalOutput => Function::DigitalOutput(DigitalOutput::new(channels, dictionary)),
        Kind::DigitalInput => {
            let clock = EdgeClock::new(settings.edge_clock.unwrap_or_default(), stamp_seed);
            Function::DigitalInput(Box::new(DigitalInput::new(channels, terminal.stamped, clock, dictionary)))
        }
        Kind::AnalogOutput => Function::AnalogOutput(analog::AnalogOutput::new(channels, dictionary)),
        Kind::AnalogInput => {
            Function::AnalogInput(analog::AnalogInput::new(channels, settings.signal.unwrap_or_default(), dictionary))
        }
    }
}

fn drive_function(settings: DriveSettings, dictionary: &mut Dictionary) -> Function {
    objects::add(dictionary, &settings);
    // `add` has put every object that `Drive::new` looks up.
    Drive::new(settings, dictionary).map_or(Function::Coupler, |drive| Function::Drive(Box::new(drive)))
}
