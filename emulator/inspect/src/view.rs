//! Pictures in a browser: a local page that shows every picture, and sends keyboard and pointer events back where they
//! are wanted.

use crate::serve::{Answer, Asked, Server, Site};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The page.
const PAGE: &str = include_str!("view.html");

/// What the page's element is, without keys and pointer.
const LABEL: (&str, &str) = ("the screen; keys and the pointer go to it", "the picture");

/// Time limit of a request for the next picture.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Concurrent requests: a few pages, each waiting for a picture.
const THREADS: usize = 8;

/// Bytes before the pixels: number, width, height.
const HEAD: usize = 12;

/// What takes the lines of a page's keyboard and pointer events: whether all of them are events, or none is applied.
pub type Events = dyn Fn(&[u8]) -> bool + Send + Sync;

/// A page that is served until the process ends.
#[derive(Debug)]
pub struct View {
    url: String,
    screen: Arc<Screen>,
}

/// The last picture, in the format of the page.
#[derive(Debug, Default)]
struct Screen {
    state: Mutex<State>,
    changed: Condvar,
    asked: Condvar,
}

#[derive(Debug, Default)]
struct State {
    last: Option<(u32, Arc<Vec<u8>>)>,
    /// Requests that wait for another picture.
    waiting: usize,
}

/// The page's requests.
struct Requests {
    screen: Arc<Screen>,
    events: Option<Arc<Events>>,
}

impl View {
    /// Opens a page; without `events` it has no keyboard and pointer.
    ///
    /// # Errors
    /// When there can be no server.
    pub fn open(events: Option<Arc<Events>>) -> io::Result<Self> {
        let screen = Arc::new(Screen::default());
        let server = Arc::new(Server::start()?);
        let url = server.url();
        for _ in 0..THREADS {
            let server = server.clone();
            let (screen, events) = (screen.clone(), events.clone());
            std::thread::Builder::new()
                .name("view".into())
                .spawn(move || server.serve(&Requests { screen, events }))?;
        }
        Ok(Self { url, screen })
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Shows a picture: rows of RGBA from the top. A picture with the number of the last one is taken for the same.
    pub fn show(&self, number: u32, [width, height]: [u32; 2], rgba: &[u8]) {
        let mut bytes = Vec::with_capacity(HEAD + rgba.len());
        for word in [number, width, height] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend_from_slice(rgba);
        self.screen.lock().last = Some((number, Arc::new(bytes)));
        self.screen.changed.notify_all();
    }

    /// Waits until a page waits for the next picture, at most for a time; whether one does.
    pub fn wanted(&self, at_most: Duration) -> bool {
        let is_idle = |state: &mut State| state.waiting == 0;
        let waited = self
            .screen
            .asked
            .wait_timeout_while(self.screen.lock(), at_most, is_idle);
        waited.unwrap_or_else(PoisonError::into_inner).0.waiting > 0
    }
}

impl Screen {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last picture, once it is another than the one with a number.
    fn after(&self, number: Option<u32>) -> Option<Arc<Vec<u8>>> {
        let is_old = |state: &mut State| state.last.as_ref().is_none_or(|(have, _)| Some(*have) == number);
        let mut state = self.lock();
        state.waiting += 1;
        self.asked.notify_all();
        let waited = self.changed.wait_timeout_while(state, TIMEOUT, is_old);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        let old = is_old(&mut state);
        state.last.as_ref().filter(|_| !old).map(|(_, bytes)| bytes.clone())
    }
}

impl Site for Requests {
    fn answer(&self, asked: &Asked<'_>) -> Answer {
        match (asked.path, &asked.body, &self.events) {
            ("", None, Some(_)) => Answer::page(PAGE),
            ("", None, None) => Answer::page(PAGE.replace("<html", "<html data-still").replace(LABEL.0, LABEL.1)),
            ("picture", None, _) => match self.screen.after(asked.number("after")) {
                Some(bytes) => Answer {
                    status: 200,
                    kind: "application/octet-stream",
                    bytes: bytes.to_vec(),
                },
                None => Answer::refused(204, ""),
            },
            ("input", Some(body), Some(events)) => match events(body) {
                true => Answer::refused(204, ""),
                false => Answer::refused(400, "a line is: point X Y, key CODE 0|1, or wheel RIGHT UP"),
            },
            _ => Answer::refused(404, "nothing here"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(requests: &Requests, path: &str, query: &str, body: Option<&str>) -> Answer {
        requests.answer(&Asked {
            path,
            query,
            body: body.map(|body| body.as_bytes().to_vec()),
        })
    }

    #[test]
    fn a_picture_comes_when_it_is_another() {
        let screen = Arc::new(Screen::default());
        let view = View {
            url: String::new(),
            screen: screen.clone(),
        };
        let requests = Requests { screen, events: None };
        let show = |number| view.show(number, [2, 1], &[number as u8; 8]);
        show(0);
        let first = ask(&requests, "picture", "", None);
        assert_eq!(
            first.bytes,
            [&[0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0][..], &[0; 8]].concat()
        );
        assert!(!view.wanted(Duration::ZERO), "no request waits");
        let waiting = std::thread::spawn(move || ask(&requests, "picture", "after=0", None));
        assert!(view.wanted(Duration::from_secs(60)));
        show(7);
        assert_eq!(waiting.join().expect("no panic").bytes[..4], [7, 0, 0, 0]);
    }

    #[test]
    fn a_page_has_keys_where_they_are_wanted() {
        let page = |events: Option<Arc<Events>>| {
            let screen = Arc::default();
            let requests = Requests { screen, events };
            let text = String::from_utf8(ask(&requests, "", "", None).bytes).expect("text");
            (text, ask(&requests, "input", "", Some("key 30 1")).status)
        };
        let (with, status) = page(Some(Arc::new(|lines: &[u8]| lines == b"key 30 1")));
        assert!(with.contains("keys and the pointer") && !with.contains("<html data-still"));
        assert_eq!(status, 204);
        let (without, status) = page(None);
        assert!(!without.contains("keys and the pointer") && without.contains("<html data-still"));
        assert_eq!(status, 404);
        assert_eq!(page(Some(Arc::new(|_: &[u8]| false))).1, 400);
    }
}
