// SPDX-License-Identifier: Apache-2.0
//! Faults as a language: moments by event and datagram, steps of a mailbox, repetition, campaigns, and the log of what the
//! master did next.

use crate::support::master::{Master, Sdo, STATION};
use crate::support::{eight, line, segment};
use kadenz_segment::command::Command;
use kadenz_segment::description::{MAILBOX_IN, MAILBOX_OUT};
use kadenz_segment::fault::{Fault, FaultFile};
use kadenz_segment::frame::{address, FrameBuilder};
use kadenz_segment::mailbox;
use kadenz_segment::register::at;
use kadenz_segment::segment::Segment;
use std::path::Path;

/// Working counter of the ring when all is well.
const WHOLE: u16 = 6 * 3 + 2 + 1;
/// SDO upload of 0x1000, as the body of a mailbox.
const DEVICE_TYPE: [u8; 10] = [0, 0x20, 0x40, 0x00, 0x10, 0, 0, 0, 0, 0];

/// Injects faults: their moments count from now on.
fn inject(master: &mut Master, faults: &[&str]) {
    let now_ns = master.link.now_ns();
    for text in faults {
        let fault = Fault::from_argument(text).expect("fault");
        let positions = fault.places_in(&master.link.segment().places()).expect("devices");
        master.link.segment_mut().inject(fault, positions, now_ns).expect("room");
    }
}

/// The ring in OP.
fn in_op(faults: &[&str]) -> Master {
    let mut master = Master::new(eight());
    master.bring_up();
    inject(&mut master, faults);
    master
}

/// A drive in PRE-OP.
fn in_pre_op(faults: &[&str]) -> Master {
    let mut master = Master::new(segment(&line(&["drive"])));
    master.configure_managers(0);
    assert_eq!(master.request(0, 2), (2, 0));
    inject(&mut master, faults);
    master
}

fn lost(master: &mut Master, cycles: usize) -> Vec<usize> {
    (1..=cycles).filter(|_| master.cycle().is_none()).collect()
}

fn log(master: &mut Master) -> Vec<String> {
    let happenings = master.link.segment_mut().take_happenings();
    let text = |line: String| line.split_once(" s: ").unwrap().1.to_owned();
    happenings.iter().map(|happening| text(happening.to_string())).collect()
}

#[test]
fn a_fault_begins_when_a_device_enters_a_state() {
    let mut master = Master::new(eight());
    master.bring_up_to(4);
    inject(&mut master, &["lose-frame@enters=8,of=j2,count=2"]);
    master.write(2, at::AL_CONTROL, &[8, 0]);
    assert_eq!(lost(&mut master, 2), [0; 0], "j1 is another device");
    master.write(3, at::AL_CONTROL, &[8, 0]);
    assert_eq!(lost(&mut master, 4), [1, 2]);
}

#[test]
fn a_fault_begins_after_healthy_exchanges_in_a_row() {
    let mut master = in_op(&["lose-frame@healthy=5,repeat=2"]);
    // The first of a row has nothing before it to agree with, nor has the one behind a lost frame.
    assert_eq!(lost(&mut master, 40), [7, 14]);
    let mut master = in_op(&["lose-frame@cycle=4", "lose-return@healthy=5"]);
    assert_eq!(lost(&mut master, 20), [4, 11], "a lost frame begins the row anew");
}

#[test]
fn a_fault_of_a_device_begins_behind_the_third_sdo_to_an_object() {
    let mut master = in_op(&["device-reset@sdo=0x1000,nth=3,device=j0"]);
    for _ in 0..3 {
        assert!(matches!(master.upload(1, 0x1018, 1, false), Sdo::Data(_)), "another object");
    }
    for _ in 0..2 {
        assert!(matches!(master.upload(1, 0x1000, 0, false), Sdo::Data(_)));
    }
    assert_eq!(master.cycle(), Some(WHOLE));
    assert_eq!(master.upload(1, 0x1000, 0, false), Sdo::Silence, "the third is taken, and the device starts anew");
    assert_eq!(master.cycle(), Some(WHOLE - 3));
}

