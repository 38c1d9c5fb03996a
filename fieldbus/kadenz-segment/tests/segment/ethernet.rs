// SPDX-License-Identifier: Apache-2.0
//! Ethernet over EtherCAT: a device's web page over TCP, its addresses, time stamps, and what can go wrong.

use crate::support::ethernet::{http, Mail};
use crate::support::master::{Master, Sdo};
use crate::support::{line, segment};
use kadenz_segment::command::Command;
use kadenz_segment::frame::address;
use kadenz_segment::register::at;
use kadenz_segment::segment::Segment;

const GET: &str = "GET / HTTP/1.1\r\nHost: device\r\n\r\n";
const OWN: [u8; 4] = [10, 0, 0, 2];

/// A ring of one drive with a network.
fn networked(more: &str) -> String {
    line(&["drive"]) + &format!("ethernet = {{ address = \"10.0.0.2/24\"{more} }}\n")
}

fn in_pre_op(segment: Segment) -> Master {
    let mut master = Master::new(segment);
    pre_op(&mut master);
    master
}

fn pre_op(master: &mut Master) {
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
}

fn with_network() -> Master {
    in_pre_op(segment(&networked("")))
}

/// An ARP request of 10.0.0.1 for an address.
fn arp(of: [u8; 4]) -> Vec<u8> {
    let own = [2, 0, 0, 0, 0, 1];
    let mut frame =
        [&[0xFF; 6][..], &own, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1], &own, &[10, 0, 0, 1], &[0; 6], &of].concat();
    frame.resize(60, 0);
    frame
}

/// Asks for the Ethernet address of an internet address, by a frame of this number: the answer's sender.
fn who_has(master: &mut Master, of: [u8; 4], number: u16) -> Option<Vec<u8>> {
    master.send_frame(0, &arp(of), number, 0);
    let frames = master.take_frames(0);
    let (frame, _) = frames.iter().find(|(frame, _)| frame[12..14] == [8, 6] && frame[28..32] == of)?;
    Some(frame[22..28].to_vec())
}

#[test]
fn the_web_page_of_a_device_shows_its_name_its_state_and_its_process_data_over_tcp() {
    let mut master = with_network();
    let page = http(&mut master, 0, OWN, GET);
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<h1>d0</h1>"), "{page}");
    assert!(
        page.contains("<th>State<td>PRE-OP") && page.contains("<th>IP address<td>10.0.0.2 / 255.255.255.0"),
        "{page}"
    );
    master.bring_up();
    master.enable(0, 8);
    let status = master.status(0);
    let page = http(&mut master, 0, OWN, GET);
    assert!(page.contains("<th>State<td>OP\n"), "{page}");
    let row = page.lines().find(|row| row.contains("<td>0x6041:00<td>")).unwrap();
    assert!(row.ends_with(&format!("<td>{status}")), "{row}, not {status}");
    assert!(http(&mut master, 0, OWN, "GET /x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 Not Found\r\n"));
}

#[test]
fn addresses_are_set_and_read_and_come_back_after_a_loss_of_power() {
    let mut master = with_network();
    let all = [6, 1, 0, 0];
    let before = Some(Mail::Ethernet(
        [&[7, 1, 0, 0, 7, 0, 0, 0, 2, 0x6B, 0x64, 0x7A, 0, 0][..], &[2, 0, 0, 10], &[0, 255, 255, 255]].concat(),
    ));
    assert_eq!(master.eoe(0, &all), before);
    // Flags, Ethernet address, address: the low byte first.
    let set = [2, 1, 0, 0, 3, 0, 0, 0, 2, 1, 2, 3, 4, 5, 9, 0, 0, 10];
    assert_eq!(master.eoe(0, &set), Some(Mail::Ethernet(vec![3, 1, 0, 0])));
    assert_eq!(who_has(&mut master, OWN, 0), None);
    assert_eq!(who_has(&mut master, [10, 0, 0, 9], 1), Some(vec![2, 1, 2, 3, 4, 5]));
    assert_eq!(master.request(0, 1), (1, 0));
    pre_op(&mut master);
    assert_eq!(who_has(&mut master, [10, 0, 0, 9], 2), Some(vec![2, 1, 2, 3, 4, 5]), "INIT forgets no address");
    master.link.segment_mut().ring_mut().set_power(0, true);
    master.command(Command::Apwr, address(0, at::STATION), &[0x01, 0x10]);
    pre_op(&mut master);
    assert_eq!(master.eoe(0, &all), before);
    assert!(who_has(&mut master, OWN, 3).is_some());
}

