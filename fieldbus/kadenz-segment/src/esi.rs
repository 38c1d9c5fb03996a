// SPDX-License-Identifier: Apache-2.0
//! EtherCAT slave information files (ETG.2000): identity and process data of a device.

use crate::description::{DataType, Description, Pdo, PdoEntry, MOST_PIECES};
use crate::error::{read_bytes, SegmentError};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, UTF_8};
use roxmltree::{Document, Node};
use std::borrow::Cow;
use std::path::Path;

/// The parts of an ESI file that the segment uses.
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
    /// PDOs without a sync manager, by index.
    pub unassigned: Vec<u16>,
}

impl Esi {
    /// Gives a description this identity and these process data.
    pub fn apply(self, description: &mut Description) {
        description.identity.vendor = self.vendor;
        description.identity.product = self.product;
        description.identity.revision = self.revision;
        description.type_name = self.type_name;
        (description.rx, description.tx) = (self.rx, self.tx);
    }

    /// What a device with process data of its own would be without: (message, remedy) where the file assigns none.
    pub fn lacks_process_data(&self) -> Option<(String, String)> {
        if !self.rx.is_empty() || !self.tx.is_empty() {
            return None;
        }
        let remedy = "or set kind = \"coupler\" for a device without process data";
        if self.unassigned.is_empty() {
            let message = format!("device {:#x} ({}) has no RxPdo and no TxPdo", self.product, self.type_name);
            return Some((message, format!("Choose another device by esi_product, {remedy}")));
        }
        let names: Vec<String> = self.unassigned.iter().map(|index| format!("{index:#06x}")).collect();
        let message = format!(
            "device {:#x} ({}) assigns no PDO to a sync manager; it has {} without Sm",
            self.product,
            self.type_name,
            names.join(", ")
        );
        Some((message, format!("Add Sm=\"2\" to an RxPdo or Sm=\"3\" to a TxPdo, {remedy}")))
    }
}

/// Longest ESI file, bytes; those of whole families of terminals have some 30 MB.
const LONGEST: u64 = 256 << 20;

/// Reads the device with a product code, or the first.
pub fn read(path: &Path, product: Option<u32>) -> Result<Esi, SegmentError> {
    let bytes = read_bytes(path, "ESI file", LONGEST, "A path in a ring file is relative to the ring file")?;
    let text = decode(&bytes).map_err(|(message, remedy)| SegmentError::config(path, message, remedy))?;
    parse(&text, product)
        .map_err(|message| SegmentError::config(path, message, "Use an ESI file as ETG.2000 describes it"))
}

/// The text of an XML file, by its byte order mark, or else by its declaration; without either it is UTF-8 (XML 1.0,
/// appendix F). Beckhoff's files declare ISO-8859-1. The error is (message, remedy).
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, (String, String)> {
    let (encoding, skip, by) = match Encoding::for_bom(bytes) {
        Some((encoding, skip)) => (encoding, skip, "by its byte order mark"),
        // `<?` of a file in UTF-16 without the mark.
        None if bytes.starts_with(b"<\0?\0") => (UTF_16LE, 0, "by its first characters"),
        None if bytes.starts_with(b"\0<\0?") => (UTF_16BE, 0, "by its first characters"),
        None => match declared(bytes) {
            None => (UTF_8, 0, "without a declaration"),
            Some(label) => match Encoding::for_label(label) {
                // A declaration that could be read byte by byte is not in UTF-16, whatever it says.
                Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => (UTF_8, 0, "as no UTF-16"),
                Some(encoding) => (encoding, 0, "as its XML declaration says"),
                None => {
                    let message =
                        format!("unknown encoding {:?} in the XML declaration", String::from_utf8_lossy(label));
                    return Err((message, "Save the file as UTF-8 and declare that".into()));
                }
            },
        },
    };
    let text = bytes.get(skip..).and_then(|rest| encoding.decode_without_bom_handling_and_without_replacement(rest));
    text.ok_or_else(|| {
        let message = format!("not text in {} ({by})", encoding.name());
        (message, "Save the file as UTF-8, or correct the encoding in its XML declaration".into())
    })
}

/// The encoding in the XML declaration: `<?xml … encoding="…"?>`.
fn declared(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(b"<?xml")?;
    let rest = rest.get(..rest.windows(2).position(|two| two == b"?>")?)?;
    let at = rest.windows(8).position(|word| word == b"encoding")?;
    let value = rest.get(at + 8..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    value.get(..value.iter().position(|byte| byte == quote)?)
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
    let of = |tag| device.children().filter(move |node| node.has_tag_name(tag));
    let assigned = |tag| of(tag).filter(|node| node.attribute("Sm").is_some());
    let mut unassigned = Vec::new();
    for node in of("RxPdo").chain(of("TxPdo")).filter(|node| node.attribute("Sm").is_none()) {
        unassigned.push(pdo_index(node)?);
    }
    Ok(Esi {
        vendor,
        product: code(device).ok_or("Type without ProductCode")?,
        revision: kind.attribute("RevisionNo").and_then(number).unwrap_or(0),
        type_name: kind.text().unwrap_or("").trim().to_owned(),
        rx: assigned("RxPdo").map(pdo).collect::<Result<_, _>>()?,
        tx: assigned("TxPdo").map(pdo).collect::<Result<_, _>>()?,
        unassigned,
    })
}

fn pdo_index(node: Node<'_, '_>) -> Result<u16, String> {
    narrow(child(node, "Index").and_then(|index| number(index.text()?)).ok_or("PDO without Index")?)
}

fn pdo(node: Node<'_, '_>) -> Result<Pdo, String> {
    let index = pdo_index(node)?;
    let name = child(node, "Name").and_then(|name| name.text()).unwrap_or("").to_owned();
    let entries = node.children().filter(|entry| entry.has_tag_name("Entry")).map(entry);
    let pdo = Pdo { index, name, entries: entries.collect::<Result<_, _>>()? };
    match pdo.pieces().count() {
        0..=MOST_PIECES => Ok(pdo),
        pieces => Err(format!("PDO {index:#06x} needs {pieces} mapping entries, sub-indices end at {MOST_PIECES}")),
    }
}

fn entry(node: Node<'_, '_>) -> Result<PdoEntry, String> {
    let field = |name| child(node, name).and_then(|field| field.text()).map(str::trim);
    let value = |name| field(name).and_then(number);
    let index = narrow(value("Index").ok_or("Entry without Index")?)?;
    let bits = value("BitLen").ok_or(format!("Entry {index:#06x} without BitLen"))?;
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