#[test]
fn a_fault_concerns_the_datagram_that_it_names() {
    let mut master = in_op(&["lose-frame@datagram=2,command=fprd,register=0x0130,device=j3"]);
    let mut answers = Vec::new();
    for device in [4, 3, 4, 4] {
        answers.push(master.read(device, at::AL_STATUS, 2).is_some());
        assert!(master.read(4, at::AL_CONTROL, 2).is_some(), "another register");
        assert_eq!(master.cycle(), Some(WHOLE));
    }
    assert_eq!(answers, [true, true, false, true], "the second to j3, which is device 4");
    let mut master = in_op(&["wrong-counter@frame=1,count=2,command=FPRD,register=0x0131,delta=5"]);
    let both = FrameBuilder::default()
        .datagram(Command::Fprd, 1, address(STATION, at::AL_STATUS), &[0; 2])
        .datagram(Command::Fprd, 1, address(STATION, at::STATION), &[0; 2])
        .build();
    let mut back = master.link.exchange(&both).unwrap();
    let counters: Vec<u16> =
        kadenz_segment::frame::datagrams(&mut back).unwrap().map(|d| d.working_counter()).collect();
    assert_eq!(counters, [6, 1], "the datagram that covers 0x0131 alone");
    assert_eq!(master.cycle(), Some(WHOLE));
}

#[test]
fn a_fault_is_repeated_as_its_keys_say() {
    for (keys, expected) in [
        ("cycle=3", &[3][..]),
        ("cycle=3,every=4,repeat=2", &[3, 7]),
        ("cycle=3,every=4,count=2,to=12", &[3, 4, 7, 8, 11, 12]),
        ("cycle=3,to=5", &[3, 4, 5]),
        ("time_ms=2,every=5,repeat=3", &[3, 8, 13]),
        ("time_ms=2,every=5,lasting_ms=2,to=8", &[3, 4, 8, 9]),
    ] {
        assert_eq!(lost(&mut in_op(&[&format!("lose-frame@{keys}")]), 20), expected, "{keys}");
    }
    let mut master = in_op(&["device-deaf@cycle=2,every=5,count=2,repeat=2,device=j0"]);
    let seen: Vec<u16> = (0..12).map(|_| master.cycle().unwrap()).collect();
    let deaf: Vec<usize> = (1..=12).filter(|at| seen[at - 1] == WHOLE - 3).collect();
    assert_eq!(deaf, [2, 3, 7, 8], "{seen:?}");
}

#[test]
fn a_lost_request_is_new_when_it_comes_again_and_a_lost_answer_is_not() {
    let mut master = in_pre_op(&["lose-request@request=1,device=d0"]);
    assert_eq!((master.post(0, &DEVICE_TYPE), master.fetch(0)), (1, None));
    master.post_again(0, &DEVICE_TYPE);
    assert!(master.fetch(0).is_some(), "the application had not seen it");
    let mut master = in_pre_op(&["lose-answer@sdo=0x6066,device=d0"]);
    assert_eq!(master.download(0, 0x6066, 0, &[9, 0], false), Sdo::Silence);
    master.post_again(0, &DEVICE_TYPE);
    assert_eq!(master.fetch(0), None, "it had seen that one");
    assert_eq!(master.upload(0, 0x6066, 0, false), Sdo::Data(vec![9, 0]), "and worked on it");
}

