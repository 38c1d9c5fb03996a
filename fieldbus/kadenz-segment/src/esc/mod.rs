// SPDX-License-Identifier: Apache-2.0
//! One EtherCAT slave controller: memory, registers and the effects of an access.

#[deny(clippy::indexing_slicing)]
mod application;
#[deny(clippy::indexing_slicing)]
pub mod clock;
#[deny(clippy::indexing_slicing)]
mod errors;
#[deny(clippy::indexing_slicing)]
mod events;
#[deny(clippy::indexing_slicing)]
pub mod fmmu;
#[deny(clippy::indexing_slicing)]
mod process_data;
#[deny(clippy::indexing_slicing)]
pub mod sync_manager;
#[deny(clippy::indexing_slicing)]
pub mod watchdog;

pub use errors::ReceiveError;
pub use events::Events;
pub use process_data::Part;

use crate::register::{
    at, manager, Access, Effect, Register, Value, FEATURES_OF_CLOCKS, FMMUS, MAP, MEMORY_START, SYNC_MANAGERS,
};
use crate::sii::Sii;
use clock::Clock;
use fmmu::Route;
use std::ops::Range;
use sync_manager::SyncManager;
use watchdog::Watchdog;

/// Bytes of address space: registers and 8 KiB of memory.
pub const MEMORY_END: usize = 0x3000;

/// Where and when a frame meets a device.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// World time at which the frame's first bit reaches port 0, ns.
    pub world_ns: u64,
    /// World time at which it left the master, ns.
    pub sent_ns: u64,
    /// From there to its arrival at each port on this passage, ns; `None` for a port without a link.
    pub ports_after_ns: &'a [Option<u64>; 4],
}

impl Default for Arrival<'_> {
    /// At once, and at no port.
    fn default() -> Self {
        Self { world_ns: 0, sent_ns: 0, ports_after_ns: &[None; 4] }
    }
}

/// A slave controller: registers, memory, clock.
pub struct Esc {
    /// The address space of a master, and behind it twice as much for the other buffers of sync managers.
    memory: Box<[u8; 3 * MEMORY_END]>,
    managers: [SyncManager; SYNC_MANAGERS],
    /// FMMUs through which the master reads, and through which it writes.
    reads: Vec<Route>,
    writes: Vec<Route>,
    /// Counts changes of routes and sync managers.
    version: u32,
    /// Distributed clock; `None` where the device has none. Up to date after [`Esc::follow_reference`].
    pub clock: Option<Clock>,
    /// The reference's time as a frame brought it, and when. The loop that follows it works when the frame has left, or
    /// before anything else asks for the clock.
    reference: Option<([u8; 4], u64)>,
    /// Process-data watchdog: registers 0x0400, 0x0420 and 0x0442.
    pub watchdog: Watchdog,
    /// Contents of the EEPROM, as the master reads them.
    pub sii: Sii,
    /// What the application has to look at.
    pub events: Events,
    reset_sequence: u8,
    /// Station address, and the alias where enabled: kept beside the memory, since every datagram asks for them.
    station: u16,
    alias: Option<u16>,
    /// Ports whose loop the master has closed (bit = port).
    closed: u8,
    /// Which events the master wants to see in its frames (0x0200), and those of DL and AL status that wait (0x0210).
    event_mask: u16,
    status_events: u16,
}

impl Esc {
    /// A controller after power-on with this EEPROM.
    pub fn new(sii: Sii, clock: Option<Clock>) -> Self {
        let mut esc = Self {
            memory: Box::new([0; 3 * MEMORY_END]),
            managers: Default::default(),
            reads: Vec::with_capacity(FMMUS),
            writes: Vec::with_capacity(FMMUS),
            version: 0,
            clock,
            reference: None,
            watchdog: Watchdog::default(),
            sii,
            events: Events::default(),
            reset_sequence: 0,
            station: 0,
            alias: None,
            closed: 0,
            event_mask: 0,
            status_events: 0,
        };
        esc.power_on();
        esc
    }

