// SPDX-License-Identifier: Apache-2.0
//! EtherCAT slave information files (ETG.2000): identity and process data of a device.

mod assignment;

use crate::description::{
    own_managers, Bootstrap, DataType, Description, Identification, Manager, Pdo, PdoEntry, Purpose, COE_ASSIGN,
    COE_CONFIGURE, COE_DETAILS, MAILBOX_LENGTH, MOST_PIECES,
};
use crate::eoe::settings::Abilities;
use crate::error::{read_file, SegmentError};
use crate::xml::{
    self, attribute, child, children, decode, is_set, narrow, number, required, required_number, Format, Problem,
};
use roxmltree::Node;
use std::path::Path;

/// Which device of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Choice {
    /// Product code; absent: the only device.
    pub product: Option<u32>,
    /// Revision; absent: the only one.
    pub revision: Option<u32>,
}

/// The parts of an ESI file that the segment uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Esi {
    /// `Id` of the `Vendor`.
    pub vendor: u32,
    /// `ProductCode` of the `Type`.
    pub product: u32,
    /// `RevisionNo` of the `Type`, 0 where it has none.
    pub revision: u32,
    /// Text of the `Type`.
    pub type_name: String,
    /// From the master, assigned or not, in order.
    pub rx: Vec<Pdo>,
    /// Process data from the device to the master.
    pub tx: Vec<Pdo>,
    /// PDOs assigned from the start, in order, and their sync managers.
    pub assigned: Vec<(u16, usize)>,
    /// Sync managers, by number; empty where the file has none.
    pub managers: Vec<Manager>,
    /// CoE details of its mailbox: `None` without a word about mailboxes, `Some(None)` for one without CoE.
    pub coe: Option<Option<u8>>,
    /// FoE in its mailbox.
    pub foe: bool,
    /// EoE in its mailbox.
    pub eoe: Option<Abilities>,
    /// AoE in its mailbox.
    pub aoe: bool,
    /// SoE in its mailbox.
    pub soe: bool,
    /// VoE in its mailbox.
    pub voe: bool,
    /// How its ID switch is read.
    pub identification: Identification,
    /// Mailbox of the bootstrap state, as `BootStrap` has it.
    pub bootstrap: Option<Bootstrap>,
}

impl Esi {
    /// Gives a description this identity, these process data and sync managers. Without sync managers in the file it has
    /// those of kadenz' own devices; process data at 2 and above then stand behind mailboxes.
    pub fn apply(self, description: &mut Description) {
        description.identity.vendor = self.vendor;
        description.identity.product = self.product;
        description.identity.revision = self.revision;
        description.type_name = self.type_name;
        description.identification = self.identification;
        description.sync_managers = if self.managers.is_empty() {
            let is_assigned = |pdo: &&Pdo| self.assigned.iter().any(|(index, _)| *index == pdo.index);
            let assigned = |pdos: &[Pdo]| -> Vec<Pdo> { pdos.iter().filter(is_assigned).cloned().collect() };
            let first = self.assigned.iter().map(|(_, number)| *number).min();
            let has_mailbox = self.coe.is_some() || first.map_or(description.has_mailbox(), |first| first >= 2);
            own_managers(has_mailbox, &assigned(&self.rx), &assigned(&self.tx))
        } else {
            self.managers
        };
        (description.rx, description.tx) = (self.rx, self.tx);
        description.coe = description.has_mailbox().then(|| self.coe.unwrap_or(Some(COE_DETAILS))).flatten();
        description.foe = description.has_mailbox() && self.foe;
        description.eoe = self.eoe.filter(|_| description.has_mailbox());
        description.aoe = description.has_mailbox() && self.aoe;
        description.soe = description.has_mailbox() && self.soe;
        description.voe = description.has_mailbox() && self.voe;
        description.bootstrap = self.bootstrap.filter(|_| description.has_mailbox());
    }
}

