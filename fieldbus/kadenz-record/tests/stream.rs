// SPDX-License-Identifier: Apache-2.0
//! Promises of the wire format as this crate speaks it.

use kadenz_record::{
    read, Begin, Clock, Dtype, End, EndLane, Hello, Map, Message, Proof, RecordError, Status, Values, WireError,
    Writer, WIRE_VERSION,
};
use proptest::prelude::*;

fn hello() -> Hello {
    Hello {
        wire: WIRE_VERSION,
        suite: "0.1.0".into(),
        kernel: "Linux".into(),
        kernel_version: "6.18".into(),
        board: "host".into(),
        arch: "x86_64".into(),
        instrument: "counter".into(),
        clock: Clock { name: "clock_monotonic".into(), hz: 1_000_000_000, bits: 64, on_target: true },
        tick_hz: 0,
        timer_hz: 0,
        cores: 2,
        storage: 0,
        capabilities: vec![],
        settings: Map::from([("cycle_us".into(), "1000".into())]),
    }
}

fn begin(dtype: Dtype) -> Begin {
    Begin {
        record: 3,
        bench: "motion/response-time".into(),
        planned: 3000,
        lanes: vec!["main".into()],
        dtype,
        unit: "ns".into(),
        params: Map::from([("period_ms".into(), 1.into()), ("joint".into(), (-1).into())]),
        ranks: Map::new(),
    }
}

fn end() -> End {
    End {
        record: 3,
        status: Status::NotApplicable,
        reason: "no link".into(),
        lanes: vec![EndLane { taken: 1, missed: 2, overrun: 0 }],
        proof: Proof { checked: 9, failed: 0, reason: String::new() },
        drains: vec![70_000],
    }
}

fn stream(work: impl FnOnce(&mut Writer<Vec<u8>>)) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    work(&mut writer);
    writer.done().unwrap()
}

#[test]
fn what_is_written_is_read() {
    let bytes = stream(|writer| {
        writer.hello(&hello()).unwrap();
        writer.begin(&begin(Dtype::F8)).unwrap();
        writer.samples_f8(3, 0, 7, &[0.5, -0.0, f64::MAX]).unwrap();
        writer.end(&end()).unwrap();
        writer.text("größer").unwrap();
    });
    let reading = read(&bytes);
    assert_eq!(reading.findings, []);
    let [Message::Hello(h), Message::Begin(b), Message::Samples(s), Message::End(e), Message::Text(t), Message::Done(d)] =
        reading.messages.as_slice()
    else {
        panic!("{:?}", reading.messages)
    };
    assert_eq!((h, b, e, t.as_str()), (&hello(), &begin(Dtype::F8), &end(), "größer"));
    assert_eq!((s.record, s.lane, s.index, &s.values), (3, 0, 7, &Values::F8(vec![0.5, -0.0, f64::MAX])));
    assert_eq!((d.records, d.frames), (1, 6));
}

#[test]
fn a_long_series_is_split_and_stays_in_place() {
    let values: Vec<u32> = (0..3000).collect();
    let bytes = stream(|writer| writer.samples_u4(1, 2, 40, &values).unwrap());
    let mut next = 40;
    let mut frames = 0;
    for message in read(&bytes).messages {
        if let Message::Samples(samples) = message {
            let Values::U4(part) = samples.values else { panic!("u4 expected") };
            assert_eq!((samples.record, samples.lane, samples.index), (1, 2, next));
            assert!(part.iter().enumerate().all(|(k, v)| *v == next - 40 + k as u32));
            next += part.len() as u32;
            frames += 1;
        }
    }
    assert_eq!((next, frames), (3040, 3));
}

#[test]
fn a_lost_frame_is_counted_and_named() {
    let bytes = stream(|writer| (0..5).for_each(|k| writer.text(&k.to_string()).unwrap()));
    let mut frames: Vec<&[u8]> = bytes.split_inclusive(|b| *b == 0).collect();
    frames.drain(2..4);
    let reading = read(&frames.concat());
    assert_eq!(reading.findings, [WireError::Gap { missing: 2, next: 3 }]);
}

#[test]
fn a_doubled_frame_is_not_taken_twice() {
    let bytes = stream(|writer| writer.text("once").unwrap());
    let mut frames: Vec<&[u8]> = bytes.split_inclusive(|b| *b == 0).collect();
    frames.insert(1, frames[1]);
    let reading = read(&frames.concat());
    assert_eq!(reading.findings, [WireError::Doubled(0)]);
    assert_eq!(reading.messages.len(), 2);
}

#[test]
fn a_stream_of_another_wire_version_is_refused_with_both_named() {
    for wire in [0, WIRE_VERSION + 1, u32::MAX] {
        let bytes = stream(|writer| {
            writer.hello(&Hello { wire, ..hello() }).unwrap();
            writer.samples_u4(1, 0, 0, &[1, 2, 3]).unwrap();
        });
        let reading = read(&bytes);
        assert_eq!(reading.findings, [WireError::Version { spoken: wire }]);
        assert_eq!(reading.messages, []);
        let words = reading.findings[0].to_string();
        assert_eq!(words, format!("the program speaks wire version {wire}, this reader reads {WIRE_VERSION}"));
    }
}

#[test]
fn a_message_larger_than_a_frame_is_refused() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    let huge = Begin { unit: "x".repeat(5000), ..begin(Dtype::U4) };
    assert!(matches!(writer.begin(&huge), Err(RecordError::TooLarge { kind: "BEGIN", .. })));
}

#[test]
fn text_is_cut_between_characters() {
    let bytes = stream(|writer| writer.text(&"ä".repeat(4000)).unwrap());
    assert_eq!(read(&bytes).messages[0], Message::Text("ä".repeat(2048)));
}

proptest! {
    #[test]
    fn a_flipped_bit_is_never_read_as_samples(at in 0usize..200, bit in 0u8..8) {
        let values: Vec<u32> = (0..40).map(|k| k * 0x0101_0101).collect();
        let mut bytes = stream(|writer| writer.samples_u4(1, 0, 0, &values).unwrap());
        // Only bytes of the SAMPLES frame.
        let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, b)| **b == 0).map(|(k, _)| k).collect();
        let at = 1 + at % (ends[1] - 1);
        bytes[at] ^= 1 << bit;
        let reading = read(&bytes);
        prop_assert!(!reading.findings.is_empty());
        prop_assert!(!reading.messages.iter().any(|m| matches!(m, Message::Samples(_))));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = read(&bytes);
    }

    #[test]
    fn a_stream_cut_anywhere_never_shows_a_wrong_value(cut in 0usize..4000) {
        let values: Vec<f64> = (0..300).map(f64::from).collect();
        let bytes = stream(|writer| writer.samples_f8(1, 0, 0, &values).unwrap());
        for message in read(&bytes[..cut.min(bytes.len())]).messages {
            if let Message::Samples(samples) = message {
                prop_assert_eq!(samples.values, Values::F8(values.clone()));
            }
        }
    }
}
