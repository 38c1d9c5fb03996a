// SPDX-License-Identifier: Apache-2.0
//! Files over EtherCAT and the bootstrap state: a firmware update from end to end, and what can go wrong in one.

use crate::support::master::{Master, Sdo};
use crate::support::{line, segment};
use kadenz_segment::command::Command;
use kadenz_segment::fault::Fault;
use kadenz_segment::foe::Operation;
use kadenz_segment::frame::address;
use kadenz_segment::register::{at, manager};
use kadenz_segment::ring::Ring;
use kadenz_segment::segment::Segment;
use kadenz_segment::settings::RingFile;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A drive in PRE-OP, with faults that begin with its first frame; keys of `files` if any.
fn drive(files: &str, faults: &[&str]) -> Master {
    let keys = if files.is_empty() { String::new() } else { format!("files = {{ {files} }}\n") };
    let mut segment = segment(&(line(&["drive"]) + &keys));
    segment.add_faults(faults.iter().map(|text| Fault::from_argument(text).unwrap())).unwrap();
    in_pre_op(segment)
}

fn in_pre_op(segment: Segment) -> Master {
    let mut master = Master::new(segment);
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    master
}

/// From bootstrap back to PRE-OP.
fn restart(master: &mut Master) {
    assert_eq!(master.request(0, 1), (1, 0));
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
}

/// Bytes of a firmware: different in each packet.
fn image(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + at / 251) as u8).collect()
}

#[test]
fn a_firmware_is_written_in_bootstrap_kept_over_a_reset_and_read_back_in_any_state() {
    let mut master = drive("", &[]);
    // Packets of bootstrap hold 1012 bytes: below, at and above a multiple.
    for length in [0, 1, 1011, 1012, 1013, 10_120, 100_000] {
        assert_eq!(master.boot(0), (3, 0));
        let firmware = image(length);
        assert_eq!(master.foe_write(0, "firmware.efw", 0, &firmware), Ok(()), "{length}");
        assert_eq!(master.foe_read(0, "firmware.efw", 0), Ok(firmware.clone()), "{length}, in bootstrap");
        restart(&mut master);
        master.link.segment_mut().ring_mut().set_power(0, true);
        master.command(Command::Apwr, address(0, at::STATION), &[0x01, 0x10]);
        master.configure_managers(0);
        assert_eq!(master.request(0, 2), (2, 0));
        // The mailbox of PRE-OP is another: its packets hold 116 bytes.
        assert_eq!(master.foe_read(0, "firmware.efw", 0), Ok(firmware), "{length}, in PRE-OP");
    }
    master.bring_up();
    assert_eq!(master.foe_read(0, "firmware.efw", 0).map(|data| data.len()), Ok(100_000), "in OP");
}

#[test]
fn bootstrap_wants_its_own_mailbox_and_a_device_that_has_one() {
    let mut master = drive("", &[]);
    assert_eq!(master.request(0, 3), (0x12, 0x11), "from PRE-OP there is no way");
    master.request(0, 0x11);
    assert_eq!(master.request(0, 3), (0x11, 0x15), "the mailbox of PRE-OP");
    for (byte, wrong) in [(0, 0x80), (2, 0x10), (4, 0x22), (6, 0)] {
        master.request(0, 0x11);
        master.configure_bootstrap(0);
        master.write(0, at::SYNC_MANAGER.element(0).byte(byte), &[wrong]);
        assert_eq!(master.request(0, 3), (0x11, 0x15), "byte {byte}");
    }
    assert_eq!(master.boot(0), (3, 0));
    assert_eq!(master.request(0, 2), (0x13, 0x11), "it is left to INIT alone");
    assert_eq!(master.request(0, 0x13), (3, 0));
    assert_eq!(master.request(0, 1), (1, 0));
    let mut coupler = Master::new(segment(&line(&["coupler"])));
    assert_eq!(coupler.request(0, 3), (0x11, 0x13));
}