#[test]
fn an_answer_is_late_doubled_damaged_or_an_abort() {
    let mut master = in_pre_op(&["late-answer@request=1,device=d0,delay_us=3000"]);
    master.post(0, &DEVICE_TYPE);
    assert_eq!(master.fetch(0), None);
    master.link.advance_ns(2_900_000);
    assert_eq!(master.fetch(0), None, "2.9 ms");
    master.link.advance_ns(350_000);
    assert!(master.fetch(0).is_some(), "3 ms, at the next step of the grid");
    let mut master = in_pre_op(&["double-answer@request=1,device=d0"]);
    master.post(0, &DEVICE_TYPE);
    let answers = [master.fetch(0).unwrap(), master.fetch(0).unwrap()];
    assert_eq!((&answers[0], master.fetch(0)), (&answers[1], None));
    let good = {
        let mut master = in_pre_op(&[]);
        master.post(0, &DEVICE_TYPE);
        master.fetch(0).unwrap()
    };
    for (fault, at) in [
        ("corrupt-answer@request=1,device=d0", 5),
        ("corrupt-answer@request=1,device=d0,byte=7", 7),
        ("wrong-answer-counter@request=1,device=d0,delta=2", 5),
        ("wrong-answer-length@request=1,device=d0,delta=-1", 0),
    ] {
        let mut master = in_pre_op(&[fault]);
        master.post(0, &DEVICE_TYPE);
        let bad = master.fetch(0).unwrap();
        let differing: Vec<usize> = (0..good.len()).filter(|at| good[*at] != bad[*at]).collect();
        assert_eq!(differing, [at], "{fault}");
        if fault.starts_with("wrong-answer-counter") {
            assert_eq!(mailbox::parse(&bad).unwrap().counter, mailbox::parse(&good).unwrap().counter + 2);
        }
    }
    let mut master = in_pre_op(&["abort-request@sdo=0x6066,device=d0,abort=0x08000022"]);
    assert!(matches!(master.upload(0, 0x1000, 0, false), Sdo::Data(_)));
    assert_eq!(master.download(0, 0x6066, 0, &[9, 0], false), Sdo::Abort(0x0800_0022));
    assert_ne!(master.upload(0, 0x6066, 0, false), Sdo::Data(vec![9, 0]), "not worked on");
}

#[test]
fn a_step_of_a_mailbox_is_met_by_moment_and_repetition() {
    let silent = |faults: &[&str], requests: usize| {
        let mut master = in_pre_op(faults);
        let is_silent = |master: &mut Master| master.upload(0, 0x1000, 0, false) == Sdo::Silence;
        (1..=requests).filter(|_| is_silent(&mut master)).collect::<Vec<_>>()
    };
    assert_eq!(silent(&["lose-answer@sdo=0x1000,nth=3,device=d0"], 8), [3]);
    assert_eq!(silent(&["lose-answer@sdo=0x1000,sub=1,device=d0"], 3), [0; 0]);
    assert_eq!(silent(&["lose-answer@request=2,every=3,repeat=2,device=d0"], 9), [2, 5]);
    assert_eq!(
        silent(&["lose-answer@frame=1,count=2,device=d0"], 5),
        [1, 2],
        "a moment of another kind, then requests"
    );
    assert_eq!(silent(&["lose-answer@request=2,to=4,count=9,device=d0"], 6), [2, 3, 4]);
}

#[test]
fn the_log_says_what_the_master_did_after_a_lost_answer() {
    let mut master = in_pre_op(&["lose-answer@sdo=0x1000,device=d0"]);
    assert_eq!(master.upload(0, 0x1000, 0, false), Sdo::Silence);
    master.link.advance_ns(5_000_000);
    assert!(matches!(master.upload(0, 0x1000, 0, false), Sdo::Data(_)));
    master.link.advance_ns(2_000_000_000);
    assert_eq!(
        log(&mut master),
        [
            "fault 1, lose-answer at d0: injected",
            "fault 1, lose-answer at d0: meets the SDO read of 0x1000:00",
            "fault 1, lose-answer at d0: after 5.020 ms the master repeats the SDO read of 0x1000:00 to d0",
            "fault 1, lose-answer at d0: after 105.030 ms no frame has come for 100 ms",
        ]
    );
}

#[test]
fn the_log_says_how_the_master_leads_a_device_back() {
    let mut master = in_op(&["al-error@cycle=1,device=j2,state=4,code=0x1b"]);
    master.cycle();
    master.state(3);
    master.write(3, at::AL_CONTROL, &[0x14, 0]);
    master.write(3, at::AL_CONTROL, &[8, 0]);
    master.cycles(1100);
    assert_eq!(
        log(&mut master),
        [
            "fault 1, al-error at j2: injected",
            "fault 1, al-error at j2: begins",
            "fault 1, al-error at j2: after 1.010 ms the master reads the state of j2",
            "fault 1, al-error at j2: after 1.030 ms the master acknowledges the error and requests SAFE-OP of j2",
            "fault 1, al-error at j2: after 1.040 ms the master requests OP of j2",
            "fault 1, al-error at j2: after 1.040 ms the master exchanges process data",
        ]
    );
    assert_eq!(master.state(3), (8, 0));
}

