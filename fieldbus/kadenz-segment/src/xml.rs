// SPDX-License-Identifier: Apache-2.0
//! Files of the EtherCAT Technology Group in XML: ESI (ETG.2000) and ENI (ETG.2100). Their text, their bounds, and the
//! place of a mistake.

mod bounds;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, UTF_8};
use roxmltree::{Document, Node, ParsingOptions};
use std::borrow::Cow;
use std::fmt::Display;

/// Longest file, bytes; those of whole families of terminals have some 30 MB.
pub(crate) const LONGEST: u64 = 64 << 20;

/// A format, by its root element.
pub(crate) struct Format {
    root: &'static str,
    remedy: &'static str,
}

impl Format {
    /// Device types.
    pub(crate) const ESI: Self = Self { root: "EtherCATInfo", remedy: "Use an ESI file as ETG.2000 describes it" };
    /// A network with its init commands and cyclic frames.
    pub(crate) const ENI: Self = Self { root: "EtherCATConfig", remedy: "Use an ENI file as ETG.2100 describes it" };
}

/// A mistake in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, and the mistake.
    pub message: String,
    /// What to change, in the file or in the choice of a device.
    pub remedy: String,
}

impl Problem {
    pub(crate) fn at(node: Node<'_, '_>, message: impl Display) -> Self {
        let root = node.document().root_element().tag_name().name();
        let format = if root == Format::ENI.root { &Format::ENI } else { &Format::ESI };
        Self::in_line(line(node), message, format)
    }

    fn in_line(line: impl Display, message: impl Display, format: &Format) -> Self {
        Self { message: format!("line {line}: {message}"), remedy: format.remedy.into() }
    }

    pub(crate) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }
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

/// Parses the text of a file of this format.
pub(crate) fn parse<'a>(text: &'a str, format: &Format) -> Result<Document<'a>, Problem> {
    bounds::check(text, format)?;
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| Problem { message: format!("not XML: {error}"), remedy: format.remedy.into() })?;
    let root = document.root_element();
    if root.tag_name().name() != format.root {
        let message = format!("the file is a {}, not an {}", root.tag_name().name(), format.root);
        let remedy = "An ESI file describes device types; an ENI file (EtherCATConfig) describes one network";
        return Err(Problem::at(root, message).remedy(remedy));
    }
    Ok(document)
}

/// Number of the line in which an element begins.
pub(crate) fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

pub(crate) fn children<'a, 'input: 'a>(
    node: Node<'a, 'input>,
    name: &'a str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

pub(crate) fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|child| child.has_tag_name(name))
}

pub(crate) fn required<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Result<Node<'a, 'input>, Problem> {
    child(node, name).ok_or_else(|| Problem::at(node, format!("{} without {name}", node.tag_name().name())))
}

/// The number that an element holds.
pub(crate) fn required_number(node: Node<'_, '_>) -> Result<u32, Problem> {
    let text = node.text().unwrap_or("");
    number(text).ok_or_else(|| no_number(node, node.tag_name().name(), text))
}

/// The number of an attribute, if it is there.
pub(crate) fn attribute(node: Node<'_, '_>, name: &str) -> Result<Option<u32>, Problem> {
    let parse = |text| number(text).ok_or_else(|| no_number(node, name, text));
    node.attribute(name).map(parse).transpose()
}

pub(crate) fn no_number(node: Node<'_, '_>, name: &str, text: &str) -> Problem {
    let message = format!("{name} \"{}\" is not a number", text.trim());
    Problem::at(node, message).remedy("Write it in decimal, or in hexadecimal behind #x")
}

/// An attribute that says yes.
pub(crate) fn is_set(node: Node<'_, '_>, name: &str) -> bool {
    node.attribute(name).is_some_and(|value| matches!(value.trim(), "1" | "true"))
}

/// `#x1A` is hexadecimal, everything else decimal.
pub(crate) fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("#x").or_else(|| text.strip_prefix("#X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

pub(crate) fn narrow(node: Node<'_, '_>, value: u32) -> Result<u16, Problem> {
    u16::try_from(value).map_err(|_| Problem::at(node, format!("{value:#x} is more than 16 bits")))
}
