// SPDX-License-Identifier: Apache-2.0
//! Network information files (ENI): that of a ring brings the ring to OP, that of another network is named with its place.

use crate::device_files::{self, coe, device, pdo};
use crate::files::program;
use crate::support::{line, segment, EIGHT};
use kadenz_segment::al::State;
use kadenz_segment::eni::compare::compare;
use kadenz_segment::eni::replay::Replay;
use kadenz_segment::eni::{self, Image, Network, Variable};
use kadenz_segment::fault::Fault;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::{RingFile, EXAMPLE};
use std::path::{Path, PathBuf};

/// Drives, and terminals whose channels are all wired, behind a coupler with a branch.
fn wired() -> String {
    let mut text = line(&["coupler", "drive"])
        + "[[device]]\nname = \"out\"\nkind = \"digital-output\"\nchannels = 5\n\
           [[device]]\nname = \"in\"\nkind = \"digital-input\"\nchannels = 5\n\
           [[device]]\nname = \"volts\"\nkind = \"analog-output\"\nchannels = 3\n\
           [[device]]\nname = \"meter\"\nkind = \"analog-input\"\nchannels = 3\n";
    for channel in 1..=5 {
        text += &format!("[[wire]]\nfrom = \"out.{channel}\"\nto = \"in.{channel}\"\n");
    }
    for channel in 1..=3 {
        text += &format!("[[wire]]\nfrom = \"volts.{channel}\"\nto = \"meter.{channel}\"\n");
    }
    text
}

/// A drive at port 1 of the coupler, and one at its port 2.
fn branched() -> String {
    line(&["coupler", "drive", "drive"]) + "attached_to = \"d0\"\nport = 2\n"
}

fn ring_of(path: &Path) -> Ring {
    Ring::new(&RingFile::read(path).unwrap(), path).unwrap()
}

fn network(text: &str) -> Network {
    eni::plan(segment(text).ring())
}

fn file(text: &str) -> String {
    eni::write(&network(text))
}

fn differences(file: &str, ring: &str) -> Vec<String> {
    let network = eni::parse(file).unwrap();
    compare(&network, segment(ring).ring()).iter().map(ToString::to_string).collect()
}

/// Why a file does not bring a ring to OP.
fn failure(file: &str, segment: Segment) -> String {
    let network = eni::parse(file).unwrap();
    let outcome = Replay::new(&network, segment).and_then(|mut master| master.bring_up());
    outcome.map_or_else(|problem| problem.message, |()| "OP".into())
}

/// A ring in OP by this file.
fn in_op(network: &Network, segment: Segment) -> Replay<'_> {
    let mut master = Replay::new(network, segment).unwrap();
    master.bring_up().unwrap();
    let devices = &master.segment().ring().devices;
    assert!(devices.iter().all(|device| device.al.state() == State::Op));
    master
}

fn variables<'a>(image: &'a Option<Image>, name: &str) -> Vec<&'a Variable> {
    image.iter().flat_map(|image| &image.variables).filter(|variable| variable.name.starts_with(name)).collect()
}

fn take(bytes: &[u8], variable: &Variable) -> u64 {
    let bit = |at: u32| u64::from(bytes[at as usize / 8] >> (at % 8) & 1);
    (0..variable.bits).fold(0, |value, at| value | bit(variable.offset + at) << at)
}

fn put(bytes: &mut [u8], variable: &Variable, value: u64) {
    for at in 0..variable.bits {
        let (byte, mask) = ((variable.offset + at) as usize / 8, 1 << ((variable.offset + at) % 8));
        bytes[byte] = if value >> at & 1 != 0 { bytes[byte] | mask } else { bytes[byte] & !mask };
    }
}

// ---- round trip -------------------------------------------------------------------------------------------------------

