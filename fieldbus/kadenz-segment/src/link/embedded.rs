// SPDX-License-Identifier: Apache-2.0
//! A segment inside the test of another language: frames and times come through a pipe, and the answers go back.
//!
//! All numbers are little-endian. A request is the length of its rest (u32), a time (u64, ns from 0, never back) and a
//! frame from its destination address on. An answer is a length (u32), the fate of the frame (u8: 0 ignored, 1 returned,
//! 2 lost, 3 doubled, 4 late), a delay (u64, ns, for late ones) and the frame as it left the devices.

use crate::error::SegmentError;
use crate::frame::LONGEST;
use crate::segment::{Segment, Verdict};
use std::io::{ErrorKind, Read, Write};

/// Bytes of a time, and of a delay.
const TIME: usize = 8;

/// Answers requests until the input ends; gives their number. A request that is none is an error with its number.
pub fn answer(segment: &mut Segment, input: &mut dyn Read, output: &mut dyn Write) -> Result<u64, SegmentError> {
    let mut buffer = [0_u8; TIME + LONGEST];
    let (mut number, mut last_ns) = (0, 0);
    loop {
        let wrong = |message: String| SegmentError::Usage {
            message: format!("request {}: {message}", number + 1),
            remedy: "A request is a length (u32), a time in ns (u64) and a frame, little-endian".into(),
        };
        let Some(length) = read_length(input).map_err(|error| wrong(error.to_string()))? else { return Ok(number) };
        let most = buffer.len();
        let request = buffer.get_mut(..length).filter(|request| request.len() >= TIME);
        let request = request.ok_or_else(|| wrong(format!("length {length} is not in {TIME} to {most}")))?;
        input.read_exact(request).map_err(|error| wrong(format!("it ends early: {error}")))?;
        let Some((time, frame)) = request.split_first_chunk_mut::<TIME>() else { return Ok(number) };
        let now_ns = u64::from_le_bytes(*time);
        if now_ns < last_ns {
            return Err(wrong(format!("its time {now_ns} ns is before {last_ns} ns")));
        }
        let verdict = segment.process(frame, now_ns);
        match output.write_all(&answer_to(verdict, frame)).and_then(|()| output.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(number),
            written => written.map_err(|error| wrong(format!("its answer cannot be written: {error}")))?,
        }
        segment.settle(now_ns);
        (number, last_ns) = (number + 1, now_ns);
    }
}

/// The length of the next request; none at the end of the input.
fn read_length(input: &mut dyn Read) -> std::io::Result<Option<usize>> {
    let mut bytes = [0_u8; 4];
    let mut have = 0;
    while let Some(room) = bytes.get_mut(have..).filter(|room| !room.is_empty()) {
        match input.read(room) {
            Ok(0) if have == 0 => return Ok(None),
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => have += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(u32::from_le_bytes(bytes) as usize))
}

fn answer_to(verdict: Verdict, frame: &[u8]) -> Vec<u8> {
    let (code, delay_ns) = match verdict {
        Verdict::Ignored => (0, 0),
        Verdict::Returned => (1, 0),
        Verdict::Lost => (2, 0),
        Verdict::Doubled => (3, 0),
        Verdict::Late(delay_ns) => (4, delay_ns),
    };
    let mut bytes = ((1 + TIME + frame.len()) as u32).to_le_bytes().to_vec();
    bytes.push(code);
    bytes.extend(delay_ns.to_le_bytes());
    bytes.extend(frame);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::frame::{datagrams, FrameBuilder};

    fn request(at_ns: u64, frame: &[u8]) -> Vec<u8> {
        [&((TIME + frame.len()) as u32).to_le_bytes()[..], &at_ns.to_le_bytes(), frame].concat()
    }

    fn of_drive() -> Segment {
        Segment::from_text("[[device]]\nname = \"j0\"\nkind = \"drive\"\n").expect("a ring")
    }

    fn read_type() -> Vec<u8> {
        FrameBuilder::default().datagram(Command::Brd, 1, 0, &[0]).build()
    }

    #[test]
    fn frames_come_back_with_their_fate_as_in_process() {
        let mut segment = of_drive();
        segment.add_fault("lose-frame@frame=2").expect("a fault");
        segment.add_fault("late-frame@frame=3,delay_us=7").expect("a fault");
        let frame = read_type();
        let input = [request(0, &frame), request(10, &frame), request(20, &frame), request(30, b"no frame")].concat();
        let mut output = Vec::new();
        assert_eq!(answer(&mut segment, &mut input.as_slice(), &mut output).expect("answers"), 4);
        let length = 1 + TIME + frame.len();
        let parts: Vec<&[u8]> = output.chunks(4 + length).collect();
        let fates: Vec<(u8, u64)> = parts
            .iter()
            .map(|part| (part[4], u64::from_le_bytes(part[5..13].try_into().expect("eight bytes"))))
            .collect();
        assert_eq!(fates, [(1, 0), (2, 0), (4, 7000), (0, 0)]);
        let mut back = parts[0][13..].to_vec();
        let datagram = datagrams(&mut back).expect("a frame").next().expect("a datagram");
        assert_eq!((datagram.working_counter(), datagram.data[0]), (1, 0x11));
    }

    #[test]
    fn a_request_that_is_none_is_named_by_its_number() {
        let frame = read_type();
        for (input, message) in [
            (vec![1, 2], "request 1: "),
            (vec![3, 0, 0, 0, 1, 2, 3], "request 1: length 3 is not in 8 to 1522"),
            (vec![0xFF; 4], "request 1: length 4294967295"),
            (request(5, &frame)[..20].to_vec(), "request 1: it ends early"),
            ([request(5, &frame), request(4, &frame)].concat(), "request 2: its time 4 ns is before 5 ns"),
        ] {
            let error = answer(&mut of_drive(), &mut input.as_slice(), &mut Vec::new()).expect_err("refused");
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }
}