#[test]
fn bootstrap_speaks_no_other_protocol_than_foe() {
    let mut master = drive("", &[]);
    assert_eq!(master.boot(0), (3, 0));
    let unsupported = Some(vec![1, 0, 2, 0]);
    assert_eq!(master.coe(0, &[0, 0x20, 0x40, 0x18, 0x10, 1, 0, 0, 0, 0]), unsupported);
    restart(&mut master);
    assert_eq!(master.upload(0, 0x1018, 1, false), Sdo::Data(0x0BAD_u32.to_le_bytes().to_vec()));
}

#[test]
fn settings_of_the_files_decide_who_reads_and_writes_them() {
    let mut master = drive("password = 0xC0FFEE, states = \"bootstrap\", space_bytes = 3000, overwrite = false", &[]);
    assert_eq!(master.foe_write(0, "f", 0xC0FFEE, &[1]), Err(0x8008));
    assert_eq!(master.boot(0), (3, 0));
    assert_eq!(master.foe_write(0, "f", 0, &[1]), Err(0x800A));
    assert_eq!(master.foe_read(0, "f", 0xC0FFEE), Err(0x8001));
    assert_eq!(master.foe_write(0, "f", 0xC0FFEE, &image(3001)), Err(0x8003));
    assert_eq!(master.foe_read(0, "f", 0xC0FFEE), Err(0x8001), "nothing of it was kept");
    assert_eq!(master.foe_write(0, "f", 0xC0FFEE, &image(3000)), Ok(()));
    assert_eq!(master.foe_write(0, "f", 0xC0FFEE, &[1]), Err(0x8006));
    assert_eq!(master.foe_write(0, "../f", 0xC0FFEE, &[1]), Err(0x8004));
    let mut master = drive("states = \"not-bootstrap\", writable = false", &[]);
    assert_eq!(master.foe_write(0, "f", 0, &[1]), Err(0x8002));
    assert_eq!(master.boot(0), (3, 0));
    assert_eq!(master.foe_read(0, "f", 0), Err(0x8009));
}

#[test]
fn a_message_shorter_than_its_header_is_a_mailbox_error() {
    let mut master = drive("", &[]);
    assert_eq!(master.post_as(0, 4, &[1, 0, 0, 0, 0]), 1);
    assert!(master.fetch(0).is_some_and(|reply| reply[5] & 0x0F == 0 && reply[6..10] == [1, 0, 6, 0]));
}

#[test]
fn s67_a_busy_device_takes_the_packet_when_it_comes_again() {
    let mut master =
        drive("", &["foe-busy@frame=1,device=d0,packet=0,times=3", "foe-busy@frame=1,device=d0,packet=2,times=2"]);
    assert_eq!(master.foe(0, Operation::Write, 0, b"f").map(|answer| answer.0), Some(4), "the later fault counts");
    master.foe(0, Operation::Error, 0, &[]);
    assert_eq!(master.foe_write(0, "f", 0, &image(500)), Ok(()));
    let requests = |master: &Master| master.link.segment().ring().devices[0].mailbox.as_ref().unwrap().requests;
    let before = requests(&master);
    assert_eq!(master.foe_read(0, "f", 0), Ok(image(500)));
    // One request, five acknowledgements, and twice the second of them again.
    assert_eq!(requests(&master) - before, 1 + 5 + 2);
}

