// SPDX-License-Identifier: Apache-2.0
//! The network of a ring, as a configuration tool would write it: free-running, all process data in one logical area,
//! which the images of the master repeat byte by byte.

use super::write::type_name;
use super::*;
use crate::al::State;
use crate::command::Command;
use crate::description::{Description, Pdo, PdoEntry, Purpose, COE_ASSIGN};
use crate::device::Device;
use crate::frame::address;
use crate::register::{at, Register};
use crate::ring::Ring;
use crate::topology::Peer;
use std::collections::HashSet;

/// Station address of the first device; the others follow.
pub(super) const FIRST_STATION: u16 = 1001;
/// Logical address of the process data.
const LOGICAL: u32 = 0x0001_0000;
/// Data of a datagram: one, with those beside it, is shorter than a frame.
const LONGEST_DATAGRAM: usize = 1400;
/// PDOs that an assignment object has room for at least.
const ASSIGNMENT_PLACES: usize = 4;
const CYCLE_US: u32 = 1000;
const RETRIES: u16 = 3;
/// How long a device may take to INIT, PRE-OP, SAFE-OP and OP, and for its EEPROM or an SDO, ms.
const STATE_TIMEOUT_MS: u32 = 5000;
const ANSWER_TIMEOUT_MS: u32 = 1000;
/// How often a master looks for an answer in a mailbox, ms.
const POLL_MS: u32 = 10;

/// Process data of one sync manager, and where they lie.
struct Part<'a> {
    manager: usize,
    purpose: Purpose,
    start: u16,
    pdos: Vec<&'a Pdo>,
    bits: usize,
    /// First byte in the images.
    offset: usize,
}

impl Part<'_> {
    fn bytes(&self) -> usize {
        self.bits.div_ceil(8)
    }
}

/// The network of a ring: station addresses from 1001, a cycle of 1 ms.
pub fn plan(ring: &Ring) -> Network {
    let mut offset = 0;
    let parts: Vec<Vec<Part<'_>>> = ring.devices.iter().map(|device| parts(&device.description, &mut offset)).collect();
    let reference = ring.devices.iter().position(|device| device.description.has_clock);
    let devices = ring.devices.iter().zip(&parts).enumerate();
    let mut slaves: Vec<Slave> = devices.map(|(at, (device, parts))| slave(at, device, parts)).collect();
    for (at, slave) in slaves.iter_mut().enumerate() {
        if let Some(Peer::Port(other, port)) = ring.topology().peer(at, 0) {
            let (port, station) = (port as u8, Some(FIRST_STATION + other as u16));
            slave.previous.push(PreviousPort { line: Line(0), port, station, is_selected: true });
        }
        if ring.devices[at].description.has_clock {
            slave.clock = Some(Clock { is_reference: reference == Some(at), ..Clock::default() });
        }
    }
    let (cyclic, bytes) = cyclic(&parts, offset, reference);
    let image =
        |purpose| Image { bytes: bytes as u32, variables: variables(ring, &parts, purpose), ..Image::default() };
    Network {
        master: master(ring.devices.len(), reference.is_some()),
        slaves,
        cycles: vec![cyclic],
        inputs: Some(image(Purpose::Inputs)),
        outputs: Some(image(Purpose::Outputs)),
    }
}

/// Process data of a device, placed behind those of the devices before it.
fn parts<'a>(description: &'a Description, offset: &mut usize) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    for (manager, layout) in description.sync_managers.iter().enumerate() {
        let pdos = assigned(description, manager);
        let bits: usize = pdos.iter().map(|pdo| pdo.bits()).sum();
        if bits > 0 {
            let (purpose, start) = (layout.purpose, layout.start);
            parts.push(Part { manager, purpose, start, pdos, bits, offset: *offset });
            *offset += bits.div_ceil(8);
        }
    }
    parts
}

/// Whether a master may assign PDOs.
pub(super) fn can_assign(description: &Description) -> bool {
    description.coe.is_some_and(|details| details & COE_ASSIGN != 0)
}

