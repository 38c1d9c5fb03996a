// SPDX-License-Identifier: Apache-2.0
//! The cyclic commands and images of a file against its own devices and FMMUs.

use super::Difference;
use crate::command::{Addressing, Command};
use crate::eni::{CyclicCommand, Datagram, Image, Network, Range, Slave};
use crate::register::at;

/// Logical bytes that an FMMU maps.
struct Window {
    start: u64,
    end: u64,
    reads: bool,
    writes: bool,
}

/// The FMMUs that a device's init commands set up.
fn windows(slave: &Slave) -> Vec<Window> {
    let registers = at::FMMU.range();
    let is_fmmu = |datagram: &&Datagram| {
        let offset = (datagram.address >> 16) as usize;
        datagram.command.writes() && datagram.command.addressing().is_physical() && registers.contains(&offset)
    };
    let mut windows = Vec::new();
    for datagram in slave.commands.iter().map(|command| &command.datagram).filter(is_fmmu) {
        for raw in datagram.data.chunks_exact(16) {
            let Ok(raw) = <[u8; 16]>::try_from(raw) else { continue };
            let start = u64::from(u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]));
            let length = u64::from(u16::from_le_bytes([raw[4], raw[5]]));
            if raw[12] & 1 != 0 && length > 0 {
                let (reads, writes) = (raw[11] & 1 != 0, raw[11] & 2 != 0);
                windows.push(Window { start, end: start + length, reads, writes });
            }
        }
    }
    windows
}

/// Names working counters and images that do not fit.
pub(super) fn compare(network: &Network, differences: &mut Vec<Difference>) {
    let windows: Vec<Vec<Window>> = network.slaves.iter().map(windows).collect();
    let commands = network.cycles.iter().flat_map(|cycle| &cycle.frames).flat_map(|frame| &frame.commands);
    for command in commands {
        let datagram = &command.datagram;
        let wanted = match (datagram.command, datagram.command.addressing()) {
            (Command::Brd, _) => Some(network.slaves.len() as u16),
            (_, Addressing::Logical) => Some(counter(&windows, datagram)),
            _ => None,
        };
        if let Some((in_file, counter)) = datagram.counter.zip(wanted).filter(|(in_file, counter)| in_file != counter) {
            let name = Command::NAMES[usize::from(datagram.command as u8).min(14)];
            let message = format!("Cnt {in_file} of a {name}, the devices of the file give {counter}");
            differences.push(Difference::new(datagram.line, message));
        }
        compare_size(network, command, differences);
    }
    for (name, image) in [("Inputs", &network.inputs), ("Outputs", &network.outputs)] {
        let Some(image) = image else { continue };
        let outside = image
            .variables
            .iter()
            .find(|variable| u64::from(variable.offset) + u64::from(variable.bits) > 8 * u64::from(image.bytes));
        if let Some(variable) = outside {
            let message = format!("Variable \"{}\" ends behind the {} bytes of {name}", variable.name, image.bytes);
            differences.push(Difference::new(variable.line, message));
        }
        for slave in &network.slaves {
            let Some(data) = &slave.process_data else { continue };
            let ranges = if name == "Inputs" { &data.recv } else { &data.send };
            compare_ranges(slave, ranges, (name, image), differences);
        }
    }
}

fn compare_ranges(slave: &Slave, ranges: &[Range], image: (&str, &Image), differences: &mut Vec<Difference>) {
    let (name, Image { bytes, .. }) = image;
    for range in ranges {
        if u64::from(range.start) + u64::from(range.bits) > 8 * u64::from(*bytes) {
            let message = format!("{}: process data end behind the {bytes} bytes of {name}", slave.name);
            differences.push(Difference::new(range.line, message));
        }
    }
}

/// Working counter of a logical datagram: one for a device that reads, two more for one that writes in the same datagram.
fn counter(windows: &[Vec<Window>], datagram: &Datagram) -> u16 {
    let (start, command) = (u64::from(datagram.address), datagram.command);
    let end = start + datagram.data.len() as u64;
    let steps = windows.iter().map(|windows| {
        let met = || windows.iter().filter(|window| window.start < end && start < window.end);
        let reads = command.reads() && met().any(|window| window.reads);
        let writes = command.writes() && met().any(|window| window.writes);
        let of_write = if command.reads() { 2 } else { 1 };
        u16::from(reads) + of_write * u16::from(writes)
    });
    steps.fold(0, u16::wrapping_add)
}

fn compare_size(network: &Network, command: &CyclicCommand, differences: &mut Vec<Difference>) {
    let datagram = &command.datagram;
    for (name, offset, image, is_used) in [
        ("Inputs", command.input, &network.inputs, datagram.command.reads()),
        ("Outputs", command.output, &network.outputs, datagram.command.writes()),
    ] {
        let (Some(offset), Some(image)) = (offset.filter(|_| is_used), image) else { continue };
        let end = u64::from(offset) + datagram.data.len() as u64;
        if end > u64::from(image.bytes) {
            let message = format!("the command ends at byte {end}, {name} has {}", image.bytes);
            differences.push(Difference::new(datagram.line, message));
        }
    }
}
