// SPDX-License-Identifier: Apache-2.0
//! What a device's file says, the device does: sync managers, mailboxes, assignment, channels, revisions.

use crate::support::ethernet::Mail;
use crate::support::master::{Master, Sdo};
use kadenz_segment::description::Purpose;
use kadenz_segment::device::Function;
use kadenz_segment::register::at;
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::RingFile;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An ESI file with these devices.
pub fn file(devices: &str) -> String {
    format!(
        "<EtherCATInfo><Vendor><Id>#xB0B</Id></Vendor><Descriptions><Devices>\n{devices}\n</Devices></Descriptions>\
         </EtherCATInfo>"
    )
}

/// A device of this product code.
pub fn device(product: u32, revision: u32, body: &str) -> String {
    format!("<Device><Type ProductCode=\"{product}\" RevisionNo=\"{revision}\">D{product}</Type>{body}</Device>\n")
}

/// An RxPdo (0x16..) or a TxPdo with these attributes and entries of (index, sub-index, bits, type).
pub fn pdo(index: u16, attributes: &str, entries: &[(u16, u8, u16, &str)]) -> String {
    let tag = if index < 0x1A00 { "RxPdo" } else { "TxPdo" };
    let entries: String = entries
        .iter()
        .map(|(index, sub, bits, kind)| {
            format!(
                "<Entry><Index>#x{index:x}</Index><SubIndex>{sub}</SubIndex><BitLen>{bits}</BitLen>\
                 <DataType>{kind}</DataType></Entry>"
            )
        })
        .collect();
    format!("<{tag} {attributes}><Index>#x{index:x}</Index>{entries}</{tag}>")
}

/// The sync managers of a CoE device with mailboxes of these sizes.
pub fn coe(size: &str) -> String {
    format!(
        "<Sm {size} StartAddress=\"#x1000\" ControlByte=\"#x26\" Enable=\"1\">MBoxOut</Sm>\
         <Sm {size} StartAddress=\"#x1400\" ControlByte=\"#x22\" Enable=\"1\">MBoxIn</Sm>\
         <Sm StartAddress=\"#x1800\" ControlByte=\"#x24\" Enable=\"1\">Outputs</Sm>\
         <Sm StartAddress=\"#x1c00\" ControlByte=\"#x20\" Enable=\"1\">Inputs</Sm>\
         <Mailbox><CoE SdoInfo=\"1\" PdoAssign=\"1\" CompleteAccess=\"1\"/></Mailbox>"
    )
}

/// A ring whose devices are in `esi`, or the error.
pub fn ring(esi: &str, devices: &str) -> Result<Ring, String> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("kadenz-device-files-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("d.xml"), esi).unwrap();
    let path = folder.join("ring.toml");
    std::fs::write(&path, devices).unwrap();
    let built = RingFile::read(&path).and_then(|file| Ring::new(&file, &path));
    std::fs::remove_dir_all(&folder).unwrap();
    built.map_err(|error| error.to_string())
}

/// One device of a kind, with more keys.
fn one(kind: &str, keys: &str) -> String {
    format!("[[device]]\nname = \"d\"\nkind = \"{kind}\"\nesi = \"d.xml\"\n{keys}\n")
}

fn master(esi: &str, devices: &str) -> Master {
    Master::new(Segment::new(ring(esi, devices).unwrap()))
}

// ---- channels ---------------------------------------------------------------------------------------------------------
const OUT: u32 = 4;
const IN: u32 = 5;

/// Two terminals of four channels each, wired one to one.
fn terminals(kind: &str, outputs: &str, inputs: &str) -> Master {
    let esi = file(&(device(OUT, 1, outputs) + &device(IN, 1, inputs)));
    let stamps = if kind == "digital" { "stamped_channels = 0\n" } else { "" };
    let mut ring = format!(
        "[[device]]\nname = \"out\"\nkind = \"{kind}-output\"\nesi = \"d.xml\"\nesi_product = {OUT}\nchannels = 4\n\
         [[device]]\nname = \"in\"\nkind = \"{kind}-input\"\nesi = \"d.xml\"\nesi_product = {IN}\nchannels = 4\n{stamps}"
    );
    for channel in 1..=4 {
        ring += &format!("[[wire]]\nfrom = \"out.{channel}\"\nto = \"in.{channel}\"\n");
    }
    let mut master = master(&esi, &ring);
    master.bring_up();
    master
}