#[test]
fn the_file_of_every_ring_is_read_back_and_brings_it_to_op() {
    let layouts = ["../kadenz-motion/layouts", "rings"].map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = layouts.into_iter().flatten().map(|entry| entry.unwrap().path());
    let rings = paths.filter(|path| RingFile::read(path).is_ok()).map(|path| ring_of(&path));
    let named = line(&["drive"]).replace("\"d0\"", "'a<b>&\"c\"]]> é'");
    let texts = [EXAMPLE.to_owned(), wired(), branched(), line(&["coupler"]), named];
    let rings: Vec<Ring> = rings
        .chain(texts.iter().map(|text| {
            let path = Path::new("test.toml");
            Ring::new(&RingFile::parse(text, path).unwrap(), path).unwrap()
        }))
        .collect();
    assert!(rings.len() >= 9);
    for ring in rings {
        let network = eni::plan(&ring);
        let text = eni::write(&network);
        assert_eq!(eni::parse(&text).unwrap(), network);
        assert_eq!(compare(&network, &ring), []);
        let mut master = in_op(&network, Segment::new(ring));
        (0..20).for_each(|_| master.cycle(true).unwrap());
    }
}

#[test]
fn every_channel_of_a_replayed_file_follows_its_wire() {
    let network = network(&wired());
    let mut master = in_op(&network, segment(&wired()));
    for (from, to, count) in [("out.", "in.", 5), ("volts.", "meter.", 3)] {
        let outputs = variables(&network.outputs, from);
        let inputs: Vec<_> = variables(&network.inputs, to).into_iter().take(count).collect();
        assert_eq!((outputs.len(), inputs.len()), (count, count), "{from}");
        for channel in 0..count {
            for (other, output) in outputs.iter().enumerate() {
                let value = if other == channel { (0x1234 + channel as u64) | 1 } else { 0 };
                put(&mut master.outputs, output, value);
            }
            (0..4).for_each(|_| master.cycle(true).unwrap());
            for (other, (output, input)) in outputs.iter().zip(&inputs).enumerate() {
                let sent = take(&master.outputs, output);
                assert_eq!(take(&master.inputs, input), sent, "{} to {}", output.name, input.name);
                assert_eq!(sent != 0, other == channel);
            }
        }
    }
}

#[test]
fn a_drive_moves_by_the_names_of_a_replayed_file() {
    let network = network(&wired());
    let mut master = in_op(&network, segment(&wired()));
    let named = |image, name: &str| match variables(image, &format!("d1.drive {name}")).as_slice() {
        [only] => *only,
        others => panic!("{name}: {others:?}"),
    };
    let [control, target, mode] = ["outputs.controlword", "outputs.target position", "outputs.mode of operation"]
        .map(|name| named(&network.outputs, name));
    let [status, position] = ["inputs.statusword", "inputs.position actual"].map(|name| named(&network.inputs, name));
    put(&mut master.outputs, mode, 8);
    for word in [0x00, 0x06, 0x07, 0x0F] {
        put(&mut master.outputs, control, word);
        (0..4).for_each(|_| master.cycle(true).unwrap());
    }
    assert_eq!(take(&master.inputs, status) & 0x6F, 0x27);
    put(&mut master.outputs, target, 1000);
    (0..500).for_each(|_| master.cycle(true).unwrap());
    assert!(take(&master.inputs, position) > 500, "{}", take(&master.inputs, position));
}

#[test]
fn a_file_names_devices_addresses_and_cables() {
    let network = network(&branched());
    let stations: Vec<_> = network.slaves.iter().map(|slave| (slave.station, slave.position)).collect();
    assert_eq!(stations, [(Some(1001), Some(0)), (Some(1002), Some(0xFFFF)), (Some(1003), Some(0xFFFE))]);
    let cables: Vec<_> =
        network.slaves.iter().map(|slave| slave.previous.first().map(|at| (at.station, at.port))).collect();
    assert_eq!(cables, [None, Some((Some(1001), 1)), Some((Some(1001), 2))]);
    assert!(network.slaves[0].clock.unwrap().is_reference && !network.slaves[1].clock.unwrap().is_reference);
}

/// Sets the outputs of device 0 one by one, and finds each at the input of device 1 that it is wired to.
fn check_wires(ring: &dyn Fn() -> Ring, name: &str) {
    let network = eni::plan(&ring());
    let mut master = in_op(&network, Segment::new(ring()));
    let (outputs, inputs) = (variables(&network.outputs, "out."), variables(&network.inputs, "in."));
    assert_eq!((outputs.len(), inputs.len()), (4, 4), "{name}");
    for channel in 0..4 {
        (0..4).for_each(|other| put(&mut master.outputs, outputs[other], u64::from(other == channel)));
        (0..4).for_each(|_| master.cycle(true).unwrap());
        let levels = (0..4).map(|other| take(&master.inputs, inputs[other]));
        assert_eq!(
            levels.collect::<Vec<_>>(),
            (0..4).map(|other| u64::from(other == channel)).collect::<Vec<_>>(),
            "{name}"
        );
    }
}

