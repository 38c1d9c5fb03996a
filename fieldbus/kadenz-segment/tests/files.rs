// SPDX-License-Identifier: Apache-2.0
//! What users write: ring files, ESI files, command lines. Errors say what, where and what to do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kadenz_segment::description::DataType;
use kadenz_segment::esi;
use kadenz_segment::pcap::Writer;
use kadenz_segment::ring::Ring;
use kadenz_segment::settings::{RingFile, EXAMPLE};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
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
fn devices_out_of_the_frame_s_order_are_told_their_order() {
    let text = "[[device]]\nname=\"a\"\nkind=\"coupler\"\n[[device]]\nname=\"b\"\nkind=\"coupler\"\n\
        [[device]]\nname=\"c\"\nkind=\"coupler\"\nattached_to=\"a\"\nport=3\n";
    assert!(error_of(text).contains("List them as: a, c, b"), "{}", error_of(text));
}

#[test]
fn an_esi_file_gives_identity_and_assigned_process_data() {
    let drive = esi::parse(include_str!("data/drive.xml"), Some(0x201)).unwrap();
    assert_eq!((drive.vendor, drive.product, drive.revision), (2989, 0x201, 0x0001_0000));
    assert_eq!(
        drive.rx.iter().map(|pdo| (pdo.index, pdo.bits())).collect::<Vec<_>>(),
        [(0x1601, 48)],
        "0x1602 has no Sm"
    );
    assert_eq!(drive.tx[0].bits(), 64, "with the gap");
    assert_eq!(esi::parse(include_str!("data/drive.xml"), Some(0x202)).unwrap().type_name, "another");
    assert!(esi::parse(include_str!("data/drive.xml"), Some(9))
        .unwrap_err()
        .contains("no Device with ProductCode 0x9"));
}

#[test]
fn a_type_that_esi_does_not_name_counts_by_its_width_and_a_wrong_width_is_named() {
    let with = |bits: u32, data_type: &str| {
        let from = "<BitLen>3</BitLen><Name>DT0801EN03</Name><DataType>DT0801EN03</DataType>";
        let to = format!("<BitLen>{bits}</BitLen><DataType>{data_type}</DataType>");
        esi::parse(&include_str!("data/types.xml").replace(from, &to), None).map(|esi| esi.tx[3].entries[1].data_type)
    };
    assert_eq!(with(3, "DT0801EN03"), Ok(DataType::Bit3));
    assert_eq!(with(48, "DT0900"), Ok(DataType::U48));
    assert_eq!(with(16, "WORD"), Ok(DataType::Word));
    assert!(with(80, "DT0900").unwrap_err().contains("no number has its BitLen 80"));
    assert!(with(16, "REAL").unwrap_err().contains("does not fit"));
}

fn program(arguments: &[&str]) -> (i32, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_kadenz-segment")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

#[test]
fn exit_codes_tell_usage_from_failure() {
    let ring = concat!(env!("CARGO_MANIFEST_DIR"), "/rings/eight.toml");
    assert_eq!(program(&["check", ring]).0, 0);
    let (code, _, said) = program(&["run", "--interface", "nonesuch0", "--ring", ring]);
    assert!(code == 1 && said.contains("nonesuch0"), "{code} {said}");
    assert_eq!(program(&["describe"]).0, 2);
    assert_eq!(program(&["replay", ring, "--ring", ring]).0, 1);
    let (code, _, said) = program(&["check", "/nonexistent/ring.toml"]);
    assert!(code == 1 && said.contains("cannot read ring file"), "{code} {said}");
    let (code, said, _) = program(&["describe", ring, "--registers"]);
    assert!(code == 0 && said.contains("AL status code") && said.contains("axis 5"), "{said}");
    for (register, is) in [("AL status code", "works"), ("product id", "constant"), ("MII management", "no effect")] {
        assert!(said.lines().any(|line| line.contains(register) && line.contains(is)), "{register} {is}: {said}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let ring = concat!(env!("CARGO_MANIFEST_DIR"), "/rings/eight.toml");
    let (reader, writer) = UnixStream::pair().unwrap();
    drop(reader);
    let done = Command::new(env!("CARGO_BIN_EXE_kadenz-segment"))
        .args(["describe", ring, "--registers"])
        .stdout(OwnedFd::from(writer))
        .output()
        .unwrap();
    assert_eq!((done.status.code(), done.stderr.len()), (Some(0), 0), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_recording_without_a_frame_is_not_as_recorded() {
    let ring = concat!(env!("CARGO_MANIFEST_DIR"), "/rings/eight.toml");
    let path = std::env::temp_dir().join(format!("kadenz-empty-{}.pcapng", std::process::id()));
    drop(Writer::new(std::fs::File::create(&path).unwrap(), 0).unwrap());
    let (code, said, error) = program(&["replay", path.to_str().unwrap(), "--ring", ring]);
    std::fs::remove_file(&path).unwrap();
    assert!(code == 1 && said.is_empty() && error.contains("holds no frame"), "{code} {said} {error}");
}