#[test]
fn a_request_that_cannot_be_met_says_why() {
    let mut master = with_network();
    for (request, answer) in [
        (&[2, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 224][..], Mail::Ethernet(vec![3, 1, 1, 0])),
        (&[2, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0], Mail::Error(6)),
        (&[2, 1, 0, 0], Mail::Error(6)),
        (&[2, 1], Mail::Error(6)),
        (&[], Mail::Error(6)),
        (&[4, 1, 0, 0], Mail::Ethernet(vec![5, 1, 1, 4])),
        (&[0x18, 1, 0, 0], Mail::Ethernet(vec![0x19, 1, 1, 4])),
        (&[3, 1, 0, 0], Mail::Error(4)),
        (&[1, 1, 0, 0], Mail::Error(4)),
        (&[10, 1, 0, 0], Mail::Error(4)),
        (&[15, 1, 0, 0], Mail::Error(4)),
    ] {
        assert_eq!(master.eoe(0, request), Some(answer), "{request:?}");
    }
    assert_eq!(master.boot(0), (3, 0));
    assert_eq!(master.eoe(0, &[6, 1, 0, 0]), Some(Mail::Error(2)), "bootstrap speaks FoE alone");
    let mut without = in_pre_op(segment(&line(&["drive"])));
    assert_eq!(without.eoe(0, &[6, 1, 0, 0]), Some(Mail::Error(2)));
}

#[test]
fn a_frame_whose_time_is_asked_for_is_answered_with_the_devices_time() {
    let mut master = in_pre_op(segment(&networked(", time_stamps = true")));
    master.send_frame(0, &arp(OWN), 11, 4);
    let Some(Mail::Ethernet(stamp)) = master.eoe_fetch(0) else { panic!("no time stamp") };
    assert_eq!(stamp[..4], [1, 3, 0, 11 << 4]);
    let device = &master.link.segment().ring().devices[0];
    let now = device.esc.system_time(master.link.now_ns()).unwrap() as u32;
    let age_ns = now.wrapping_sub(u32::from_le_bytes(stamp[4..8].try_into().unwrap()));
    assert!((1..1_000_000).contains(&age_ns), "{age_ns} ns ago");
    let frames = master.take_frames(0);
    let (frame, flags) = &frames[0];
    assert_eq!((frame.len() % 2, flags & 2), (0, 2), "the stack's frames have stamps");
    let behind = u32::from_le_bytes(frame[frame.len() - 4..].try_into().unwrap());
    assert_eq!(behind.to_le_bytes()[..], stamp[4..8], "sent in the same moment");
}

#[test]
fn a_fragment_out_of_order_costs_its_frame_and_no_other() {
    let mut master = with_network();
    let counters = |master: &Master| {
        let mailbox = master.link.segment().ring().devices[0].mailbox.as_ref().unwrap();
        mailbox.eoe.as_ref().unwrap().counters()
    };
    for body in [
        vec![0, 1, 0x41, 0x00, 9],                            // no first fragment
        [&[0, 1, 0x80, 0x00][..], &[0; 13]].concat(),         // shorter than an Ethernet header
        [&[0, 0, 0x80, 0x00][..], &[0; 33]].concat(),         // not whole units
        [&[0, 1, 0x40, 0x00][..], &[0; 60]].concat(),         // longer than announced
        [&[0x20, 1, 0x80, 0x00][..], &arp(OWN)[..]].concat(), // a port that it lacks
    ] {
        let before = counters(&master).discarded;
        assert!(master.eoe_post(0, &body));
        assert_eq!(counters(&master).discarded, before + 1, "{body:?}");
        assert_eq!(master.eoe_fetch(0), None);
    }
    // Half a frame, then another one.
    assert!(master.eoe_post(0, &[&[0, 0, 0x80, 0x70][..], &[0; 32]].concat()));
    assert!(who_has(&mut master, OWN, 8).is_some());
}