#[test]
fn every_digital_channel_follows_its_wire_whatever_objects_the_channels_are_in() {
    let of = |first: u16, places: [(u16, u8); 4], sm: &str| -> String {
        let entry = |k: usize| (places[k].0, places[k].1, 1, "BOOL");
        (0..4).map(|k| pdo(first + k as u16, sm, &[entry(k)])).collect()
    };
    let own = |base: u16| [(base, 1), (base + 0x10, 1), (base + 0x20, 1), (base + 0x30, 1)];
    let shared = |base: u16| [(base, 1), (base, 2), (base, 3), (base, 4)];
    let flat = |base: u16| [(base, 0), (base + 1, 0), (base + 2, 0), (base + 3, 0)];
    let register = "<Sm StartAddress=\"#x0f00\" ControlByte=\"#x44\" Enable=\"1\" OpOnly=\"1\">Outputs</Sm>";
    let memory = "<Sm DefaultSize=\"1\" StartAddress=\"#x1000\" ControlByte=\"0\" Enable=\"1\">Inputs</Sm>";
    let byte = |index: u16, object: u16| pdo(index, "Sm=\"0\"", &[(object, 1, 8, "USINT")]);
    for (name, outputs, inputs) in [
        ("objects of their own", of(0x1600, own(0x7000), "Sm=\"0\""), of(0x1A00, own(0x6000), "Sm=\"0\"")),
        ("one object", of(0x1600, shared(0x3001), "Sm=\"0\""), of(0x1A00, shared(0x3101), "Sm=\"0\"")),
        ("variables", of(0x1600, flat(0x2000), "Sm=\"0\""), of(0x1A00, flat(0x2100), "Sm=\"0\"")),
        ("bits of a byte", byte(0x1600, 0x7000), byte(0x1A00, 0x6000)),
        (
            "digital I/O interface",
            register.to_owned() + &of(0x1600, own(0x7000), "Sm=\"0\""),
            memory.to_owned() + &of(0x1A00, own(0x6000), "Sm=\"0\""),
        ),
        (
            "behind mailboxes",
            coe("DefaultSize=\"64\"") + &of(0x1600, own(0x7000), "Sm=\"2\""),
            coe("DefaultSize=\"64\"") + &of(0x1A00, own(0x6000), "Sm=\"3\""),
        ),
    ] {
        let mut master = terminals("digital", &outputs, &inputs);
        for levels in (0..4).map(|channel| 1 << channel).chain([0b0000, 0b1010, 0b1111]) {
            master.outputs(0)[0] = levels;
            master.cycles(3);
            assert_eq!(master.input(1)[0] & 0x0F, levels, "{name}");
        }
        assert_eq!(master.cycle(), Some(3), "{name}: one writes and the other reads");
    }
}

#[test]
fn every_analogue_channel_follows_its_wire_beside_the_status_of_its_object() {
    let outputs: String = (0..4).map(|k| pdo(0x1600 + k, "Sm=\"2\"", &[(0x7000 + 0x10 * k, 1, 16, "INT")])).collect();
    let inputs: String = (0..4)
        .map(|k| {
            let object = 0x6000 + 0x10 * k;
            pdo(0x1A00 + k, "Sm=\"3\"", &[(object, 1, 1, "BOOL"), (object, 2, 15, "BIT15"), (object, 17, 16, "INT")])
        })
        .collect();
    let mut master =
        terminals("analog", &(coe("DefaultSize=\"128\"") + &outputs), &(coe("DefaultSize=\"128\"") + &inputs));
    let values = [-1, 300, i16::MIN, i16::MAX];
    for (channel, value) in values.iter().enumerate() {
        master.outputs(0)[2 * channel..][..2].copy_from_slice(&value.to_le_bytes());
    }
    master.cycles(3);
    for (channel, value) in values.iter().enumerate() {
        assert_eq!(master.input(1)[4 * channel + 2..][..2], value.to_le_bytes(), "{channel}");
    }
}