    /// Everything as after power-on. The EEPROM's contents and the clock's oscillator stay.
    pub fn power_on(&mut self) {
        let (registers, memory) = self.memory.split_at_mut(MEMORY_START);
        registers.copy_from_slice(&MAP.reset);
        memory.fill(0);
        if self.clock.is_none() {
            self.put(at::FEATURES, self.get(at::FEATURES) & !FEATURES_OF_CLOCKS);
        }
        let alias = self.sii.word(4);
        self.put(at::ALIAS, alias);
        self.managers = Default::default();
        self.reads.clear();
        self.writes.clear();
        self.version = self.version.wrapping_add(1);
        // The ports' loops open, and their state is reported again.
        self.events = Events { loops: true, ..Events::default() };
        (self.closed, self.event_mask, self.status_events) = (0, 0, 0);
        self.reset_sequence = 0;
        self.reference = None;
        self.watchdog = Watchdog::default();
        if let Some(clock) = &mut self.clock {
            clock.power_on();
        }
        self.configure_watchdog();
        self.configure_address();
    }

    fn configure_address(&mut self) {
        self.station = self.get(at::STATION);
        self.alias = (self.get(at::DL_CONTROL) & 1 << 24 != 0).then(|| self.get(at::ALIAS));
    }

    /// A register, as the application sees it.
    #[inline]
    pub fn get<T: Value>(&self, register: Register<T>) -> T {
        T::from_le(self.memory.get(register.range()).unwrap_or_default())
    }

    /// Sets a register, without effects: the application's side.
    #[inline]
    pub fn put<T: Value>(&mut self, register: Register<T>, value: T) {
        if let Some(place) = self.memory.get_mut(register.range()) {
            place.copy_from_slice(value.to_le().as_ref());
        }
    }

    /// Sets a word at an address of the master's, without effects: the application's side.
    pub fn put_word(&mut self, address: u16, value: u16) {
        if let Some(place) = self.memory.get_mut(usize::from(address)..).and_then(<[u8]>::first_chunk_mut) {
            *place = value.to_le_bytes();
        }
    }

    /// Does the station address, or the alias where the master enabled it (DL control bit 24), match?
    #[inline]
    pub fn is_station(&self, address: u16) -> bool {
        self.station == address || self.alias == Some(address)
    }

    /// A sync manager, as configured.
    pub fn manager(&self, index: usize) -> Option<&SyncManager> {
        self.managers.get(index)
    }

    /// The master reads `data.len()` bytes at `address`; `OR` merges them into `data`. True if anything was read.
    #[inline]
    pub fn read<const OR: bool>(&mut self, address: u16, data: &mut [u8], arrival: &Arrival<'_>) -> bool {
        if address == at::SYSTEM_TIME.address() && data.len() == 8 && !OR {
            // Once in every cycle, at the reference.
            self.follow_reference();
            let time = self.read_system_time(arrival.world_ns);
            self.put(at::SYSTEM_TIME, time);
            data.copy_from_slice(&time.to_le_bytes());
            return true;
        }
        let (mut address, mut data, mut worked) = (usize::from(address), data, false);
        while !data.is_empty() {
            let manager = self.manager_of(address);
            let end = match manager {
                Some(index) => self.managers.get(index).map_or(MEMORY_END, SyncManager::end),
                None if address < sync_manager::FIRST => sync_manager::FIRST,
                None if address < MEMORY_START => MEMORY_START.min(self.next_manager(address)),
                None => self.next_manager(address),
            };
            let length = data.len().min(end.saturating_sub(address));
            let (part, rest) = std::mem::take(&mut data).split_at_mut(length);
            if part.is_empty() {
                break;
            }
            worked |= match manager {
                Some(index) => self.read_managed::<OR>(index, address, part),
                None if address < MEMORY_START => self.read_registers::<OR>(address, part, arrival),
                None => self.copy_out::<OR>(address, part),
            };
            data = rest;
            address += length;
        }
        worked
    }

    /// The sync manager that guards an address. None guards the registers that most commands of a cycle are for.
    #[inline]
    fn manager_of(&self, address: usize) -> Option<usize> {
        if address < sync_manager::FIRST {
            return None;
        }
        self.managers.iter().position(|manager| manager.covers(address))
    }

    fn next_manager(&self, address: usize) -> usize {
        let starts = self.managers.iter().filter(|manager| manager.enabled()).map(SyncManager::start);
        starts.filter(|start| *start > address).min().unwrap_or(MEMORY_END)
    }

    #[inline]
    fn copy_out<const OR: bool>(&self, address: usize, data: &mut [u8]) -> bool {
        let Some(source) = self.memory.get(address..address + data.len()) else { return false };
        if OR {
            data.iter_mut().zip(source).for_each(|(to, from)| *to |= from);
        } else {
            data.copy_from_slice(source);
        }
        true
    }

