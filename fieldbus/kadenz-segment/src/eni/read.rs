// SPDX-License-Identifier: Apache-2.0
//! A network from XML: every number in its range, every element with its line. Elements that the segment has no use for
//! (copy information, hot-connect groups, profiles) are left out.

use super::*;
use crate::command::{Addressing, Command};
use crate::description::{DataType, Identity, Pdo, PdoEntry, Purpose};
use crate::error::{read_bytes, SegmentError};
use crate::frame::address;
use crate::xml::{self, child, children, required, Format, Problem};
use roxmltree::Node;
use std::collections::HashMap;
use std::path::Path;

/// Devices of a file; a ring has no more.
const MOST_SLAVES: usize = 1024;
/// Data of one datagram, bytes.
const LONGEST_DATAGRAM: usize = 1486;
/// Data of one SDO or message, bytes.
const LONGEST_MESSAGE: usize = 65_535;
/// Data of all commands together, bytes: a length is short to write and long to keep.
const MOST_DATA: usize = 32 << 20;

/// Bytes of a process image, and largest place in it.
const MOST_IMAGE: i64 = 1 << 24;

/// Reads a file.
pub fn read(path: &Path) -> Result<Network, SegmentError> {
    let remedy = "Name an ENI file; `kadenz-segment describe RING --eni` prints that of a ring";
    let bytes = read_bytes(path, "ENI file", xml::LONGEST, remedy)?;
    let text = xml::decode(&bytes).map_err(|(message, remedy)| SegmentError::config(path, message, remedy))?;
    parse(&text).map_err(|problem| SegmentError::config(path, problem.message, problem.remedy))
}

/// Parses the text of a file.
pub fn parse(text: &str) -> Result<Network, Problem> {
    let document = xml::parse(text, &Format::ENI)?;
    let config = required(document.root_element(), "Config")?;
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
    let mut reader = Reader { line_ends: ends, data: 0 };
    let master = reader.master(required(config, "Master")?)?;
    if let Some(more) = children(config, "Slave").nth(MOST_SLAVES) {
        return Err(Problem::at(more, format!("more than {MOST_SLAVES} Slaves")).remedy("A ring has no more devices"));
    }
    let slaves = reader.each(config, "Slave", Reader::slave)?;
    check_addresses(config, &slaves)?;
    let image = |reader: &mut Reader, name: &str| {
        let image = child(config, "ProcessImage").and_then(|image| child(image, name));
        image.map(|image| reader.image(image)).transpose()
    };
    Ok(Network {
        master,
        slaves,
        cycles: reader.each(config, "Cyclic", Reader::cyclic)?,
        inputs: image(&mut reader, "Inputs")?,
        outputs: image(&mut reader, "Outputs")?,
    })
}

/// Each device has its own station address and its own place in the ring.
fn check_addresses(config: Node<'_, '_>, slaves: &[Slave]) -> Result<(), Problem> {
    let (mut stations, mut positions) = (HashMap::new(), HashMap::new());
    for (node, slave) in children(config, "Slave").zip(slaves) {
        for (name, taken, value) in
            [("PhysAddr", &mut stations, slave.station), ("AutoIncAddr", &mut positions, slave.position)]
        {
            let Some(value) = value else { continue };
            if let Some(other) = taken.insert(value, &slave.name) {
                let place = child(node, "Info").and_then(|info| child(info, name)).unwrap_or(node);
                let message = format!("{name} {value} of \"{}\" is also that of \"{other}\"", slave.name);
                return Err(Problem::at(place, message).remedy(format!("Give each Slave its own {name}")));
            }
        }
    }
    Ok(())
}

struct Reader {
    /// Where lines end, bytes.
    line_ends: Vec<usize>,
    /// Data read so far, bytes.
    data: usize,
}

/// A number without a sign, or in two's complement: the schema's numbers are signed, and its writers' are not.
fn bits(node: Node<'_, '_>, name: &str, width: u32) -> Result<Option<u32>, Problem> {
    let (least, most) = (-(1_i64 << (width - 1)), (1_i64 << width) - 1);
    Ok(number(node, name, least..=most)?.map(|value| (value & most) as u32))
}