#[test]
fn channels_that_the_file_does_not_have_are_named() {
    let two = pdo(0x1600, "Sm=\"0\"", &[(0x7000, 1, 1, "BOOL"), (0x7010, 1, 1, "BOOL")]);
    let esi = file(&device(7, 1, &two));
    let said = |kind: &str, keys: &str| ring(&esi, &one(kind, keys)).err().unwrap();
    let many = said("digital-output", "channels = 4");
    assert!(many.contains("D7 has 2 of digital outputs: 0x7000:01, 0x7010:01. Write channels = 2"), "{many}");
    for (kind, what) in [("digital-input", "digital input"), ("analog-output", "analogue output")] {
        assert!(said(kind, "").contains(&format!("D7 has no {what} in its process data")), "{}", said(kind, ""));
    }
    assert!(said("drive", "").contains("D7 maps no controlword (0x6040)"), "{}", said("drive", ""));
    // Without `channels` there are as many as in the file, and a wire to one more is an error.
    assert_eq!(ring(&esi, &one("digital-output", "")).unwrap().devices[0].channels.len(), 2);
    let wire = "[[wire]]\nfrom = \"d.3\"\nto = \"d.1\"\n";
    assert!(said("digital-output", wire).contains("d has no channel 3"), "{}", said("digital-output", wire));
    let inputs = file(&device(7, 1, &pdo(0x1A00, "Sm=\"0\"", &[(0x6000, 1, 1, "BOOL")])));
    let stamps = ring(&inputs, &one("digital-input", "channels = 1\nstamped_channels = 1")).err().unwrap();
    assert!(stamps.contains("has the objects of 0 (0x6100, 0x6110 …). Write stamped_channels = 0"), "{stamps}");
}

// ---- sync managers ----------------------------------------------------------------------------------------------------
fn eeprom_words(master: &Master) -> [u16; 5] {
    let sii = &master.link.segment().ring().devices[0].esc.sii;
    [0x18, 0x19, 0x1A, 0x1B, 0x1C].map(|word| sii.word(word))
}

#[test]
fn mailboxes_lie_where_the_file_says_and_take_every_size_that_it_allows() {
    let body = coe("MinSize=\"48\" MaxSize=\"512\" DefaultSize=\"256\"")
        + &pdo(0x1600, "Sm=\"2\"", &[(0x7000, 1, 16, "UINT")])
        + &pdo(0x1A00, "Sm=\"3\"", &[(0x6000, 1, 16, "UINT")]);
    let esi = file(&device(1, 1, &body));
    let mut by_file = master(&esi, &one("coupler", ""));
    assert_eq!(eeprom_words(&by_file), [0x1000, 256, 0x1400, 256, 4]);
    by_file.bring_up();
    assert_eq!(by_file.cycle(), Some(3));
    for (out, inward, expected) in
        [(48, 512, (2, 0)), (256, 256, (2, 0)), (47, 256, (0x11, 0x16)), (256, 513, (0x11, 0x16))]
    {
        let mut master = master(&esi, &one("coupler", ""));
        for (number, start, length, control) in [(0, 0x1000_u16, out, 0x26), (1, 0x1400, inward, 0x22)] {
            let ([s0, s1], [l0, l1]) = (start.to_le_bytes(), u16::to_le_bytes(length));
            master.write(0, at::SYNC_MANAGER.element(number), &[s0, s1, l0, l1, control, 0, 1, 0]);
        }
        assert_eq!(master.request(0, 2), expected, "{out} and {inward} bytes");
    }
    // The addresses that kadenz' own devices have are not this one's.
    let mut other = master(&esi, &one("coupler", ""));
    other.write(0, at::SYNC_MANAGER.element(0), &[0, 0x10, 128, 0, 0x26, 0, 1, 0]);
    other.write(0, at::SYNC_MANAGER.element(1), &[0x80, 0x10, 128, 0, 0x22, 0, 1, 0]);
    assert_eq!(other.request(0, 2), (0x11, 0x16));
}

