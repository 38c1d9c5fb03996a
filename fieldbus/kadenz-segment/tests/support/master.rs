// SPDX-License-Identifier: Apache-2.0
//! A master small enough to see through: every datagram a test sends is written out here.
#![allow(dead_code)]

use kadenz_segment::command::Command;
use kadenz_segment::description::{Purpose, MAILBOX_IN, MAILBOX_OUT};
use kadenz_segment::frame::{address, datagrams, FrameBuilder};
use kadenz_segment::link::in_process::InProcess;
use kadenz_segment::mailbox;
use kadenz_segment::register::{at, Register};
use kadenz_segment::segment::Segment;

/// First station address; device k has this plus k.
pub const STATION: u16 = 0x1001;
const CYCLE_NS: u64 = 1_000_000;

/// Result of an SDO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sdo {
    Data(Vec<u8>),
    Abort(u32),
    Emergency(u16),
    Silence,
}

pub struct Master {
    pub link: InProcess,
    counter: u8,
    /// Process image: (device, is output, offset, length).
    pub areas: Vec<(usize, bool, usize, usize)>,
    pub image: Vec<u8>,
    pub inputs: Vec<u8>,
}

impl Master {
    pub fn new(segment: Segment) -> Self {
        Self::over(InProcess::new(segment))
    }

    pub fn over(link: InProcess) -> Self {
        let mut master = Self { link, counter: 0, areas: Vec::new(), image: Vec::new(), inputs: Vec::new() };
        for device in 0..master.devices() {
            master.command(
                Command::Apwr,
                address(0_u16.wrapping_sub(device as u16), at::STATION),
                &(STATION + device as u16).to_le_bytes(),
            );
        }
        master
    }

    pub fn devices(&self) -> usize {
        self.link.segment().ring().devices.len()
    }

    /// One datagram: data and working counter, or nothing if the frame was lost.
    pub fn command(&mut self, command: Command, address: u32, data: &[u8]) -> Option<(Vec<u8>, u16)> {
        self.link.advance_ns(10_000);
        let mut back = self.link.exchange(&FrameBuilder::default().datagram(command, 1, address, data).build())?;
        let datagram = datagrams(&mut back).ok()?.next()?;
        Some((datagram.data.to_vec(), datagram.working_counter()))
    }

    pub fn read(&mut self, device: usize, offset: impl Into<u16>, length: usize) -> Option<(Vec<u8>, u16)> {
        self.command(Command::Fprd, address(STATION + device as u16, offset), &vec![0; length])
    }

    pub fn read_u16(&mut self, device: usize, register: Register<u16>) -> u16 {
        let (data, counter) = self.read(device, register, 2).expect("frame comes back");
        assert_eq!(counter, 1, "device {device} register {:#06x}", register.address());
        u16::from_le_bytes([data[0], data[1]])
    }

    pub fn write(&mut self, device: usize, offset: impl Into<u16>, data: &[u8]) -> u16 {
        self.command(Command::Fpwr, address(STATION + device as u16, offset), data).map_or(0, |back| back.1)
    }

    /// Asks for a state; gives AL status and code.
    pub fn request(&mut self, device: usize, state: u16) -> (u16, u16) {
        self.write(device, at::AL_CONTROL, &state.to_le_bytes());
        self.state(device)
    }

    pub fn state(&mut self, device: usize) -> (u16, u16) {
        (self.read_u16(device, at::AL_STATUS), self.read_u16(device, at::AL_CODE))
    }

    /// Writes a device's sync managers as its description wants them.
    pub fn configure_managers(&mut self, device: usize) {
        let managers = self.link.segment().ring().devices[device].description.managers();
        for (number, manager) in managers.iter().enumerate() {
            let mut raw = manager.start.to_le_bytes().to_vec();
            raw.extend(manager.length.to_le_bytes());
            raw.extend([manager.control, 0, u8::from(manager.length > 0), 0]);
            self.write(device, at::SYNC_MANAGER.element(number), &raw);
        }
    }

    /// Maps all process data and brings every device to OP, free-running.
    pub fn bring_up(&mut self) {
        self.bring_up_to(8);
    }

    /// Maps all process data and brings every device to a state, free-running; a cycle with each state from SAFE-OP on.
    pub fn bring_up_to(&mut self, last: u16) {
        self.areas.clear();
        let mut offset = 0;
        for device in 0..self.devices() {
            self.configure_managers(device);
            assert_eq!(self.request(device, 2), (2, 0), "device {device} to PRE-OP");
            let description = self.link.segment().ring().devices[device].description.clone();
            let sides = [
                (true, Purpose::Outputs, description.output_length()),
                (false, Purpose::Inputs, description.input_length()),
            ];
            for (fmmu, (is_output, purpose, length)) in sides.into_iter().enumerate() {
                if length > 0 {
                    let manager = description.managers()[description.manager(purpose).unwrap()];
                    self.map(
                        device,
                        fmmu as u16,
                        offset as u32,
                        length as u16,
                        manager.start,
                        if is_output { 2 } else { 1 },
                    );
                    self.areas.push((device, is_output, offset, length));
                    offset += length;
                }
            }
        }
        self.image = vec![0; offset];
        self.inputs = vec![0; offset];
        for state in [4, 8].into_iter().filter(|state| *state <= last) {
            for device in 0..self.devices() {
                assert_eq!(self.request(device, state), (state, 0), "device {device} to {state}");
            }
            self.cycle();
        }
    }

