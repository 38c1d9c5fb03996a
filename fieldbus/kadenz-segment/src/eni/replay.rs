// SPDX-License-Identifier: Apache-2.0
//! A master that does what a network information file says, and nothing else, on a segment in this process: init commands
//! at each transition, mailbox commands, cyclic frames. It measures no delays and sets no start of SYNC pulses: that part
//! of a master is not in the file.

use super::dialogue;
use super::*;
use crate::al::State;
use crate::command::{Addressing, Command};
use crate::frame::{
    address, datagrams, FrameBuilder, DATAGRAM_HEADER, ETHERCAT_HEADER, ETHERNET_HEADER, LONGEST, WORKING_COUNTER,
};
use crate::link::in_process::InProcess;
use crate::mailbox;
use crate::register::at;
use crate::segment::Segment;
use crate::xml::Problem;
use std::fmt::Display;

/// Cycle of a file without one, ns.
const CYCLE_NS: u64 = 1_000_000;
/// Between two init commands that may share a cycle, ns.
const FRAME_NS: u64 = 10_000;
/// Longest wait, whatever the file says, ms.
const LONGEST_WAIT_MS: u64 = 10_000;
/// Wait for a mailbox where the file says 0, ms.
const USUAL_WAIT_MS: u64 = 1000;
/// Frames until OP; a file with more would be replayed without end.
const MOST_FRAMES: u64 = 1_000_000;
/// Bytes of a mailbox header.
const MAILBOX_HEADER: usize = 6;
const PROTOCOL_ERROR: u8 = 0;
const PROTOCOL_COE: u8 = 3;

/// The master of a file, and the segment.
pub struct Replay<'a> {
    network: &'a Network,
    link: InProcess,
    state: State,
    cycle_ns: u64,
    next_cycle_ns: u64,
    frames: u64,
    /// Mailbox counters, by device.
    counters: Vec<u8>,
    /// Output image.
    pub outputs: Vec<u8>,
    /// Input image.
    pub inputs: Vec<u8>,
}

fn failure(line: Line, message: impl Display) -> Problem {
    let place = if line.0 > 0 { format!("line {}: ", line.0) } else { String::new() };
    let remedy = "Correct the command in the file, or the device in the ring file";
    Problem { message: format!("{place}{message}"), remedy: remedy.into() }
}

impl<'a> Replay<'a> {
    /// A master in INIT. An error names a frame that is too long.
    pub fn new(network: &'a Network, segment: Segment) -> Result<Self, Problem> {
        for frame in network.cycles.iter().flat_map(|cycle| &cycle.frames) {
            let bytes = |command: &CyclicCommand| DATAGRAM_HEADER + command.datagram.data.len() + WORKING_COUNTER;
            let length = ETHERNET_HEADER + ETHERCAT_HEADER + frame.commands.iter().map(bytes).sum::<usize>();
            if length > LONGEST {
                let line = frame.commands.first().map_or(Line(0), |command| command.datagram.line);
                return Err(failure(line, format!("the frame has {length} bytes, {LONGEST} are the most")));
            }
        }
        let commands = || network.cycles.iter().flat_map(|cycle| &cycle.frames).flat_map(|frame| &frame.commands);
        let end = |offset: Option<u32>, command: &CyclicCommand| {
            offset.map_or(0, |offset| offset as usize + command.datagram.data.len())
        };
        let size = |image: &Option<Image>| image.as_ref().map_or(0, |image| image.bytes as usize);
        let inputs = commands().map(|command| end(command.input, command)).fold(size(&network.inputs), usize::max);
        let outputs = commands().map(|command| end(command.output, command)).fold(size(&network.outputs), usize::max);
        let cycle = network.cycles.iter().filter_map(|cycle| cycle.cycle_us).filter(|cycle| *cycle > 0).min();
        Ok(Self {
            network,
            link: InProcess::new(segment),
            state: State::Init,
            cycle_ns: cycle.map_or(CYCLE_NS, |cycle| u64::from(cycle) * 1000),
            next_cycle_ns: 0,
            frames: 0,
            counters: vec![0; network.slaves.len()],
            outputs: vec![0; outputs],
            inputs: vec![0; inputs],
        })
    }

