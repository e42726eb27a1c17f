//! The display in a browser: a local page that shows every picture and sends keyboard and pointer events back.

use crate::error::{Result, Within};
use inspect::serve::{Answer, Asked, Server, Site};
use shim::{Input, Shown, Sink};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The page.
const PAGE: &str = include_str!("view.html");

/// Time limit of a request for the next picture.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Concurrent requests: a few pages, each waiting for a picture.
const THREADS: usize = 8;

/// Bytes before the pixels: number, width, height.
const HEAD: usize = 12;

/// The last picture, in the format of the page.
#[derive(Debug, Default)]
struct Screen {
    last: Mutex<Option<(u32, Arc<Vec<u8>>)>>,
    changed: Condvar,
}

/// The page's requests.
struct View {
    screen: Arc<Screen>,
    input: Arc<Input>,
}

/// A page that is served.
pub struct Page {
    /// Its address.
    pub url: String,
    /// Shows pictures on it.
    pub sink: Box<Sink>,
}

/// Opens a page for a screen, with its keyboard and pointer.
///
/// # Errors
/// When there can be no server.
pub fn open(input: Arc<Input>) -> Result<Page> {
    let screen = Arc::new(Screen::default());
    let server = Arc::new(Server::start().within(|| "cannot show the screen in a browser")?);
    let url = server.url();
    for _ in 0..THREADS {
        let (server, view) = (
            server.clone(),
            View {
                screen: screen.clone(),
                input: input.clone(),
            },
        );
        std::thread::Builder::new()
            .name("view".into())
            .spawn(move || server.serve(&view))?;
    }
    let sink: Box<Sink> = Box::new(move |shown: &Shown| screen.show(shown));
    Ok(Page { url, sink })
}

impl Screen {
    fn show(&self, shown: &Shown) {
        let mut bytes = Vec::with_capacity(HEAD + shown.rgba.len());
        for word in [shown.number, shown.width, shown.height] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend_from_slice(&shown.rgba);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((shown.number, Arc::new(bytes)));
        self.changed.notify_all();
    }

    /// The last picture, once it is another than the one with a number.
    fn after(&self, number: Option<u32>) -> Option<Arc<Vec<u8>>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old =
            |last: &mut Option<(u32, Arc<Vec<u8>>)>| last.as_ref().is_none_or(|(have, _)| Some(*have) == number);
        let waited = self.changed.wait_timeout_while(last, TIMEOUT, is_old);
        let (mut last, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let old = is_old(&mut last);
        last.as_ref().filter(|_| !old).map(|(_, bytes)| bytes.clone())
    }
}

impl Site for View {
    fn answer(&self, asked: &Asked<'_>) -> Answer {
        match (asked.path, &asked.body) {
            ("", None) => Answer::page(PAGE),
            ("picture", None) => match self.screen.after(asked.number("after")) {
                Some(bytes) => Answer {
                    status: 200,
                    kind: "application/octet-stream",
                    bytes: bytes.to_vec(),
                },
                None => Answer::refused(204, ""),
            },
            ("input", Some(body)) => match input(&self.input, body) {
                Some(()) => Answer::refused(204, ""),
                None => Answer::refused(400, "a line is: point X Y, key CODE 0|1, or wheel RIGHT UP"),
            },
            _ => Answer::refused(404, "nothing here"),
        }
    }
}

/// Something that happens to keyboard or pointer.
enum Act {
    Point(i32, i32),
    Key(u16, bool),
    Wheel(i32, i32),
}

/// Keyboard and pointer events, one per line; none is applied if a line is invalid.
fn input(to: &Input, body: &[u8]) -> Option<()> {
    let text = std::str::from_utf8(body).ok()?;
    let acts: Option<Vec<Act>> = text.lines().map(act).collect();
    for act in acts? {
        match act {
            Act::Point(x, y) => to.point(x, y),
            Act::Key(code, down) => to.key(code, down),
            Act::Wheel(right, up) => to.wheel(right, up),
        }
    }
    Some(())
}

fn act(line: &str) -> Option<Act> {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |text: &str| text.parse::<i32>().ok();
    Some(match words[..] {
        ["point", x, y] => Act::Point(number(x)?, number(y)?),
        ["key", code, down @ ("0" | "1")] => Act::Key(code.parse().ok()?, down == "1"),
        ["wheel", right, up] => Act::Wheel(number(right)?, number(up)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(view: &View, path: &str, query: &str, body: Option<&str>) -> Answer {
        view.answer(&Asked {
            path,
            query,
            body: body.map(|body| body.as_bytes().to_vec()),
        })
    }

    #[test]
    fn a_picture_comes_when_it_is_another() {
        let screen = Arc::new(Screen::default());
        let view = View {
            screen: screen.clone(),
            input: Input::new(64, 48),
        };
        let shown = |number| Shown {
            number,
            width: 2,
            height: 1,
            rgba: vec![number as u8; 8],
        };
        screen.show(&shown(0));
        let first = ask(&view, "picture", "", None);
        assert_eq!(
            first.bytes,
            [&[0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0][..], &[0; 8]].concat()
        );
        let waiting = std::thread::spawn(move || ask(&view, "picture", "after=0", None));
        screen.show(&shown(7));
        assert_eq!(waiting.join().expect("no panic").bytes[..4], [7, 0, 0, 0]);
    }

    #[test]
    fn lines_are_events_or_refused() {
        let view = View {
            screen: Arc::default(),
            input: Input::new(64, 48),
        };
        let status = |body| ask(&view, "input", "", Some(body)).status;
        assert_eq!(status("point 3 4\nkey 30 1\nkey 30 0\nwheel 0 -1"), 204);
        for bad in ["point 3", "key 30 2", "key x 1", "wheel 1 2 3", "jump", "key -1 0"] {
            assert_eq!(status(bad), 400, "{bad}");
        }
        assert_eq!(ask(&view, "input", "", None).status, 404);
        assert_eq!(ask(&view, "", "", None).kind, "text/html; charset=utf-8");
    }
}