/// What a device with process data of its own would be without: (message, remedy) where none is assigned from the start
/// and the master cannot assign any.
pub fn lack(description: &Description) -> Option<(String, String)> {
    let can_assign = description.coe.is_some_and(|details| details & COE_ASSIGN != 0);
    let pdos: Vec<u16> = description.rx.iter().chain(&description.tx).map(|pdo| pdo.index).collect();
    let is_assigned = pdos.iter().any(|pdo| description.manager_of(*pdo).is_some());
    let (product, name) = (description.identity.product, &description.type_name);
    let remedy = "or set kind = \"coupler\" for a device without process data";
    if pdos.is_empty() {
        let message = format!("device {product:#x} ({name}) has no RxPdo and no TxPdo");
        return Some((message, format!("Choose another device by esi_product, {remedy}")));
    }
    (!is_assigned && !can_assign).then(|| {
        let names: Vec<String> = pdos.iter().map(|index| format!("{index:#06x}")).collect();
        let message = format!(
            "device {product:#x} ({name}) assigns no PDO to a sync manager, and a master cannot without CoE; it has {} \
             without Sm",
            names.join(", ")
        );
        (message, format!("Add Sm=\"2\" to an RxPdo or Sm=\"3\" to a TxPdo, {remedy}"))
    })
}

/// Reads the device that a choice leaves.
pub fn read(path: &Path, choice: Choice) -> Result<Esi, SegmentError> {
    let bytes = read_file(path, "ESI file", xml::LONGEST, "A path in a ring file is relative to the ring file")?;
    let text = decode(&bytes).map_err(|(message, remedy)| SegmentError::config(path, message, remedy))?;
    parse(&text, choice).map_err(|problem| SegmentError::config(path, problem.message, problem.remedy))
}

/// Parses the text of an ESI file.
pub fn parse(text: &str, choice: Choice) -> Result<Esi, Problem> {
    let document = xml::parse(text, &Format::ESI)?;
    let root = document.root_element();
    let vendor = required_number(required(required(root, "Vendor")?, "Id")?)?;
    let devices = required(required(root, "Descriptions")?, "Devices")?;
    let device = choose(devices, choice)?;
    let kind = required(device, "Type")?;
    let pdos = |tag| -> Result<Vec<Pdo>, Problem> {
        children(device, tag).filter(|node| !is_set(*node, "Virtual")).map(pdo).collect()
    };
    let (rx, tx) = (pdos("RxPdo")?, pdos("TxPdo")?);
    let has_slots = child(device, "Slots").filter(|_| rx.is_empty() && tx.is_empty());
    if let Some(slots) = has_slots {
        let message = "the device takes its process data from modules (Slots), which are not read";
        return Err(Problem::at(slots, message).remedy("Describe the device with its modules' PDOs as its own"));
    }
    let mut managers = children(device, "Sm").map(manager).collect::<Result<Vec<_>, _>>()?;
    let assigned = assignment::assign(device, &mut managers)?;
    while managers.last().is_some_and(|manager| manager.purpose == Purpose::Unused) {
        managers.pop();
    }
    let has = |protocol| child(device, "Mailbox").is_some_and(|mailbox| child(mailbox, protocol).is_some());
    Ok(Esi {
        vendor,
        product: attribute(kind, "ProductCode")?.ok_or_else(|| Problem::at(kind, "Type without ProductCode"))?,
        revision: attribute(kind, "RevisionNo")?.unwrap_or(0),
        type_name: kind.text().unwrap_or("").trim().to_owned(),
        rx,
        tx,
        assigned,
        managers,
        coe: child(device, "Mailbox").map(|mailbox| child(mailbox, "CoE").map(coe_details)),
        foe: has("FoE"),
        aoe: has("AoE"),
        soe: has("SoE"),
        voe: has("VoE"),
        identification: child(device, "Info").map_or(Ok(Identification::default()), identification)?,
        eoe: child(device, "Mailbox").and_then(|mailbox| child(mailbox, "EoE")).map(abilities),
        bootstrap: child(device, "Eeprom").and_then(|eeprom| child(eeprom, "BootStrap")).map_or(Ok(None), bootstrap)?,
    })
}

/// Revisions that an error lists.
const MOST_NAMED: usize = 64;