#[test]
fn s68_a_transfer_that_the_device_or_the_master_ends_leaves_the_old_file() {
    let mut master = drive("", &["foe-error@request=8,device=d0,packet=3,code=0x8011"]);
    assert_eq!(master.foe_write(0, "f", 0, &image(600)), Ok(()), "seven requests");
    assert_eq!(master.foe_write(0, "f", 0, &image(700)), Err(0x8011));
    assert_eq!(master.foe_read(0, "f", 0), Err(0x8011), "at the third acknowledgement, too");
    // The master gives up: by an error, by another request, by INIT.
    for end in 0..3 {
        assert_eq!(master.foe(0, Operation::Write, 0, b"f"), Some((4, 0, vec![])));
        assert_eq!(master.foe(0, Operation::Data, 1, &[9; 116]), Some((4, 1, vec![])));
        match end {
            0 => assert_eq!(master.foe(0, Operation::Error, 0x8000, b"stop"), None),
            1 => assert!(master.foe(0, Operation::Read, 0, b"f").is_some()),
            _ => restart(&mut master),
        }
        let late = master.foe(0, Operation::Data, 2, &[9; 3]);
        assert!(matches!(late, Some((5, 0x8004, _))), "{late:?}");
        let first = master.foe(0, Operation::Read, 0, b"f");
        assert_eq!(first, Some((3, 1, image(600)[..116].to_vec())));
    }
}

#[test]
fn s69_a_packet_sent_twice_counts_once_and_a_lost_acknowledgement_comes_again() {
    let mut master = drive("", &[]);
    assert_eq!(master.foe(0, Operation::Write, 0, b"f"), Some((4, 0, vec![])));
    assert_eq!(master.foe_post(0, Operation::Data, 1, &[1; 116]), 1);
    assert_eq!(master.foe_post_again(0, Operation::Data, 1, &[1; 116]), 1, "the same counter: a duplicate");
    assert_eq!(master.foe_fetch(0), Some((4, 1, vec![])));
    assert_eq!(master.foe_fetch(0), None);
    master.write(0, at::SYNC_MANAGER.element(1).byte(manager::ACTIVATION), &[0x03]);
    assert_eq!(master.foe_fetch(0), Some((4, 1, vec![])), "repeated");
    assert_eq!(master.foe(0, Operation::Data, 2, &[2; 5]), Some((4, 2, vec![])));
    assert_eq!(master.foe_read(0, "f", 0), Ok([vec![1; 116], vec![2; 5]].concat()));
}

#[test]
fn s70_an_emergency_waits_for_the_end_of_a_transfer() {
    let mut master = drive("", &[]);
    assert_eq!(master.foe(0, Operation::Write, 0, b"f"), Some((4, 0, vec![])));
    let frame = master.link.segment().counters().frames + 1;
    let fault = Fault::from_argument(&format!("emergency@frame={frame},device=d0,code=0x8110")).unwrap();
    master.link.segment_mut().add_faults([fault]).unwrap();
    assert_eq!(master.foe(0, Operation::Data, 1, &[1; 116]), Some((4, 1, vec![])));
    assert_eq!(master.fetch(0), None);
    assert_eq!(master.foe(0, Operation::Data, 2, &[]), Some((4, 2, vec![])));
    master.state(0);
    assert!(master.fetch(0).is_some_and(|reply| reply[6..10] == [0x00, 0x10, 0x10, 0x81]), "the emergency");
}

#[test]
fn faults_of_transfers_name_what_they_lack() {
    let said = |text: &str| {
        let fault = Fault::from_argument(text);
        fault.and_then(|fault| segment(&line(&["coupler"])).add_faults([fault])).unwrap_err().to_string()
    };
    assert!(said("foe-busy@frame=1,device=d0,packet=1").contains("foe-busy needs packet and times"));
    assert!(said("foe-error@frame=1,device=d0,packet=1,code=1").contains("device \"d0\" has no FoE"));
    assert!(said("foe-busy@frame=1,device=d0,packet=1,times=0").contains("from 1 to 65535"));
}

// ---- a folder of files -------------------------------------------------------------------------------------------------
/// A folder of this test's own, removed at its end, with a folder `images` and a file `secret` beside it.
struct Outer(PathBuf);

impl Outer {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("kadenz-files-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let outer = std::env::temp_dir().join(name);
        std::fs::create_dir_all(outer.join("images")).unwrap();
        std::fs::write(outer.join("secret"), "secret").unwrap();
        Self(outer)
    }