    /// Frames sent.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The segment.
    pub fn segment(&self) -> &Segment {
        self.link.segment()
    }

    /// From INIT to OP by the file's commands.
    pub fn bring_up(&mut self) -> Result<(), Problem> {
        for (from, to) in [(State::Init, State::PreOp), (State::PreOp, State::SafeOp), (State::SafeOp, State::Op)] {
            self.transition(Transition(from, to))?;
            self.state = to;
        }
        // Outputs that were sent in SAFE-OP are those of OP now.
        self.cycle(true)
    }

    fn transition(&mut self, transition: Transition) -> Result<(), Problem> {
        let network = self.network;
        let is_due = |command: &&InitCommand| command.transitions.contains(&transition);
        for command in network.master.commands.iter().filter(is_due).filter(|command| command.before_slave) {
            self.execute(&network.master.name, command)?;
        }
        for (at, slave) in network.slaves.iter().enumerate() {
            // SDOs come before the state is requested; before PRE-OP there is no mailbox.
            let requests = |command: &InitCommand| {
                command.transitions.contains(&transition) && is_request(&command.datagram, transition.1)
            };
            let split = match transition.0 {
                State::Init => slave.commands.len(),
                _ => slave.commands.iter().position(requests).unwrap_or(slave.commands.len()),
            };
            let (before, after) = slave.commands.split_at(split);
            before.iter().filter(is_due).try_for_each(|command| self.execute(&slave.name, command))?;
            self.send_mail(at, slave, transition)?;
            after.iter().filter(is_due).try_for_each(|command| self.execute(&slave.name, command))?;
        }
        for command in network.master.commands.iter().filter(is_due).filter(|command| !command.before_slave) {
            self.execute(&network.master.name, command)?;
        }
        Ok(())
    }

    /// Sends an init command until its working counter and its data are as expected.
    fn execute(&mut self, name: &str, command: &InitCommand) -> Result<(), Problem> {
        let datagram = &command.datagram;
        let wrong = |message: String| failure(datagram.line, format!("{name}, {:?}: {message}", command.comment));
        let timeout_ms = command.validate.as_ref().map_or(0, |validate| u64::from(validate.timeout_ms));
        let until_ns = self.link.now_ns() + timeout_ms.min(LONGEST_WAIT_MS) * 1_000_000;
        let mut retries = command.retries;
        loop {
            let (data, counter) = self.exchange(datagram.command, datagram.address, &datagram.data)?;
            if let Some(wanted) = datagram.counter.filter(|wanted| *wanted != counter) {
                if retries == 0 {
                    return Err(wrong(format!("working counter {counter}, the file expects {wanted}")));
                }
                retries -= 1;
            } else {
                match &command.validate {
                    Some(validate) if !validate.fits(&data) && self.link.now_ns() >= until_ns => {
                        let reason = self.reason(datagram);
                        let (came, expected) = (hex(&data), expected(validate));
                        return Err(wrong(format!("{came} came back, {expected}{reason}")));
                    }
                    Some(validate) if !validate.fits(&data) => {}
                    _ => break,
                }
            }
            self.pause()?;
        }
        match command.requires {
            Some(Requires::Cycle) => self.pause(),
            _ => Ok(()),
        }
    }

    /// Why a device has not reached its state.
    fn reason(&mut self, datagram: &Datagram) -> String {
        if datagram.address >> 16 != u32::from(at::AL_STATUS.address()) || !datagram.command.addressing().is_physical()
        {
            return String::new();
        }
        let code = address((datagram.address & 0xFFFF) as u16, at::AL_CODE);
        let answer = self.exchange(datagram.command, code, &[0, 0]);
        answer.map_or(String::new(), |(code, _)| match code.as_slice() {
            [low, high] => format!("; AL status code {:#06x}", u16::from_le_bytes([*low, *high])),
            _ => String::new(),
        })
    }