/// The number of a child, decimal, or hexadecimal behind #x or 0x.
fn number(node: Node<'_, '_>, name: &str, range: std::ops::RangeInclusive<i64>) -> Result<Option<i64>, Problem> {
    child(node, name).map(|node| number_of(node, range)).transpose()
}

fn number_of(node: Node<'_, '_>, range: std::ops::RangeInclusive<i64>) -> Result<i64, Problem> {
    let (name, text) = (node.tag_name().name(), node.text().unwrap_or("").trim());
    let digits = ["#x", "#X", "0x", "0X"].iter().find_map(|prefix| text.strip_prefix(prefix));
    let value = match digits {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => i64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.parse().ok(),
    };
    let shown: String = text.chars().take(32).collect();
    let Some(value) = value else {
        let message = format!("{name} \"{shown}\" is not a number");
        return Err(Problem::at(node, message).remedy("Write it in decimal, or in hexadecimal behind #x"));
    };
    if !range.contains(&value) {
        let message = format!("{name} {shown} is out of range");
        return Err(Problem::at(node, message).remedy(format!("Use {} to {}", range.start(), range.end())));
    }
    Ok(value)
}

fn small(node: Node<'_, '_>, name: &str) -> Result<Option<u16>, Problem> {
    Ok(number(node, name, 0..=0xFFFF)?.map(|value| value as u16))
}

fn byte(node: Node<'_, '_>, name: &str) -> Result<Option<u8>, Problem> {
    Ok(number(node, name, 0..=0xFF)?.map(|value| value as u8))
}

/// A size or a time: not negative, of 31 bits.
fn size(node: Node<'_, '_>, name: &str) -> Result<Option<u32>, Problem> {
    Ok(number(node, name, 0..=i64::from(i32::MAX))?.map(|value| value as u32))
}

/// A byte of a process image.
fn place(node: Node<'_, '_>, name: &str) -> Result<Option<u32>, Problem> {
    Ok(number(node, name, 0..=MOST_IMAGE)?.map(|value| value as u32))
}

/// A value that has to be there.
fn needed<T>(node: Node<'_, '_>, name: &str, value: Result<Option<T>, Problem>) -> Result<T, Problem> {
    value?.ok_or_else(|| Problem::at(node, format!("{} without {name}", node.tag_name().name())))
}

fn flag(node: Node<'_, '_>, name: &str) -> Result<bool, Problem> {
    let Some(child) = child(node, name) else { return Ok(false) };
    match child.text().unwrap_or("").trim() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        other => {
            let shown: String = other.chars().take(32).collect();
            Err(Problem::at(child, format!("{name} \"{shown}\" is neither true nor false")).remedy("Write 1 or 0"))
        }
    }
}

/// Text of a child; empty where there is none.
fn text(node: Node<'_, '_>, name: &str) -> String {
    child(node, name).and_then(|child| child.text()).unwrap_or("").to_owned()
}

/// The meaning of a word, of those that the format has.
fn word<T>(node: Node<'_, '_>, known: &[&str], meaning: impl Fn(&str) -> Option<T>) -> Result<T, Problem> {
    let value = node.text().unwrap_or("").trim();
    meaning(value).ok_or_else(|| {
        let shown: String = value.chars().take(32).collect();
        let message = format!("{} \"{shown}\" is unknown", node.tag_name().name());
        Problem::at(node, message).remedy(format!("Use one of {}", known.join(", ")))
    })
}

fn transitions(node: Node<'_, '_>) -> Result<Vec<Transition>, Problem> {
    children(node, "Transition").map(|node| word(node, &TRANSITIONS, Transition::from_name)).collect()
}

impl Reader {
    fn line(&self, node: Node<'_, '_>) -> Line {
        Line(self.line_ends.partition_point(|end| *end < node.range().start) as u32 + 1)
    }

