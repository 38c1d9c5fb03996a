// SPDX-License-Identifier: Apache-2.0
//! EtherCAT slave information files (ETG.2000): identity and process data of a device.

use crate::description::{DataType, Description, Pdo, PdoEntry};
use crate::error::SegmentError;
use roxmltree::{Document, Node};
use std::path::Path;

/// What the segment takes from an ESI file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Esi {
    /// Vendor number.
    pub vendor: u32,
    /// Product code.
    pub product: u32,
    /// Revision.
    pub revision: u32,
    /// Type name.
    pub type_name: String,
    /// From the master: PDOs with a sync manager, in order.
    pub rx: Vec<Pdo>,
    /// To the master.
    pub tx: Vec<Pdo>,
}

impl Esi {
    /// Gives a description this identity, and these process data where the file has any.
    pub fn apply(self, description: &mut Description) {
        description.identity.vendor = self.vendor;
        description.identity.product = self.product;
        description.identity.revision = self.revision;
        description.type_name = self.type_name;
        if !self.rx.is_empty() || !self.tx.is_empty() {
            (description.rx, description.tx) = (self.rx, self.tx);
        }
    }
}

/// Reads the device with a product code, or the first.
pub fn read(path: &Path, product: Option<u32>) -> Result<Esi, SegmentError> {
    let text = std::fs::read_to_string(path).map_err(|source| SegmentError::File {
        action: "read ESI file",
        path: path.into(),
        source,
        remedy: "Paths are relative to the ring file",
    })?;
    parse(&text, product)
        .map_err(|message| SegmentError::config(path, message, "Use an ESI file as ETG.2000 describes it"))
}

/// Parses the text of an ESI file; the error is a message.
pub fn parse(text: &str, product: Option<u32>) -> Result<Esi, String> {
    let document = Document::parse(text).map_err(|error| format!("not XML: {error}"))?;
    let root = document.root_element();
    let vendor = descend(root, &["Vendor", "Id"]).and_then(|id| number(id.text()?)).ok_or("no Vendor/Id")?;
    let devices = descend(root, &["Descriptions", "Devices"]).ok_or("no Descriptions/Devices")?;
    let code = |device: Node<'_, '_>| number(child(device, "Type")?.attribute("ProductCode")?);
    let mut candidates = devices.children().filter(|node| node.has_tag_name("Device"));
    let device = match product {
        None => candidates.next().ok_or("no Device")?,
        Some(product) => candidates
            .find(|device| code(*device) == Some(product))
            .ok_or(format!("no Device with ProductCode {product:#x}"))?,
    };
    let kind = child(device, "Type").ok_or("Device without Type")?;
    let pdos = |tag| device.children().filter(move |node| node.has_tag_name(tag) && node.attribute("Sm").is_some());
    Ok(Esi {
        vendor,
        product: code(device).ok_or("Type without ProductCode")?,
        revision: kind.attribute("RevisionNo").and_then(number).unwrap_or(0),
        type_name: kind.text().unwrap_or("").trim().to_owned(),
        rx: pdos("RxPdo").map(pdo).collect::<Result<_, _>>()?,
        tx: pdos("TxPdo").map(pdo).collect::<Result<_, _>>()?,
    })
}

fn pdo(node: Node<'_, '_>) -> Result<Pdo, String> {
    let index = child(node, "Index").and_then(|index| number(index.text()?)).ok_or("PDO without Index")?;
    let name = child(node, "Name").and_then(|name| name.text()).unwrap_or("").to_owned();
    let entries = node.children().filter(|entry| entry.has_tag_name("Entry")).map(entry);
    Ok(Pdo { index: narrow(index)?, name, entries: entries.collect::<Result<_, _>>()? })
}

fn entry(node: Node<'_, '_>) -> Result<PdoEntry, String> {
    let field = |name| child(node, name).and_then(|field| field.text()).map(str::trim);
    let value = |name| field(name).and_then(number);
    let index = narrow(value("Index").ok_or("Entry without Index")?)?;
    let bits = value("BitLen").ok_or("Entry without BitLen")?;
    let bits = u8::try_from(bits).map_err(|_| format!("BitLen {bits} is more than 255"))?;
    let data_type = match field("DataType") {
        None if index == 0 => DataType::Bool,
        None => return Err(format!("Entry {index:#06x} without DataType")),
        // A type of the vendor's own, an enumeration or a structure, counts by its width.
        Some(name) => DataType::from_esi(name).or_else(|| DataType::of_width(bits)).ok_or_else(|| {
            format!("Entry {index:#06x}: DataType {name} is not known, and no number has its BitLen {bits}")
        })?,
    };
    if index != 0 && data_type.bits() != u16::from(bits) {
        return Err(format!("Entry {index:#06x}: BitLen {bits} does not fit its DataType"));
    }
    let sub = value("SubIndex").unwrap_or(0);
    let sub = u8::try_from(sub).map_err(|_| format!("SubIndex {sub} is more than 255"))?;
    Ok(PdoEntry { index, sub, bits, name: field("Name").unwrap_or("").to_owned(), data_type })
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|child| child.has_tag_name(name))
}

fn descend<'a, 'input>(node: Node<'a, 'input>, path: &[&str]) -> Option<Node<'a, 'input>> {
    path.iter().try_fold(node, |node, name| child(node, name))
}

/// `#x1A` is hexadecimal, everything else decimal.
fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("#x").or_else(|| text.strip_prefix("#X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn narrow(value: u32) -> Result<u16, String> {
    u16::try_from(value).map_err(|_| format!("index {value:#x} is more than 16 bits"))
}