#[test]
fn a_device_without_coe_in_its_file_refuses_coe_and_one_without_pdo_assign_its_assignment() {
    let pdos = pdo(0x1600, "Sm=\"2\"", &[(0x7000, 1, 16, "UINT")]);
    let with = |mailbox: &str| {
        let body = coe("DefaultSize=\"128\"")
            .replace("<CoE SdoInfo=\"1\" PdoAssign=\"1\" CompleteAccess=\"1\"/>", mailbox)
            .replace("#x1400", "#x1080");
        let mut master = master(&file(&device(1, 1, &(body + &pdos))), &one("coupler", ""));
        master.configure_managers(0);
        assert_eq!(master.request(0, 2), (2, 0));
        master
    };
    let mut silent = with("<FoE/>");
    assert_eq!(eeprom_words(&silent)[4], 8, "FoE alone");
    assert_eq!(silent.coe(0, &[0, 0x20, 0x40, 0x18, 0x10, 1, 0, 0, 0, 0]), Some(vec![1, 0, 2, 0]), "unsupported");
    let mut fixed = with("<CoE SdoInfo=\"1\"/>");
    assert_eq!(fixed.upload(0, 0x1C12, 1, false), Sdo::Data(vec![0, 0x16]));
    assert_eq!(fixed.download(0, 0x1C12, 0, &[0], false), Sdo::Abort(0x0601_0002));
    assert_eq!(with("<CoE PdoAssign=\"1\"/>").download(0, 0x1C12, 0, &[0], false), Sdo::Data(vec![]));
}

#[test]
fn files_and_bootstrap_are_as_the_file_says() {
    let of = |mailbox: &str, more: &str| {
        let body = coe("DefaultSize=\"128\"").replace("<CoE ", &format!("{mailbox}<CoE "));
        let body = body + more + &pdo(0x1600, "Sm=\"2\"", &[(0x7000, 1, 16, "UINT")]);
        file(&device(1, 1, &body))
    };
    let eeprom = |words: &str| format!("<Eeprom><ByteSize>2048</ByteSize><BootStrap>{words}</BootStrap></Eeprom>");
    let mut full = master(&of("<FoE/>", &eeprom("0010000200140002")), &one("coupler", ""));
    let sii = &full.link.segment().ring().devices[0].esc.sii;
    assert_eq!([0x14, 0x15, 0x16, 0x17, 0x1C].map(|word| sii.word(word)), [0x1000, 512, 0x1400, 512, 4 | 8]);
    assert_eq!(full.boot(0), (3, 0));
    assert_eq!(full.foe_write(0, "f", 0, &[7; 500]), Ok(()), "one full packet and an empty one");
    // Without FoE the mailbox refuses the protocol, in bootstrap as elsewhere; without words there is no bootstrap.
    let mut none = master(&of("", &eeprom("0000000000000000")), &one("coupler", ""));
    none.configure_managers(0);
    assert_eq!(none.request(0, 2), (2, 0));
    none.post_as(0, 4, &[1, 0, 0, 0, 0, 0, b'f']);
    assert!(none.fetch(0).is_some_and(|reply| reply[5] & 0x0F == 0 && reply[6..10] == [1, 0, 2, 0]), "unsupported");
    assert_eq!(none.boot(0), (0x11, 0x13));
    let said = ring(&of("<FoE/>", &eeprom("0010")), &one("coupler", "")).err().unwrap();
    assert!(said.contains("line 2: BootStrap \"0010\" is not four words in hexadecimal"), "{said}");
    let said = ring(&of("", ""), &one("coupler", "files = {}")).err().unwrap();
    assert!(said.contains("D1 has no FoE"), "{said}");
}

