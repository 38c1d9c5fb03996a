// SPDX-License-Identifier: Apache-2.0
//! A network as XML. Each element of the format is a sequence: the order of the calls is that of the schema, version 1.3.

use super::*;
use crate::command::Addressing;
use crate::description::{PdoEntry, Purpose};
use crate::markup::escaped;
use std::fmt::{Display, Write};

/// Data of as many bytes are written out; longer ones of zeros are a length.
const SHORT: usize = 16;

/// Text of a file, with its elements indented.
struct Xml {
    text: String,
    open: Vec<String>,
}

impl Xml {
    fn element(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.element_with(name, "", content);
    }

    /// With attributes, as they stand behind the name.
    fn element_with(&mut self, name: &str, attributes: &str, content: impl FnOnce(&mut Self)) {
        let indent = 2 * self.open.len();
        let _ = writeln!(self.text, "{:indent$}<{name}{attributes}>", "");
        self.open.push(name.into());
        content(self);
        self.open.pop();
        let _ = writeln!(self.text, "{:indent$}</{name}>", "");
    }

    fn value(&mut self, name: &str, value: impl Display) {
        let indent = 2 * self.open.len();
        let _ = writeln!(self.text, "{:indent$}<{name}>{}</{name}>", "", escaped(&value.to_string()));
    }

