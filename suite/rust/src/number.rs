// SPDX-License-Identifier: Apache-2.0
//! Values of the board, which the build passes as text (`suite/rust/rust.cmake`).

/// A C integer constant of a board's definitions: `168000000u`, `0x80u`, `4`.
pub const fn number(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let hex = bytes.len() > 2 && bytes[0] == b'0' && bytes[1] == b'x';
    let (base, mut at) = if hex { (16, 2) } else { (10, 0) };
    let mut value = 0;
    while at < bytes.len() && bytes[at] != b'u' {
        let digit = match bytes[at] {
            c @ b'0'..=b'9' => c - b'0',
            c @ b'a'..=b'f' if hex => c - b'a' + 10,
            _ => panic!("a value of the board is no integer constant"),
        };
        value = value * base + digit as u32;
        at += 1;
    }
    value
}

const _: () = assert!(number("168000000u") == 168_000_000 && number("0xa0u") == 160);