    fn read_registers<const OR: bool>(&mut self, address: usize, data: &mut [u8], arrival: &Arrival<'_>) -> bool {
        self.follow_reference();
        let end = address + data.len();
        let overlaps = |register: Range<usize>| address < register.end && end > register.start;
        // Values that change with every frame are written into memory only for a read.
        if overlaps(at::SYSTEM_TIME.range()) {
            let time = self.read_system_time(arrival.world_ns);
            self.put(at::SYSTEM_TIME, time);
        }
        if overlaps(at::EVENT_REQUEST.range()) {
            self.put(at::EVENT_REQUEST, self.event_requests());
        }
        if self.status_events != 0 {
            self.acknowledge_status(overlaps(at::DL_STATUS.range()), overlaps(at::AL_STATUS.range()));
        }
        if overlaps(at::DIFFERENCE.address().into()..at::SPEED_DIFFERENCE.range().end) {
            self.publish_difference();
        }
        if overlaps(at::SYNC_MANAGER.range()) {
            (0..SYNC_MANAGERS).for_each(|index| self.publish_status(index));
        }
        let known = MAP.access.get(address..end).is_some_and(|part| part.iter().any(|byte| *byte != Access::Absent));
        known && self.copy_out::<OR>(address, data)
    }

    #[inline]
    fn read_managed<const OR: bool>(&mut self, index: usize, address: usize, data: &mut [u8]) -> bool {
        let Some(manager) = self.managers.get_mut(index) else { return false };
        let Some(place) = manager.open_read(address) else { return false };
        if !self.copy_out::<OR>(place, data) {
            return false;
        }
        if let Some(manager) = self.managers.get_mut(index) {
            if manager.close_read(address + data.len()) {
                self.events.read |= 1 << index;
            }
        }
        true
    }

    /// The master writes `data` at `address`. True if anything was written.
    #[inline]
    pub fn write(&mut self, address: u16, data: &[u8], arrival: &Arrival<'_>) -> bool {
        if address == at::SYSTEM_TIME.address() && (4..=8).contains(&data.len()) {
            // Every device, every cycle: the reference's time goes to the loop and nowhere else.
            self.take_reference(data.first_chunk(), arrival.world_ns);
            return true;
        }
        self.write_masked(address, data, 0xFF, 0xFF, arrival)
    }

    /// As [`Esc::write`], with the bits of the first and last byte that are meant (a bit-wise FMMU).
    #[inline]
    pub fn write_masked(&mut self, address: u16, data: &[u8], first: u8, last: u8, arrival: &Arrival<'_>) -> bool {
        let (mut address, mut rest, mut first, mut worked) = (usize::from(address), data, first, false);
        while !rest.is_empty() {
            let manager = self.manager_of(address);
            let end = match manager {
                Some(index) => self.managers.get(index).map_or(MEMORY_END, SyncManager::end),
                None if address < sync_manager::FIRST => sync_manager::FIRST,
                None if address < MEMORY_START => MEMORY_START.min(self.next_manager(address)),
                None => self.next_manager(address),
            };
            let length = rest.len().min(end.saturating_sub(address));
            let (part, after) = rest.split_at(length);
            if part.is_empty() {
                break;
            }
            let last = if after.is_empty() { last } else { 0xFF };
            worked |= match manager {
                Some(index) => self.write_managed(index, address, part, (first, last), arrival),
                None if address < MEMORY_START => self.write_registers(address, part, (first, last), arrival),
                None => self.copy_in(address, part, (first, last)),
            };
            (rest, first) = (after, 0xFF);
            address += length;
        }
        worked
    }

    #[inline]
    fn copy_in(&mut self, address: usize, data: &[u8], masks: (u8, u8)) -> bool {
        let Some(place) = self.memory.get_mut(address..address + data.len()) else { return false };
        if masks == (0xFF, 0xFF) {
            place.copy_from_slice(data);
            return true;
        }
        let last = data.len() - 1;
        for (index, (to, from)) in place.iter_mut().zip(data).enumerate() {
            let mut mask = if index == 0 { masks.0 } else { 0xFF };
            if index == last {
                mask &= masks.1;
            }
            *to = *to & !mask | from & mask;
        }
        true
    }