#[test]
fn a_network_is_as_the_file_says() {
    let of = |mailbox: &str, keys: &str| {
        let body = coe("DefaultSize=\"128\"").replace("<CoE ", &format!("{mailbox}<CoE "));
        let body = body + &pdo(0x1600, "Sm=\"2\"", &[(0x7000, 1, 16, "UINT")]);
        let mut master = master(&file(&device(1, 1, &body)), &one("coupler", keys));
        master.configure_managers(0);
        assert_eq!(master.request(0, 2), (2, 0));
        master
    };
    let set = |flags: u8| [&[2, 1, 0, 0, flags, 0, 0, 0, 2][..], &[0; 9]].concat();
    let others = of("<AoE/><VoE/>", "voe = { echo = [1] }");
    assert_eq!(others.link.segment().ring().devices[0].esc.sii.word(0x1C), 1 | 4 | 0x20);
    let mut full = of("<EoE IP=\"1\" MAC=\"1\" TimeStamp=\"0\"/>", "");
    assert_eq!(full.link.segment().ring().devices[0].esc.sii.word(0x1C), 2 | 4);
    assert_eq!(full.eoe(0, &set(3)), Some(Mail::Ethernet(vec![3, 1, 0, 0])));
    let mut fixed = of("<EoE IP=\"1\" MAC=\"0\"/>", "ethernet = { address = \"10.0.0.2/24\" }");
    assert_eq!(fixed.eoe(0, &set(3)), Some(Mail::Ethernet(vec![3, 1, 1, 0])));
    assert_eq!(fixed.eoe(0, &set(2)), Some(Mail::Ethernet(vec![3, 1, 0, 0])));
    assert_eq!(of("<EoE IP=\"false\"/>", "").eoe(0, &set(2)), Some(Mail::Ethernet(vec![3, 1, 1, 2])));
    assert_eq!(of("", "").eoe(0, &set(2)), Some(Mail::Error(2)));
}

#[test]
fn each_sync_manager_of_a_direction_carries_its_own_process_data() {
    let body = "<Sm StartAddress=\"#x0f00\" ControlByte=\"#x44\" Enable=\"1\">Outputs</Sm>\
        <Sm StartAddress=\"#x0f01\" ControlByte=\"#x44\" Enable=\"1\">Outputs</Sm>\
        <Sm StartAddress=\"#x1000\" ControlByte=\"0\" Enable=\"1\">Inputs</Sm>\
        <Sm StartAddress=\"#x1001\" ControlByte=\"0\" Enable=\"1\">Inputs</Sm>\
        <Sm StartAddress=\"#x0910\" Virtual=\"1\">Inputs</Sm>"
        .to_owned()
        + &pdo(0x1600, "Sm=\"0\"", &[(0x7000, 1, 8, "USINT")])
        + &pdo(0x1601, "Sm=\"1\"", &[(0x7000, 2, 8, "USINT")])
        + &pdo(0x1A00, "Sm=\"2\"", &[(0x6000, 1, 8, "USINT")])
        + &pdo(0x1A01, "Sm=\"3\"", &[(0x6000, 2, 8, "USINT")])
        + &pdo(0x1AFF, "Sm=\"4\" Virtual=\"1\"", &[(0x1D09, 1, 64, "ULINT")]);
    let mut master = master(&file(&device(1, 1, &body)), &one("digital-output", ""));
    master.configure_managers(0);
    for state in [2, 4, 8] {
        assert_eq!(master.request(0, state), (state, 0));
    }
    assert_eq!(master.write(0, 0x0F00_u16, &[0xA5]), 1);
    assert_eq!(master.write(0, 0x0F01_u16, &[0x3C]), 1);
    let device = &mut master.link.segment_mut().ring_mut().devices[0];
    assert_eq!(device.description.managers().len(), 4, "a virtual one is no sync manager");
    let levels: Vec<bool> = match &device.function {
        Function::DigitalOutput(outputs) => (1..=16).map(|channel| outputs.level(channel)).collect(),
        _ => panic!("a digital output"),
    };
    let expected: Vec<bool> = (0..16).map(|bit| (0x3CA5_u16 >> bit) & 1 == 1).collect();
    assert_eq!(levels, expected);
    for (sub, value) in [(1, 0x11), (2, 0x22)] {
        let handle = device.dictionary.handle(0x6000, sub).unwrap();
        device.dictionary.set(handle, value);
    }
    master.write(0, 0x0F00_u16, &[0]);
    assert_eq!(master.read(0, 0x1000_u16, 1), Some((vec![0x11], 1)));
    assert_eq!(master.read(0, 0x1001_u16, 1), Some((vec![0x22], 1)));
}