    /// One datagram in a frame: its data and working counter. A lost frame counts as none.
    fn exchange(&mut self, command: Command, address: u32, data: &[u8]) -> Result<(Vec<u8>, u16), Problem> {
        self.count()?;
        self.link.advance_ns(FRAME_NS);
        let frame = FrameBuilder::default().datagram(command, 1, address, data).build();
        let mut back = self.link.exchange(&frame).unwrap_or_default();
        let datagram = datagrams(&mut back).ok().and_then(|mut datagrams| datagrams.next());
        Ok(datagram.map_or((Vec::new(), 0), |datagram| (datagram.data.to_vec(), datagram.working_counter())))
    }

    fn count(&mut self) -> Result<(), Problem> {
        self.frames += 1;
        if self.frames > MOST_FRAMES && self.state != State::Op {
            let message = format!("no OP after {MOST_FRAMES} frames");
            return Err(failure(Line(0), message));
        }
        Ok(())
    }

    /// Waits for the next cycle, and sends its frames.
    fn pause(&mut self) -> Result<(), Problem> {
        self.cycle(false)
    }

    /// One cycle: waits for its time and sends the frames of the present state. `checks`: an error names a working counter
    /// that is not the file's.
    pub fn cycle(&mut self, checks: bool) -> Result<(), Problem> {
        let now_ns = self.link.now_ns();
        self.link.advance_ns(self.next_cycle_ns.saturating_sub(now_ns));
        self.next_cycle_ns = self.link.now_ns() + self.cycle_ns;
        let network = self.network;
        for frame in network.cycles.iter().flat_map(|cycle| &cycle.frames) {
            self.send_frame(frame, checks)?;
        }
        Ok(())
    }

    fn send_frame(&mut self, frame: &Frame, checks: bool) -> Result<(), Problem> {
        let commands: Vec<_> = frame.commands.iter().filter(|command| command.states.contains(&self.state)).collect();
        if commands.is_empty() {
            return Ok(());
        }
        self.count()?;
        let mut builder = FrameBuilder::default();
        for (index, command) in commands.iter().enumerate() {
            let datagram = &command.datagram;
            let data = self.output_of(command).unwrap_or(&datagram.data);
            builder = builder.datagram(datagram.command, index as u8, datagram.address, data);
        }
        let mut back = self.link.exchange(&builder.build()).unwrap_or_default();
        let mut answers = datagrams(&mut back).ok();
        for command in commands {
            let answer = answers.as_mut().and_then(Iterator::next);
            let counter = answer.as_ref().map_or(0, |answer| answer.working_counter());
            let wanted = command.datagram.counter.filter(|wanted| checks && *wanted != counter);
            if let Some(wanted) = wanted {
                let message = format!("{:?}: working counter {counter}, the file expects {wanted}", command.comment);
                return Err(failure(command.datagram.line, message));
            }
            let Some(offset) = command.input.filter(|_| command.datagram.command.reads()) else { continue };
            let end = offset as usize + command.datagram.data.len();
            if let (Some(place), Some(answer)) = (self.inputs.get_mut(offset as usize..end), answer) {
                if answer.data.len() == place.len() {
                    place.copy_from_slice(answer.data);
                }
            }
        }
        Ok(())
    }

    /// What a logical command writes: part of the output image.
    fn output_of(&self, command: &CyclicCommand) -> Option<&[u8]> {
        let kind = command.datagram.command;
        let offset = command.output.filter(|_| kind.writes() && kind.addressing() == Addressing::Logical)? as usize;
        self.outputs.get(offset..offset + command.datagram.data.len())
    }