/// The one device that a choice leaves.
fn choose<'a, 'input>(devices: Node<'a, 'input>, choice: Choice) -> Result<Node<'a, 'input>, Problem> {
    let mut found = Vec::new();
    for device in children(devices, "Device") {
        let kind = required(device, "Type")?;
        let (product, revision) = (attribute(kind, "ProductCode")?, attribute(kind, "RevisionNo")?.unwrap_or(0));
        let fits = choice.product.is_none_or(|wanted| product == Some(wanted))
            && choice.revision.is_none_or(|wanted| revision == wanted);
        if fits {
            found.push((device, product.unwrap_or(0), revision, kind.text().unwrap_or("").trim()));
        }
    }
    let (Some(first), Some(newest)) = (found.first(), found.iter().map(|device| device.2).max()) else {
        let product = choice.product.map_or(String::new(), |product| format!(" with ProductCode {product:#x}"));
        let revision = choice.revision.map_or(String::new(), |revision| format!(" and RevisionNo {revision:#010x}"));
        return Err(Problem::at(devices, format!("no Device{product}{revision}")).remedy("Choose one of the file"));
    };
    if let [(only, ..)] = found.as_slice() {
        return Ok(*only);
    }
    if found.iter().any(|device| device.1 != first.1) {
        let known = found.iter().take(4).map(|(_, product, _, name)| format!("{product:#010x} ({name})"));
        let message = format!("the file has {} devices", found.len());
        let remedy = format!("Choose one by esi_product: {} …", known.collect::<Vec<_>>().join(", "));
        return Err(Problem::at(first.0, message).remedy(remedy));
    }
    let revisions: Vec<String> = found.iter().take(MOST_NAMED).map(|device| format!("{:#010x}", device.2)).collect();
    if found.iter().all(|device| device.2 == newest) {
        return Err(Problem::at(first.0, format!("{} ({newest:#010x}) stands {} times", first.3, found.len()))
            .remedy("Remove all but one of them"));
    }
    let message = format!("{} has the revisions {}", first.3, revisions.join(", "));
    Err(Problem::at(first.0, message).remedy(format!("Choose one: esi_revision = {newest:#010x} is the newest")))
}

/// What `EoE` says a device can do. Files that say nothing of addresses are of devices that take them.
fn abilities(eoe: Node<'_, '_>) -> Abilities {
    let is_allowed = |name| eoe.attribute(name).is_none() || is_set(eoe, name);
    Abilities { ip: is_allowed("IP"), mac: is_allowed("MAC"), stamps: is_set(eoe, "TimeStamp") }
}

/// How `Info` says that the ID switch is read.
fn identification(info: Node<'_, '_>) -> Result<Identification, Problem> {
    let by_status = child(info, "IdentificationReg134").and_then(|node| node.text()).map(str::trim);
    let address = child(info, "IdentificationAdo").map(|node| narrow(node, required_number(node)?)).transpose()?;
    Ok(Identification { by_status: by_status.is_some_and(|text| matches!(text, "1" | "true")), address })
}

/// CoE details of the EEPROM from the attributes of a CoE element.
fn coe_details(coe: Node<'_, '_>) -> u8 {
    let attributes =
        [("SdoInfo", 0x02), ("PdoAssign", COE_ASSIGN), ("PdoConfig", COE_CONFIGURE), ("CompleteAccess", 0x20)];
    attributes.iter().filter(|(name, _)| is_set(coe, name)).fold(0x01, |details, (_, bit)| details | bit)
}

/// The EEPROM words 0x14 to 0x17: start and length of the mailbox to the device, then of the one to the master. All of
/// them 0 say that there is none.
fn bootstrap(node: Node<'_, '_>) -> Result<Option<Bootstrap>, Problem> {
    let text = node.text().unwrap_or("").trim();
    let words = u64::from_str_radix(text.get(..16).unwrap_or(""), 16).map_err(|_| {
        let shown: String = text.chars().take(32).collect();
        Problem::at(node, format!("BootStrap \"{shown}\" is not four words in hexadecimal, like 0010800080108000"))
    })?;
    let [a, b, c, d, e, f, g, h] = words.to_be_bytes();
    let [start, size, other, most] = [[a, b], [c, d], [e, f], [g, h]].map(u16::from_le_bytes);
    Ok((words != 0).then_some(Bootstrap { out: (start, size), inward: (other, most) }))
}