#[test]
fn devices_with_files_of_their_own_are_brought_to_op_and_move_data_at_every_channel() {
    let of = |first: u16, base: u16, sm: &str| -> String {
        (0..4).map(|k| pdo(first + k, sm, &[(base + 0x10 * k, 1, 1, "BOOL")])).collect()
    };
    let register = "<Sm StartAddress=\"#x0f00\" ControlByte=\"#x44\" Enable=\"1\" OpOnly=\"1\">Outputs</Sm>".to_owned();
    let memory = "<Sm DefaultSize=\"1\" StartAddress=\"#x1000\" ControlByte=\"0\" Enable=\"1\">Inputs</Sm>".to_owned();
    let mailbox = || coe("DefaultSize=\"64\" MinSize=\"64\" MaxSize=\"64\"");
    for (name, outputs, inputs) in [
        ("enabled in OP alone", register + &of(0x1600, 0x7000, "Sm=\"0\""), memory + &of(0x1A00, 0x6000, "Sm=\"0\"")),
        (
            "assigned from the start",
            mailbox() + &of(0x1600, 0x7000, "Sm=\"2\""),
            mailbox() + &of(0x1A00, 0x6000, "Sm=\"3\""),
        ),
        ("assigned by the file", mailbox() + &of(0x1600, 0x7000, ""), mailbox() + &of(0x1A00, 0x6000, "")),
    ] {
        let esi = device_files::file(&(device(4, 1, &outputs) + &device(5, 1, &inputs)));
        let mut text = "[[device]]\nname = \"out\"\nkind = \"digital-output\"\nesi = \"d.xml\"\nesi_product = 4\n\
             [[device]]\nname = \"in\"\nkind = \"digital-input\"\nesi = \"d.xml\"\nesi_product = 5\n"
            .to_owned();
        for channel in 1..=4 {
            text += &format!("[[wire]]\nfrom = \"out.{channel}\"\nto = \"in.{channel}\"\n");
        }
        check_wires(&|| device_files::ring(&esi, &text).unwrap(), name);
    }
}

#[test]
fn process_data_beyond_a_frame_are_spread_over_several() {
    let long: Vec<(u16, u8, u16, &str)> = (1..=10).map(|sub| (0x6000, sub, 960, "OCTET_STRING(120)")).collect();
    let sm = "<Sm StartAddress=\"#x1000\" ControlByte=\"0\" Enable=\"1\">Inputs</Sm>";
    let esi = device_files::file(&device(7, 1, &(sm.to_owned() + &pdo(0x1A00, "Sm=\"0\"", &long))));
    let text = "[[device]]\nname = \"a\"\nkind = \"coupler\"\nesi = \"d.xml\"\n\
                [[device]]\nname = \"b\"\nkind = \"coupler\"\nesi = \"d.xml\"\n";
    let ring = || device_files::ring(&esi, text).unwrap();
    let network = eni::plan(&ring());
    let lengths: Vec<_> = network.cycles[0].frames.iter().map(|frame| frame.commands[0].datagram.data.len()).collect();
    assert_eq!(lengths, [1400, 1000]);
    let counters: Vec<_> = network.cycles[0].frames.iter().map(|frame| frame.commands[0].datagram.counter).collect();
    assert_eq!(counters, [Some(2), Some(1)]);
    assert_eq!(eni::parse(&eni::write(&network)).unwrap(), network);
    assert_eq!(compare(&network, &ring()), []);
    in_op(&network, Segment::new(ring()));
}

// ---- differences ------------------------------------------------------------------------------------------------------

