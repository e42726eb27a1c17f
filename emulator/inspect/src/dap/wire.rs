//! Messages on a stream: a header with a length, then JSON.

use serde_json::Value;
use std::io::{BufRead, Read, Write};

/// Limit on the size of a message in bytes.
pub(super) const MAX_MESSAGE: u64 = 16 << 20;

/// Limit on the size of a header in bytes.
const MAX_HEADER: u64 = 4096;

/// The next item on a stream.
#[derive(Debug, PartialEq)]
pub(super) enum Read1 {
    /// A message.
    Message(Value),
    /// A body of the right length that is not JSON; reading can continue.
    NoJson(String),
    /// The framing is lost.
    Broken(String),
    /// End of the stream.
    End,
}

/// Reads a message.
pub(super) fn read(input: &mut impl BufRead) -> Read1 {
    let length = match header(input) {
        Ok(Some(length)) => length,
        Ok(None) => return Read1::End,
        Err(message) => return Read1::Broken(message),
    };
    let mut body = Vec::new();
    match input.take(length).read_to_end(&mut body) {
        Ok(read) if read as u64 == length => {}
        Ok(read) => return Read1::Broken(format!("the stream ends after {read} of {length} bytes of a message")),
        Err(error) => return Read1::Broken(error.to_string()),
    }
    match serde_json::from_slice(&body) {
        Ok(message) => Read1::Message(message),
        Err(error) => Read1::NoJson(error.to_string()),
    }
}

/// The length in a header; `None` at the end of the stream.
fn header(input: &mut impl BufRead) -> Result<Option<u64>, String> {
    let (mut length, mut left, mut lines) = (None, MAX_HEADER, 0);
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(left).read_until(b'\n', &mut line);
        left -= read.map_err(|error| error.to_string())? as u64;
        if line.is_empty() && lines == 0 {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            return Err(match left {
                0 => format!("a header of more than {MAX_HEADER} bytes"),
                _ => "the stream ends in a header".to_owned(),
            });
        }
        lines += 1;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            return length
                .map(Some)
                .ok_or_else(|| "a header without Content-Length".to_owned());
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(format!("a header line without a colon: {line:?}"));
        };
        if name.trim().eq_ignore_ascii_case("content-length") {
            let value: u64 = value
                .trim()
                .parse()
                .map_err(|_| format!("a Content-Length of {:?}", value.trim()))?;
            if value > MAX_MESSAGE {
                return Err(format!("a message of {value} bytes; {MAX_MESSAGE} is the most"));
            }
            length = Some(value);
        }
    }
}

/// Writes a message.
pub(super) fn write(output: &mut impl Write, message: &Value) -> std::io::Result<()> {
    let body = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn all(bytes: &[u8]) -> Vec<Read1> {
        let mut input = bytes;
        let mut found = Vec::new();
        loop {
            let one = read(&mut input);
            let ends = matches!(one, Read1::End | Read1::Broken(_));
            found.push(one);
            if ends {
                return found;
            }
        }
    }

    #[test]
    fn messages_round_trip() {
        let mut bytes = Vec::new();
        write(&mut bytes, &json!({"a": 1})).unwrap();
        bytes.extend(b"content-length: 2\r\nContent-Type: x\r\n\r\n{}");
        bytes.extend(b"Content-Length: 3\r\n\r\n{a}");
        let found = all(&bytes);
        assert_eq!(found[..2], [Read1::Message(json!({"a": 1})), Read1::Message(json!({}))]);
        assert!(matches!(found[2], Read1::NoJson(_)) && found[3] == Read1::End);
    }

    #[test]
    fn broken_headers_end_it() {
        let long = vec![b'x'; 5000];
        for bytes in [
            &b"Content-Length: 99999999999\r\n\r\n"[..],
            b"Content-Length: -1\r\n\r\n",
            b"Content-Length: 5\r\n\r\n{}",
            b"Content-Length: 5",
            b"\r\n",
            b"nonsense\r\n\r\n",
            &long,
        ] {
            let found = all(bytes);
            assert!(matches!(found[..], [Read1::Broken(_)]), "{found:?}");
        }
    }
}
