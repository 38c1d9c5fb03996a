// SPDX-License-Identifier: Apache-2.0
//! As much of HTTP/1.1 as a device's page needs: one request a connection, GET and HEAD of "/".

/// Longest head of a request, bytes.
pub const LONGEST_HEAD: usize = 2048;

/// The answer to what a client has sent so far; `None` while the head of its request is not complete.
pub fn answer(request: &[u8], page: &mut dyn FnMut() -> String) -> Option<Vec<u8>> {
    let end = request.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(head) = end.and_then(|end| request.get(..end)) else {
        return (request.len() >= LONGEST_HEAD).then(|| respond("431 Request Header Fields Too Large", "", true));
    };
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let parts: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [method, target, version] = parts.as_slice() else { return Some(respond("400 Bad Request", "", true)) };
    if !version.starts_with(b"HTTP/1.") {
        return Some(respond("505 HTTP Version Not Supported", "", true));
    }
    let has_body = *method == b"GET";
    if !has_body && *method != b"HEAD" {
        return Some(respond("405 Method Not Allowed\r\nAllow: GET, HEAD", "", true));
    }
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
    Some(if path == b"/" { respond("200 OK", &page(), has_body) } else { respond("404 Not Found", "", has_body) })
}

fn respond(status: &str, page: &str, has_body: bool) -> Vec<u8> {
    let (kind, text) = if page.is_empty() {
        ("text/plain", format!("{}\n", status.lines().next().unwrap_or_default()))
    } else {
        ("text/html", page.to_owned())
    };
    let length = text.len();
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    .into_bytes();
    if has_body {
        bytes.extend(text.bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &[u8]) -> Option<String> {
        let answer = answer(request, &mut || "<p>page".into())?;
        Some(String::from_utf8(answer).unwrap().lines().next().unwrap().to_owned())
    }

    #[test]
    fn the_page_is_at_its_root_and_nothing_else_is() {
        let whole = answer(b"GET /?a HTTP/1.1\r\nHost: x\r\n\r\n", &mut || "<p>page".into()).unwrap();
        assert!(whole.ends_with(b"Content-Length: 7\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n<p>page"));
        let head = answer(b"HEAD / HTTP/1.1\r\n\r\n", &mut || "<p>page".into()).unwrap();
        assert_eq!(head, whole[..whole.len() - 7]);
        for (request, expected) in [
            (&b"GET /favicon.ico HTTP/1.1\r\n\r\n"[..], "HTTP/1.1 404 Not Found"),
            (b"PUT / HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"),
            (b"GET / HTTP/2\r\n\r\n", "HTTP/1.1 505 HTTP Version Not Supported"),
            (b"GET /\r\n\r\n", "HTTP/1.1 400 Bad Request"),
            (b"\r\n\r\n", "HTTP/1.1 400 Bad Request"),
            (&[b'a'; LONGEST_HEAD], "HTTP/1.1 431 Request Header Fields Too Large"),
        ] {
            assert_eq!(status(request).as_deref(), Some(expected));
        }
        assert_eq!(status(b"GET / HTTP/1.1\r\nHost: x\r\n"), None, "the head is not complete");
    }
}
