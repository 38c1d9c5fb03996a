// SPDX-License-Identifier: Apache-2.0
//! The device's web page: what it is, its state, its network, its process data.

use super::parameters::Parameters;
use super::server::Counters;
use crate::al::State;
use crate::coe::object::Dictionary;
use crate::description::{Description, PdoEntry, Purpose};
use crate::markup::escaped;
use std::fmt::Write;

/// What a page shows of a device.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Name in the ring file.
    pub name: &'a str,
    /// Type, identity and process data.
    pub description: &'a Description,
    /// Present values.
    pub dictionary: &'a Dictionary,
    /// State and AL status code.
    pub state: (State, u16),
}

/// Entries of each direction that are shown.
const MOST_ENTRIES: usize = 100;

/// The page as HTML.
pub fn html(facts: &Facts<'_>, parameters: &Parameters, counters: &Counters) -> String {
    let (name, kind) = (escaped(facts.name), escaped(&facts.description.type_name));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{name}</title>\n\
         <style>body{{font-family:sans-serif}}td,th{{text-align:left;padding-right:1em}}</style>\n\
         <h1>{name}</h1>\n<table>\n"
    );
    let identity = facts.description.identity;
    let (state, code) = facts.state;
    let [a, b, c, d, e, f] = parameters.mac;
    let rows = [
        ("Type", kind),
        ("Vendor", format!("{:#x}", identity.vendor)),
        ("Product", format!("{:#x}", identity.product)),
        ("Revision", format!("{:#x}", identity.revision)),
        ("Serial number", identity.serial.to_string()),
        ("State", if code == 0 { state.name().into() } else { format!("{} (code {code:#06x})", state.name()) }),
        ("Ethernet address", format!("{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")),
        ("IP address", format!("{} / {}", parameters.ip, parameters.mask)),
        ("Network name", escaped(&parameters.name)),
        ("Frames", format!("{} received, {} sent, {} discarded", counters.received, counters.sent, counters.discarded)),
    ];
    for (title, text) in rows {
        let _ = writeln!(page, "<tr><th>{title}<td>{text}");
    }
    page.push_str("</table>\n");
    for (title, purpose) in [("Outputs", Purpose::Outputs), ("Inputs", Purpose::Inputs)] {
        let _ = writeln!(page, "<h2>{title}</h2>\n<table>\n<tr><th>Object<th>Name<th>Value");
        for entry in facts.description.entries(purpose).into_iter().take(MOST_ENTRIES) {
            let (index, sub, value) = (entry.index, entry.sub, value(facts.dictionary, entry));
            let _ = writeln!(page, "<tr><td>0x{index:04X}:{sub:02X}<td>{}<td>{value}", escaped(&entry.name));
        }
        page.push_str("</table>\n");
    }
    page
}

/// A number; octets in hexadecimal.
fn value(dictionary: &Dictionary, entry: &PdoEntry) -> String {
    let Some(handle) = dictionary.handle(entry.index, entry.sub) else { return "none".into() };
    match dictionary.bytes(handle) {
        Some(bytes) => bytes.iter().take(32).map(|byte| format!("{byte:02X}")).collect(),
        None => dictionary.get(handle).to_string(),
    }
}
