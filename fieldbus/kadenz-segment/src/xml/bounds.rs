// SPDX-License-Identifier: Apache-2.0
//! What a file has in numbers, before it is parsed. The parser compares every attribute of an element with those
//! before it, copies every namespace in scope, repeats an entity wherever it is used, and keeps some 100 bytes a node.

use super::{Format, Problem};
use crate::error::line_of;

/// Tags of a file. Real files of 30 MB have some 2 million.
pub(super) const MOST_TAGS: usize = 3_000_000;
/// Equals signs of a file, for which the parser reserves memory.
pub(super) const MOST_ATTRIBUTES: usize = 2_000_000;
/// Attributes of one element; ETG.2000 knows some 20.
pub(super) const MOST_OF_ONE: usize = 256;
/// Namespaces that a file declares; real ones have 2.
pub(super) const MOST_NAMESPACES: usize = 256;

/// Names the first excess with its line.
pub(super) fn check(text: &str, format: &Format) -> Result<(), Problem> {
    let (mut tags, mut attributes, mut of_one, mut namespaces) = (0, 0, 0, 0);
    for (at, byte) in text.bytes().enumerate() {
        let follows = |word: &[u8]| text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(word));
        match byte {
            b'<' if follows(b"<!ENTITY") => return Err(problem(text, at, "entities are not read".into(), format)),
            b'<' => (tags, of_one) = (tags + 1, 0),
            b'=' => (attributes, of_one) = (attributes + 1, of_one + usize::from(is_quoted(text, at + 1))),
            b'x' if follows(b"xmlns") => namespaces += 1,
            _ => continue,
        }
        for (count, most, what) in [
            (tags, MOST_TAGS, "tags"),
            (attributes, MOST_ATTRIBUTES, "attributes"),
            (of_one, MOST_OF_ONE, "attributes of one element"),
            (namespaces, MOST_NAMESPACES, "namespaces"),
        ] {
            if count > most {
                return Err(problem(text, at, format!("more than {most} {what}"), format));
            }
        }
    }
    Ok(())
}

/// A quotation mark follows: the equals sign before it may be that of an attribute.
fn is_quoted(text: &str, at: usize) -> bool {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    rest.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| matches!(byte, b'"' | b'\''))
}

fn problem(text: &str, at: usize, message: String, format: &Format) -> Problem {
    Problem::in_line(line_of(text, at), message, format)
}
