// SPDX-License-Identifier: Apache-2.0
//! The golden frames of the repository: read into messages, and written back byte for byte.

use std::path::PathBuf;

use kadenz_record::{read, Message, Values, Writer};
use serde::de::DeserializeOwned;
use serde_json::Value;

fn folder() -> PathBuf {
    PathBuf::from("../../tests/golden") // cargo runs tests in the folder of their package
}

fn body<T: DeserializeOwned>(entry: &Value) -> T {
    serde_json::from_value(entry["body"].clone()).unwrap()
}

fn numbers<T: DeserializeOwned>(entry: &Value) -> Vec<T> {
    serde_json::from_value(entry["body"]["values"].clone()).unwrap()
}

/// Content of the frame, from its entry in golden.json.
fn expected(entry: &Value) -> Message {
    match entry["type"].as_str().unwrap() {
        "HELLO" => Message::Hello(body(entry)),
        "BENCH" => Message::Bench(body(entry)),
        "BEGIN" => Message::Begin(body(entry)),
        "END" => Message::End(body(entry)),
        "TEXT" => Message::Text(body(entry)),
        "FAULT" => Message::Fault(body(entry)),
        "DONE" => Message::Done(body(entry)),
        "CONFORM" => Message::Conform(body(entry)),
        "CASE" => Message::Case(body(entry)),
        "SAMPLES" => {
            let field = |name: &str| entry["body"][name].as_u64().unwrap();
            let values = match entry["body"]["dtype"].as_str().unwrap() {
                "u4" => Values::U4(numbers(entry)),
                "i4" => Values::I4(numbers(entry)),
                "f8" => Values::F8(numbers(entry)),
                other => panic!("dtype {other}"),
            };
            let (record, lane, index) = (field("record") as u16, field("lane") as u8, field("index") as u32);
            Message::Samples(kadenz_record::Samples { record, lane, index, values })
        }
        other => panic!("{other}: a type this test does not know"),
    }
}

/// The frame as this crate writes it as number `sequence` of a stream; `None` for DONE, which counts by itself.
fn written(message: &Message, sequence: u64) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let mut writer = Writer::resumed(&mut line, sequence as u32).unwrap();
    match message {
        Message::Hello(m) => writer.hello(m),
        Message::Bench(m) => writer.bench(m),
        Message::Begin(m) => writer.begin(m),
        Message::End(m) => writer.end(m),
        Message::Text(m) => writer.text(m),
        Message::Fault(m) => writer.fault(m),
        Message::Conform(m) => writer.conform(m),
        Message::Case(m) => writer.case(m),
        Message::Samples(m) => match &m.values {
            Values::U4(v) => writer.samples_u4(m.record, m.lane, m.index, v),
            Values::I4(v) => writer.samples_i4(m.record, m.lane, m.index, v),
            Values::F8(v) => writer.samples_f8(m.record, m.lane, m.index, v),
        },
        Message::Done(_) => return None,
    }
    .unwrap();
    drop(writer);
    let start = line[..line.len() - 1].iter().rposition(|byte| *byte == 0).unwrap() + 1;
    Some(line[start..].to_vec())
}

#[test]
fn every_golden_frame_is_read_as_what_it_is_and_written_byte_by_byte() {
    let text = std::fs::read_to_string(folder().join("golden.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(entries.len() > 15);
    let mut rewritten = 0;
    for entry in &entries {
        let name = entry["name"].as_str().unwrap();
        let bytes = std::fs::read(folder().join(format!("{name}.bin"))).unwrap();
        let mut stream = vec![0];
        stream.extend_from_slice(&bytes);
        let message = expected(entry);
        // The frame stands alone, so the reader rightly misses those before it.
        assert_eq!(read(&stream).messages, std::slice::from_ref(&message), "{name}");
        if let Some(again) = written(&message, entry["sequence"].as_u64().unwrap()) {
            assert_eq!(again, bytes, "{name}");
            rewritten += 1;
        }
    }
    assert!(rewritten >= entries.len() - 1);
}