#[test]
fn another_ring_is_named_device_by_device() {
    let file = file(&line(&["coupler", "drive", "digital-output", "drive"]));
    let at = |name: &str| {
        let place = file.find(&format!("<Name>{name}</Name>")).unwrap();
        file[..place].lines().count() - 2
    };
    let product =
        |name: &str, number: u32, product: u32| format!("Slave {number} ({name}, vendor 0xbad, product {product:#x})");
    for (ring, said) in [
        (line(&["coupler", "drive", "digital-output", "drive"]), vec![]),
        (
            line(&["coupler", "drive", "digital-output"]),
            vec![format!("line {}: {} is missing in the ring", at("d3"), product("d3", 3, 2))],
        ),
        (
            line(&["coupler", "drive", "digital-output", "drive", "digital-input"]),
            vec!["device 4 (d4, vendor 0xbad, product 0x4) of the ring is missing in the file".into()],
        ),
        (
            line(&["coupler", "digital-output", "drive", "drive"]),
            vec![format!(
                "line {}: {} and {} of line {} are exchanged in the ring",
                at("d1"),
                product("d1", 1, 2),
                product("d2", 2, 3),
                at("d2")
            )],
        ),
        (
            line(&["coupler", "drive", "analog-output", "drive"]),
            vec![format!(
                "line {}: {}: the ring has device 2 (d2, vendor 0xbad, product 0x5) there",
                at("d2"),
                product("d2", 2, 3)
            )],
        ),
    ] {
        assert_eq!(differences(&file, &ring), said, "{ring}");
    }
}

#[test]
fn every_other_difference_is_named_with_its_line() {
    let ring = wired();
    let file = file(&ring);
    let drive = file.find("<Name>d1</Name>").unwrap();
    for (from, to, said) in [
        (
            "<RevisionNo>65536</RevisionNo>",
            "<RevisionNo>65537</RevisionNo>",
            "Slave 0 (d0): revision 0x00010001, the ring has 0x00010000",
        ),
        (
            "<Start>4096</Start>\n          <Length>128</Length>",
            "<Start>4096</Start>\n          <Length>256</Length>",
            "mailbox Send of 256 bytes, the ring's device takes 128",
        ),
        ("<Start>4224</Start>", "<Start>4352</Start>", "mailbox Recv at 0x1100, the ring's device has it at 0x1080"),
        ("<Protocol>CoE</Protocol>", "<Protocol>SoE</Protocol>", "protocol SoE, the ring's device has CoE, FoE"),
        ("<BitLength>128</BitLength>", "<BitLength>136</BitLength>", "Send of 136 bits, the ring's device has 128"),
        (
            "<StartAddress>4352</StartAddress>",
            "<StartAddress>4353</StartAddress>",
            "Sm2 at 0x1101, the ring's at 0x1100",
        ),
        ("<Type>Outputs</Type>", "<Type>Inputs</Type>", "Sm2 is for Inputs, the ring's for Outputs"),
        ("<Pdo>5632</Pdo>", "<Pdo>5888</Pdo>", "Sm2 has PDO 0x1700, which the ring's device does not have"),
        ("<Index>#x1600</Index>", "<Index>#x16ff</Index>", "RxPdo 0x16ff, which the ring's device does not have"),
        ("<Port>B</Port>", "<Port>C</Port>", "connected to port C of d0, the ring's device to port B of d0"),
    ] {
        let place = file.find(from).unwrap();
        let changed = file.replacen(from, to, 1);
        let said_all = differences(&changed, &ring);
        let difference = said_all.iter().find(|difference| difference.ends_with(said));
        let difference = difference.unwrap_or_else(|| panic!("{said} in {said_all:?}"));
        let number: usize = difference.strip_prefix("line ").unwrap().split_once(':').unwrap().0.parse().unwrap();
        assert!(number <= file[..place].lines().count() && number > 20, "{difference}");
        assert!(place < drive || difference.contains("Slave 1 (d1)"), "{difference}");
    }
    let output = file.find("<Name>out</Name>").unwrap();
    let at = file[output..].find("<BitLen>1</BitLen>").unwrap() + output;
    let changed = format!("{}<BitLen>2</BitLen>{}", &file[..at], &file[at + "<BitLen>1</BitLen>".len()..]);
    let said = differences(&changed, &ring);
    assert!(
        said.iter().any(|difference| difference.contains("entry 1: 0x7000:01 of 2 bits, the ring's device has")),
        "{said:?}"
    );
}

