// SPDX-License-Identifier: Apache-2.0
//! Features of a master by their numbers in ETG.1500 (V1.0.2), with what master classes A and B ask for.
//!
//! Numbers: the feature table of acontis' EC-Master documentation, and public self-assessments of masters that cite the
//! directive; classes: Movensys' published comparison and the same self-assessments. Sources that differ: 603 and 1301 of
//! class A, 703 of class A. Feature packs have no numbers there.

/// A feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// Its number, or a word for a feature pack.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What class A asks for.
    pub class_a: &'static str,
    /// What class B asks for.
    pub class_b: &'static str,
}

/// The feature of a number.
pub fn feature(id: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|feature| feature.id == id)
}

const fn row(id: &'static str, name: &'static str, class_a: &'static str, class_b: &'static str) -> Feature {
    Feature { id, name, class_a, class_b }
}

/// All features, in the order of the directive.
pub const FEATURES: &[Feature] = &[
    row("101", "Service commands", "shall if ENI", "shall if ENI"),
    row("102", "IRQ field in datagram", "should", "should"),
    row("103", "Slaves with device emulation", "shall", "shall"),
    row("104", "EtherCAT state machine", "shall", "shall"),
    row("105", "Error handling", "shall", "shall"),
    row("106", "VLAN", "may", "may"),
    row("107", "EtherCAT frame types", "shall", "shall"),
    row("108", "UDP frame types", "may", "may"),
    row("201", "Cyclic PDO", "shall", "shall"),
    row("202", "Multiple tasks", "may", "may"),
    row("203", "Frame repetition", "may", "may"),
    row("301", "Online scanning or reading ENI", "shall", "shall"),
    row("302", "Compare network configuration", "shall", "shall"),
    row("303", "Explicit device identification", "should", "should"),
    row("304", "Station alias addressing", "may", "may"),
    row("305", "Access to EEPROM", "read shall", "read shall"),
    row("401", "Support mailbox", "shall", "shall"),
    row("402", "Mailbox resilient layer", "shall", "shall"),
    row("403", "Multiple mailbox channels", "may", "may"),
    row("404", "Mailbox polling", "shall", "shall"),
    row("501", "SDO up- and download", "shall", "shall"),
    row("502", "Segmented transfer", "shall", "should"),
    row("503", "Complete access", "shall", "should, shall if ENI"),
    row("504", "SDO information service", "shall", "should"),
    row("505", "Emergency message", "shall", "shall"),
    row("506", "PDO in CoE", "may", "may"),
    row("601", "EoE protocol", "shall", "shall if EoE"),
    row("602", "Virtual switch", "shall", "shall if EoE"),
    row("603", "EoE endpoint to operating systems", "should", "should if EoE"),
    row("701", "FoE protocol", "shall", "shall if FoE"),
    row("702", "Firmware up- and download", "shall", "should"),
    row("703", "Boot state", "shall", "shall if firmware"),
    row("801", "SoE services", "shall", "should if SoE"),
    row("901", "AoE protocol", "should", "should"),
    row("1001", "VoE protocol", "may", "may"),
    row("1101", "DC support", "shall", "shall if DC"),
    row("1102", "Continuous propagation delay compensation", "should", "should"),
    row("1103", "Sync window monitoring", "should", "should"),
    row("1201", "Slave-to-slave communication via master", "shall", "shall"),
    row("1301", "Master object dictionary", "should", "may"),
    row("redundancy", "Cable redundancy", "pack", "pack"),
    row("hot-connect", "Hot connect", "pack", "pack"),
];