#[test]
fn outputs_that_are_enabled_in_op_alone_may_be_off_before() {
    let body = "<Sm StartAddress=\"#x0f00\" ControlByte=\"#x44\" Enable=\"1\" OpOnly=\"1\">Outputs</Sm>".to_owned()
        + &pdo(0x1600, "Sm=\"0\"", &[(0x7000, 1, 1, "BOOL")]);
    let mut master = master(&file(&device(1, 1, &body)), &one("digital-output", ""));
    for state in [2, 4] {
        assert_eq!(master.request(0, state), (state, 0));
    }
    assert_eq!(master.request(0, 8), (0x14, 0x1D), "outputs missing");
    master.configure_managers(0);
    assert_eq!(master.request(0, 0x14), (4, 0));
    assert_eq!(master.request(0, 8), (8, 0));
}

#[test]
fn process_data_in_one_buffer_pass_with_its_handshake() {
    let body = coe("DefaultSize=\"64\"").replace("#x20\"", "#x22\"").replace("#x24\"", "#x26\"")
        + &pdo(0x1600, "Sm=\"2\"", &[(0x7000, 1, 8, "USINT")])
        + &pdo(0x1A00, "Sm=\"3\"", &[(0x6000, 1, 8, "USINT")]);
    let mut master = master(&file(&device(1, 1, &body)), &one("digital-output", "channels = 8"));
    master.bring_up();
    for value in [0x5A, 0xFF, 0x00] {
        master.outputs(0)[0] = value;
        assert_eq!(master.cycle(), Some(3));
        assert_eq!(master.upload(0, 0x7000, 1, false), Sdo::Data(vec![value]));
    }
}

/// The bytes of a category of the first device's EEPROM.
fn eeprom_category(master: &Master, kind: u16) -> Vec<u8> {
    let sii = &master.link.segment().ring().devices[0].esc.sii;
    let mut at = 0x40;
    while sii.word(at) != kind {
        assert_ne!(sii.word(at), 0xFFFF, "no category {kind}");
        at += 2 + usize::from(sii.word(at + 1));
    }
    (0..sii.word(at + 1)).flat_map(|word| sii.word(at + 2 + usize::from(word)).to_le_bytes()).collect()
}

// ---- assignment -------------------------------------------------------------------------------------------------------
#[test]
fn the_default_of_alternative_mappings_is_assigned_and_the_others_can_be() {
    let mapping = |attributes: &str, outputs: &str, inputs: &str| {
        format!(
            "<AlternativeSmMapping {attributes}><Name>m</Name><Sm No=\"2\">{outputs}</Sm><Sm No=\"3\">{inputs}</Sm>\
             </AlternativeSmMapping>"
        )
    };
    let body = format!(
        "<Info><VendorSpecific><TwinCAT>{}{}</TwinCAT></VendorSpecific></Info>",
        mapping("", "<Pdo>#x1600</Pdo>", "<Pdo>#x1a00</Pdo>"),
        mapping("Default=\"1\"", "<Pdo>#x1602</Pdo><Pdo>#x1601</Pdo>", "<Pdo>#x1a01</Pdo>")
    ) + &coe("DefaultSize=\"128\"")
        + &pdo(0x1600, "Sm=\"2\"", &[(0x7000, 1, 32, "UDINT")])
        + &pdo(0x1601, "", &[(0x7000, 2, 16, "UINT")])
        + &pdo(0x1602, "Sm=\"2\"", &[(0x7000, 3, 8, "USINT")])
        + &pdo(0x1A00, "Sm=\"3\"", &[(0x6000, 1, 32, "UDINT")])
        + &pdo(0x1A01, "Sm=\"3\"", &[(0x6000, 2, 8, "USINT")]).replace("<Entry>", "<Exclude>#x1a00</Exclude><Entry>");
    let mut master = master(&file(&device(1, 1, &body)), &one("coupler", ""));
    let description = &master.link.segment().ring().devices[0].description;
    assert_eq!((description.output_length(), description.input_length()), (3, 1));
    assert_eq!(description.sync_managers[2].pdos, [0x1602, 0x1601], "in the order of the mapping");
    // Both RxPDOs of one entry each, and no other: an EEPROM has no room for all alternatives.
    let category = eeprom_category(&master, 51);
    assert_eq!((category.len(), &category[..4], &category[16..20]), (32, &[1, 0x16, 1, 2][..], &[2, 0x16, 1, 2][..]));
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    assert_eq!(master.upload(0, 0x1C12, 0, true), Sdo::Data(vec![2, 0, 0x02, 0x16, 0x01, 0x16]));
    for (sub, data) in [(0, &[0][..]), (1, &[0x00, 0x16]), (0, &[1])] {
        assert_eq!(master.download(0, 0x1C12, sub, data, false), Sdo::Data(vec![]));
    }
    master.write(0, at::SYNC_MANAGER.element(2), &[0x00, 0x18, 4, 0, 0x24, 0, 1, 0]);
    assert_eq!(master.request(0, 4), (4, 0), "the alternative of four bytes");
}

