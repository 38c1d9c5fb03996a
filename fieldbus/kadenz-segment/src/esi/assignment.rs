// SPDX-License-Identifier: Apache-2.0
//! Which PDOs an ESI file assigns to which sync manager.

use super::{child, children, index_of, is_set, narrow, number, required_number, Problem};
use crate::description::{Manager, Purpose};
use crate::register::SYNC_MANAGERS;
use roxmltree::Node;
use std::collections::{HashMap, HashSet};

/// PDOs of an object dictionary: 0x1600 to 0x17FF and 0x1A00 to 0x1BFF (ETG.1000.6, table 41).
const MOST_PDOS: usize = 1024;

/// A PDO in the file.
struct Listed<'a, 'input> {
    node: Node<'a, 'input>,
    index: u16,
    manager: Option<usize>,
}

impl Listed<'_, '_> {
    fn purpose(&self) -> Purpose {
        if self.node.has_tag_name("RxPdo") {
            Purpose::Outputs
        } else {
            Purpose::Inputs
        }
    }

    fn problem(&self, message: &str) -> Problem {
        Problem::at(self.node, format!("{} {:#06x} {message}", self.node.tag_name().name(), self.index))
    }
}

/// Assigns PDOs to sync managers: by the file's default mapping, else by their own Sm. Gives all that are
/// assigned.
pub(super) fn assign(device: Node<'_, '_>, managers: &mut [Manager]) -> Result<Vec<(u16, usize)>, Problem> {
    if managers.len() > SYNC_MANAGERS {
        return Err(Problem::at(device, format!("{} sync managers, a controller has {SYNC_MANAGERS}", managers.len())));
    }
    for (number, manager) in managers.iter().enumerate() {
        let place = match manager.purpose {
            Purpose::MailboxOut => 0,
            Purpose::MailboxIn => 1,
            _ => continue,
        };
        if number != place {
            return Err(Problem::at(device, format!("{:?} is sync manager {number}, not {place}", manager.purpose)));
        }
    }
    let mut listed = list(device)?;
    choose_mapping(device, &mut listed)?;
    check_exclusions(&listed)?;
    let assigned = || listed.iter().filter_map(|pdo| Some((pdo, pdo.manager?)));
    let has_managers = !managers.is_empty();
    for (pdo, number) in assigned().filter(|_| has_managers) {
        let Some(manager) = managers.get_mut(number) else {
            return Err(pdo.problem(&format!("is assigned to sync manager {number}, which the file does not have")));
        };
        if manager.purpose != pdo.purpose() {
            let message = format!("is assigned to sync manager {number}, which is for {:?}", manager.purpose);
            return Err(pdo.problem(&message));
        }
        manager.pdos.push(pdo.index);
    }
    Ok(assigned().map(|(pdo, number)| (pdo.index, number)).collect())
}

fn pdos<'a, 'input: 'a>(device: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    device.children().filter(|node| node.has_tag_name("RxPdo") || node.has_tag_name("TxPdo"))
}

fn list<'a, 'input>(device: Node<'a, 'input>) -> Result<Vec<Listed<'a, 'input>>, Problem> {
    if pdos(device).nth(MOST_PDOS).is_some() {
        let message = format!("more than {MOST_PDOS} PDOs, an object dictionary has no room for more");
        return Err(Problem::at(device, message));
    }
    let mut listed: Vec<Listed<'_, '_>> = Vec::new();
    for node in pdos(device).filter(|node| !is_set(*node, "Virtual")) {
        let pdo = Listed { node, index: index_of(node)?, manager: super::attribute(node, "Sm")?.map(|sm| sm as usize) };
        if listed.iter().any(|other| other.index == pdo.index) {
            return Err(pdo.problem("stands twice").remedy("Give each PDO an index of its own"));
        }
        listed.push(pdo);
    }
    Ok(listed)
}

/// TwinCAT's default of alternative mappings decides what a sync manager carries, and in which order.
fn choose_mapping(device: Node<'_, '_>, listed: &mut [Listed<'_, '_>]) -> Result<(), Problem> {
    let inside = ["VendorSpecific", "TwinCAT"]
        .iter()
        .try_fold(child(device, "Info"), |node, name| Some(node.and_then(|node| child(node, name))));
    let Some(twincat) = inside.flatten() else { return Ok(()) };
    let Some(mapping) = children(twincat, "AlternativeSmMapping").find(|node| is_set(*node, "Default")) else {
        return Ok(());
    };
    let virtual_ones =
        pdos(device).filter(|node| is_set(*node, "Virtual")).map(index_of).collect::<Result<HashSet<_>, _>>()?;
    let places: HashMap<u16, usize> = listed.iter().enumerate().map(|(at, pdo)| (pdo.index, at)).collect();
    let mut order = HashMap::new();
    for manager in children(mapping, "Sm") {
        let number = manager.attribute("No").and_then(number);
        let number = number.ok_or_else(|| Problem::at(manager, "Sm of an AlternativeSmMapping without No"))? as usize;
        listed.iter_mut().filter(|pdo| pdo.manager == Some(number)).for_each(|pdo| pdo.manager = None);
        for node in children(manager, "Pdo") {
            let index = narrow(node, required_number(node)?)?;
            if virtual_ones.contains(&index) {
                continue;
            }
            let Some(pdo) = places.get(&index).and_then(|at| listed.get_mut(*at)) else {
                return Err(Problem::at(node, format!("the default mapping has {index:#06x}, which is no PDO here")));
            };
            pdo.manager = Some(number);
            let next = order.len();
            order.entry(index).or_insert(next);
        }
    }
    listed.sort_by_key(|pdo| order.get(&pdo.index).copied());
    Ok(())
}

fn check_exclusions(listed: &[Listed<'_, '_>]) -> Result<(), Problem> {
    let assigned = || listed.iter().filter(|pdo| pdo.manager.is_some());
    let indices: HashSet<u16> = assigned().map(|pdo| pdo.index).collect();
    for pdo in assigned() {
        for node in children(pdo.node, "Exclude") {
            let excluded = narrow(node, required_number(node)?)?;
            // Some files exclude a PDO by itself.
            if excluded != pdo.index && indices.contains(&excluded) {
                let message = format!("excludes {excluded:#06x}, and both are assigned to a sync manager");
                return Err(pdo.problem(&message).remedy("Remove Sm from one of them"));
            }
        }
    }
    Ok(())
}