#[test]
fn the_log_tells_a_master_that_does_nothing_from_one_that_stops() {
    let mut master = in_op(&["lose-frame@cycle=1"]);
    master.cycles(1100);
    let last = log(&mut master).pop().unwrap();
    assert_eq!(last, "fault 1, lose-frame: the master does nothing else within 1 s");
    let mut master = in_op(&["lose-frame@cycle=2"]);
    master.cycles(2);
    for _ in 0..300 {
        master.link.advance_ns(1_000_000);
        master.read(1, at::STATION, 2);
    }
    let said = log(&mut master).join("\n");
    assert!(said.contains("no process data have come for 100 ms, other frames have"), "{said}");
    assert!(!said.contains("no frame"), "{said}");
}

const CAMPAIGN: &str = "[[campaign]]\nseed = 7\nfaults = 20\ncycle = [10, 200]\n";

/// The log of 300 cycles under a fault file, whole.
fn logged(text: &str) -> (Vec<String>, String) {
    let mut master = Master::new(eight());
    master.bring_up();
    let file = FaultFile::parse(text, Path::new("f")).unwrap();
    let faults = file.faults(&master.link.segment().places(), Path::new("f")).unwrap();
    master.link.segment_mut().add_faults(faults.clone()).unwrap();
    let mut log = String::new();
    for cycle in 0..300 {
        // Answers may be late, damaged or missing: nobody looks at them.
        let mut request = mailbox::assemble(3, cycle as u8 % 7 + 1, &DEVICE_TYPE);
        request.resize(128, 0);
        let device = STATION + 1 + cycle % 6;
        for frame in [
            FrameBuilder::default().datagram(Command::Lrw, 7, 0, &master.image),
            FrameBuilder::default().datagram(Command::Fpwr, 1, address(device, MAILBOX_OUT), &request),
            FrameBuilder::default().datagram(Command::Fprd, 1, address(device, MAILBOX_IN), &[0; 128]),
        ] {
            master.link.send(&frame.build());
            master.link.advance_ns(300_000);
        }
        for happening in master.link.segment_mut().take_happenings() {
            log += &format!("{happening}\n");
        }
    }
    (faults.iter().map(Fault::to_string).collect(), log)
}

#[test]
fn a_campaign_of_the_same_seed_gives_the_same_faults_and_the_same_log() {
    let (faults, first) = logged(CAMPAIGN);
    assert_eq!(faults.len(), 20);
    assert_eq!((faults.clone(), first.clone()), logged(CAMPAIGN), "byte by byte");
    assert!(first.lines().count() > 40, "{first}");
    assert_ne!(logged(&CAMPAIGN.replace("= 7", "= 8")).0, faults);
    for text in &faults {
        assert_eq!(Fault::from_argument(text).unwrap().to_string(), *text, "each can be given alone");
    }
    let kinds = "kinds = [\"lose-request\"]\ndevices = [\"j1\"]\n";
    let (faults, _) = logged(&format!("{CAMPAIGN}{kinds}"));
    assert!(
        faults.iter().all(|text| text.starts_with("lose-request@cycle=") && text.contains("device=j1")),
        "{faults:?}"
    );
}

