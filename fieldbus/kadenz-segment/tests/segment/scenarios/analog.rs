// SPDX-License-Identifier: Apache-2.0
//! Analogue terminals: values both ways, over wires and without.

use crate::support::master::{Master, Sdo};
use crate::support::segment;

const OUTPUTS: usize = 0;
const INPUTS: usize = 1;

/// Two outputs and three inputs, of which two are wired crosswise; the third sees a constant.
fn wired() -> Master {
    let mut master = Master::new(segment(
        "[[device]]\nname = \"out\"\nkind = \"analog-output\"\nchannels = 2\n\
         [[device]]\nname = \"in\"\nkind = \"analog-input\"\nchannels = 3\n\
         signal = { amplitude = 0.0, offset = 1234.0, hz = 1.0 }\n\
         [[wire]]\nfrom = \"out.1\"\nto = \"in.2\"\n[[wire]]\nfrom = \"out.2\"\nto = \"in.1\"\n",
    ));
    master.bring_up();
    master
}

fn send(master: &mut Master, values: [i16; 2]) {
    let bytes: Vec<u8> = values.into_iter().flat_map(i16::to_le_bytes).collect();
    master.outputs(OUTPUTS).copy_from_slice(&bytes);
    master.cycles(3);
}

fn seen(master: &Master) -> Vec<i16> {
    master.input(INPUTS).chunks(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect()
}

#[test]
fn s58_values_travel_through_the_process_image_and_along_their_wires() {
    let mut master = wired();
    for values in [[1, -1], [i16::MIN, i16::MAX], [0x1234, -0x1234]] {
        send(&mut master, values);
        assert_eq!(seen(&master), [values[1], values[0], 1234]);
    }
    assert_eq!(master.upload(OUTPUTS, 0x7010, 1, false), Sdo::Data(0x1234_i16.to_le_bytes().to_vec()));
    assert_eq!(master.upload(INPUTS, 0x6010, 1, false), Sdo::Data((-0x1234_i16).to_le_bytes().to_vec()));
}

#[test]
fn s59_outputs_that_leave_op_are_zero_and_so_is_what_their_wires_bring() {
    let mut master = wired();
    send(&mut master, [1000, 2000]);
    assert_eq!(seen(&master), [2000, 1000, 1234]);
    assert_eq!(master.request(OUTPUTS, 4), (4, 0));
    master.cycles(3);
    assert_eq!(seen(&master), [0, 0, 1234], "though the master keeps sending them");
    assert_eq!(master.request(OUTPUTS, 8), (8, 0));
    master.cycles(3);
    assert_eq!(seen(&master), [2000, 1000, 1234]);
}

#[test]
fn s60_an_input_without_a_wire_sees_its_signal() {
    let mut master = Master::new(segment(
        "[[device]]\nname = \"out\"\nkind = \"analog-output\"\n[[device]]\nname = \"in\"\nkind = \"analog-input\"\n\
         channels = 1\nsignal = { amplitude = 1000.0, offset = 500.0, hz = 5.0 }\n",
    ));
    master.bring_up();
    let mut values = Vec::new();
    for _ in 0..400 {
        master.cycle();
        values.push(seen(&master)[0]);
    }
    let (low, high) = (values.iter().min().unwrap(), values.iter().max().unwrap());
    assert!((-500..-490).contains(low) && (1490..=1500).contains(high), "{low} to {high}");
    // Two periods of 200 cycles: the same again, but for the microseconds that a frame takes.
    assert!(values[..200].iter().zip(&values[200..]).all(|(first, second)| (first - second).abs() < 100));
}