fn manager(node: Node<'_, '_>) -> Result<Manager, Problem> {
    let (purpose, usual) = match node.text().unwrap_or("").trim() {
        _ if is_set(node, "Virtual") => (Purpose::Unused, 0),
        "MBoxOut" => (Purpose::MailboxOut, 0x26),
        "MBoxIn" => (Purpose::MailboxIn, 0x22),
        "Outputs" | "DynamicOutputs" => (Purpose::Outputs, 0x64),
        "Inputs" | "DynamicInputs" => (Purpose::Inputs, 0x20),
        other => {
            let message = format!("Sm \"{other}\" is none of MBoxOut, MBoxIn, Outputs, Inputs");
            return Err(Problem::at(node, message));
        }
    };
    let narrow = |name| attribute(node, name)?.map(|value| narrow(node, value)).transpose();
    let start = narrow("StartAddress")?.ok_or_else(|| Problem::at(node, "Sm without StartAddress"))?;
    let (least, most) = (narrow("MinSize")?, narrow("MaxSize")?);
    let size = narrow("DefaultSize")?.or(most).or(least).unwrap_or(MAILBOX_LENGTH);
    Ok(Manager {
        start,
        control: narrow("ControlByte")?.unwrap_or(usual) as u8,
        purpose,
        size,
        sizes: (least.unwrap_or(size), most.unwrap_or(size)),
        op_only: is_set(node, "OpOnly") || attribute(node, "Enable").is_ok_and(|enable| enable.unwrap_or(0) & 8 != 0),
        pdos: Vec::new(),
    })
}

fn pdo(node: Node<'_, '_>) -> Result<Pdo, Problem> {
    let tag = node.tag_name().name();
    if let Some(name) = node.attribute("Ref") {
        let message = format!("{tag} refers to \"{name}\", which the file does not define");
        return Err(
            Problem::at(node, message).remedy("Use a newer file of the vendor, whose PDOs have Index and Entry")
        );
    }
    let index = index_of(node)?;
    let name = child(node, "Name").and_then(|name| name.text()).unwrap_or("").to_owned();
    let entries = children(node, "Entry")
        .map(|node| entry(node).map_err(|message| Problem::at(node, format!("{tag} {index:#06x}: {message}"))));
    let pdo = Pdo { index, name, entries: entries.collect::<Result<_, _>>()? };
    match pdo.pieces().count() {
        0..=MOST_PIECES => Ok(pdo),
        pieces => {
            let message =
                format!("{tag} {index:#06x} needs {pieces} mapping entries, sub-indices end at {MOST_PIECES}");
            Err(Problem::at(node, message))
        }
    }
}

/// Index of a PDO.
fn index_of(node: Node<'_, '_>) -> Result<u16, Problem> {
    narrow(node, required_number(required(node, "Index")?)?)
}

fn entry(node: Node<'_, '_>) -> Result<PdoEntry, String> {
    let field = |name| child(node, name).and_then(|field| field.text()).map(str::trim);
    let value = |name| match field(name) {
        Some(text) => number(text).map(Some).ok_or(format!("{name} \"{text}\" is not a number")),
        None => Ok(None),
    };
    let index = value("Index")?.ok_or("Entry without Index")?;
    let index = u16::try_from(index).map_err(|_| format!("index {index:#x} is more than 16 bits"))?;
    let bits = value("BitLen")?.ok_or(format!("Entry {index:#06x} without BitLen"))?;
    let bits = u16::try_from(bits).map_err(|_| format!("Entry {index:#06x}: BitLen {bits} is more than 65535"))?;
    let data_type = match field("DataType") {
        // Padding, whatever type some files give it.
        _ if index == 0 => DataType::Bool,
        None => return Err(format!("Entry {index:#06x} without DataType")),
        Some(_) if bits == 0 => return Err(format!("Entry {index:#06x}: BitLen 0 holds nothing")),
        Some(name) => {
            let (data_type, own) = DataType::from_esi(name, bits);
            if own.is_some_and(|own| own != u32::from(bits)) {
                return Err(format!("Entry {index:#06x}: BitLen {bits} does not fit its DataType {name}"));
            }
            data_type
        }
    };
    let sub = value("SubIndex")?.unwrap_or(0);
    let sub = u8::try_from(sub).map_err(|_| format!("SubIndex {sub} is more than 255"))?;
    Ok(PdoEntry { index, sub, bits, name: field("Name").unwrap_or("").to_owned(), data_type })
}