    #[inline]
    fn write_managed(
        &mut self,
        index: usize,
        address: usize,
        data: &[u8],
        masks: (u8, u8),
        arrival: &Arrival<'_>,
    ) -> bool {
        let Some(manager) = self.managers.get_mut(index) else { return false };
        let Some(place) = manager.open_write(address) else { return false };
        if !self.copy_in(place, data, masks) {
            return false;
        }
        let Some(manager) = self.managers.get_mut(index) else { return false };
        if manager.close_write(address + data.len()) {
            self.events.written |= 1 << index;
            if manager.triggers_watchdog() {
                self.watchdog.trigger(arrival.world_ns);
            }
        }
        true
    }

    fn write_registers(&mut self, address: usize, data: &[u8], masks: (u8, u8), arrival: &Arrival<'_>) -> bool {
        self.follow_reference();
        let last = data.len() - 1;
        let mut worked = false;
        let mut effects = 0_u32;
        for (index, byte) in data.iter().enumerate() {
            let at = address + index;
            if MAP.access.get(at) != Some(&Access::Write) {
                continue;
            }
            worked = true;
            let mut mask = if index == 0 { masks.0 } else { 0xFF };
            if index == last {
                mask &= masks.1;
            }
            if let (Some(place), Some(effect)) = (self.memory.get_mut(at), MAP.effect.get(at)) {
                *place = *place & !mask | byte & mask;
                effects |= 1 << *effect as u8;
            }
        }
        if effects > 1 {
            self.carry_out(effects, address, data, arrival);
        }
        worked
    }

    fn carry_out(&mut self, effects: u32, address: usize, data: &[u8], arrival: &Arrival<'_>) {
        let is = |effect: Effect| effects & 1 << effect as u8 != 0;
        if is(Effect::SystemTime) {
            // The clock compares the low 32 bits; a write that misses their first byte is no reference.
            let skip = at::SYSTEM_TIME.range().start.checked_sub(address);
            self.take_reference(skip.and_then(|skip| data.get(skip..)?.first_chunk()), arrival.world_ns);
        }
        if is(Effect::StationAddress) || is(Effect::DlControl) {
            self.configure_address();
            self.configure_loops();
        }
        if is(Effect::EventMask) {
            self.event_mask = self.get(at::EVENT_MASK);
        }
        if is(Effect::AlControl) {
            self.events.al_control = true;
        }
        if is(Effect::Fmmu) || is(Effect::SyncManager) {
            self.reconfigure();
        }
        if is(Effect::LatchPorts) {
            self.latch_ports(arrival);
        }
        if is(Effect::Offset) || is(Effect::Delay) {
            let (offset, delay) = (self.get(at::OFFSET), self.get(at::DELAY));
            if let Some(clock) = &mut self.clock {
                clock.set_offset(offset, delay);
            }
        }
        if is(Effect::FilterStart) {
            if let Some(clock) = &mut self.clock {
                clock.restart_filter();
            }
        }
        if is(Effect::SyncActivation) {
            self.activate_sync(arrival.world_ns);
        }
        if is(Effect::EepromControl) {
            self.command_eeprom();
        }
        if is(Effect::ClearErrors) {
            self.clear_errors(address, data.len());
        }
        if is(Effect::Watchdog) {
            self.configure_watchdog();
        }
        if is(Effect::ClearWatchdogCounter) {
            self.put(at::WD_COUNT, [0; 2]);
            self.watchdog.expirations = 0;
        }
        if is(Effect::Reset) {
            self.advance_reset(self.get(at::RESET.byte(0)));
        }
    }

    /// 'R', 'E', 'S' in three writes resets the controller.
    fn advance_reset(&mut self, byte: u8) {
        self.reset_sequence = match (self.reset_sequence, byte) {
            (_, b'R') => 1,
            (1, b'E') => 2,
            (2, b'S') => {
                self.events.reset = true;
                0
            }
            _ => 0,
        };
    }

    fn reconfigure(&mut self) {
        self.version = self.version.wrapping_add(1);
        for index in 0..SYNC_MANAGERS {
            let raw = self.get(at::SYNC_MANAGER.element(index));
            let Some(manager) = self.managers.get_mut(index) else { continue };
            if manager.configure(raw) {
                self.events.repeat |= index == 1;
            }
        }
        self.reads.clear();
        self.writes.clear();
        for index in 0..FMMUS {
            let Some(mut route) = Route::decode(&self.get(at::FMMU.element(index))) else { continue };
            route.find_manager(&self.managers);
            if route.read {
                self.reads.push(route);
            }
            if route.write {
                self.writes.push(route);
            }
        }
    }