#[test]
fn process_data_that_no_sync_manager_has_wait_for_the_master() {
    let body = coe("DefaultSize=\"128\"") + &pdo(0x1A00, "", &[(0x6000, 1, 16, "INT")]);
    let mut master = master(&file(&device(1, 1, &body)), &one("analog-input", ""));
    let description = &master.link.segment().ring().devices[0].description;
    assert_eq!((description.input_length(), description.manager(Purpose::Inputs)), (0, Some(3)));
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    for (sub, data) in [(0, &[0][..]), (1, &[0x00, 0x1A]), (0, &[1])] {
        assert_eq!(master.download(0, 0x1C13, sub, data, false), Sdo::Data(vec![]));
    }
    master.write(0, at::SYNC_MANAGER.element(3), &[0x00, 0x1C, 2, 0, 0x20, 0, 1, 0]);
    assert_eq!(master.request(0, 4), (4, 0));
    // Without PdoAssign nothing could ever be assigned.
    let fixed = file(&device(1, 1, &body.replace("PdoAssign=\"1\"", "")));
    let said = ring(&fixed, &one("analog-input", "")).err().unwrap();
    assert!(said.contains("0x1a00 without Sm"), "{said}");
}

// ---- which device -----------------------------------------------------------------------------------------------------
#[test]
fn a_choice_that_leaves_several_devices_is_an_error_with_the_keys_that_choose() {
    let bit = |object| pdo(0x1600, "Sm=\"0\"", &[(object, 1, 1, "BOOL")]);
    let esi = file(
        &[(1, 0x10, 0x7000), (1, 0x30, 0x7100), (1, 0x20, 0x7200), (2, 1, 0x7300)]
            .map(|(product, revision, object)| device(product, revision, &bit(object)))
            .concat(),
    );
    let said = |keys: &str| ring(&esi, &one("digital-output", keys)).err().unwrap();
    let any = said("");
    assert!(any.contains("the file has 4 devices. Choose one by esi_product: 0x00000001 (D1)"), "{any}");
    let revisions = said("esi_product = 1");
    assert!(revisions.contains("D1 has the revisions 0x00000010, 0x00000030, 0x00000020"), "{revisions}");
    assert!(revisions.contains("esi_revision = 0x00000030 is the newest"), "{revisions}");
    assert!(said("esi_product = 3").contains("no Device with ProductCode 0x3"));
    assert!(said("esi_product = 1\nesi_revision = 0x40").contains("ProductCode 0x1 and RevisionNo 0x00000040"));
    for (keys, place) in [("esi_product = 1\nesi_revision = 0x30", "0x7100:01"), ("esi_product = 2", "0x7300:01")] {
        let ring = ring(&esi, &one("digital-output", keys)).unwrap();
        assert_eq!(ring.devices[0].channels[0].to_string(), place);
    }
}