    fn each<T>(
        &mut self,
        parent: Node<'_, '_>,
        name: &str,
        parse: fn(&mut Self, Node<'_, '_>) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problem> {
        children(parent, name).map(|node| parse(self, node)).collect()
    }

    /// Data of a child in hexadecimal.
    fn hex(&mut self, node: Node<'_, '_>, longest: usize) -> Result<Vec<u8>, Problem> {
        let (name, digits) = (node.tag_name().name(), node.text().unwrap_or("").trim());
        let remedy = "Write two hexadecimal digits a byte, like 0200";
        if digits.len() % 2 != 0 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(Problem::at(node, format!("{name} is not hexadecimal")).remedy(remedy));
        }
        let length = digits.len() / 2;
        self.reserve(node, length, longest)?;
        let byte = |at: usize| digits.get(2 * at..2 * at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
        Ok((0..length).filter_map(byte).collect())
    }

    /// Counts data that are kept.
    fn reserve(&mut self, node: Node<'_, '_>, length: usize, longest: usize) -> Result<(), Problem> {
        let name = node.tag_name().name();
        if length > longest {
            let message = format!("{name} of {length} bytes, {longest} fit");
            return Err(Problem::at(node, message).remedy("Spread the data over several commands"));
        }
        self.data += length;
        if self.data > MOST_DATA {
            let message = format!("the commands of the file have more than {} MiB of data", MOST_DATA >> 20);
            return Err(Problem::at(node, message).remedy("Remove commands"));
        }
        Ok(())
    }

    fn hex_child(&mut self, node: Node<'_, '_>, name: &str, longest: usize) -> Result<Option<Vec<u8>>, Problem> {
        child(node, name).map(|child| self.hex(child, longest)).transpose()
    }

    fn ethernet_address(&mut self, info: Node<'_, '_>, name: &str) -> Result<[u8; 6], Problem> {
        let node = required(info, name)?;
        let bytes = self.hex(node, 6)?;
        bytes.try_into().map_err(|_| Problem::at(node, format!("{name} is not six bytes, like ffffffffffff")))
    }

    fn master(&mut self, node: Node<'_, '_>) -> Result<Master, Problem> {
        let info = required(node, "Info")?;
        Ok(Master {
            name: text(info, "Name"),
            destination: self.ethernet_address(info, "Destination")?,
            source: self.ethernet_address(info, "Source")?,
            commands: self.init_commands(node)?,
        })
    }

    fn slave(&mut self, node: Node<'_, '_>) -> Result<Slave, Problem> {
        let info = required(node, "Info")?;
        let identity = |name| needed(info, name, bits(info, name, 32));
        Ok(Slave {
            line: self.line(node),
            name: text(info, "Name"),
            station: small(info, "PhysAddr")?,
            position: bits(info, "AutoIncAddr", 16)?.map(|value| value as u16),
            identity: Identity {
                vendor: identity("VendorId")?,
                product: identity("ProductCode")?,
                revision: identity("RevisionNo")?,
                serial: bits(info, "SerialNo", 32)?.unwrap_or(0),
            },
            process_data: child(node, "ProcessData").map(|data| self.process_data(data)).transpose()?,
            mailbox: child(node, "Mailbox").map(|mailbox| self.mailbox(mailbox)).transpose()?,
            commands: self.init_commands(node)?,
            previous: self.each(node, "PreviousPort", Self::previous_port)?,
            clock: child(node, "DC").map(|clock| self.clock(clock)).transpose()?,
        })
    }

    fn previous_port(&mut self, node: Node<'_, '_>) -> Result<PreviousPort, Problem> {
        let port = word(required(node, "Port")?, &["A", "B", "C", "D"], |letter| {
            ["A", "B", "C", "D"].iter().position(|known| *known == letter)
        })?;
        Ok(PreviousPort {
            line: self.line(node),
            port: port as u8,
            station: small(node, "PhysAddr")?,
            is_selected: xml::is_set(node, "Selected"),
        })
    }

    fn clock(&mut self, node: Node<'_, '_>) -> Result<Clock, Problem> {
        let time = |name, least| number(node, name, least..=i64::from(u32::MAX)).map(|time| time.unwrap_or(0));
        Ok(Clock {
            line: self.line(node),
            is_reference: flag(node, "ReferenceClock")?,
            cycle0_ns: time("CycleTime0", 0)?,
            cycle1_ns: time("CycleTime1", i64::from(i32::MIN))?,
            shift_ns: time("ShiftTime", i64::from(i32::MIN))?,
        })
    }

    fn process_data(&mut self, node: Node<'_, '_>) -> Result<ProcessData, Problem> {
        let mut managers = Vec::new();
        for number in 0..16 {
            if let Some(manager) = child(node, &format!("Sm{number}")) {
                managers.push(self.sync_manager(manager, number)?);
            }
        }
        Ok(ProcessData {
            send: self.each(node, "Send", Self::range)?,
            recv: self.each(node, "Recv", Self::range)?,
            managers,
            rx: self.each(node, "RxPdo", Self::pdo)?,
            tx: self.each(node, "TxPdo", Self::pdo)?,
        })
    }

    fn range(&mut self, node: Node<'_, '_>) -> Result<Range, Problem> {
        let value = |name| needed(node, name, size(node, name));
        Ok(Range { line: self.line(node), start: value("BitStart")?, bits: value("BitLength")? })
    }

    fn sync_manager(&mut self, node: Node<'_, '_>, number: usize) -> Result<SyncManager, Problem> {
        let kinds = [
            ("MBoxOut", Purpose::MailboxOut),
            ("MBoxIn", Purpose::MailboxIn),
            ("Outputs", Purpose::Outputs),
            ("Inputs", Purpose::Inputs),
        ];
        let purpose = word(required(node, "Type")?, &kinds.map(|(name, _)| name), |name| {
            kinds.iter().find(|(known, _)| *known == name).map(|(_, purpose)| *purpose)
        })?;
        Ok(SyncManager {
            line: self.line(node),
            number,
            purpose,
            size: small(node, "DefaultSize")?,
            start: needed(node, "StartAddress", small(node, "StartAddress"))?,
            control: needed(node, "ControlByte", byte(node, "ControlByte"))?,
            is_enabled: flag(node, "Enable")?,
            pdos: children(node, "Pdo")
                .map(|pdo| number_of(pdo, 0..=0xFFFF).map(|index| index as u16))
                .collect::<Result<_, _>>()?,
        })
    }

    fn pdo(&mut self, node: Node<'_, '_>) -> Result<PdoElement, Problem> {
        let manager = xml::attribute(node, "Sm")?;
        let manager = manager.map(|number| u8::try_from(number).map_err(|_| Problem::at(node, "Sm is out of range")));
        let index = needed(node, "Index", small(node, "Index"))?;
        let entries = self.each(node, "Entry", Self::entry)?;
        let pdo = Pdo { index, name: text(node, "Name"), entries };
        Ok(PdoElement { line: self.line(node), manager: manager.transpose()?, pdo })
    }

    fn entry(&mut self, node: Node<'_, '_>) -> Result<PdoEntry, Problem> {
        let index = needed(node, "Index", small(node, "Index"))?;
        let bits = needed(node, "BitLen", small(node, "BitLen"))?;
        let data_type = match text(node, "DataType").trim() {
            _ if index == 0 => DataType::Bool,
            "" => DataType::of_width(bits).unwrap_or(DataType::Octets),
            name => DataType::from_esi(name, bits).0,
        };
        Ok(PdoEntry { index, sub: byte(node, "SubIndex")?.unwrap_or(0), bits, name: text(node, "Name"), data_type })
    }

    fn area(&mut self, node: Node<'_, '_>) -> Result<Area, Problem> {
        let value = |name| needed(node, name, small(node, name));
        Ok(Area { line: self.line(node), start: value("Start")?, length: value("Length")? })
    }

    fn mailbox(&mut self, node: Node<'_, '_>) -> Result<Mailbox, Problem> {
        let recv = required(node, "Recv")?;
        let bootstrap = match child(node, "BootStrap") {
            Some(boot) => Some((self.area(required(boot, "Send")?)?, self.area(required(boot, "Recv")?)?)),
            None => None,
        };
        let protocol = |name: &str| PROTOCOLS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
        let names = PROTOCOLS.map(|(name, _)| name);
        let mut mailbox = Mailbox {
            line: self.line(node),
            send: self.area(required(node, "Send")?)?,
            recv: self.area(recv)?,
            poll_ms: size(recv, "PollTime")?,
            bootstrap,
            protocols: children(node, "Protocol").map(|node| word(node, &names, protocol)).collect::<Result<_, _>>()?,
            ..Mailbox::default()
        };
        for (name, number) in PROTOCOLS {
            let Some(commands) = child(node, name).and_then(|block| child(block, "InitCmds")) else { continue };
            if name == "CoE" {
                mailbox.sdos = self.each(commands, "InitCmd", Self::sdo)?;
            } else {
                for command in children(commands, "InitCmd") {
                    mailbox.messages.push(self.message(command, number)?);
                }
            }
        }
        Ok(mailbox)
    }

    fn sdo(&mut self, node: Node<'_, '_>) -> Result<SdoCommand, Problem> {
        let specifier = needed(node, "Ccs", number(node, "Ccs", 1..=2))?;
        Ok(SdoCommand {
            line: self.line(node),
            transitions: transitions(node)?,
            comment: text(node, "Comment"),
            timeout_ms: needed(node, "Timeout", size(node, "Timeout"))?,
            is_upload: specifier == 2,
            index: needed(node, "Index", small(node, "Index"))?,
            sub: needed(node, "SubIndex", byte(node, "SubIndex"))?,
            data: self.hex_child(node, "Data", LONGEST_MESSAGE)?.unwrap_or_default(),
            is_complete: xml::is_set(node, "CompleteAccess"),
            is_disabled: flag(node, "Disabled")?,
        })
    }

    fn message(&mut self, node: Node<'_, '_>, protocol: u8) -> Result<MessageCommand, Problem> {
        let is_described = child(node, "IDN").is_some();
        Ok(MessageCommand {
            line: self.line(node),
            protocol,
            transitions: transitions(node)?,
            comment: text(node, "Comment"),
            timeout_ms: needed(node, "Timeout", size(node, "Timeout"))?,
            data: self.hex_child(node, "Data", LONGEST_MESSAGE)?.filter(|_| !is_described),
            is_disabled: flag(node, "Disabled")?,
        })
    }

    fn init_commands(&mut self, node: Node<'_, '_>) -> Result<Vec<InitCommand>, Problem> {
        child(node, "InitCmds").map_or(Ok(Vec::new()), |commands| self.each(commands, "InitCmd", Self::init_command))
    }

    fn init_command(&mut self, node: Node<'_, '_>) -> Result<InitCommand, Problem> {
        let requires = child(node, "Requires").map(|node| {
            word(node, &["frame", "cycle"], |word| match word {
                "frame" => Some(Requires::Frame),
                "cycle" => Some(Requires::Cycle),
                _ => None,
            })
        });
        Ok(InitCommand {
            transitions: transitions(node)?,
            before_slave: flag(node, "BeforeSlave")?,
            comment: text(node, "Comment"),
            requires: requires.transpose()?,
            datagram: self.datagram(node)?,
            retries: small(node, "Retries")?.unwrap_or(0),
            validate: child(node, "Validate").map(|validate| self.validate(validate)).transpose()?,
        })
    }

    fn validate(&mut self, node: Node<'_, '_>) -> Result<Validate, Problem> {
        if let Some(other) = node.attribute("Type").filter(|kind| *kind != "EQ") {
            let shown: String = other.chars().take(32).collect();
            let message = format!("Validate of type \"{shown}\" is not read");
            return Err(Problem::at(node, message).remedy("Compare for equality, under a DataMask"));
        }
        let data = needed(node, "Data", self.hex_child(node, "Data", LONGEST_DATAGRAM))?;
        let mask = self.hex_child(node, "DataMask", LONGEST_DATAGRAM)?;
        if mask.as_ref().is_some_and(|mask| mask.len() != data.len()) {
            return Err(Problem::at(node, "DataMask and Data differ in length").remedy("Mask each byte of Data"));
        }
        Ok(Validate { data, mask, timeout_ms: needed(node, "Timeout", size(node, "Timeout"))? })
    }

    fn datagram(&mut self, node: Node<'_, '_>) -> Result<Datagram, Problem> {
        let code = needed(node, "Cmd", number(node, "Cmd", 0..=14))?;
        let command = Command::from_byte(code as u8);
        let data = match (child(node, "Data"), child(node, "DataLength")) {
            (Some(data), None) => self.hex(data, LONGEST_DATAGRAM)?,
            (None, Some(length)) => {
                let bytes = number_of(length, 0..=LONGEST_DATAGRAM as i64)? as usize;
                self.reserve(length, bytes, LONGEST_DATAGRAM)?;
                vec![0; bytes]
            }
            (None, None) if command == Command::Nop => Vec::new(),
            (None, None) => {
                return Err(Problem::at(node, format!("{} without Data and DataLength", node.tag_name().name())))
            }
            (Some(data), Some(_)) => {
                return Err(Problem::at(data, "Data beside DataLength").remedy("Keep one of them"));
            }
        };
        Ok(Datagram {
            line: self.line(node),
            command,
            address: target(node, command)?,
            data,
            counter: small(node, "Cnt")?,
        })
    }

    fn cyclic(&mut self, node: Node<'_, '_>) -> Result<Cyclic, Problem> {
        let frames = self.each(node, "Frame", |reader, frame| {
            Ok(Frame { commands: reader.each(frame, "Cmd", Self::cyclic_command)? })
        })?;
        Ok(Cyclic { cycle_us: size(node, "CycleTime")?, frames })
    }

    fn cyclic_command(&mut self, node: Node<'_, '_>) -> Result<CyclicCommand, Problem> {
        let state = |name: &str| STATES.iter().find(|(known, _)| *known == name).map(|(_, state)| *state);
        Ok(CyclicCommand {
            states: children(node, "State")
                .map(|node| word(node, &STATES.map(|(name, _)| name), state))
                .collect::<Result<_, _>>()?,
            comment: text(node, "Comment"),
            datagram: self.datagram(node)?,
            input: place(node, "InputOffs")?,
            output: place(node, "OutputOffs")?,
        })
    }

    fn image(&mut self, node: Node<'_, '_>) -> Result<Image, Problem> {
        let bytes = needed(node, "ByteSize", place(node, "ByteSize"))?;
        Ok(Image { line: self.line(node), bytes, variables: self.each(node, "Variable", Self::variable)? })
    }

    fn variable(&mut self, node: Node<'_, '_>) -> Result<Variable, Problem> {
        let value = |name| needed(node, name, size(node, name));
        Ok(Variable {
            line: self.line(node),
            name: text(node, "Name"),
            data_type: child(node, "DataType").and_then(|node| node.text()).map(str::to_owned),
            bits: value("BitSize")?,
            offset: value("BitOffs")?,
        })
    }
}

/// The address field: Adp and Ado, or Addr for logical commands.
fn target(node: Node<'_, '_>, command: Command) -> Result<u32, Problem> {
    let is_logical = command.addressing() == Addressing::Logical;
    let (wrong, right) = if is_logical { ("Ado", "Addr") } else { ("Addr", "Ado") };
    let name = Command::NAMES[usize::from(command as u8).min(14)];
    if let Some(place) = child(node, wrong) {
        return Err(Problem::at(place, format!("{wrong} of a {name}")).remedy(format!("Give a {name} its {right}")));
    }
    if is_logical {
        return needed(node, right, bits(node, right, 32));
    }
    let offset = small(node, right);
    let offset = if command == Command::Nop { offset?.unwrap_or(0) } else { needed(node, right, offset)? };
    Ok(address(bits(node, "Adp", 16)?.unwrap_or(0) as u16, offset))
}
