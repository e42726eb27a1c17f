//! A page of a local server: the report, which tells the history of any pixel, or whatever else one looks at in a browser.
//!
//! Only this machine reaches it, and only who has the address with its random token; requests that came by another name
//! (a page that had its own name lead here) are refused.

use crate::report::{self, Report};
use loader::trace::Trace;
use std::fmt::Write as _;
use std::io::{self, Read};
use tiny_http::{Header, Method, Request, Response};

/// A server that listens.
pub struct Server {
    http: tiny_http::Server,
    port: u16,
    token: String,
}

/// What is asked for, by somebody who may.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The path behind the token; nothing for the page itself.
    pub path: &'a str,
    /// What stands behind the question mark.
    pub query: &'a str,
    /// What was sent (POST); nothing when something is to be got.
    pub body: Option<Vec<u8>>,
}

/// What a request comes to.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// What kind of bytes they are.
    pub kind: &'static str,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What is served.
pub trait Site {
    /// Answers a request.
    fn answer(&self, asked: &Asked<'_>) -> Answer;
}

/// A recording's page, and its pixels' histories.
pub struct Recording<'a> {
    /// The recording.
    pub trace: &'a Trace<'a>,
    /// What is told of it.
    pub report: &'a Report,
    /// The page.
    pub page: String,
}

/// Bytes that somebody may send at most.
const BODY: u64 = 1 << 16;

impl Answer {
    /// A page.
    pub fn page(text: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            kind: "text/html; charset=utf-8",
            bytes: text.into(),
        }
    }

    /// A word why not.
    pub fn refused(status: u16, why: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            bytes: why.into(),
        }
    }
}

impl Asked<'_> {
    /// The number of a key in the query.
    pub fn number(&self, key: &str) -> Option<u32> {
        let values = self.query.split('&').filter_map(|pair| pair.split_once('='));
        values
            .filter(|(name, _)| *name == key)
            .find_map(|(_, value)| value.parse().ok())
    }
}

impl Server {
    /// Listens at a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is none, or no randomness.
    pub fn start() -> io::Result<Self> {
        let http = tiny_http::Server::http("127.0.0.1:0").map_err(io::Error::other)?;
        let address = http.server_addr().to_ip();
        let port = address.map(|address| address.port());
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let mut token = String::new();
        for byte in random {
            let _ = write!(token, "{byte:02x}");
        }
        Ok(Self {
            http,
            port: port.ok_or_else(|| io::Error::other("a server without a port"))?,
            token,
        })
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Answers until the process ends; several threads may.
    ///
    /// # Errors
    /// When no request can be received any more.
    pub fn serve(&self, site: &dyn Site) -> io::Result<()> {
        loop {
            let mut request = self.http.recv()?;
            let answer = self.answer(&mut request, site);
            // Whoever does not wait for the answer does without it.
            let _ = respond(request, answer);
        }
    }

    fn answer(&self, request: &mut Request, site: &dyn Site) -> Answer {
        let host = request.headers().iter().find(|header| header.field.equiv("Host"));
        let host = host.map(|header| header.value.as_str());
        let own = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        if !host.is_some_and(|host| own.iter().any(|own| own == host)) {
            return Answer::refused(403, "this server has another name");
        }
        let url = request.url().to_owned();
        let path = url.strip_prefix('/').unwrap_or_default();
        let Some(path) = path.strip_prefix(&self.token).and_then(|path| path.strip_prefix('/')) else {
            return Answer::refused(403, "the address lacks the token");
        };
        let body = match request.method() {
            Method::Get => None,
            Method::Post => {
                let mut body = Vec::new();
                if request.as_reader().take(BODY).read_to_end(&mut body).is_err() {
                    return Answer::refused(400, "the request ends early");
                }
                Some(body)
            }
            _ => return Answer::refused(405, "only GET and POST"),
        };
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        site.answer(&Asked { path, query, body })
    }
}

impl Site for Recording<'_> {
    fn answer(&self, asked: &Asked<'_>) -> Answer {
        match (asked.path, &asked.body) {
            (_, Some(_)) => Answer::refused(405, "only GET"),
            ("", None) => Answer::page(self.page.clone()),
            ("history", None) => self.history(asked),
            _ => Answer::refused(404, "nothing here"),
        }
    }
}

impl Recording<'_> {
    fn history(&self, asked: &Asked<'_>) -> Answer {
        let (Some(job), Some(x), Some(y)) = (asked.number("job"), asked.number("x"), asked.number("y")) else {
            return Answer::refused(400, "a history is asked for as history?job=1&x=2&y=3");
        };
        match report::history(self.trace, self.report, job as usize, [x, y]) {
            Ok(Some(page)) => Answer::page(page),
            Ok(None) => Answer::refused(404, format!("job {job} has no pixel {x},{y}")),
            Err(fault) => Answer::refused(500, fault.to_string()),
        }
    }
}

fn respond(request: Request, answer: Answer) -> io::Result<()> {
    let mut response = Response::from_data(answer.bytes).with_status_code(answer.status);
    let headers = [
        ("Content-Type", answer.kind),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        // The token stands in the address.
        ("Referrer-Policy", "no-referrer"),
    ];
    for (name, value) in headers {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    request.respond(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpStream;

    fn ask(port: u16, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Neither another token nor another name gets anything.
    #[test]
    fn only_the_whole_address_is_answered() {
        let server = Server::start().unwrap();
        assert_ne!(server.token, Server::start().unwrap().token);
        let (port, token) = (server.port, server.token.clone());
        std::thread::spawn(move || {
            let trace = Trace {
                gpu: 1,
                pps: 1,
                records: Vec::new(),
            };
            let report = Report::default();
            let site = Recording {
                trace: &trace,
                report: &report,
                page: "the page".to_owned(),
            };
            server.serve(&site)
        });
        let own = format!("127.0.0.1:{port}");
        let status = |path: &str, host: &str| ask(port, path, host)[9..12].to_owned();
        let answer = ask(port, &format!("/{token}/"), &own);
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("the page"),
            "{answer}"
        );
        assert!(answer.contains("Referrer-Policy: no-referrer"));
        assert_eq!(status(&format!("/{token}/"), &format!("localhost:{port}")), "200");
        for path in [
            "/".to_owned(),
            format!("/{}/", "0".repeat(32)),
            format!("/{}", &token[..31]),
        ] {
            assert_eq!(status(&path, &own), "403", "{path}");
        }
        for host in ["example.com", "127.0.0.1", "127.0.0.1:1"] {
            assert_eq!(status(&format!("/{token}/"), host), "403", "{host}");
        }
        assert_eq!(status(&format!("/{token}/other"), &own), "404");
        assert_eq!(status(&format!("/{token}/history?job=0&x=1"), &own), "400");
        assert_eq!(status(&format!("/{token}/history?job=0&x=1&y=1"), &own), "404");
    }
}
