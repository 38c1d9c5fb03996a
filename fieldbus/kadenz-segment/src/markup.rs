// SPDX-License-Identifier: Apache-2.0
//! Text of a file or of a master inside HTML and XML.

/// Text without markup, and without characters that XML 1.0 does not have.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' | '\n' => escaped.push(character),
            '\0'..='\x1F' | '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_and_characters_that_xml_lacks_do_not_pass() {
        assert_eq!(escaped("a & <b c='d\" >"), "a &amp; &lt;b c=&#39;d&quot; &gt;");
        assert_eq!(escaped("a\tb\nc\rd\0\u{FFFE}"), "a\tb\nc&#13;d\u{FFFD}\u{FFFD}");
    }
}