/// PDOs that the file assigns to a sync manager: those that are assigned from the start. In a direction without any, it
/// is those that a master may assign and that share no object.
fn assigned(description: &Description, number: usize) -> Vec<&Pdo> {
    let Some(manager) = description.sync_managers.get(number) else { return Vec::new() };
    if !manager.carries(Purpose::Outputs) && !manager.carries(Purpose::Inputs) {
        return Vec::new();
    }
    let mut of_direction = description.sync_managers.iter().filter(|other| other.purpose == manager.purpose);
    let is_first = description.manager(manager.purpose) == Some(number);
    if !can_assign(description) || !is_first || of_direction.any(|other| !other.pdos.is_empty()) {
        return description.assigned(manager).collect();
    }
    let (mut objects, mut chosen) = (HashSet::new(), Vec::new());
    for pdo in if manager.purpose == Purpose::Outputs { &description.rx } else { &description.tx } {
        let values = || pdo.entries.iter().filter(|entry| entry.index != 0).map(|entry| (entry.index, entry.sub));
        if chosen.len() < ASSIGNMENT_PLACES && values().all(|value| !objects.contains(&value)) {
            objects.extend(values());
            chosen.push(pdo);
        }
    }
    chosen
}

fn master(devices: usize, has_clock: bool) -> Master {
    let count = devices as u16;
    let broadcast = |comment: &str, command, register: u16, bytes: usize, counter| InitCommand {
        before_slave: true,
        ..init(&["IP"], comment, command, address(0, register), &vec![0; bytes], counter)
    };
    let mut commands = vec![
        broadcast("count the devices", Command::Brd, at::TYPE.address(), 1, Some(count)),
        broadcast("clear the FMMUs", Command::Bwr, at::FMMU.address(), 128, Some(count)),
        broadcast("clear the sync managers", Command::Bwr, at::SYNC_MANAGER.address(), 64, Some(count)),
    ];
    if has_clock {
        commands.push(broadcast("stop SYNC pulses", Command::Bwr, at::ACTIVATION.address(), 1, None));
        commands.push(broadcast(
            "clear offsets and delays of the clocks",
            Command::Bwr,
            at::OFFSET.address(),
            12,
            None,
        ));
    }
    Master { name: "kadenz".into(), destination: [0xFF; 6], source: [0; 6], commands }
}

/// An init command that is repeated where its working counter is wrong.
fn init(
    transitions: &[&str],
    comment: &str,
    command: Command,
    address: u32,
    data: &[u8],
    counter: Option<u16>,
) -> InitCommand {
    InitCommand {
        transitions: transitions.iter().filter_map(|name| Transition::from_name(name)).collect(),
        before_slave: false,
        comment: comment.into(),
        requires: None,
        datagram: Datagram { line: Line(0), command, address, data: data.into(), counter },
        retries: RETRIES,
        validate: None,
    }
}

/// Commands of one device.
struct Commands {
    station: u16,
    position: u16,
    list: Vec<InitCommand>,
}

impl Commands {
    fn write(&mut self, transitions: &[&str], comment: &str, register: impl Into<u16>, data: &[u8]) {
        let address = address(self.station, register);
        self.list.push(init(transitions, comment, Command::Fpwr, address, data, Some(1)));
    }

    /// Until what comes back is as expected.
    fn expect(&mut self, transitions: &[&str], comment: &str, register: Register<impl Sized>, validate: Validate) {
        let (address, data) = (address(self.station, register.address()), vec![0; validate.data.len()]);
        let command = init(transitions, comment, Command::Fprd, address, &data, Some(1));
        self.list.push(InitCommand { validate: Some(validate), ..command });
    }

    /// Requests a state and waits for it.
    fn state(&mut self, transitions: &[&str], state: State) {
        let name = state.name();
        self.write(transitions, &format!("request {name}"), at::AL_CONTROL, &[state as u8, 0]);
        self.alone();
        self.expect(transitions, &format!("wait for {name}"), at::AL_STATUS, state_of(state));
        self.alone();
    }

    /// Reads two words of the EEPROM.
    fn identity(&mut self, name: &str, word: u8, value: u32) {
        self.write(&["IP"], &format!("read the {name}"), at::EEPROM_CONTROL, &[0, 1, word, 0, 0, 0]);
        let validate = Validate { data: value.to_le_bytes().into(), mask: None, timeout_ms: ANSWER_TIMEOUT_MS };
        self.expect(&["IP"], &format!("check the {name}"), at::EEPROM_DATA, validate);
        self.alone();
    }