#[test]
fn a_working_counter_and_an_image_that_do_not_fit_are_named() {
    let ring = wired();
    let file = file(&ring);
    let cyclic = file.find("<Cyclic>").unwrap();
    let (head, tail) = file.split_at(cyclic);
    let count = |part: &str| head.lines().count() + tail[..tail.find(part).unwrap()].lines().count() - 1;
    // A drive 3, an output 2, an input 1, an analogue output 2, an analogue input 1.
    let command = count("<Cmd>\n");
    let changed = head.to_owned() + &tail.replacen("<Cnt>9</Cnt>", "<Cnt>8</Cnt>", 1);
    let said = format!("line {command}: Cnt 8 of a LRW, the devices of the file give 9");
    assert_eq!(differences(&changed, &ring), [said]);
    let message = failure(&changed, segment(&ring));
    assert_eq!(message, format!("line {command}: \"process data\": working counter 9, the file expects 8"));
    let changed = head.to_owned() + &tail.replacen("<Cnt>6</Cnt>", "<Cnt>7</Cnt>", 1);
    assert!(differences(&changed, &ring)[0].ends_with("Cnt 7 of a BRD, the devices of the file give 6"));
    let size = tail.find("<ByteSize>").unwrap();
    let end = tail[size..].find("</ByteSize>").unwrap() + size;
    let changed = format!("{head}{}<ByteSize>20{}", &tail[..size], &tail[end..]);
    let said = differences(&changed, &ring);
    assert!(said.iter().any(|text| text.contains("process data end behind the 20 bytes of Inputs")), "{said:?}");
    assert!(said.iter().any(|text| text.ends_with(", Inputs has 20")), "{said:?}");
    assert!(said.iter().any(|text| text.contains("Variable \"d1.")), "{said:?}");
}

// ---- replay -----------------------------------------------------------------------------------------------------------

#[test]
fn a_command_that_fails_is_named_with_its_line_and_its_reason() {
    let ring = line(&["coupler", "drive"]);
    let file = file(&ring);
    let refused = |fault: &str| {
        let mut segment = segment(&ring);
        segment.add_faults(vec![Fault::from_argument(fault).unwrap()]).unwrap();
        failure(&file, segment)
    };
    let message = refused("refuse-state@cycle=1,device=d1,state=8,code=0x1b");
    assert!(
        message.contains("d1, \"wait for OP\": 1400 came back, 0800 was expected under 1f00; AL status code 0x001b"),
        "{message}"
    );
    let message = refused("mailbox-silent@frame=1,device=d1");
    assert!(message.ends_with("d1, CoE: no answer within 1000 ms"), "{message}");
    let message = refused("abort-request@sdo=0x1c12,nth=2,device=d1,abort=0x06090030");
    assert!(message.contains("SDO 0x1c12:01, \"assign 0x1600\": the device aborts with 0x06090030"), "{message}");
    for (from, to, said) in [
        ("<Cnt>2</Cnt>", "<Cnt>3</Cnt>", "kadenz, \"count the devices\": working counter 2, the file expects 3"),
        (
            "<Data>ad0b0000</Data>",
            "<Data>ad0b0100</Data>",
            "d0, \"check the vendor\": ad0b0000 came back, ad0b0100 was expected",
        ),
        ("<Index>7186</Index>", "<Index>7199</Index>", "the device aborts with 0x06020000"),
    ] {
        let message = failure(&file.replacen(from, to, 1), segment(&ring));
        assert!(message.starts_with("line ") && message.ends_with(said), "{message}");
    }
}

/// A file with more mailbox commands at the transition to SAFE-OP, in front of its own.
fn with_mail(file: &str, commands: &str) -> String {
    file.replacen("<CoE>\n          <InitCmds>", &format!("<CoE>\n<InitCmds>{commands}"), 1)
}

/// An SDO of a file: the command specifier, object and sub-index, data, more attributes.
fn sdo(specifier: u8, index: u16, sub: u8, data: &str, attributes: &str) -> String {
    format!(
        "<InitCmd{attributes}><Transition>PS</Transition><Timeout>100</Timeout><Ccs>{specifier}</Ccs>\
         <Index>{index}</Index><SubIndex>{sub}</SubIndex>{data}</InitCmd>"
    )
}

