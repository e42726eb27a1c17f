//! The report as a page of a local server, which tells the history of any pixel.
//!
//! Only this machine reaches it, and only who has the address with its random token; requests that came by another name
//! (a page that had its own name lead here) are refused.

use crate::report::{self, Report};
use loader::trace::Trace;
use std::fmt::Write;
use std::io;
use tiny_http::{Header, Method, Request, Response};

/// A server that listens.
pub struct Server {
    http: tiny_http::Server,
    port: u16,
    token: String,
}

/// What is served.
pub struct Site<'a> {
    /// The recording.
    pub trace: &'a Trace<'a>,
    /// What is told of it.
    pub report: &'a Report,
    /// The page.
    pub page: String,
}

/// What a request comes to: status and text.
type Answer = (u16, String);

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

    /// Answers until the process ends.
    ///
    /// # Errors
    /// When no request can be received any more.
    pub fn serve(&self, site: &Site<'_>) -> io::Result<()> {
        loop {
            let request = self.http.recv()?;
            let answer = self.answer(&request, site);
            // Whoever does not wait for the answer does without it.
            let _ = respond(request, answer);
        }
    }

    fn answer(&self, request: &Request, site: &Site<'_>) -> Answer {
        let host = request.headers().iter().find(|header| header.field.equiv("Host"));
        let host = host.map(|header| header.value.as_str());
        let own = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        if !host.is_some_and(|host| own.iter().any(|own| own == host)) {
            return refused("this server has another name");
        }
        let path = request.url().strip_prefix('/').unwrap_or_default();
        let Some(path) = path.strip_prefix(&self.token).and_then(|path| path.strip_prefix('/')) else {
            return refused("the address lacks the token");
        };
        if *request.method() != Method::Get {
            return (405, "only GET".to_owned());
        }
        match path.split_once('?') {
            None if path.is_empty() => (200, site.page.clone()),
            Some(("history", query)) => site.history(query),
            _ => (404, "nothing here".to_owned()),
        }
    }
}

fn refused(why: &str) -> Answer {
    (403, why.to_owned())
}

impl Site<'_> {
    fn history(&self, query: &str) -> Answer {
        let of = |key: &str| {
            let values = query.split('&').filter_map(|pair| pair.split_once('='));
            values
                .filter(|(name, _)| *name == key)
                .find_map(|(_, value)| value.parse::<u32>().ok())
        };
        let (Some(job), Some(x), Some(y)) = (of("job"), of("x"), of("y")) else {
            return (400, "a history is asked for as history?job=1&x=2&y=3".to_owned());
        };
        match report::history(self.trace, self.report, job as usize, [x, y]) {
            Ok(Some(page)) => (200, page),
            Ok(None) => (404, format!("job {job} has no pixel {x},{y}")),
            Err(fault) => (500, fault.to_string()),
        }
    }
}

fn respond(request: Request, (status, text): Answer) -> io::Result<()> {
    let kind = if status == 200 {
        "text/html; charset=utf-8"
    } else {
        "text/plain; charset=utf-8"
    };
    let mut response = Response::from_string(text).with_status_code(status);
    let headers = [
        ("Content-Type", kind),
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
    use std::io::{Read, Write};
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
            let site = Site {
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