    fn alone(&mut self) {
        if let Some(last) = self.list.last_mut() {
            last.requires = Some(Requires::Cycle);
        }
    }

    /// By the place in the ring: before the device has its station address.
    fn by_position(&mut self) {
        if let Some(last) = self.list.last_mut() {
            let command = if last.datagram.command == Command::Fpwr { Command::Apwr } else { Command::Aprd };
            last.datagram.command = command;
            last.datagram.address = last.datagram.address & 0xFFFF_0000 | u32::from(self.position);
        }
    }

    fn manager(&mut self, transition: &str, number: usize, start: u16, length: u16, control: u8) {
        let ([s0, s1], [l0, l1]) = (start.to_le_bytes(), length.to_le_bytes());
        let comment = format!("set up sync manager {number}");
        let raw = [s0, s1, l0, l1, control, 0, 1, 0];
        self.write(&[transition], &comment, at::SYNC_MANAGER.element(number).address(), &raw);
    }

    fn fmmu(&mut self, number: usize, part: &Part<'_>) {
        let [a, b, c, d] = (LOGICAL + part.offset as u32).to_le_bytes();
        let ([l0, l1], [s0, s1]) = ((part.bytes() as u16).to_le_bytes(), part.start.to_le_bytes());
        let kind = if part.purpose == Purpose::Outputs { 2 } else { 1 };
        let raw = [a, b, c, d, l0, l1, 0, 7, s0, s1, 0, kind, 1, 0, 0, 0];
        self.write(&["PS"], &format!("set up FMMU {number}"), at::FMMU.element(number).address(), &raw);
    }
}

/// This state, without an error.
fn state_of(state: State) -> Validate {
    Validate { data: vec![state as u8, 0], mask: Some(vec![0x1F, 0]), timeout_ms: STATE_TIMEOUT_MS }
}

