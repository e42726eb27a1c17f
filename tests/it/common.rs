//! Shared by the integration tests.

pub(crate) use crate::files::*;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::OnceLock;
use vulkan::{Context, Options, Validation};

/// One device for all tests, with the validation layer.
pub(crate) fn context() -> &'static Context {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        let watched = Options {
            validation: Validation::Full,
            ..Options::default()
        };
        Context::new(&watched).unwrap_or_else(|error| {
            println!("not watched: {error}");
            Context::new(&Options::default()).expect("a Vulkan device; lavapipe will do")
        })
    })
}

/// One request to the page's server: the answer's status and bytes.
pub(crate) fn ask(url: &str, head: &str, path: &str, body: &str) -> (u16, Vec<u8>) {
    let rest = url.strip_prefix("http://").expect("an address");
    let (host, token) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("a server");
    let length = body.len();
    write!(
        stream,
        "{head} /{token}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("a request");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let end = answer
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .expect("a head")
        + 4;
    let status = String::from_utf8_lossy(&answer[9..12]).parse().expect("a status");
    (status, answer.split_off(end))
}

/// The page's address is the first that the command prints.
pub(crate) fn address(from: impl Read) -> String {
    let mut line = String::new();
    BufReader::new(from).read_line(&mut line).expect("the page's address");
    line.trim().to_owned()
}