    /// Mailbox commands of a device at a transition.
    fn send_mail(&mut self, at: usize, slave: &Slave, transition: Transition) -> Result<(), Problem> {
        let Some(settings) = &slave.mailbox else { return Ok(()) };
        let is_due = |transitions: &[Transition], is_disabled: bool| transitions.contains(&transition) && !is_disabled;
        for command in settings.sdos.iter().filter(|command| is_due(&command.transitions, command.is_disabled)) {
            let (object, line) = (format!("SDO {:#06x}:{:02}", command.index, command.sub), command.line);
            let room = usize::from(settings.send.length).saturating_sub(MAILBOX_HEADER);
            let mut carry = |body: &[u8]| self.converse(at, PROTOCOL_COE, body, command.timeout_ms, line);
            let outcome = dialogue::transfer(command, room, &mut carry)?;
            outcome.map_err(|message| {
                failure(line, format!("{}, {object}, {:?}: {message}", slave.name, command.comment))
            })?;
        }
        for command in settings.messages.iter().filter(|command| is_due(&command.transitions, command.is_disabled)) {
            let name = protocol_name(command.protocol);
            let Some(body) = &command.data else {
                return Err(failure(command.line, format!("{}: init commands of {name} are not replayed", slave.name)));
            };
            self.converse(at, command.protocol, body, command.timeout_ms, command.line)?;
        }
        Ok(())
    }

    /// A message to a device's mailbox, and its answer.
    fn converse(&mut self, at: usize, protocol: u8, body: &[u8], wait_ms: u32, line: Line) -> Result<Vec<u8>, Problem> {
        let network = self.network;
        let wrong = |message: &str| {
            let name = network.slaves.get(at).map_or("", |slave| &slave.name);
            failure(line, format!("{name}, {}: {message}", protocol_name(protocol)))
        };
        let slave = network.slaves.get(at).and_then(|slave| Some((slave.station?, slave.mailbox.as_ref()?)));
        let (station, settings) = slave.ok_or_else(|| wrong("a Slave without PhysAddr has no mailbox"))?;
        let counter = self.counters.get(at).map_or(1, |counter| counter % 7 + 1);
        if let Some(last) = self.counters.get_mut(at) {
            *last = counter;
        }
        let mut bytes = mailbox::assemble(protocol, counter, body);
        if bytes.len() > usize::from(settings.send.length) {
            return Err(wrong("the message is longer than the mailbox"));
        }
        bytes.resize(settings.send.length.into(), 0);
        let wait_ms = if wait_ms == 0 { USUAL_WAIT_MS } else { u64::from(wait_ms).min(LONGEST_WAIT_MS) };
        let until_ns = self.link.now_ns() + wait_ms * 1_000_000;
        while self.exchange(Command::Fpwr, address(station, settings.send.start), &bytes)?.1 != 1 {
            if self.link.now_ns() >= until_ns {
                return Err(wrong("the mailbox takes no message"));
            }
            self.pause()?;
        }
        let empty = vec![0; settings.recv.length.into()];
        loop {
            let (answer, count) = self.exchange(Command::Fprd, address(station, settings.recv.start), &empty)?;
            if let Some(answer) = mailbox::parse(&answer).filter(|_| count == 1) {
                match answer.protocol {
                    PROTOCOL_ERROR => {
                        return Err(wrong(&format!("the mailbox answers with error {}", hex(answer.body))));
                    }
                    other if other == protocol && (other != PROTOCOL_COE || dialogue::is_answer(answer.body)) => {
                        return Ok(answer.body.to_vec());
                    }
                    _ => continue,
                }
            }
            if self.link.now_ns() >= until_ns {
                return Err(wrong(&format!("no answer within {wait_ms} ms")));
            }
            self.pause()?;
        }
    }
}

/// A write that requests a state.
fn is_request(datagram: &Datagram, state: State) -> bool {
    datagram.command.writes()
        && datagram.command.addressing().is_physical()
        && datagram.address >> 16 == u32::from(at::AL_CONTROL.address())
        && datagram.data.first().is_some_and(|byte| byte & 0x0F == state as u8)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(16).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn expected(validate: &Validate) -> String {
    let mask = validate.mask.as_ref().map_or(String::new(), |mask| format!(" under {}", hex(mask)));
    format!("{} was expected{mask}", hex(&validate.data))
}