#[test]
fn sdos_of_every_length_are_replayed() {
    // Outputs would overwrite what an SDO has written: those objects are in a PDO that is not assigned.
    let octets = pdo(0x1600, "Sm=\"2\"", &[(0x7002, 0, 32, "UDINT")])
        + &pdo(0x1601, "", &[(0x7000, 1, 960, "OCTET_STRING(120)"), (0x7001, 0, 32, "UDINT")]);
    let mailbox = coe("DefaultSize=\"64\" MinSize=\"64\" MaxSize=\"64\"");
    let esi =
        device_files::file(&device(3, 1, &(mailbox + &octets)).replace(">D3<", &format!(">{}<", "D".repeat(200))));
    let text = "[[device]]\nname = \"a\"\nkind = \"coupler\"\nesi = \"d.xml\"\n";
    let ring = || device_files::ring(&esi, text).unwrap();
    let file = eni::write(&eni::plan(&ring()));
    let long: String = (0..120).map(|byte| format!("{byte:02x}")).collect();
    let commands = sdo(1, 0x7000, 1, &format!("<Data>{long}</Data>"), "")
        + &sdo(1, 0x7001, 0, "<Data>78563412</Data>", "")
        + &sdo(1, 0x1C12, 0, "<Data>01000016</Data>", " CompleteAccess=\"1\"")
        + &sdo(2, 0x1008, 0, "", "")
        + &sdo(2, 0x1018, 1, "", "")
        + &sdo(2, 0x1018, 0, "", " CompleteAccess=\"1\"");
    let network = eni::parse(&with_mail(&file, &commands)).unwrap();
    let master = in_op(&network, Segment::new(ring()));
    let dictionary = &master.segment().ring().devices[0].dictionary;
    let bytes = dictionary.bytes(dictionary.handle(0x7000, 1).unwrap()).unwrap();
    assert_eq!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), long);
    assert_eq!(dictionary.number(0x7001, 0), 0x1234_5678);
    for (command, said) in [
        (sdo(2, 0x1FFF, 0, "", ""), "SDO 0x1fff:00, \"\": the device aborts with 0x06020000"),
        (sdo(1, 0x1018, 1, "<Data>00000000</Data>", ""), "the device aborts with 0x06010002"),
    ] {
        let message = failure(&with_mail(&file, &command), Segment::new(ring()));
        assert!(message.starts_with("line ") && message.ends_with(said), "{message}");
    }
}

#[test]
fn messages_of_other_protocols_are_replayed_and_written() {
    let ring = line(&["drive"]) + "voe = { echo = [1] }\n";
    let file = file(&ring);
    let with = |protocol: &str, data: &str| {
        let command = format!("<InitCmd><Transition>PS</Transition><Timeout>100</Timeout>{data}</InitCmd>");
        file.replacen("</CoE>\n", &format!("</CoE>\n<{protocol}><InitCmds>{command}</InitCmds></{protocol}>"), 1)
    };
    let echo = with("VoE", "<Data>ad0b00000100aa</Data>");
    assert_eq!(failure(&echo, segment(&ring)), "OP");
    let network = eni::parse(&echo).unwrap();
    assert_eq!(network.slaves[0].mailbox.as_ref().unwrap().messages.len(), 1);
    assert_eq!(eni::parse(&eni::write(&network)).unwrap(), network);
    let refused = failure(&with("VoE", "<Data>ad0b00000900aa</Data>"), segment(&ring));
    assert!(refused.contains("d0, VoE: the mailbox answers with error 01000500"), "{refused}");
    let fields =
        failure(&with("SoE", "<OpCode>3</OpCode><DriveNo>0</DriveNo><IDN>1</IDN><Data>00</Data>"), segment(&ring));
    assert!(fields.ends_with("d0: init commands of SoE are not replayed"), "{fields}");
}