    fn optional(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    /// A comment of the format, where there is one.
    fn comment(&mut self, comment: &str) {
        self.optional("Comment", Some(comment).filter(|comment| !comment.is_empty()));
    }

    /// A number of 32 bits: the schema's are signed.
    fn signed(&mut self, name: &str, value: u32) {
        self.value(name, value as i32);
    }

    fn hex(&mut self, name: &str, bytes: &[u8]) {
        self.value(name, bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")));
    }
}

/// The file of a network, without init commands of SoE.
pub fn write(network: &Network) -> String {
    let mut xml = Xml { text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".into(), open: Vec::new() };
    xml.element_with("EtherCATConfig", " Version=\"1.3\"", |xml| {
        xml.element("Config", |xml| {
            master(xml, &network.master);
            network.slaves.iter().for_each(|device| slave(xml, device));
            network.cycles.iter().for_each(|cycle| cyclic(xml, cycle));
            if network.inputs.is_some() || network.outputs.is_some() {
                xml.element("ProcessImage", |xml| {
                    image(xml, "Inputs", network.inputs.as_ref());
                    image(xml, "Outputs", network.outputs.as_ref());
                });
            }
        });
    });
    xml.text
}

fn master(xml: &mut Xml, master: &Master) {
    xml.element("Master", |xml| {
        xml.element("Info", |xml| {
            xml.value("Name", &master.name);
            xml.hex("Destination", &master.destination);
            xml.hex("Source", &master.source);
        });
        init_commands(xml, &master.commands);
    });
}

fn slave(xml: &mut Xml, slave: &Slave) {
    xml.element("Slave", |xml| {
        xml.element("Info", |xml| {
            xml.value("Name", &slave.name);
            xml.optional("PhysAddr", slave.station);
            xml.optional("AutoIncAddr", slave.position);
            // Four MII ports, as the EEPROM says.
            xml.value("Physics", "YYYY");
            xml.signed("VendorId", slave.identity.vendor);
            xml.signed("ProductCode", slave.identity.product);
            xml.signed("RevisionNo", slave.identity.revision);
            xml.signed("SerialNo", slave.identity.serial);
        });
        if let Some(data) = &slave.process_data {
            process_data(xml, data);
        }
        if let Some(settings) = &slave.mailbox {
            mailbox(xml, settings);
        }
        init_commands(xml, &slave.commands);
        for previous in &slave.previous {
            xml.element_with("PreviousPort", &format!(" Selected=\"{}\"", u8::from(previous.is_selected)), |xml| {
                xml.value("Port", ['A', 'B', 'C', 'D'].get(usize::from(previous.port)).copied().unwrap_or('B'));
                xml.optional("PhysAddr", previous.station);
            });
        }
        if let Some(clock) = &slave.clock {
            xml.element("DC", |xml| {
                xml.value("ReferenceClock", u8::from(clock.is_reference));
                xml.value("CycleTime0", clock.cycle0_ns);
                xml.value("CycleTime1", clock.cycle1_ns);
                xml.value("ShiftTime", clock.shift_ns);
            });
        }
    });
}

fn process_data(xml: &mut Xml, data: &ProcessData) {
    xml.element("ProcessData", |xml| {
        for (name, ranges) in [("Send", &data.send), ("Recv", &data.recv)] {
            for range in ranges {
                xml.element(name, |xml| {
                    xml.value("BitStart", range.start);
                    xml.value("BitLength", range.bits);
                });
            }
        }
        for manager in &data.managers {
            xml.element(&format!("Sm{}", manager.number), |xml| {
                xml.value("Type", purpose_name(manager.purpose));
                xml.optional("DefaultSize", manager.size);
                xml.value("StartAddress", manager.start);
                xml.value("ControlByte", manager.control);
                xml.value("Enable", u8::from(manager.is_enabled));
                manager.pdos.iter().for_each(|index| xml.value("Pdo", index));
            });
        }
        for (name, elements) in [("RxPdo", &data.rx), ("TxPdo", &data.tx)] {
            elements.iter().for_each(|element| pdo(xml, name, element));
        }
    });
}

/// Name of a sync manager's purpose in ESI and ENI files.
fn purpose_name(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::MailboxOut => "MBoxOut",
        Purpose::MailboxIn => "MBoxIn",
        Purpose::Inputs => "Inputs",
        Purpose::Outputs | Purpose::Unused => "Outputs",
    }
}

fn pdo(xml: &mut Xml, name: &str, element: &PdoElement) {
    let attributes = element.manager.map_or(String::new(), |number| format!(" Sm=\"{number}\""));
    xml.element_with(name, &attributes, |xml| {
        xml.value("Index", format!("#x{:04x}", element.pdo.index));
        xml.value("Name", &element.pdo.name);
        for entry in &element.pdo.entries {
            xml.element("Entry", |xml| {
                xml.value("Index", format!("#x{:04x}", entry.index));
                xml.value("SubIndex", entry.sub);
                xml.value("BitLen", entry.bits);
                if entry.index != 0 {
                    xml.value("Name", &entry.name);
                    xml.optional("DataType", type_name(entry));
                }
            });
        }
    });
}

/// Type of an entry, by its name in ESI files; `None` for a type without a name.
pub(super) fn type_name(entry: &PdoEntry) -> Option<String> {
    entry.data_type.esi_name(entry.bits)
}

fn mailbox(xml: &mut Xml, mailbox: &Mailbox) {
    let area = |xml: &mut Xml, name: &str, area: &Area, poll_ms: Option<u32>| {
        xml.element(name, |xml| {
            xml.value("Start", area.start);
            xml.value("Length", area.length);
            xml.optional("PollTime", poll_ms);
        });
    };
    xml.element("Mailbox", |xml| {
        area(xml, "Send", &mailbox.send, None);
        area(xml, "Recv", &mailbox.recv, mailbox.poll_ms);
        if let Some((send, recv)) = &mailbox.bootstrap {
            xml.element("BootStrap", |xml| {
                area(xml, "Send", send, None);
                area(xml, "Recv", recv, None);
            });
        }
        mailbox.protocols.iter().for_each(|protocol| xml.value("Protocol", protocol_name(*protocol)));
        if !mailbox.sdos.is_empty() {
            xml.element("CoE", |xml| {
                xml.element("InitCmds", |xml| mailbox.sdos.iter().for_each(|command| sdo(xml, command)));
            });
        }
        // In the order of the schema; SoE is described by fields that are not kept.
        for name in ["AoE", "EoE", "FoE", "VoE"] {
            let of_protocol = |command: &&MessageCommand| protocol_name(command.protocol) == name;
            let mut commands = mailbox.messages.iter().filter(of_protocol).peekable();
            if commands.peek().is_some() {
                xml.element(name, |xml| {
                    xml.element("InitCmds", |xml| commands.for_each(|command| message(xml, command)))
                });
            }
        }
    });
}

fn sdo(xml: &mut Xml, command: &SdoCommand) {
    let attributes = if command.is_complete { " CompleteAccess=\"1\"" } else { "" };
    xml.element_with("InitCmd", attributes, |xml| {
        command.transitions.iter().for_each(|transition| xml.value("Transition", transition.name()));
        xml.comment(&command.comment);
        xml.value("Timeout", command.timeout_ms);
        xml.value("Ccs", if command.is_upload { 2 } else { 1 });
        xml.value("Index", command.index);
        xml.value("SubIndex", command.sub);
        if !command.data.is_empty() {
            xml.hex("Data", &command.data);
        }
        if command.is_disabled {
            xml.value("Disabled", 1);
        }
    });
}

fn message(xml: &mut Xml, command: &MessageCommand) {
    xml.element("InitCmd", |xml| {
        command.transitions.iter().for_each(|transition| xml.value("Transition", transition.name()));
        xml.comment(&command.comment);
        xml.value("Timeout", command.timeout_ms);
        xml.hex("Data", command.data.as_deref().unwrap_or_default());
        if command.is_disabled {
            xml.value("Disabled", 1);
        }
    });
}

fn init_commands(xml: &mut Xml, commands: &[InitCommand]) {
    if commands.is_empty() {
        return;
    }
    xml.element("InitCmds", |xml| {
        for command in commands {
            xml.element("InitCmd", |xml| init_command(xml, command));
        }
    });
}

fn init_command(xml: &mut Xml, command: &InitCommand) {
    command.transitions.iter().for_each(|transition| xml.value("Transition", transition.name()));
    if command.before_slave {
        xml.value("BeforeSlave", 1);
    }
    xml.comment(&command.comment);
    xml.optional(
        "Requires",
        command.requires.map(|requires| if requires == Requires::Cycle { "cycle" } else { "frame" }),
    );
    datagram(xml, &command.datagram);
    if command.retries > 0 {
        xml.value("Retries", command.retries);
    }
    if let Some(validate) = &command.validate {
        xml.element("Validate", |xml| {
            xml.hex("Data", &validate.data);
            if let Some(mask) = &validate.mask {
                xml.hex("DataMask", mask);
            }
            xml.value("Timeout", validate.timeout_ms);
        });
    }
}

fn datagram(xml: &mut Xml, datagram: &Datagram) {
    xml.value("Cmd", datagram.command as u8);
    if datagram.command.addressing() == Addressing::Logical {
        xml.signed("Addr", datagram.address);
    } else {
        xml.value("Adp", datagram.address & 0xFFFF);
        xml.value("Ado", datagram.address >> 16);
    }
    let is_zero = datagram.data.iter().all(|byte| *byte == 0);
    if is_zero && (datagram.data.len() > SHORT || !datagram.command.writes()) {
        xml.value("DataLength", datagram.data.len());
    } else {
        xml.hex("Data", &datagram.data);
    }
    xml.optional("Cnt", datagram.counter);
}

fn cyclic(xml: &mut Xml, cycle: &Cyclic) {
    xml.element("Cyclic", |xml| {
        xml.optional("CycleTime", cycle.cycle_us);
        for frame in &cycle.frames {
            xml.element("Frame", |xml| {
                for command in &frame.commands {
                    xml.element("Cmd", |xml| cyclic_command(xml, command));
                }
            });
        }
    });
}

fn cyclic_command(xml: &mut Xml, command: &CyclicCommand) {
    for state in &command.states {
        xml.optional("State", STATES.iter().find(|(_, known)| known == state).map(|(name, _)| name));
    }
    xml.comment(&command.comment);
    datagram(xml, &command.datagram);
    xml.optional("InputOffs", command.input);
    xml.optional("OutputOffs", command.output);
}

fn image(xml: &mut Xml, name: &str, image: Option<&Image>) {
    let Some(image) = image else { return };
    xml.element(name, |xml| {
        xml.value("ByteSize", image.bytes);
        for variable in &image.variables {
            xml.element("Variable", |xml| {
                xml.value("Name", &variable.name);
                xml.optional("DataType", variable.data_type.as_ref());
                xml.value("BitSize", variable.bits);
                xml.value("BitOffs", variable.offset);
            });
        }
    });
}