#[test]
fn cleared_faults_end_and_injected_ones_are_bounded() {
    let mut master = in_op(&["device-gone@frame=1,device=j5", "lose-answer@request=1,device=j0"]);
    assert_eq!(master.cycle(), Some(WHOLE - 3 - 2 - 1), "j5, and what is behind it");
    let now_ns = master.link.now_ns();
    assert_eq!(master.link.segment_mut().clear_faults(Some(9), now_ns), 0);
    assert_eq!(master.link.segment_mut().clear_faults(None, now_ns), 2);
    assert_eq!(master.link.segment_mut().clear_faults(None, now_ns), 0);
    assert!(matches!(master.upload(1, 0x1000, 0, false), Sdo::Data(_)));
    assert_ne!(master.cycle(), Some(WHOLE - 6), "the outputs behind j5 have a link again");
    let fault = Fault::from_argument("lose-frame@cycle=1000000").unwrap();
    let taken = (0..300).filter(|_| master.link.segment_mut().inject(fault.clone(), (0, 0), now_ns).is_some()).count();
    assert!((254..=256).contains(&taken), "{taken}");
    let short = in_op(&[]).link.segment_mut().clear_faults(None, 0);
    assert_eq!(short, 0);
}

#[test]
fn a_wrong_fault_of_the_language_is_answered_by_its_mistake() {
    let places = |segment: &Segment| segment.places();
    let ring = segment(&line(&["coupler", "drive"]));
    for (text, part) in [
        ("lose-frame@enters=8", "enters needs a device, or of"),
        ("lose-frame@cycle=1,of=d1", "of needs the moment request, enters or sdo"),
        ("lose-frame@cycle=1,nth=2", "nth needs the moment enters or sdo"),
        ("lose-frame@cycle=1,repeat=2", "repeat needs every"),
        ("lose-frame@cycle=5,to=4", "to is before the beginning"),
        ("lose-frame@cycle=5,every=2,count=3", "every is less than count"),
        ("lose-frame@datagram=1", "datagram needs command or register"),
        ("lose-frame@frame=1,command=FPRDX", "did you mean \"FPRD\"?"),
        ("lose-frame@enters=5,of=d1", "a state is 1, 2, 3, 4 or 8"),
        ("device-gone@cycle=1,device=d1,register=1", "device-gone takes no register"),
        ("lose-answer@request=1,device=d1,lasting_ms=3", "give count instead of lasting_ms"),
        ("lose-answer@request=1,device=d1,of=d1", "give device, not of"),
        ("wrong-answer-counter@request=1,device=d1,delta=7", "leaves the counter right"),
        ("abort-request@sdo=1,device=d1", "abort-request needs abort"),
        ("abort-request@sdo=1,device=d0,abort=1", "device \"d0\" has no CoE. Name a drive or analogue terminal"),
        ("lose-frame@sdo=1,of=d0", "device \"d0\" has no mailbox requests"),
        ("lose-frame@request=1,of=d7", "no device \"d7\". Did you mean"),
    ] {
        let fault = Fault::from_argument(text).map_err(|error| error.to_string());
        let checked = fault.and_then(|fault| {
            fault.places_in(&places(&ring)).map_err(|(message, remedy)| format!("{message}. {remedy}"))
        });
        let message = checked.unwrap_err();
        assert!(message.contains(part), "{text}: {message}");
    }
    for (text, part) in [
        ("seed = 1\nfaults = 3", "line 3: give one range: cycle, frame or time_ms"),
        ("seed = 1\nfaults = 3\ncycle = [9, 3]", "line 3: the range ends before it begins"),
        ("seed = 1\nfaults = 3\ncycle = [1, 3]\nkinds = [\"lose-frme\"]", "Did you mean `lose-frame`?"),
        ("seed = 1\nfaults = 3\ncycle = [1, 3]\ndevices = [\"d7\"]", "line 3: campaign: no device \"d7\""),
        (
            "seed = 1\nfaults = 3\ncycle = [1, 3]\nkinds = [\"foe-busy\"]\ndevices = [\"d0\"]",
            "line 3: campaign: foe-busy fits none",
        ),
        ("seed = 1\nfaults = 30000\ncycle = [1, 3]", "line 5: campaign.faults = 30000"),
    ] {
        let file = FaultFile::parse(&format!("\n\n[[campaign]]\n{text}\n"), Path::new("f"));
        let message = file.and_then(|file| file.faults(&ring.places(), Path::new("f"))).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
}