#[test]
fn a_replay_ends_whatever_a_file_waits_for() {
    let ring = line(&["coupler"]);
    let file = file(&ring);
    let forever = file.replace("<Timeout>5000</Timeout>", "<Timeout>2147483647</Timeout>");
    let forever =
        forever.replacen("<Data>0200</Data>\n            <DataMask>", "<Data>0900</Data>\n            <DataMask>", 1);
    assert!(failure(&forever, segment(&ring)).contains("0200 came back, 0900 was expected"));
    let many = file.replace("<Retries>3</Retries>", "<Retries>65535</Retries>").replace("<Cnt>1</Cnt>", "<Cnt>2</Cnt>");
    assert!(failure(&many, segment(&ring)).contains("working counter 1, the file expects 2"));
}

// ---- bad input --------------------------------------------------------------------------------------------------------

#[test]
fn a_mistake_in_a_file_is_named_with_its_line_and_a_remedy() {
    let file = file(&line(&["coupler", "drive"]));
    for (from, to, said, remedy) in [
        ("<Config>", "<Konfig>", "not XML: ", "ETG.2100"),
        ("<PhysAddr>1002<", "<PhysAddr>1001<", "PhysAddr 1001 of \"d1\" is also that of \"d0\"", "its own PhysAddr"),
        (
            "<AutoIncAddr>65535<",
            "<AutoIncAddr>0<",
            "AutoIncAddr 0 of \"d1\" is also that of \"d0\"",
            "its own AutoIncAddr",
        ),
        ("<PhysAddr>1002<", "<PhysAddr>65536<", "PhysAddr 65536 is out of range", "Use 0 to 65535"),
        (
            "<VendorId>2989<",
            "<VendorId>99999999999<",
            "VendorId 99999999999 is out of range",
            "Use -2147483648 to 4294967295",
        ),
        ("<VendorId>2989<", "<VendorId>vendor<", "VendorId \"vendor\" is not a number", "in decimal"),
        ("<Cmd>8</Cmd>", "<Cmd>15</Cmd>", "Cmd 15 is out of range", "Use 0 to 14"),
        ("<Cmd>12</Cmd>", "<Cmd>10</Cmd>", "", ""),
        ("<Cmd>12</Cmd>", "<Cmd>7</Cmd>", "Addr of a BRD", "Give a BRD its Ado"),
        ("<Transition>IP<", "<Transition>PB<", "Transition \"PB\" is unknown", "IP"),
        ("<State>SAFEOP<", "<State>SAFE<", "State \"SAFE\" is unknown", "PREOP"),
        ("<Data>1100<", "<Data>110<", "Data is not hexadecimal", "two hexadecimal digits"),
        ("<DataLength>128<", "<DataLength>1487<", "DataLength 1487 is out of range", "Use 0 to 1486"),
        ("<Destination>ffffffffffff<", "<Destination>ffff<", "Destination is not six bytes", "ETG.2100"),
        ("<DataMask>1f00<", "<DataMask>1f<", "DataMask and Data differ in length", "Mask each byte"),
        ("<Protocol>CoE<", "<Protocol>XoE<", "Protocol \"XoE\" is unknown", "AoE, EoE, CoE"),
        ("<Ccs>1<", "<Ccs>3<", "Ccs 3 is out of range", "Use 1 to 2"),
        ("<ByteSize>", "<ByteSize>9", "ByteSize 9", "Use 0 to 16777216"),
        ("<Enable>1<", "<Enable>yes<", "Enable \"yes\" is neither true nor false", "Write 1 or 0"),
        ("<Master>", "<Other/><Master>", "", ""),
        ("<Type>Inputs<", "<Type>Input<", "Type \"Input\" is unknown", "MBoxOut, MBoxIn"),
    ] {
        assert!(file.contains(from), "{from}");
        let changed = if said.starts_with("ByteSize") {
            file.replacen("<ByteSize>", "<ByteSize>999999", 1)
        } else {
            file.replacen(from, to, 1)
        };
        match eni::parse(&changed) {
            Ok(_) => assert_eq!(said, "", "{from}"),
            Err(problem) => {
                let (place, message) = problem.message.split_once(": ").unwrap();
                let is_placed = place.starts_with("line ") || place == "not XML";
                assert!(
                    !said.is_empty() && is_placed && problem.message.contains(said.trim_end()),
                    "{place}: {message}"
                );
                assert!(problem.remedy.contains(remedy), "{}", problem.remedy);
            }
        }
    }
    for length in (0..file.len()).step_by(997) {
        assert!(eni::parse(&file[..length]).is_err(), "cut behind {length} bytes");
    }
}