    pub fn map(&mut self, device: usize, fmmu: u16, logical: u32, length: u16, physical: u16, kind: u8) {
        let mut raw = logical.to_le_bytes().to_vec();
        raw.extend(length.to_le_bytes());
        raw.extend([0, 7]);
        raw.extend(physical.to_le_bytes());
        raw.extend([0, kind, 1, 0, 0, 0]);
        self.write(device, at::FMMU.element(fmmu.into()), &raw);
    }

    /// One cycle: LRW of the whole image, then a millisecond. The working counter, or nothing if the frame was lost.
    pub fn cycle(&mut self) -> Option<u16> {
        let frame = FrameBuilder::default().datagram(Command::Lrw, 7, 0, &self.image).build();
        let mut back = self.link.exchange(&frame);
        self.link.advance_ns(CYCLE_NS);
        let back = back.as_mut()?;
        let datagram = datagrams(back).ok()?.next()?;
        self.inputs.copy_from_slice(datagram.data);
        Some(datagram.working_counter())
    }

    pub fn cycles(&mut self, count: usize) {
        for _ in 0..count {
            self.cycle();
        }
    }

    fn area(&self, device: usize, is_output: bool) -> std::ops::Range<usize> {
        let area = self.areas.iter().find(|area| area.0 == device && area.1 == is_output).expect("mapped");
        area.2..area.2 + area.3
    }

    pub fn outputs(&mut self, device: usize) -> &mut [u8] {
        let area = self.area(device, true);
        &mut self.image[area]
    }

    pub fn input(&self, device: usize) -> &[u8] {
        &self.inputs[self.area(device, false)]
    }

    /// Statusword of a drive from the last cycle.
    pub fn status(&self, drive: usize) -> u16 {
        u16::from_le_bytes([self.input(drive)[0], self.input(drive)[1]])
    }

    pub fn error_code(&self, drive: usize) -> u16 {
        u16::from_le_bytes([self.input(drive)[18], self.input(drive)[19]])
    }

    pub fn position(&self, drive: usize) -> i32 {
        i32::from_le_bytes(self.input(drive)[2..6].try_into().unwrap())
    }

    pub fn velocity(&self, drive: usize) -> i32 {
        i32::from_le_bytes(self.input(drive)[6..10].try_into().unwrap())
    }

    pub fn control(&mut self, drive: usize, word: u16) {
        self.outputs(drive)[..2].copy_from_slice(&word.to_le_bytes());
    }

    pub fn mode(&mut self, drive: usize, mode: i8) {
        self.outputs(drive)[14] = mode as u8;
    }

    pub fn target_position(&mut self, drive: usize, counts: i32) {
        self.outputs(drive)[2..6].copy_from_slice(&counts.to_le_bytes());
    }

    pub fn target_velocity(&mut self, drive: usize, counts: i32) {
        self.outputs(drive)[6..10].copy_from_slice(&counts.to_le_bytes());
    }

    pub fn target_torque(&mut self, drive: usize, permille: i16) {
        self.outputs(drive)[10..12].copy_from_slice(&permille.to_le_bytes());
    }

    /// Enables a drive in a mode, holding its present position.
    pub fn enable(&mut self, drive: usize, mode: i8) {
        self.mode(drive, mode);
        self.cycles(3);
        let here = self.position(drive);
        self.target_position(drive, here);
        for word in [0x00, 0x06, 0x07, 0x0F] {
            self.control(drive, word);
            self.cycles(3);
        }
        assert_eq!(self.status(drive) & 0x6F, 0x27, "enabled; status {:#06x}", self.status(drive));
    }

    /// Start and length of a device's mailbox as it is set up, else as the device wants it; those of kadenz' own devices
    /// for a device without one.
    pub fn mailbox(&self, device: usize, purpose: Purpose) -> (u16, usize) {
        let device = &self.link.segment().ring().devices[device];
        let managers = device.description.managers();
        let own = if purpose == Purpose::MailboxOut { MAILBOX_OUT } else { MAILBOX_IN };
        let Some(number) = managers.iter().position(|manager| manager.purpose == purpose) else { return (own, 128) };
        match device.esc.manager(number).filter(|manager| manager.enabled()) {
            Some(manager) => (manager.start() as u16, manager.length()),
            None => (managers[number].start, managers[number].length.into()),
        }
    }