    fn ring(&self, device: &str) -> Result<Segment, String> {
        let path = self.0.join("ring.toml");
        std::fs::write(&path, device).unwrap();
        let built = RingFile::read(&path).and_then(|file| Ring::new(&file, &path));
        built.map(Segment::new).map_err(|error| error.to_string())
    }

    fn master(&self) -> Master {
        in_pre_op(self.ring(&(line(&["drive"]) + "files = { folder = \"images\" }\n")).unwrap())
    }

    fn inside(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join("images")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_folder_keeps_whole_files_for_the_next_start() {
    let outer = Outer::new();
    let mut master = outer.master();
    assert_eq!(master.foe_write(0, "a.efw", 0, &image(1000)), Ok(()));
    assert_eq!(master.foe(0, Operation::Write, 0, b"a.efw"), Some((4, 0, vec![])));
    assert_eq!(master.foe(0, Operation::Data, 1, &[9; 116]), Some((4, 1, vec![])));
    assert_eq!(outer.inside(), ["a.efw"], "half a file is in no folder");
    let mode = std::fs::metadata(outer.0.join("images/a.efw")).unwrap().permissions().mode();
    assert_eq!(mode & 0o133, 0, "nobody else may change it: {mode:o}");
    let mut next = outer.master();
    assert_eq!(next.foe_read(0, "a.efw", 0), Ok(image(1000)));
    std::fs::write(outer.0.join("images/by-hand"), [7; 3]).unwrap();
    assert_eq!(next.foe_read(0, "by-hand", 0), Ok(vec![7; 3]));
    std::fs::remove_dir_all(outer.0.join("images")).unwrap();
    assert_eq!(next.foe_write(0, "b", 0, &[1]), Err(0x8001), "the folder is gone");
}

#[test]
fn nothing_outside_the_folder_is_read_or_written() {
    let outer = Outer::new();
    let mut master = outer.master();
    let images = outer.0.join("images");
    std::os::unix::fs::symlink("../secret", images.join("link")).unwrap();
    std::fs::create_dir(images.join("sub")).unwrap();
    let absolute = outer.0.join("secret");
    for name in ["../secret", "sub/../../secret", absolute.to_str().unwrap(), "secret\0", ".."] {
        assert_eq!(master.foe_read(0, name, 0), Err(0x8004), "{name:?}");
        assert_eq!(master.foe_write(0, name, 0, b"mine"), Err(0x8004), "{name:?}");
    }
    assert_eq!(master.foe_read(0, "link", 0), Err(0x8001));
    assert_eq!(master.foe_read(0, "sub", 0), Err(0x8001));
    assert_eq!(master.foe_write(0, "link", 0, b"mine"), Ok(()), "the link gives way to a file");
    assert!(master.foe_write(0, "sub", 0, b"mine").is_err(), "a folder does not");
    assert_eq!(std::fs::read_to_string(absolute).unwrap(), "secret");
    assert_eq!(outer.inside(), ["link", "sub"]);
    assert_eq!(std::fs::read_to_string(images.join("link")).unwrap(), "mine");
}

#[test]
fn a_folder_that_is_missing_and_files_without_foe_are_errors() {
    let outer = Outer::new();
    let said = |kind: &str, keys: &str| outer.ring(&(line(&[kind]) + keys)).err().unwrap();
    let missing = said("drive", "files = { folder = \"none\" }\n");
    assert!(missing.contains("device 0 (d0): files.folder") && missing.contains("is not a folder"), "{missing}");
    let coupler = said("coupler", "files = {}\n");
    assert!(coupler.contains("kadenz coupler has no FoE. Remove the key"), "{coupler}");
    let unknown = said("drive", "files = { size = 3 }\n");
    assert!(unknown.contains("Did you mean `states`") || unknown.contains("unknown field"), "{unknown}");
    let range = said("drive", "files = { space_bytes = 0 }\n");
    assert!(range.contains("device.files.space_bytes = 0"), "{range}");
}