#[test]
fn a_bomb_in_a_network_file_is_named() {
    let file = file(&line(&["coupler"]));
    let entity =
        file.replacen("<EtherCATConfig", "<!DOCTYPE EtherCATConfig [\n<!ENTITY a \"ha\">]>\n<EtherCATConfig", 1);
    assert_eq!(eni::parse(&entity).unwrap_err().message, "line 3: entities are not read");
    let command = "<InitCmd><Cmd>7</Cmd><Ado>0</Ado><DataLength>1486</DataLength></InitCmd>";
    let many = file.replacen("<InitCmds>", &("<InitCmds>".to_owned() + &command.repeat(30_000)), 1);
    assert!(eni::parse(&many).unwrap_err().message.ends_with("the commands of the file have more than 32 MiB of data"));
    let slave =
        "<Slave><Info><VendorId>1</VendorId><ProductCode>1</ProductCode><RevisionNo>1</RevisionNo></Info></Slave>\n";
    let (head, tail) = file.split_at(file.find("<Cyclic>").unwrap());
    let problem = eni::parse(&format!("{head}{}{tail}", slave.repeat(1024))).unwrap_err();
    assert!(problem.message.ends_with("more than 1024 Slaves"), "{}", problem.message);
    let deep = "<a>".repeat(100_000) + &"</a>".repeat(100_000);
    assert!(eni::parse(&file.replacen("<Config>", &format!("<Config>{deep}"), 1)).is_ok());
}

/// A folder with a ring file, and a file beside it.
fn folder(name: &str, ring: &str, file: &str) -> (PathBuf, String, String) {
    let folder = std::env::temp_dir().join(format!("kadenz-network-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let paths = [folder.join("ring.toml"), folder.join("network.xml")];
    std::fs::write(&paths[0], ring).unwrap();
    std::fs::write(&paths[1], file).unwrap();
    let [ring, file] = paths.map(|path| path.to_str().unwrap().to_owned());
    (folder, ring, file)
}

#[test]
fn the_program_writes_compares_and_replays_a_file() {
    let (code, text, _) = program(&["describe", EIGHT, "--eni"]);
    assert_eq!(code, 0);
    assert_eq!(text, eni::write(&eni::plan(&ring_of(Path::new(EIGHT)))));
    let (folder, other, path) = folder("program", &line(&["coupler"]), &text);
    let (code, out, _) = program(&["check", EIGHT, "--eni", &path]);
    assert_eq!(code, 0);
    assert!(out.contains(": 9 devices as in the ring, OP after "), "{out}");
    let (code, out, error) = program(&["check", &other, "--eni", &path]);
    assert_eq!(code, 1, "{error}");
    assert!(out.contains("Slave 8 (inputs, vendor 0xbad, product 0x4) is missing in the ring"), "{out}");
    assert!(error.contains("differences from the ring: 8. Correct"), "{error}");
    std::fs::write(&path, text.replacen("<Data>0200</Data>", "<Data>0300</Data>", 1)).unwrap();
    let (code, _, error) = program(&["check", EIGHT, "--eni", &path]);
    assert_eq!(code, 1);
    assert!(error.contains("coupler, \"wait for PRE-OP\": ") && error.contains("Correct the command"), "{error}");
    for (content, said) in [
        (include_str!("../data/drive.xml"), "the file is a EtherCATInfo, not an EtherCATConfig. An ESI file describes"),
        ("", "not XML: "),
    ] {
        std::fs::write(&path, content).unwrap();
        let (code, _, error) = program(&["check", EIGHT, "--eni", &path]);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(said), "{error}");
    }
    std::fs::write(&path, &text).unwrap();
    std::fs::write(&other, "[[device]]\nname = \"d\"\nkind = \"coupler\"\nesi = \"network.xml\"\n").unwrap();
    let (code, _, error) = program(&["check", &other]);
    assert_eq!(code, 2);
    assert!(error.contains("the file is a EtherCATConfig, not an EtherCATInfo"), "{error}");
    let (code, ..) = program(&["describe", "--eni"]);
    assert_eq!(code, 2);
    std::fs::remove_dir_all(&folder).unwrap();
}