    /// Sends a mailbox; the working counter.
    pub fn post(&mut self, device: usize, body: &[u8]) -> u16 {
        self.post_as(device, 3, body)
    }

    /// Sends a mailbox of a protocol; the working counter.
    pub fn post_as(&mut self, device: usize, protocol: u8, body: &[u8]) -> u16 {
        self.counter = self.counter % 7 + 1;
        self.post_as_again(device, protocol, body)
    }

    /// Sends a mailbox with the counter of the one before.
    pub fn post_again(&mut self, device: usize, body: &[u8]) -> u16 {
        self.post_as_again(device, 3, body)
    }

    /// Sends a mailbox of a protocol with the counter of the one before.
    pub fn post_as_again(&mut self, device: usize, protocol: u8, body: &[u8]) -> u16 {
        let mut bytes = mailbox::assemble(protocol, self.counter, body);
        let (start, length) = self.mailbox(device, Purpose::MailboxOut);
        bytes.resize(length, 0);
        self.write(device, start, &bytes)
    }

    /// Fetches a mailbox if one waits.
    pub fn fetch(&mut self, device: usize) -> Option<Vec<u8>> {
        let (start, length) = self.mailbox(device, Purpose::MailboxIn);
        let (data, counter) = self.read(device, start, length)?;
        (counter == 1).then_some(data)
    }

    /// One CoE message and its answer's body.
    pub fn coe(&mut self, device: usize, body: &[u8]) -> Option<Vec<u8>> {
        if self.post(device, body) != 1 {
            return None;
        }
        let bytes = self.fetch(device)?;
        Some(mailbox::parse(&bytes)?.body.to_vec())
    }

    /// SDO upload, with segments as needed.
    pub fn upload(&mut self, device: usize, index: u16, sub: u8, complete: bool) -> Sdo {
        let [low, high] = index.to_le_bytes();
        let command = if complete { 0x50 } else { 0x40 };
        let Some(body) = self.coe(device, &[0, 0x20, command, low, high, sub, 0, 0, 0, 0]) else { return Sdo::Silence };
        if let Some(other) = not_sdo(&body) {
            return other;
        }
        if body[2] & 2 != 0 {
            return Sdo::Data(body[6..10 - usize::from(body[2] >> 2 & 3)].to_vec());
        }
        let size = u32::from_le_bytes(body[6..10].try_into().unwrap()) as usize;
        let mut data = body[10..].to_vec();
        let mut toggle = 0;
        while data.len() < size {
            let Some(body) = self.coe(device, &[0, 0x20, 0x60 | toggle, 0, 0, 0, 0, 0, 0, 0]) else {
                return Sdo::Silence;
            };
            if let Some(other) = not_sdo(&body) {
                return other;
            }
            let unused = if body.len() == 10 { usize::from(body[2] >> 1 & 7) } else { 0 };
            data.extend(&body[3..body.len() - unused]);
            toggle ^= 0x10;
        }
        Sdo::Data(data)
    }

    /// SDO download, expedited up to four bytes, else normal, with segments as needed.
    pub fn download(&mut self, device: usize, index: u16, sub: u8, data: &[u8], complete: bool) -> Sdo {
        let [low, high] = index.to_le_bytes();
        let flag = if complete { 0x10 } else { 0 };
        let mut body = vec![0, 0x20];
        let first = data.len().min(112);
        if data.len() <= 4 && !complete {
            body.extend([0x23 | (4 - data.len() as u8) << 2, low, high, sub]);
            body.extend(data);
            body.resize(10, 0);
        } else {
            body.extend([0x21 | flag, low, high, sub]);
            body.extend((data.len() as u32).to_le_bytes());
            body.extend(&data[..first]);
        }
        let Some(answer) = self.coe(device, &body) else { return Sdo::Silence };
        if let Some(other) = not_sdo(&answer) {
            return other;
        }
        let (mut rest, mut toggle) = (&data[first..], 0);
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(119));
            let mut command = toggle | u8::from(after.is_empty());
            let mut body = vec![0, 0x20, 0];
            body.extend(part);
            if part.len() < 7 {
                command |= (7 - part.len() as u8) << 1;
                body.resize(10, 0);
            }
            body[2] = command;
            let Some(answer) = self.coe(device, &body) else { return Sdo::Silence };
            if let Some(other) = not_sdo(&answer) {
                return other;
            }
            (rest, toggle) = (after, toggle ^ 0x10);
        }
        Sdo::Data(Vec::new())
    }
}

fn not_sdo(body: &[u8]) -> Option<Sdo> {
    let service = body[1] >> 4;
    if service == 1 {
        return Some(Sdo::Emergency(u16::from_le_bytes([body[2], body[3]])));
    }
    (body[2] == 0x80).then(|| Sdo::Abort(u32::from_le_bytes(body[6..10].try_into().unwrap())))
}
