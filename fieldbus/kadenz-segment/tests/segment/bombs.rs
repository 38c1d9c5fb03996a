// SPDX-License-Identifier: Apache-2.0
//! Small files that would take minutes or gigabytes. An input for which the time is quadratic is so large that its test
//! would not end.

use crate::files::program;
use kadenz_segment::esi::{self, Choice};
use kadenz_segment::xml::Problem;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An ESI file with one device; its own content begins in line 2.
fn file(body: &str) -> String {
    format!(
        "<EtherCATInfo><Vendor><Id>1</Id></Vendor><Descriptions><Devices>\n<Device><Type ProductCode=\"1\">D</Type>\
         {body}</Device></Devices></Descriptions></EtherCATInfo>"
    )
}

fn parse(text: &str) -> Result<(), Problem> {
    esi::parse(text, Choice::default()).map(|_| ())
}

/// What is written for each number.
fn each(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = write!(text, "{}", one(number));
        text
    })
}

/// An element with this many attributes.
fn attributes(count: usize) -> String {
    format!("\n<x{}/>", each(count, |number| format!(" a{number}=\"\"")))
}

/// Elements in each other, each with a namespace of its own.
fn namespaces(count: usize) -> String {
    let open = each(count, |number| format!("<n{number}:a xmlns:n{number}=\"u{number}\">"));
    let close = each(count, |number| format!("</n{}:a>", count - 1 - number));
    format!("\n{open}{close}")
}

fn pdos(count: usize) -> String {
    each(count, |number| format!("\n<RxPdo Virtual=\"1\"><Index>{}</Index></RxPdo>", number + 1))
}

#[test]
fn a_file_at_the_bounds_is_read() {
    for body in [
        attributes(256),
        namespaces(256),
        pdos(1024),
        "<a>".repeat(200_000) + &"</a>".repeat(200_000),
        "<a b=\"\"/>".repeat(100_000),
        format!("<!-- {} -->", "=".repeat(500_000)),
    ] {
        assert_eq!(parse(&file(&body)), Ok(()), "{:.80}", body);
    }
}

#[test]
fn a_bomb_is_named_with_its_line() {
    for (body, said) in [
        (attributes(300_000), "line 3: more than 256 attributes of one element"),
        (attributes(300_000).replace('=', " \n="), "line 260: more than 256 attributes of one element"),
        (namespaces(20_000), "line 3: more than 256 namespaces"),
        ("\n<a/>".repeat(3_000_000), "line 2999993: more than 3000000 tags"),
        ("\n<a b=\"\"/>".repeat(2_000_001), "line 2000002: more than 2000000 attributes"),
        (pdos(60_000), "line 2: more than 1024 PDOs"),
    ] {
        let found = parse(&file(&body)).unwrap_err();
        assert!(found.message.starts_with(said), "{}", found.message);
        assert!(!found.remedy.is_empty());
    }
}

#[test]
fn an_entity_is_not_repeated() {
    let entity = format!("<!DOCTYPE EtherCATInfo [\n<!ENTITY e \"{}\">]>", "x".repeat(1_000_000));
    let text = entity + &file(&"<y a=\"&e;\">&e;</y>".repeat(100_000));
    assert_eq!(parse(&text).unwrap_err().message, "line 2: entities are not read");
}

#[test]
fn a_mapping_of_many_pdos_is_read_in_linear_time() {
    let mapping = "<Info><VendorSpecific><TwinCAT><AlternativeSmMapping Default=\"1\"><Sm No=\"0\">".to_owned()
        + &"<Pdo>1</Pdo>".repeat(100_000)
        + "</Sm></AlternativeSmMapping></TwinCAT></VendorSpecific></Info>";
    assert_eq!(parse(&file(&(mapping + &pdos(1024)))), Ok(()));
}

#[test]
fn a_list_of_revisions_is_short() {
    let devices = each(100_000, |number| format!("<Device><Type ProductCode=\"1\" RevisionNo=\"{number}\"/></Device>"));
    let text = format!(
        "<EtherCATInfo><Vendor><Id>1</Id></Vendor><Descriptions><Devices>{devices}</Devices></Descriptions>\
         </EtherCATInfo>"
    );
    assert!(parse(&text).unwrap_err().message.len() < 1000);
}

/// A folder with a ring of one device, whose ESI file is `d.xml`.
fn ring(name: &str) -> (PathBuf, PathBuf) {
    let folder = std::env::temp_dir().join(format!("kadenz-bombs-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("ring.toml");
    std::fs::write(&path, "[[device]]\nname = \"d\"\nkind = \"coupler\"\nesi = \"d.xml\"\n").unwrap();
    (folder, path)
}

fn refused(path: &Path) -> String {
    let (code, _, said) = program(&["check", path.to_str().unwrap()]);
    assert_eq!(code, 2, "{said}");
    said
}

#[test]
fn only_a_regular_file_is_an_esi_file() {
    let (folder, path) = ring("kinds");
    let esi = folder.join("d.xml");
    assert!(Command::new("mkfifo").arg(&esi).status().unwrap().success());
    assert!(refused(&path).contains("d.xml: cannot read ESI file: not a regular file"));
    std::fs::remove_file(&esi).unwrap();
    for target in ["/dev/zero", "/"] {
        std::os::unix::fs::symlink(target, &esi).unwrap();
        assert!(refused(&path).contains("not a regular file"));
        std::fs::remove_file(&esi).unwrap();
    }
    let large = std::fs::File::create(&esi).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    assert!(refused(&path).contains("d.xml: ESI file is longer than 64 MiB"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_nested_ring_file_is_an_error() {
    let (folder, path) = ring("nested");
    let (deep, long) = ("[".repeat(100_000), "9".repeat(100_000));
    for text in [format!("a = {deep}"), "a.".repeat(100_000) + "a = 1", format!("a = {long}")] {
        std::fs::write(&path, text).unwrap();
        assert!(refused(&path).contains("ring.toml: "));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