#[test]
fn what_is_wrong_in_a_file_is_named_with_its_line_and_a_remedy() {
    let word = |index, attributes: &str| pdo(index, attributes, &[(0x7000, 1, 16, "UINT")]);
    let good = device(1, 1, &word(0x1600, "Sm=\"2\""));
    let with = |body: &str| file(&device(1, 1, body));
    for (esi, parts) in [
        (file(&good).replace("#xB0B", "0xB0B"), &["line 1: Id \"0xB0B\" is not a number", "behind #x"][..]),
        (file(&good).replace("Id>", "ID>"), &["line 1: Vendor without Id"]),
        (file(&good).replace("\"1\" Rev", "\"0x1\" Rev"), &["line 2: ProductCode \"0x1\" is not a number"]),
        ("<EtherCATConfig><Config/></EtherCATConfig>".into(), &["line 1: the file is a EtherCATConfig", "ENI file"]),
        (file(&good).replace("<BitLen>16</BitLen>", ""), &["line 2: RxPdo 0x1600: Entry 0x7000 without BitLen"]),
        (with("<TxPdo Ref=\"DigInputBit\" Sm=\"0\"/>"), &["line 2: TxPdo refers to \"DigInputBit\"", "newer file"]),
        (with("<Slots><Slot/></Slots>"), &["line 2: the device takes its process data from modules"]),
        (with(&word(0x1A00, "Sm=\"3\"").repeat(2)), &["line 2: TxPdo 0x1a00 stands twice", "index of its own"]),
        (
            with(
                &(word(0x1A00, "Sm=\"3\"").replace("<Entry>", "<Exclude>#x1a01</Exclude><Entry>")
                    + &word(0x1A01, "Sm=\"3\"")),
            ),
            &["line 2: TxPdo 0x1a00 excludes 0x1a01, and both are assigned", "Remove Sm from one"],
        ),
        (
            with(&(coe("") + &word(0x1A00, "Sm=\"2\""))),
            &["TxPdo 0x1a00 is assigned to sync manager 2, which is for Outputs"],
        ),
        (with(&(coe("") + &word(0x1600, "Sm=\"4\""))), &["assigned to sync manager 4, which the file does not have"]),
        (
            with("<Sm StartAddress=\"#x1000\">Outputs</Sm><Sm StartAddress=\"#x1100\">MBoxOut</Sm>"),
            &["MailboxOut is sync manager 1, not 0"],
        ),
        (with("<Sm StartAddress=\"#x1000\">Output</Sm>"), &["Sm \"Output\" is none of MBoxOut"]),
        (with("<Sm>Outputs</Sm>"), &["Sm without StartAddress"]),
        (
            with(&("<Sm StartAddress=\"#x8e00\">Outputs</Sm>".to_owned() + &word(0x1600, "Sm=\"0\""))),
            &["sync manager 0 (Outputs) at 0x8e00 has 2 bytes and room for 0"],
        ),
    ] {
        let said = ring(&esi, &one("coupler", "")).err();
        let said = said.unwrap_or_else(|| panic!("taken: {esi}"));
        assert!(parts.iter().all(|part| said.contains(part)), "{parts:?}\n{said}");
    }
    // A document type and a namespace are no mistakes.
    let doctype = "<!DOCTYPE EtherCATInfo SYSTEM \"x.dtd\">".to_owned() + &file(&good);
    let named = file(&good).replace("<EtherCATInfo>", "<EtherCATInfo xmlns=\"http://www.ethercat.org/esi\">");
    for esi in [doctype, named] {
        assert_eq!(ring(&esi, &one("coupler", "")).unwrap().devices[0].description.output_length(), 2);
    }
}

#[test]
fn what_real_files_have_is_no_mistake() {
    // EL1252: the default mapping holds virtual PDOs, which are registers. EP5001: a PDO excludes itself.
    let mapping = "<Info><VendorSpecific><TwinCAT><AlternativeSmMapping Default=\"1\"><Sm No=\"0\"><Pdo>#x1a00</Pdo>\
        <Pdo>#x1a13</Pdo></Sm></AlternativeSmMapping></TwinCAT></VendorSpecific></Info>";
    let body = mapping.to_owned()
        + &pdo(0x1A00, "Sm=\"0\"", &[(0x6000, 1, 16, "UINT")]).replace("<Entry>", "<Exclude>#x1a00</Exclude><Entry>")
        + &pdo(0x1A13, "Sm=\"1\" Virtual=\"1\"", &[(0x1D09, 1, 64, "ULINT")]);
    let ring = ring(&file(&device(1, 1, &body)), &one("coupler", "")).unwrap();
    assert_eq!(ring.devices[0].description.input_length(), 2);
}
