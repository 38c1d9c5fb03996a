// SPDX-License-Identifier: Apache-2.0
//! Files and words of users: ring files, ESI files, command lines. Errors say what, where and what to do.

use crate::support::EIGHT;
use kadenz_segment::description::DataType;
use kadenz_segment::esi::{self, Choice};
use kadenz_segment::pcap::Writer;
use kadenz_segment::ranges::{self, Range};
use kadenz_segment::ring::Ring;
use kadenz_segment::settings::{RingFile, EXAMPLE};
use kadenz_segment::xml;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

fn error_of(text: &str) -> String {
    let path = Path::new("ring.toml");
    match RingFile::parse(text, path).and_then(|file| Ring::new(&file, path).map(|_| ())) {
        Ok(()) => "no error".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_format_shown_by_example_is_a_ring() {
    assert_eq!(error_of(EXAMPLE), "no error");
    // With every line that is only mentioned, except those that name files or contradict their neighbours.
    let all = EXAMPLE
        .replace("# alias", "alias")
        .replace("# serial", "serial")
        .replace("# clock_", "clock_")
        .replace("# port", "port");
    assert_eq!(error_of(&all), "no error");
}

#[test]
fn the_format_shown_by_example_names_every_key() {
    // An unknown key is answered by all that are known in its table.
    let device = "[[device]]\nname = \"d\"\nkind = \"coupler\"\n";
    for text in [
        "x = 1".to_owned(),
        "[ring]\nx = 1".to_owned(),
        format!("{device}x = 1"),
        format!("{device}[device.drive]\nx = 1"),
        format!("{device}[device.drive.gains]\nx = 1"),
        format!("{device}[device.drive.plant]\nx = 1"),
        format!("{device}[device.edge_clock]\nx = 1"),
        format!("{device}[device.signal]\nx = 1"),
        format!("{device}[[wire]]\nx = 1"),
    ] {
        let message = toml::from_str::<RingFile>(&text).unwrap_err().to_string();
        let (_, known) = message.split_once("expected").expect("the known keys");
        let keys: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        assert!(keys.len() > 1, "{message}");
        for key in keys {
            let is_named = EXAMPLE.contains(&format!("{key} =")) || EXAMPLE.contains(&format!("{key}]"));
            assert!(is_named, "{key} is missing; {text}");
        }
    }
}

#[test]
fn a_wrong_ring_file_is_answered_by_place_cause_and_remedy() {
    let coupler = "[[device]]\nname = \"c\"\nkind = \"coupler\"\n";
    for (text, parts) in [
        ("", &["no [[device]]", "Describe at least one"][..]),
        ("[[device]]\nname = \"c\"\nkind = \"copler\"\n", &["line 3", "unknown variant", "Did you mean `coupler`?"]),
        ("[ring]\ntick = 5\n", &["line 2", "Did you mean `tick_us`?"]),
        (&format!("{coupler}channels = 3\n"), &["device 0 (c)", "`channels` does not belong"]),
        (&format!("{coupler}{coupler}"), &["name used twice"]),
        (&format!("{coupler}attached_to = \"d\"\n"), &["is not a device before it"]),
        (
            "[[device]]\nname = \"d\"\nkind = \"drive\"\n[device.drive]\nlimits_rad = [1.0, -1.0]\n",
            &["limits_rad", "low below high"],
        ),
        (&format!("{coupler}[[wire]]\nfrom = \"x.1\"\nto = \"c.1\"\n"), &["no device \"x\"", "Did you mean \"c.1\"?"]),
    ] {
        let message = error_of(text);
        assert!(parts.iter().all(|part| message.contains(part)), "{text}\n{message}");
    }
}

#[test]
fn every_number_of_the_format_has_its_range_and_none_beyond_is_taken() {
    // Every key whose value is a number, from the example; those without one there are written behind a #.
    let all = EXAMPLE.replace("# ", "");
    for (rows, section) in [(ranges::RING, true), (ranges::FAULTS, false)] {
        for (key, range) in rows {
            let last = key.trim_end_matches("[]").rsplit('.').next().unwrap();
            assert!(!section || all.contains(&format!("{last} = ")), "{key} is in no example");
            let beyond = match range {
                Range::Whole(least, most) => vec![(least - 1).to_string(), (most + 1).to_string(), "1.5".into()],
                Range::Real(least, most) => {
                    vec![format!("{:?}", least - 1.0 - least.abs()), format!("{:?}", most * 2.0 + 1.0), "-inf".into()]
                }
            };
            for value in beyond.into_iter().chain(["nan".into(), "inf".into()]) {
                let (path, name) = key.rsplit_once('.').unwrap();
                let value = if name.ends_with("[]") { format!("[1, {value}]") } else { value };
                let table = path.replace("[]", "");
                let head = if path.ends_with("[]") { format!("[[{table}]]") } else { format!("[{table}]") };
                let parent =
                    path.split("[].").next().filter(|first| *first != path).map(|first| format!("[[{first}]]\n"));
                let text = format!("{}{head}\n{} = {value}\n", parent.unwrap_or_default(), name.trim_end_matches("[]"));
                let error = ranges::check(Path::new("f"), &text, rows, "").expect_err(&text).to_string();
                // What TOML itself cannot hold is an error of its own, with the line.
                let is_named = error.contains("Choose a") && error.contains(name.trim_end_matches("[]"));
                assert!(error.contains("line ") && (is_named || error.contains("column")), "{text}\n{error}");
            }
        }
    }
    // And every number in the example has a range.
    for line in all.lines().filter(|line| line.contains(" = ")) {
        for pair in line.split(['{', ',']).filter_map(|part| part.split_once(" = ")) {
            let value = pair.1.trim_start_matches('[').split([' ', ']', '}', '#']).next().unwrap();
            if value.parse::<f64>().is_ok() || value.starts_with("0x") {
                let key = pair.0.trim();
                let has =
                    ranges::RING.iter().any(|(known, _)| known.trim_end_matches("[]").ends_with(&format!(".{key}")));
                assert!(has, "{key} has no range");
            }
        }
    }
}

#[test]
fn nonsense_in_a_fault_file_is_answered_by_line_key_value_and_range() {
    let ring = EIGHT;
    let path = std::env::temp_dir().join(format!("kadenz-faults-{}.toml", std::process::id()));
    let path = path.to_str().unwrap();
    for (fault, parts) in [
        ("kind = \"lose-frame\"\ntime_ms = nan", &["line 4: fault.time_ms = nan", "from 0 to 1000000000"][..]),
        ("kind = \"lose-frame\"\ntime_ms = -5", &["line 4: fault.time_ms = -5"]),
        ("kind = \"lose-frame\"\ncycle = 0", &["line 4: fault.cycle = 0", "from 1"]),
        ("kind = \"lose-frame\"\ncycle = 1\ncount = 0", &["line 5: fault.count = 0"]),
        ("kind = \"lose-frame\"\ncycle = 1\nppm = 3.0", &["line 2: lose-frame takes no ppm"]),
        ("kind = \"wrong-counter\"\ncycle = 1\ndelta = 0", &["delta = 0 leaves the working counter right"]),
        ("kind = \"refuse-state\"\nframe = 1\ndevice = \"j0\"\ncode = 1\nstate = 1", &["state is 2, 3, 4 or 8"]),
        (
            "kind = \"drive-fault\"\ncycle = 1\ndevice = \"coupler\"\ncode = 1",
            &["line 2: drive-fault: device \"coupler\" has no drive", "Name a drive"],
        ),
        ("kind = \"emergency\"\ncycle = 1\ndevice = \"outputs\"\ncode = 1", &["\"outputs\" has no mailbox"]),
        ("kind = \"device-deaf\"\nrequest = 1\ndevice = \"coupler\"", &["\"coupler\" has no mailbox requests"]),
        (
            "kind = \"device-deaf\"\ncycle = 1\ndevice = \"j9\"",
            &["line 2: device-deaf: no device \"j9\"", "Did you mean \"j0\"?"],
        ),
    ] {
        std::fs::write(path, format!("# a fault\n[[fault]]\n{fault}\n")).unwrap();
        let (code, _, said) = program(&["check", ring, "--faults", path]);
        assert!(
            code == 2 && said.contains(path) && parts.iter().all(|part| said.contains(part)),
            "{fault}\n{code} {said}"
        );
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn more_devices_than_a_ring_may_have_are_refused_at_once() {
    let began = std::time::Instant::now();
    let many = |count: usize| {
        (0..count).map(|k| format!("[[device]]\nname = \"d{k}\"\nkind = \"coupler\"\n")).collect::<String>()
    };
    assert!(error_of(&many(70_000)).contains("line 1: 70000 times [[device]]. Write at most 1024"));
    assert_eq!(error_of(&many(1024)), "no error");
    assert!(began.elapsed().as_secs() < 600, "it took minutes");
}

#[test]
fn devices_out_of_the_frame_s_order_are_refused_with_the_right_order() {
    let text = "[[device]]\nname=\"a\"\nkind=\"coupler\"\n[[device]]\nname=\"b\"\nkind=\"coupler\"\n\
        [[device]]\nname=\"c\"\nkind=\"coupler\"\nattached_to=\"a\"\nport=3\n";
    assert!(error_of(text).contains("List them as: a, c, b"), "{}", error_of(text));
}

#[test]
fn an_esi_file_gives_identity_and_assigned_process_data() {
    let drive = esi::parse(include_str!("../data/drive.xml"), Choice { product: Some(0x201), revision: None }).unwrap();
    assert_eq!((drive.vendor, drive.product, drive.revision), (2989, 0x201, 0x0001_0000));
    assert_eq!(drive.rx.iter().map(|pdo| (pdo.index, pdo.bits())).collect::<Vec<_>>(), [(0x1601, 48), (0x1602, 32)]);
    assert_eq!(drive.assigned, [(0x1601, 2), (0x1A01, 3)], "0x1602 has no Sm");
    assert_eq!(drive.tx[0].bits(), 64, "with the gap");
    assert_eq!(
        esi::parse(include_str!("../data/drive.xml"), Choice { product: Some(0x202), revision: None })
            .unwrap()
            .type_name,
        "another"
    );
    assert!(esi::parse(include_str!("../data/drive.xml"), Choice { product: Some(9), revision: None })
        .unwrap_err()
        .message
        .contains("no Device with ProductCode 0x9"));
}

#[test]
fn a_type_that_esi_does_not_name_counts_by_its_width_and_a_wrong_width_is_named() {
    let with = |bits: u32, data_type: &str| {
        let from = "<BitLen>3</BitLen><Name>DT0801EN03</Name><DataType>DT0801EN03</DataType>";
        let to = format!("<BitLen>{bits}</BitLen><DataType>{data_type}</DataType>");
        esi::parse(&include_str!("../data/types.xml").replace(from, &to), Choice::default())
            .map(|esi| esi.tx[3].entries[1].data_type)
    };
    assert_eq!(with(3, "DT0801EN03"), Ok(DataType::Bit3));
    assert_eq!(with(48, "DT0900"), Ok(DataType::U48));
    assert_eq!(with(16, "WORD"), Ok(DataType::Word));
    assert_eq!(with(80, "DT0900"), Ok(DataType::Octets), "a structure");
    assert!(with(16, "REAL").unwrap_err().message.contains("does not fit"));
}

/// An ESI file of one device with these PDOs.
fn esi_text(encoding: &str, name: &str, pdos: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"{encoding}\"?><EtherCATInfo><Vendor><Id>2</Id></Vendor><Descriptions><Devices><Device>\
         <Type ProductCode=\"#x10\" RevisionNo=\"#x1\">{name}</Type>{pdos}</Device></Devices></Descriptions></EtherCATInfo>"
    )
}

#[test]
fn an_esi_file_is_read_in_the_encoding_it_declares() {
    let name_in = |bytes: &[u8]| esi::parse(&xml::decode(bytes).unwrap(), Choice::default()).unwrap().type_name;
    let text = |encoding| esi_text(encoding, "Zähler für °C", "");
    let latin: Vec<u8> = text("ISO-8859-1").chars().map(|letter| letter as u8).collect();
    assert_eq!(name_in(&latin), "Zähler für °C");
    assert_eq!(name_in(text("utf-8").as_bytes()), "Zähler für °C");
    assert_eq!(name_in(text("UTF-16").as_bytes()), "Zähler für °C", "declared, but bytes");
    for (mark, order) in
        [(true, u16::to_le_bytes as fn(u16) -> [u8; 2]), (true, u16::to_be_bytes), (false, u16::to_le_bytes)]
    {
        let units: Vec<u16> = mark.then_some(0xFEFF).into_iter().chain(text("UTF-16").encode_utf16()).collect();
        assert_eq!(name_in(&units.into_iter().flat_map(order).collect::<Vec<u8>>()), "Zähler für °C");
    }
    assert_eq!(name_in(&[&[0xEF, 0xBB, 0xBF], text("utf-8").as_bytes()].concat()), "Zähler für °C");
    let wrong = xml::decode(&[text("utf-8").as_bytes(), &[0xE4]].concat()).unwrap_err();
    assert!(
        wrong.0.contains("not text in UTF-8 (as its XML declaration says)") && wrong.1.contains("Save the file"),
        "{wrong:?}"
    );
    assert!(xml::decode(text("klingon").as_bytes()).unwrap_err().0.contains("unknown encoding \"klingon\""));
}

#[test]
fn strings_arrays_and_entries_beyond_255_bits_are_process_data() {
    let entry = |index: &str, bits: u32, data_type: &str| {
        format!("<Entry><Index>{index}</Index><SubIndex>1</SubIndex><BitLen>{bits}</BitLen><DataType>{data_type}</DataType></Entry>")
    };
    let with = |entries: String| {
        let pdo = format!("<TxPdo Sm=\"3\"><Index>#x1A00</Index>{entries}</TxPdo>");
        esi::parse(&esi_text("utf-8", "long", &pdo), Choice::default()).map(|esi| esi.tx[0].clone())
    };
    for (bits, data_type, is) in [
        (256, "STRING(32)", DataType::Text),
        (64, "ARRAY [0..3] OF UINT", DataType::Octets),
        (12, "ARRAY [0..2, 1..4] OF BIT", DataType::Octets),
        (2048, "OCTET_STRING(256)", DataType::Octets),
        (12, "DT1012", DataType::Octets),
    ] {
        let pdo = with(entry("#x7000", bits, data_type)).unwrap();
        assert_eq!((pdo.bits(), pdo.entries[0].data_type), (bits as usize, is), "{data_type}");
        assert_eq!(pdo.pieces().map(|(_, bits)| usize::from(bits)).sum::<usize>(), bits as usize);
    }
    assert_eq!(with(entry("0", 1000, "ARRAY [0..124] OF BYTE")).unwrap().pieces().count(), 5, "padding");
    for (bits, data_type, part) in [
        (64, "STRING(9)", "BitLen 64 does not fit its DataType STRING(9)"),
        (65, "ARRAY [0..3] OF UINT", "does not fit"),
        (0, "UINT", "BitLen 0 holds nothing"),
        (70_000, "OCTET_STRING", "BitLen 70000 is more than 65535"),
        (65_000, "OCTET_STRING", "needs 263 mapping entries"),
    ] {
        let message = with(entry("#x7000", bits, data_type)).unwrap_err().message;
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn an_esi_file_without_assigned_process_data_is_an_error_with_its_remedy() {
    let folder = std::env::temp_dir().join(format!("kadenz-esi-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let said = |kind: &str, pdos: &str| {
        std::fs::write(folder.join("d.xml"), esi_text("utf-8", "bare", pdos)).unwrap();
        let ring = folder.join("ring.toml");
        std::fs::write(&ring, format!("[[device]]\nname = \"d\"\nkind = \"{kind}\"\nesi = \"d.xml\"\n")).unwrap();
        RingFile::read(&ring).and_then(|file| Ring::new(&file, &ring)).map_err(|error| error.to_string())
    };
    let bare = said("drive", "").err().unwrap();
    assert!(
        bare.contains("d.xml: device 0x10 (bare) has no RxPdo and no TxPdo") && bare.contains("kind = \"coupler\""),
        "{bare}"
    );
    let loose = said("digital-output", "<RxPdo><Index>#x1600</Index></RxPdo>").err().unwrap();
    assert!(loose.contains("it has 0x1600 without Sm. Add Sm=\"2\""), "{loose}");
    let coupler = said("coupler", "").unwrap();
    assert_eq!((coupler.devices[0].description.output_length(), coupler.devices[0].description.input_length()), (0, 0));
    std::fs::remove_dir_all(&folder).unwrap();
}

fn executable() -> PathBuf {
    env!("CARGO_BIN_EXE_kadenz-segment").into()
}

pub(crate) fn program(arguments: &[&str]) -> (i32, String, String) {
    let done = Command::new(executable()).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

#[test]
fn exit_codes_tell_usage_from_failure() {
    let ring = EIGHT;
    assert_eq!(program(&["check", ring]).0, 0);
    let (code, _, said) = program(&["run", "--interface", "nonesuch0", "--ring", ring]);
    assert!(code == 1 && said.contains("nonesuch0"), "{code} {said}");
    assert_eq!(program(&["describe"]).0, 2);
    assert_eq!(program(&["replay", ring, "--ring", ring]).0, 2);
    let folder = std::env::temp_dir();
    for wrong in ["/nonexistent/ring.toml", folder.to_str().unwrap(), executable().to_str().unwrap(), "/dev/zero"] {
        let (code, _, said) = program(&["check", wrong]);
        assert!(code == 2 && said.contains(wrong) && said.contains("ring file"), "{code} {said}");
        let (code, _, said) = program(&["check", ring, "--faults", wrong]);
        assert!(code == 2 && said.contains(wrong) && said.contains("fault file"), "{code} {said}");
        assert_eq!(program(&["replay", wrong, "--ring", ring]).0, 2, "{wrong}");
    }
    let (code, said, _) = program(&["describe", ring, "--registers"]);
    assert!(code == 0 && said.contains("AL status code") && said.contains("axis 5"), "{said}");
    for (register, is) in [("AL status code", "works"), ("product id", "constant"), ("MII management", "no effect")] {
        assert!(said.lines().any(|line| line.contains(register) && line.contains(is)), "{register} {is}: {said}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let ring = EIGHT;
    let (reader, writer) = UnixStream::pair().unwrap();
    drop(reader);
    let done = Command::new(executable())
        .args(["describe", ring, "--registers"])
        .stdout(OwnedFd::from(writer))
        .output()
        .unwrap();
    assert_eq!((done.status.code(), done.stderr.len()), (Some(0), 0), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_recording_without_a_frame_is_not_as_recorded() {
    let ring = EIGHT;
    let path = std::env::temp_dir().join(format!("kadenz-empty-{}.pcapng", std::process::id()));
    drop(Writer::new(std::fs::File::create(&path).unwrap(), 0).unwrap());
    let (code, said, error) = program(&["replay", path.to_str().unwrap(), "--ring", ring]);
    std::fs::remove_file(&path).unwrap();
    assert!(code == 1 && said.is_empty() && error.contains("holds no frame"), "{code} {said} {error}");
}