#[test]
fn a_master_that_fetches_nothing_fills_a_queue_that_ends() {
    let mut master = with_network();
    for number in 0..2000 {
        master.send_frame(0, &arp(OWN), number % 16, 4);
        master.link.advance_ns(100_000);
    }
    let waiting = master.take_frames(0);
    assert!((1..=40).contains(&waiting.len()), "{} frames were kept", waiting.len());
    assert!(who_has(&mut master, OWN, 1).is_some(), "and then it works again");
}

#[test]
fn an_sdo_is_answered_between_the_fragments_of_a_frame() {
    let mut master = with_network();
    master.send_frame(0, &arp(OWN), 0, 0);
    master.send_frame(0, &arp(OWN), 1, 0);
    // One fragment waits already; the answer comes next, then the rest.
    assert_eq!(master.post(0, &[0, 0x20, 0x40, 0x18, 0x10, 1, 0, 0, 0, 0]), 1);
    assert!(matches!(master.eoe_fetch(0), Some(Mail::Ethernet(_))));
    assert_eq!(master.eoe_fetch(0), Some(Mail::Other(3)));
    assert_eq!(master.take_frames(0).len(), 1);
    assert_eq!(master.upload(0, 0x1018, 1, false), Sdo::Data(0x0BAD_u32.to_le_bytes().to_vec()));
}

/// The stack works at the frames and on the grid, so it does not matter how often somebody looks in between.
#[test]
fn the_same_frames_at_the_same_times_get_the_same_bytes() {
    let answers = |looks: u64| {
        let mut master = with_network();
        let mut pages = Vec::new();
        for _ in 0..2 {
            pages.push(http(&mut master, 0, OWN, GET));
            for _ in 0..looks {
                master.link.advance_ns(12_000_000 / looks);
            }
        }
        (pages, master.read(0, 0x0000_u16, 16), master.link.now_ns())
    };
    let once = answers(1);
    assert!(once.0.iter().all(|page| page.starts_with("HTTP/1.1 200")));
    assert_eq!(once, answers(1000));
}

#[test]
fn settings_of_a_network_that_make_no_sense_are_errors() {
    use kadenz_segment::ring::Ring;
    use kadenz_segment::settings::RingFile;
    let said = |text: &str| {
        let path = std::path::Path::new("test.toml");
        let built = RingFile::parse(text, path).and_then(|file| Ring::new(&file, path));
        built.err().unwrap().to_string()
    };
    let of = |keys: &str| said(&(line(&["drive"]) + &format!("ethernet = {{ {keys} }}\n")));
    assert!(of("address = \"10.0.0.2\"").contains("write it like \"192.168.0.2/24\""));
    assert!(of("address = \"10.0.0.2/31\"").contains("10.0.0.2/31"));
    assert!(of("address = \"224.0.0.2/24\"").contains("no device has address 224.0.0.2"));
    assert!(of("mac = \"01:00:00:00:00:01\"").contains("no Ethernet address of a device"));
    assert!(of("mac = \"2:0:0:0:0:1\"").contains("no Ethernet address of a device"));
    let unknown = of("addressed = \"10.0.0.2/24\"");
    assert!(unknown.contains("address"), "{unknown}");
    let coupler = said(&(line(&["coupler"]) + "ethernet = {}\n"));
    assert!(coupler.contains("kadenz coupler has no EoE. Remove the key"), "{coupler}");
}
