//! A local HTTP server for a report with histories on demand, or for any other site.
//!
//! Only this machine can connect, and only with the random token in the address; requests with another host name (DNS
//! rebinding) are rejected.

use crate::report::Session;
use std::fmt::Write as _;
use std::io::{self, Read};
use tiny_http::{Header, Method, Request, Response};

/// A listening server.
pub struct Server {
    http: tiny_http::Server,
    port: u16,
    token: String,
}

/// An authorised request.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The path after the token; empty for the page itself.
    pub path: &'a str,
    /// The query string.
    pub query: &'a str,
    /// The body of a POST; `None` for a GET.
    pub body: Option<Vec<u8>>,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The content type.
    pub kind: &'static str,
    /// The body.
    pub bytes: Vec<u8>,
}

/// A served site.
pub trait Site {
    /// Answers a request.
    fn answer(&self, asked: &Asked<'_>) -> Answer;
}

/// A recording's page, its frames, and its pixels' histories.
pub struct Recording<'a> {
    session: Session<'a>,
    page: String,
}

/// Limit on the size of a request body.
const BODY: u64 = 1 << 16;

impl Answer {
    /// An HTML page.
    pub fn page(text: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            kind: "text/html; charset=utf-8",
            bytes: text.into(),
        }
    }

    /// An error response with the reason.
    pub fn refused(status: u16, why: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            bytes: why.into(),
        }
    }
}

impl Asked<'_> {
    /// The number for a key in the query.
    pub fn number(&self, key: &str) -> Option<u32> {
        let values = self.query.split('&').filter_map(|pair| pair.split_once('='));
        values
            .filter(|(name, _)| *name == key)
            .find_map(|(_, value)| value.parse().ok())
    }
}

impl Server {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// If there is no free port, or no randomness.
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

    /// Serves until the process ends; may run on several threads.
    ///
    /// # Errors
    /// If no more requests can be received.
    pub fn serve(&self, site: &dyn Site) -> io::Result<()> {
        loop {
            let mut request = self.http.recv()?;
            let answer = self.answer(&mut request, site);
            // A client that disconnects misses its response.
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
            ("frame", None) => self.frame(asked),
            ("history", None) => self.history(asked),
            _ => Answer::refused(404, "not found"),
        }
    }
}

impl<'a> Recording<'a> {
    /// The site of a recording.
    pub fn new(session: Session<'a>) -> Self {
        Self {
            page: session.page(),
            session,
        }
    }

    fn frame(&self, asked: &Asked<'_>) -> Answer {
        let Some(number) = asked.number("number") else {
            return Answer::refused(400, "expected frame?number=1");
        };
        match self.session.frame(number as usize) {
            Ok(Some(sections)) => Answer::page(sections),
            Ok(None) => Answer::refused(404, format!("there is no frame {number}")),
            Err(fault) => Answer::refused(500, fault.to_string()),
        }
    }

    fn history(&self, asked: &Asked<'_>) -> Answer {
        let (Some(job), Some(x), Some(y)) = (asked.number("job"), asked.number("x"), asked.number("y")) else {
            return Answer::refused(400, "expected history?job=1&x=2&y=3");
        };
        match self.session.history(job as usize, [x, y]) {
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
        // The token is part of the address.
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
    use crate::report::Options;
    use loader::trace::Trace;
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

    /// Requests with another token or host name are rejected.
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
            let options = Options {
                name: "the name",
                pixels: &[],
            };
            server.serve(&Recording::new(Session::new(&trace, options).unwrap()))
        });
        let own = format!("127.0.0.1:{port}");
        let status = |path: &str, host: &str| ask(port, path, host)[9..12].to_owned();
        let answer = ask(port, &format!("/{token}/"), &own);
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("<h1>the name</h1>"),
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
        assert_eq!(status(&format!("/{token}/frame?number=0"), &own), "404");
        assert_eq!(status(&format!("/{token}/frame"), &own), "400");
        assert_eq!(status(&format!("/{token}/history?job=0&x=1"), &own), "400");
        assert_eq!(status(&format!("/{token}/history?job=0&x=1&y=1"), &own), "404");
    }
}