    #[inline]
    fn publish_status(&mut self, index: usize) {
        if let Some(status) = self.managers.get(index).map(SyncManager::status) {
            self.put(at::SYNC_MANAGER.element(index).byte(manager::STATUS), status);
        }
    }

    /// Acknowledges a repeat request: bit 1 of the PDI control byte follows bit 1 of the activation byte.
    pub fn acknowledge_repeat(&mut self) {
        let mailbox = at::SYNC_MANAGER.element(1);
        self.put(mailbox.byte(manager::PDI_CONTROL), self.get(mailbox.byte(manager::ACTIVATION)) & 0x02);
    }

    /// System time of the distributed clock, ns, finer than any master sees it: for tests and for looking inside.
    pub fn system_time(&self, world_ns: u64) -> Option<u64> {
        self.clock.as_ref().map(|clock| clock.system_ns(world_ns))
    }

    fn read_system_time(&self, world_ns: u64) -> u64 {
        self.clock.as_ref().map_or(0, |clock| clock.read_ns(world_ns))
    }

    fn latch_ports(&mut self, arrival: &Arrival<'_>) {
        let Some(clock) = &mut self.clock else { return };
        let mut at_port = |after: u64| clock.receive_ns(arrival.sent_ns.saturating_add(after));
        let local = arrival.ports_after_ns.map(|port| port.map(&mut at_port));
        // With port 0 open the processing unit's time is that port's, in 64 bits.
        let receive = local[0].unwrap_or_else(|| clock.receive_ns(arrival.world_ns));
        for (port, time) in local.into_iter().enumerate() {
            self.put(at::PORT_TIMES.element(port), time.unwrap_or(0) as u32);
        }
        self.put(at::RECEIVE_TIME, receive);
    }

    #[inline]
    fn take_reference(&mut self, reference: Option<&[u8; 4]>, world_ns: u64) {
        self.follow_reference();
        self.reference = reference.map(|reference| (*reference, world_ns));
    }

    /// Lets the clock's loop work on the reference's time that came last, if it has not yet.
    #[inline]
    pub fn follow_reference(&mut self) {
        // Asked for by every datagram, and due once a frame: the work stands apart, so that the question costs little.
        if self.reference.is_some() {
            self.follow();
        }
    }

    #[inline(never)]
    fn follow(&mut self) {
        let Some((reference, world_ns)) = self.reference.take() else { return };
        let depth = self.get(at::FILTER.byte(0)) & 0x0F;
        if let Some(clock) = &mut self.clock {
            clock.follow(u32::from_le_bytes(reference), world_ns, depth);
        }
    }

    fn publish_difference(&mut self) {
        let Some(clock) = &self.clock else { return };
        let (difference, rate) = (clock.difference(), clock.rate_register());
        self.put(at::DIFFERENCE, difference);
        self.put(at::SPEED_DIFFERENCE, rate as u16);
    }

    fn activate_sync(&mut self, world_ns: u64) {
        let activation = self.get(at::ACTIVATION);
        let (start, sync0, sync1) = (self.get(at::START_TIME), self.get(at::SYNC0_CYCLE), self.get(at::SYNC1_CYCLE));
        let Some(clock) = &mut self.clock else { return };
        clock.activate(activation, start, sync0, sync1, world_ns);
        let status = clock.activation_status();
        self.put(at::ACTIVATION_STATUS, status);
    }

    /// The next SYNC pulse up to `now_ns`, if any: (world time, SYNC number).
    pub fn take_pulse(&mut self, now_ns: u64) -> Option<(u64, u8)> {
        self.follow_reference();
        let clock = self.clock.as_mut()?;
        let pulse = clock.take_pulse(now_ns)?;
        let (sync0, sync1) = (clock.next_sync0(), clock.next_sync1());
        self.put(at::START_TIME, sync0);
        self.put(at::NEXT_SYNC1, sync1);
        Some(pulse)
    }

    fn command_eeprom(&mut self) {
        // A master that holds no right to the EEPROM gets its command refused with the acknowledge-error bit.
        let control = self.get(at::EEPROM_CONTROL);
        let address = self.get(at::EEPROM_ADDRESS);
        let given_to_pdi = self.get(at::EEPROM_CONFIG) & 0x01 != 0;
        let [low, high, ..] = self.get(at::EEPROM_DATA);
        let (status, read) = self.sii.command(control, address, [low, high], given_to_pdi);
        if let Some(read) = read {
            self.put(at::EEPROM_DATA, read);
        }
        self.put(at::EEPROM_CONTROL, status);
    }
}