fn slave(at: usize, device: &Device, parts: &[Part<'_>]) -> Slave {
    let description = &device.description;
    let (station, position) = (FIRST_STATION + at as u16, 0_u16.wrapping_sub(at as u16));
    let mut commands = Commands { station, position, list: Vec::new() };
    initialise(&mut commands, description);
    for part in parts {
        let manager = &description.sync_managers[part.manager];
        let transition = if manager.op_only { "SO" } else { "PS" };
        commands.manager(transition, part.manager, part.start, part.bytes() as u16, manager.control);
    }
    parts.iter().enumerate().for_each(|(number, part)| commands.fmmu(number, part));
    commands.state(&["PS", "OS"], State::SafeOp);
    commands.state(&["SO"], State::Op);
    commands.state(&["SP", "OP"], State::PreOp);
    Slave {
        name: device.name.clone(),
        station: Some(station),
        position: Some(position),
        identity: description.identity,
        process_data: (!description.sync_managers.is_empty()).then(|| process_data(description, parts)),
        mailbox: mailbox(description, parts),
        commands: commands.list,
        ..Slave::default()
    }
}

/// To INIT, the station address, the identity, the mailbox, and to PRE-OP.
fn initialise(commands: &mut Commands, description: &Description) {
    let to_init = ["IP", "PI", "SI", "OI", "BI"];
    commands.write(&to_init, "request INIT", at::AL_CONTROL, &[0x11, 0]);
    commands.by_position();
    commands.alone();
    commands.expect(&to_init, "wait for INIT", at::AL_STATUS, state_of(State::Init));
    commands.by_position();
    commands.alone();
    let station = commands.station.to_le_bytes();
    commands.write(&["IP"], "set the station address", at::STATION, &station);
    commands.by_position();
    commands.write(&["IP"], "give the EEPROM to the master", at::EEPROM_CONFIG, &[0, 0]);
    let identity = description.identity;
    commands.identity("vendor", 0x08, identity.vendor);
    commands.identity("product code", 0x0A, identity.product);
    commands.identity("revision", 0x0C, identity.revision);
    for (number, manager) in description.sync_managers.iter().enumerate() {
        if matches!(manager.purpose, Purpose::MailboxOut | Purpose::MailboxIn) {
            commands.manager("IP", number, manager.start, manager.size, manager.control);
        }
    }
    commands.state(&["IP"], State::PreOp);
}

fn process_data(description: &Description, parts: &[Part<'_>]) -> ProcessData {
    let range = |part: &Part<'_>| Range { line: Line(0), start: 8 * part.offset as u32, bits: part.bits as u32 };
    let ranges = |purpose| parts.iter().filter(|part| part.purpose == purpose).map(range).collect();
    let managers =
        description.sync_managers.iter().enumerate().filter(|(_, manager)| manager.purpose != Purpose::Unused);
    let managers = managers.map(|(number, manager)| {
        let part = parts.iter().find(|part| part.manager == number);
        let is_mailbox = matches!(manager.purpose, Purpose::MailboxOut | Purpose::MailboxIn);
        let bytes = if is_mailbox { manager.size } else { part.map_or(0, |part| part.bytes() as u16) };
        SyncManager {
            line: Line(0),
            number,
            purpose: manager.purpose,
            size: Some(bytes),
            start: manager.start,
            control: manager.control,
            is_enabled: bytes > 0,
            pdos: part.map_or(Vec::new(), |part| part.pdos.iter().map(|pdo| pdo.index).collect()),
        }
    });
    let element = |pdo: &Pdo| {
        let manager = parts.iter().find(|part| part.pdos.iter().any(|assigned| assigned.index == pdo.index));
        PdoElement { line: Line(0), manager: manager.map(|part| part.manager as u8), pdo: pdo.clone() }
    };
    ProcessData {
        send: ranges(Purpose::Outputs),
        recv: ranges(Purpose::Inputs),
        managers: managers.collect(),
        rx: description.rx.iter().map(element).collect(),
        tx: description.tx.iter().map(element).collect(),
    }
}

fn mailbox(description: &Description, parts: &[Part<'_>]) -> Option<Mailbox> {
    let area = |purpose| {
        let manager = description.sync_managers.get(description.manager(purpose)?)?;
        Some(Area { line: Line(0), start: manager.start, length: manager.size })
    };
    let bootstrap = description.bootstrap.map(|bootstrap| {
        let area = |(start, length)| Area { line: Line(0), start, length };
        (area(bootstrap.out), area(bootstrap.inward))
    });
    let protocols = [
        ("AoE", description.aoe),
        ("EoE", description.eoe.is_some()),
        ("CoE", description.coe.is_some()),
        ("FoE", description.foe),
        ("VoE", description.voe),
    ];
    let has = |name: &str| protocols.iter().any(|(known, has)| *known == name && *has);
    Some(Mailbox {
        line: Line(0),
        send: area(Purpose::MailboxOut)?,
        recv: area(Purpose::MailboxIn)?,
        poll_ms: Some(POLL_MS),
        bootstrap,
        protocols: PROTOCOLS.iter().filter(|(name, _)| has(name)).map(|(_, number)| *number).collect(),
        sdos: if can_assign(description) { assignment(description, parts) } else { Vec::new() },
        messages: Vec::new(),
    })
}

/// The assignment of each sync manager with process data, cleared, written and counted, as devices want it.
fn assignment(description: &Description, parts: &[Part<'_>]) -> Vec<SdoCommand> {
    let download = |comment: String, index, sub, data: &[u8]| SdoCommand {
        line: Line(0),
        transitions: Transition::from_name("PS").into_iter().collect(),
        comment,
        timeout_ms: ANSWER_TIMEOUT_MS,
        is_upload: false,
        index,
        sub,
        data: data.into(),
        is_complete: false,
        is_disabled: false,
    };
    let mut commands = Vec::new();
    for (number, manager) in description.sync_managers.iter().enumerate() {
        if !manager.carries(Purpose::Outputs) && !manager.carries(Purpose::Inputs) {
            continue;
        }
        let index = crate::coe::object::ASSIGNMENTS + number as u16;
        let part = parts.iter().find(|part| part.manager == number);
        let pdos = part.map_or(&[][..], |part| &part.pdos);
        commands.push(download(format!("clear the assignment of sync manager {number}"), index, 0, &[0]));
        for (sub, pdo) in (1..).zip(pdos) {
            commands.push(download(format!("assign {:#06x}", pdo.index), index, sub, &pdo.index.to_le_bytes()));
        }
        let count = pdos.len().min(255) as u8;
        commands.push(download(format!("count the assignment of sync manager {number}"), index, 0, &[count]));
    }
    commands
}

/// Cyclic frames, and the bytes of an image: the process data, the AL status of all devices and the reference's time.
fn cyclic(parts: &[Vec<Part<'_>>], length: usize, reference: Option<usize>) -> (Cyclic, usize) {
    let command = |comment: &str, states: &[State], command, address, bytes: usize, offset: usize| CyclicCommand {
        states: states.into(),
        comment: comment.into(),
        datagram: Datagram { line: Line(0), command, address, data: vec![0; bytes], counter: None },
        input: Some(offset as u32),
        output: Some(offset as u32),
    };
    let running = [State::SafeOp, State::Op];
    let mut frames = Vec::new();
    for start in (0..length).step_by(LONGEST_DATAGRAM) {
        let bytes = LONGEST_DATAGRAM.min(length - start);
        let mut exchange = command("process data", &running, Command::Lrw, LOGICAL + start as u32, bytes, start);
        exchange.datagram.counter = Some(counter(parts, start..start + bytes));
        frames.push(Frame { commands: vec![exchange] });
    }
    let all = [State::PreOp, State::SafeOp, State::Op];
    let status = address(0, at::AL_STATUS);
    let mut states = command("AL status of all devices", &all, Command::Brd, status, 2, length);
    states.datagram.counter = Some(parts.len() as u16);
    let mut others = vec![states];
    let mut bytes = length + 2;
    if let Some(reference) = reference {
        let time = address(FIRST_STATION + reference as u16, at::SYSTEM_TIME);
        others.push(command("time of the reference clock", &running, Command::Frmw, time, 8, bytes));
        bytes += 8;
    }
    match frames.last_mut() {
        Some(last) => last.commands.extend(others),
        None => frames.push(Frame { commands: others }),
    }
    (Cyclic { cycle_us: Some(CYCLE_US), frames }, bytes)
}

/// Working counter of a read-write datagram over these bytes: two for a device that writes, one for one that reads.
fn counter(parts: &[Vec<Part<'_>>], range: std::ops::Range<usize>) -> u16 {
    let is_met = |part: &&Part<'_>| part.offset < range.end && range.start < part.offset + part.bytes();
    let has = |parts: &[Part<'_>], purpose| parts.iter().filter(is_met).any(|part| part.purpose == purpose);
    let steps =
        parts.iter().map(|parts| 2 * u16::from(has(parts, Purpose::Outputs)) + u16::from(has(parts, Purpose::Inputs)));
    steps.sum()
}

/// Named values of a direction.
fn variables(ring: &Ring, parts: &[Vec<Part<'_>>], purpose: Purpose) -> Vec<Variable> {
    let (mut names, mut variables) = (HashSet::new(), Vec::new());
    for (device, parts) in ring.devices.iter().zip(parts) {
        for part in parts.iter().filter(|part| part.purpose == purpose) {
            let mut offset = 8 * part.offset as u32;
            for (pdo, entry) in part.pdos.iter().flat_map(|pdo| pdo.entries.iter().map(move |entry| (pdo, entry))) {
                let (bits, at) = (u32::from(entry.bits), offset);
                offset += bits;
                if entry.index != 0 {
                    let name = unique(&mut names, &name(device, pdo, entry), entry);
                    let data_type = type_name(entry);
                    variables.push(Variable { line: Line(0), name, data_type, bits, offset: at });
                }
            }
        }
    }
    variables
}

fn name(device: &Device, pdo: &Pdo, entry: &PdoEntry) -> String {
    let object = format!("{:#06x}:{:02}", entry.index, entry.sub);
    let value = if entry.name.trim().is_empty() { &object } else { &entry.name };
    let group = if pdo.name.trim().is_empty() { format!("{:#06x}", pdo.index) } else { pdo.name.clone() };
    format!("{}.{group}.{value}", device.name)
}

/// A name that no other value has.
fn unique(names: &mut HashSet<String>, name: &str, entry: &PdoEntry) -> String {
    let more = format!("{name} ({:#06x}:{:02})", entry.index, entry.sub);
    let numbered = (2..).map(|number| format!("{more} {number}"));
    let mut candidates = [name.to_owned(), more.clone()].into_iter().chain(numbered);
    candidates.find(|candidate| names.insert(candidate.clone())).unwrap_or_default()
}
